"""Redaction of other programs' traffic: learns their secrets from where they stand, as exchanges pass."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, Response
from registry_contracts.exchanges.redaction import (
    MOST_OF_A_BODY,
    REDACTED,
    SECRET_HEADERS,
    SENSITIVE_NAMES,
    SHORTEST_SECRET,
    SHORTEST_TOKEN,
    Redactor,
    is_sign_in,
    tokens_in,
)

#: Programs without a secret send these.
_NO_SECRETS: Final = frozenset({"null", "none", "undefined", "true", "false", "[object object]"})
_SECRET_NAME: Final = re.compile(SENSITIVE_NAMES, re.IGNORECASE)
_MEMBER: Final = re.compile(rf'("(?:{SENSITIVE_NAMES})"\s*:\s*")((?:[^"\\]|\\.)*)(")', re.IGNORECASE)
#: An escaped letter, or any other escape: of two backslashes the second one must not begin an escape.
_ESCAPE: Final = re.compile(r"\\(?:u00(4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])|.)", re.IGNORECASE)
_PARAMETER: Final = re.compile(
    rf"((?:^|[?&;])(?:{SENSITIVE_NAMES}|token)=)([^&;#\s]*)", re.IGNORECASE | re.ASCII
)
_KEY_HEADERS: Final = frozenset({"x-api-key", "x-auth-token", "x-access-token", "x-csrf-token"})


class TrafficRedactor(Redactor):
    """Takes the secrets out of traffic of unknown accounts."""

    def learn_from(self, exchange: Exchange) -> None:
        """Learn the secrets of an exchange, before any of it is kept or quoted."""
        for secret in _secrets(exchange):
            if (
                len(secret) >= SHORTEST_SECRET
                and REDACTED not in secret
                and secret.lower() not in _NO_SECRETS
            ):
                self.learn(secret)

    def withheld(self, exchange: Exchange) -> Exchange:
        """Blank the bodies of a sign-in whose secrets are not where the interface puts them: any text may be secret."""
        if not is_sign_in(exchange):
            return exchange
        request, response = exchange.request_body, exchange.response
        understood = _understood(request)
        if understood and (response is None or _tells_token(response)):
            return exchange
        # An answer may quote what it was asked.
        hidden = response and replace(response, body=_withheld(response.body), reason="")
        return replace(exchange, request_body=request if understood else _withheld(request), response=hidden)

    def content(self, content: bytes, *, all_secret: bool = False) -> bytes:
        """Replace known secrets, and values under the names of secrets."""
        text = _MEMBER.sub(rf"\g<1>{REDACTED}\g<3>", content.decode("latin-1"))
        named = _PARAMETER.sub(rf"\g<1>{REDACTED}", text).encode("latin-1")
        return super().content(named, all_secret=all_secret)

    def header(self, name: str, value: str) -> str:
        """Return a header's value without secrets; a key is blanked."""
        return REDACTED if name.lower() in _KEY_HEADERS else super().header(name, value)


#: Replaces a sign-in's body without an e-mail and a password in one object, and an answer without a token.
NOT_UNDERSTOOD: Final = "[redacted: the body of a sign-in that is not understood]"


def _understood(body: Body) -> bool:
    """Whether a sign-in's body is a plain object with its secrets in the expected members."""
    if body == NO_BODY or (not body.content and not body.whole):
        return True
    sent = body.json if body.whole and body.flaw is None else None
    return isinstance(sent, dict) and all(
        isinstance(value, str)
        if name == "email" or _SECRET_NAME.fullmatch(name)
        else value in (True, False, None)
        for name, value in sent.items()
    )


def _tells_token(response: Response) -> bool:
    """Whether an answer to a sign-in has its tokens in the expected places; a refusal has none."""
    body = response.body
    if not 200 <= response.status < 300 or len(body.text.strip()) < SHORTEST_TOKEN:
        return True
    return body.whole and next(tokens_in(body.json), None) is not None


def _withheld(body: Body) -> Body:
    return Body(NOT_UNDERSTOOD.encode(), body.size, whole=False) if body.content else body


def _secrets(exchange: Exchange) -> Iterator[str]:
    request, response = exchange.request_body, exchange.response
    if is_sign_in(exchange) and response is not None and 200 <= response.status < 300:
        yield from tokens_in(response.json)
    for name, value in (*exchange.request_headers.pairs, *(response.headers.pairs if response else ())):
        if name.lower() in SECRET_HEADERS:
            yield from _of_header(name.lower(), value)
        elif name.lower() in _KEY_HEADERS:
            yield value
    for name, value in parse_qsl(urlsplit(exchange.url).query):
        if _SECRET_NAME.fullmatch(name) or name.lower() == "token":
            yield value
    for body in (request, *([response.body] if response else [])):
        if body.content.lstrip()[:1] in (b"{", b"["):
            long = (value for value in _members(body.text) if len(value) >= SHORTEST_SECRET)
            yield from islice(dict.fromkeys(long), MOST_OF_A_BODY)


def _of_header(name: str, value: str) -> Iterator[str]:
    if name in ("cookie", "set-cookie"):
        pieces = value.split(";") if name == "cookie" else value.split(";")[:1]
        values = (piece.partition("=")[2].strip() for piece in pieces)
        yield from (secret for secret in values if len(secret) >= SHORTEST_TOKEN)
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


def _members(text: str) -> Iterator[str]:
    """Yield the values of members with the names of secrets, in JSON or nearly JSON."""
    # Letters are unescaped; an unescaped quote or backslash would end a text too early.
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[0], text)
    for found in _MEMBER.finditer(plain):
        try:
            yield json.loads(f'"{found[2]}"', strict=False)
        except ValueError:
            yield found[2]
