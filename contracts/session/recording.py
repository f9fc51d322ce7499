"""Writes exchanges to the journal, with secrets taken out first."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from contracts.exchanges.exchange import Exchange, Response
from contracts.exchanges.redaction import REDACTED, SECRET_HEADERS, Redactor
from contracts.session.tokens import read_timestamp

#: Bytes of a body that are kept; the size and the digest of the rest always are.
KEPT_BODY = 16 * 1024
#: Texts of this length in the answer to signing in are taken for tokens, but for timestamps.
SHORTEST_TOKEN = 12


_NOTHING_SECRET = Redactor()
#: Stands for a role's own token in what is written of an Authorization header.
TOKEN = "$TOKEN"  # noqa: S105 - a name


#: Stand behind `$TOKEN`: its letter case is turned round; it is in a form that cannot be made again from here.
SWAPPED = "[swapcase]"
UNKNOWN = "[?]"


class Events(Protocol):
    """Takes what is written down; a run's journal is one."""

    def write(self, kind: str, **fields: Any) -> None:
        """Append one event."""


class JournalRecorder:
    """Writes one journal event for each exchange and fault of a session."""

    def __init__(self, journal: Events, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    def exchange(self, exchange: Exchange) -> None:
        """Write one exchange down, redacted."""
        self._learn_token(exchange)
        # One look at all of it together: most exchanges hold nothing but the credentials in their place.
        redactor = self._redactor if self._redactor.stands_in(_everything(exchange)) else _NOTHING_SECRET
        started = datetime.now(UTC) - timedelta(seconds=exchange.seconds)
        self._journal.write(
            "exchange",
            id=exchange.id,
            case=exchange.case,
            attempt=exchange.attempt,
            realm=exchange.realm,
            role=exchange.role,
            operation=exchange.operation,
            started=started.isoformat(),
            seconds=exchange.seconds,
            request=self._request(exchange, redactor),
            response=self._response(exchange.response, redactor),
            fault=exchange.fault,
            retries=exchange.retries,
            authorization=self._authorization(exchange.request_headers),
        )

    def _authorization(self, headers: Mapping[str, str]) -> str | None:
        """The Authorization header with `$TOKEN` for the role's token; `$TOKEN[:20]` for its beginning, and so on.

        Without it a request with a token could not be told from one with a made-up one.
        """
        value = next((value for name, value in headers.items() if name.lower() == "authorization"), None)
        if value is None:
            return None
        scheme, space, rest = value.rpartition(" ")
        if self._redactor.knows(rest):
            return f"{scheme}{space}{TOKEN}"
        if self._redactor.begins(rest):
            return f"{scheme}{space}{TOKEN}[:{len(rest)}]"
        if self._redactor.knows(rest.swapcase()):
            return f"{scheme}{space}{TOKEN}{SWAPPED}"
        shown = self._redactor.text(value)
        return shown if REDACTED not in shown else _as_template(shown, scheme + space)

    def _learn_token(self, exchange: Exchange) -> None:
        """A new token is a secret from its first appearance on, under whatever name it comes."""
        answer = exchange.response
        if exchange.operation != "createToken" or answer is None or not answer.success:
            return
        for value in texts(answer.json):
            if len(value) >= SHORTEST_TOKEN and read_timestamp(value) is None:
                self._redactor.learn(value)

    def fault(self, fault: str, exchange: Exchange) -> None:
        """Write down an environment fault that one try of an exchange met."""
        self._journal.write("fault", fault=fault, case=exchange.case, realm=exchange.realm)

    def _request(self, exchange: Exchange, redactor: Redactor) -> dict[str, Any]:
        return {
            "method": exchange.method,
            "url": redactor.text(exchange.url),
            "http_version": "HTTP/1.1",
            "headers": redactor.headers(exchange.request_headers.items()),
            "body": _body(exchange.request_body, redactor),
        }

    def _response(self, answer: Response | None, redactor: Redactor) -> dict[str, Any] | None:
        if answer is None:
            return None
        return {
            "status": answer.status,
            "reason": redactor.text(answer.reason),
            "http_version": "HTTP/1.1",
            "headers": redactor.headers(answer.headers.items()),
            "body": _body(answer.content, redactor),
        }


def _everything(exchange: Exchange) -> Iterator[str]:
    """Every text of an exchange that is kept, but for headers that are blanked whatever they hold."""
    answer = exchange.response
    yield exchange.url
    yield from _open_headers(exchange.request_headers)
    yield _beginning(exchange.request_body or b"")
    if answer is not None:
        yield answer.reason
        yield from _open_headers(answer.headers)
        yield _beginning(answer.content)


def _open_headers(headers: Mapping[str, str]) -> Iterator[str]:
    yield from (text for pair in headers.items() if pair[0].lower() not in SECRET_HEADERS for text in pair)


def _beginning(content: bytes) -> str:
    """More of a body than is kept, so that a secret astride the cut is seen whole."""
    window = content[: 2 * KEPT_BODY]
    return window.decode("utf-8", "replace") + ("" if window.isascii() else "\n" + window.decode("latin-1"))


def _body(content: bytes | None, redactor: Redactor) -> dict[str, Any] | None:
    if content is None:
        return None
    facts: dict[str, Any] = {"size": len(content), "truncated": len(content) > KEPT_BODY}
    try:
        whole, key = content.decode("utf-8"), "text"
    except UnicodeDecodeError:
        whole, key = content.decode("latin-1"), "base64"
    kept = redactor.beginning(whole, KEPT_BODY)
    facts[key] = kept if key == "text" else _in_base64(kept)
    # The digest of a short body with a password in it would let the password be guessed at leisure.
    summed = kept.encode("utf-8", "surrogatepass") if kept != whole[:KEPT_BODY] else content
    facts["sha256"] = hashlib.sha256(summed).hexdigest()
    return facts


def _as_template(shown: str, before: str) -> str:
    """A redacted header with `$TOKEN` in it; one whose secret was all it held is a token in another form."""
    return f"{before}{TOKEN}{UNKNOWN}" if shown == before + REDACTED else shown.replace(REDACTED, TOKEN)


def _in_base64(text: str) -> str:
    return base64.b64encode(text.encode("latin-1", "replace")).decode("ascii")


def texts(value: Any) -> Iterator[str]:
    """Every text at the first two levels of a JSON value."""
    members = value.values() if isinstance(value, dict) else ()
    for member in members:
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict):
            yield from (inner for inner in member.values() if isinstance(inner, str))
