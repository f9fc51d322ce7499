"""The document that a request's address names, and whether the request may change anything."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

_SUBJECT: Final = re.compile(r"/api/v\d+/documents/(?:schemas/[^/]+/)?(?P<name>[^/]+)")
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGN_IN: Final = "/authentication/token"
#: The subject of lists, creations and other requests whose address names no document.
EVERYTHING: Final = "*"


def subject_of(url: str) -> str:
    """The document that an address names; `EVERYTHING` if it names none."""
    match = _SUBJECT.search(urlsplit(url).path)
    name = unquote(match["name"]) if match else ""
    return EVERYTHING if not name or name == "schemas" else name


def writes(method: str, url: str) -> bool:
    """Whether a request may change anything; signing in does not."""
    return method.upper() not in _READS and not urlsplit(url).path.endswith(_SIGN_IN)
