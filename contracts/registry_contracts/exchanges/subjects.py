"""What a request is about, as its address says, and whether it may change anything."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

_SUBJECT: Final = re.compile(r"/api/v\d+/documents/(?:schemas/[^/]+/)?(?P<name>[^/]+)")
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_SIGN_IN: Final = "/authentication/token"
#: Lists, creations whose identifier stands in the body, and everything else that names no document.
EVERYTHING: Final = "*"


def subject_of(url: str) -> str:
    """The document that a request is about, as its address names it; `EVERYTHING` where it names none."""
    match = _SUBJECT.search(urlsplit(url).path)
    name = unquote(match["name"]) if match else ""
    return EVERYTHING if not name or name == "schemas" else name


def writes(method: str, url: str) -> bool:
    """Whether a request may change anything; signing in does not."""
    return method.upper() not in _READS and not urlsplit(url).path.endswith(_SIGN_IN)
