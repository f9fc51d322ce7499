"""Redaction of other programs' traffic: secrets are learned from where they stand as exchanges pass."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from contracts.exchanges.exchange import Body, Exchange
from contracts.exchanges.redaction import REDACTED, SECRET_HEADERS, SHORTEST_TOKEN, Redactor, tokens_in

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


class TrafficRedactor(Redactor):
    """Takes the secrets out of traffic whose accounts need not be known.

    Args:
        secrets: Those that are known beforehand, such as the passwords of a target's accounts.
    """

    def learn_from(self, exchange: Exchange) -> None:
        """Learn the secrets that an exchange holds, before anything of it is kept or quoted."""
        for secret in _secrets(exchange):
            if len(secret) >= _SHORTEST and REDACTED not in secret and secret.lower() not in _NO_SECRETS:
                self.learn(secret)

    def stands_in(self, texts: Iterable[str]) -> bool:  # noqa: ARG002 - a member's name may tell a secret
        """Always true: what the name of a member or a parameter says is secret need not be known."""
        return True

    def text(self, text: str) -> str:
        """The text without secrets, those included that stand under a name that says so."""
        return super().text(_PARAMETER.sub(rf"\g<1>{REDACTED}", _MEMBER.sub(rf"\g<1>{REDACTED}\g<3>", text)))

    def header(self, name: str, value: str) -> str:
        """The value of a header without secrets; that of a key is blanked."""
        return self.text(super().header(name, REDACTED if name.lower() in _KEY_HEADERS else value))


def credential(exchange: Exchange) -> str | None:
    """The token of a request; None for none, and for one that was blanked out of a recording."""
    value = (exchange.request_headers.first("Authorization") or "").strip()
    token = value.partition(" ")[2].strip()
    return token if token and REDACTED not in token else None


def _secrets(exchange: Exchange) -> Iterator[str]:
    response = exchange.response
    for name, value in (*exchange.request_headers.pairs, *(response.headers.pairs if response else ())):
        if name.lower() in SECRET_HEADERS:
            yield from _of_header(name.lower(), value)
        elif name.lower() in _KEY_HEADERS:
            yield value
    for name, value in parse_qsl(urlsplit(exchange.url).query):
        if _SECRET_NAME.fullmatch(name) or name.lower() == "token":
            yield value
    yield from _members(_json(exchange.request_body))
    if response is not None:
        value = _json(response.body)
        yield from _members(value)
        if exchange.url.partition("?")[0].endswith("/authentication/token") and 200 <= response.status < 300:
            yield from tokens_in(value)


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
    """A body as JSON, read more leniently than it is judged: what is nearly JSON holds secrets as well."""
    if not body.whole or body.content.lstrip()[:1] not in (b"{", b"["):
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
