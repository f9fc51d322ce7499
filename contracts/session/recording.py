"""Writes exchanges to the journal, with secrets taken out first."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts.evidence.journal import Journal
from contracts.session.door import Context
from contracts.session.exchange import Answer, Exchange
from contracts.session.redaction import Redactor
from contracts.session.tokens import read_timestamp

#: Bytes of a body that are kept; the size and the digest of the rest always are.
KEPT_BODY = 16 * 1024
#: Texts of this length in the answer to signing in are taken for tokens, but for timestamps.
SHORTEST_TOKEN = 12


class JournalRecorder:
    """The door's recorder: one journal event an exchange."""

    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    def exchange(self, exchange: Exchange, context: Context) -> None:
        """Write one exchange down, redacted."""
        self._learn_token(exchange)
        started = datetime.now(UTC) - timedelta(seconds=exchange.seconds)
        self._journal.write(
            "exchange",
            id=exchange.id,
            case=context.case,
            attempt=context.attempt,
            realm=context.realm,
            role=context.role,
            operation=exchange.operation,
            started=started.isoformat(),
            seconds=exchange.seconds,
            request=self._request(exchange),
            response=self._response(exchange.response),
            fault=exchange.fault,
            retries=exchange.retries,
        )

    def _learn_token(self, exchange: Exchange) -> None:
        """A new token is a secret from its first appearance on, under whatever name it comes."""
        answer = exchange.response
        if exchange.operation != "createToken" or answer is None or not answer.success:
            return
        for value in texts(answer.json):
            if len(value) >= SHORTEST_TOKEN and read_timestamp(value) is None:
                self._redactor.learn(value)

    def fault(self, fault: str, context: Context) -> None:
        """Write an environment fault down."""
        self._journal.write("fault", fault=fault, case=context.case, realm=context.realm)

    def _request(self, exchange: Exchange) -> dict[str, Any]:
        return {
            "method": exchange.method,
            "url": self._redactor.text(exchange.url),
            "http_version": "HTTP/1.1",
            "headers": self._headers(exchange.request_headers),
            "body": self._body(exchange.request_body),
        }

    def _response(self, answer: Answer | None) -> dict[str, Any] | None:
        if answer is None:
            return None
        return {
            "status": answer.status,
            "reason": self._redactor.text(answer.reason),
            "http_version": "HTTP/1.1",
            "headers": self._headers(answer.headers),
            "body": self._body(answer.content),
        }

    def _headers(self, headers: Mapping[str, str]) -> list[list[str]]:
        return self._redactor.headers(headers.items())

    def _body(self, content: bytes | None) -> dict[str, Any] | None:
        if content is None:
            return None
        facts: dict[str, Any] = {"size": len(content), "truncated": len(content) > KEPT_BODY}
        facts["sha256"] = hashlib.sha256(content).hexdigest()
        try:
            # The whole body is searched, so that a secret astride the cut does not leave its first half.
            facts["text"] = self._redactor.text(content.decode("utf-8"))[:KEPT_BODY]
        except UnicodeDecodeError:
            kept = self._redactor.bytes(content)[:KEPT_BODY]
            facts["base64"] = base64.b64encode(kept).decode("ascii")
        return facts


def texts(value: Any) -> Iterator[str]:
    """Every text at the first two levels of a JSON value."""
    members = value.values() if isinstance(value, dict) else ()
    for member in members:
        if isinstance(member, str):
            yield member
        elif isinstance(member, dict):
            yield from (inner for inner in member.values() if isinstance(inner, str))
