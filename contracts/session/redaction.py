"""Secrets never leave the session: passwords and tokens are blanked out before anything is written down."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
#: Headers whose value is a credential whatever it holds.
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})


class Redactor:
    """Knows the run's secrets, in the forms they take on the wire, and blanks them out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: set[str] = set()
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Add a secret; as written, as a JSON string and as it stands in a URL."""
        if secret:
            self._forms |= {secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret)}

    def text(self, text: str) -> str:
        """The text with every known secret replaced."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Header pairs with credentials blanked; the scheme of an Authorization value stays readable."""
        return [[name, self._header(name, value)] for name, value in headers]

    def _header(self, name: str, value: str) -> str:
        if name.lower() not in SECRET_HEADERS:
            return self.text(value)
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {REDACTED}" if space and scheme.isalpha() else REDACTED
