"""Learns the secrets of traffic as they pass, and keeps exchanges without them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from contracts.evidence.record import RecordedExchange
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import REDACTED, SECRET_HEADERS, Redactor
from contracts.exchanges.traffic_exchange import Body, Passed, first
from contracts.session.recording import SHORTEST_TOKEN, JournalRecorder, texts
from contracts.session.tokens import read_timestamp

#: A shorter word is no secret that could be looked for: it would be blanked out of every other text.
_SHORTEST: Final = 4
#: What a program sends that has none.
_NO_SECRETS: Final = frozenset({"null", "none", "undefined", "true", "false", "[object object]"})
#: Members of a body and parameters of a query that hold secrets, whatever their value.
_NAMES: Final = "|".join(
    ("password|passwd|pwd|secret|client_?secret", "(?:access|refresh|id)_?token|authenticationToken|api_?key")
)
_SECRET_NAME: Final = re.compile(_NAMES, re.IGNORECASE)
_MEMBER: Final = re.compile(rf'("(?:{_NAMES})"\s*:\s*")((?:[^"\\]|\\.)*)(")', re.IGNORECASE)
_PARAMETER: Final = re.compile(rf"((?:^|[?&;])(?:{_NAMES}|token)=)([^&;#\s]*)", re.IGNORECASE)
_KEY_HEADERS: Final = frozenset({"x-api-key", "x-auth-token", "x-access-token", "x-csrf-token"})
#: The case of recorded traffic.
_CASE: Final = "traffic"


class Discretion:
    """Takes secrets out of what is kept.

    Args:
        redactor: Knows the secrets that are known beforehand, such as the passwords of a target's accounts.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.redactor = redactor or Redactor()
        self._kept: list[dict[str, Any]] = []
        self._recorder = JournalRecorder(self, self.redactor)

    def learn(self, passed: Passed) -> None:
        """Learn the secrets that an exchange holds, before anything of it is kept or quoted."""
        for secret in _secrets(passed):
            if len(secret) >= _SHORTEST and REDACTED not in secret and secret.lower() not in _NO_SECRETS:
                self.redactor.learn(secret)

    def text(self, text: str) -> str:
        """A text without secrets."""
        shown = _PARAMETER.sub(rf"\g<1>{REDACTED}", _MEMBER.sub(rf"\g<1>{REDACTED}\g<3>", text))
        return self.redactor.text(shown)

    def keep(self, passed: Passed, exchange: Exchange, operation: str | None, realm: str) -> RecordedExchange:
        """An exchange as it may be written down: no secrets, and of long bodies the beginning only.

        Args:
            exchange: The same, as the checks read it.
        """
        self._recorder.exchange(replace(exchange, case=_CASE, attempt=1, realm=realm, role=""))
        fields = self._kept.pop()
        request, response = fields["request"], fields["response"]
        request |= {
            "method": passed.method,
            "url": self.text(passed.url),
            "headers": self._headers(passed.request_headers),
            "body": self._body(request["body"], passed.request_body),
        }
        if response is not None:
            response["headers"] = self._headers(passed.answer_headers)
            response["body"] = self._body(response["body"], passed.answer_body)
        started = passed.at or datetime.fromtimestamp(0, UTC)
        known = {name: fields[name] for name in RecordedExchange.__dataclass_fields__ if name in fields}
        recorded = RecordedExchange(**known)
        return replace(recorded, operation=operation, role=None, started=started.isoformat())

    def write(self, kind: str, **fields: Any) -> None:
        """Take what the recorder made of an exchange."""
        if kind == "exchange":
            self._kept.append(fields)

    def _headers(self, pairs: tuple[tuple[str, str], ...]) -> list[list[str]]:
        blanked = [(name, REDACTED if name.lower() in _KEY_HEADERS else value) for name, value in pairs]
        return [[name, self.text(value)] for name, value in self.redactor.headers(blanked)]

    def _body(self, kept: dict[str, Any] | None, body: Body) -> dict[str, Any] | None:
        found = kept or {}
        if not body.known:
            return {"size": body.size, "truncated": True, "sha256": None}
        if found.get("text"):
            found = {**found, "text": self.text(str(found["text"]))}
        return found or None


def _secrets(passed: Passed) -> Iterator[str]:
    for name, value in (*passed.request_headers, *passed.answer_headers):
        if name.lower() in SECRET_HEADERS:
            yield from _of_header(name.lower(), value)
        elif name.lower() in _KEY_HEADERS:
            yield value
    for name, value in parse_qsl(urlsplit(passed.url).query):
        if _SECRET_NAME.fullmatch(name) or name.lower() == "token":
            yield value
    for body in (passed.request_body, passed.answer_body):
        yield from _members(_json(body))
    if passed.url.partition("?")[0].endswith("/authentication/token") and 200 <= passed.status < 300:
        found = (value for value in texts(_json(passed.answer_body)) if len(value) >= SHORTEST_TOKEN)
        yield from (value for value in found if read_timestamp(value) is None)


def _of_header(name: str, value: str) -> Iterator[str]:
    if name in ("cookie", "set-cookie"):
        pieces = value.split(";") if name == "cookie" else value.split(";")[:1]
        for piece in pieces:
            secret = piece.partition("=")[2].strip()
            if len(secret) >= SHORTEST_TOKEN:
                yield secret
        return
    scheme, space, secret = value.strip().partition(" ")
    token = secret.strip() if space else scheme
    if len(token) >= SHORTEST_TOKEN:
        yield token
    if scheme.lower() == "basic":
        try:
            yield base64.b64decode(secret, validate=True).decode("utf-8").partition(":")[2]
        except (binascii.Error, ValueError):
            return


def _json(body: Body) -> Any:
    if not body.known or body.content.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return json.loads(body.content)
    except (ValueError, RecursionError):
        return None


def _members(value: Any, depth: int = 4) -> Iterator[str]:
    """Values of members whose name says that they are secret."""
    if isinstance(value, Mapping) and depth:
        for name, member in value.items():
            if isinstance(member, str) and _SECRET_NAME.fullmatch(name):
                yield member
            else:
                yield from _members(member, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value[:100]:
            yield from _members(item, depth - 1)


def credential(passed: Passed) -> str | None:
    """The token of a request; None for none, and for one that was blanked out of a recording."""
    value = (first(passed.request_headers, "Authorization") or "").strip()
    token = value.partition(" ")[2].strip()
    return token if token and token != REDACTED and REDACTED not in token else None
