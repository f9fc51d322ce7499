"""Secrets never leave the session: passwords and tokens are blanked out before anything is written down."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
#: Headers whose value is a credential whatever it holds.
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
#: Ends a text that was cut to fit a sentence.
_CUT = "…"
#: A shorter beginning of a secret tells nothing.
_SHORTEST_BEGINNING = 4


class Redactor:
    """Knows the run's secrets, in the forms they take on the wire, and blanks them out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        #: Longest first, so that a secret inside another one does not leave the rest of it.
        self._forms: list[str] = []
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Add a secret; as written, and as it stands in JSON, in a URL, in HTML and in Python's own notation."""
        if secret and secret not in self._secrets:
            self._secrets.add(secret)
            self._forms = sorted({*self._forms, *_forms(secret)}, key=lambda form: (-len(form), form))

    def knows(self, secret: str) -> bool:
        """Whether a text is one of the run's secrets."""
        return secret in self._secrets

    def text(self, text: str) -> str:
        """The text with every known secret replaced, also one that the end of a quotation cuts in two."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return self._without_beginnings(text) if _CUT in text else text

    def bytes(self, content: bytes) -> bytes:
        """Bytes that are no text, with every known secret replaced."""
        for form in self._forms:
            content = content.replace(form.encode("utf-8", "surrogatepass"), REDACTED.encode())
        return content

    def value(self, value: Any) -> Any:
        """A JSON value with every known secret replaced, in member names too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        return value

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Header pairs with credentials blanked; the scheme of an Authorization value stays readable."""
        return [[name, self._header(name, value)] for name, value in headers]

    def _header(self, name: str, value: str) -> str:
        if name.lower() not in SECRET_HEADERS:
            return self.text(value)
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {REDACTED}" if space and scheme.isalpha() else REDACTED

    def _without_beginnings(self, text: str) -> str:
        """A quotation may end in the middle of a secret, which is then no known one any more."""
        pieces = text.split(_CUT)
        return _CUT.join([*map(self._without_beginning, pieces[:-1]), pieces[-1]])

    def _without_beginning(self, piece: str) -> str:
        for form in self._forms:
            longest = min(len(form) - 1, len(piece))
            for length in range(longest, _SHORTEST_BEGINNING - 1, -1):
                if piece.endswith(form[:length]):
                    return piece[: len(piece) - length] + REDACTED
        return piece


def _forms(secret: str) -> Iterator[str]:
    in_json = json.dumps(secret)[1:-1]
    yield from (secret, in_json, json.dumps(in_json)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (html.escape(secret), repr(secret)[1:-1])
    quoted_whole = quote(secret, safe="", errors="replace")
    for quoted in (quoted_whole, quote(secret, errors="replace"), quote_plus(secret, errors="replace")):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda found: found.group().lower(), quoted)
