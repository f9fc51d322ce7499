"""The disguises a secret may wear in a text: percent signs, escapes, entities, Base64, hexadecimal."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_plus

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
#: Disguises one over the other; nobody wears more by accident.
_LAYERS: Final = 2
#: A shorter secret stands in the codes of other things by chance.
_SHORTEST_CODED: Final = 6


class Disguises:
    """Looks for secrets in texts, whatever they wear.

    What can be taken off (percent signs, escapes, entities) is taken off the text; codes that depend on where a secret
    stands (Base64) are made of the secret, once.
    """

    def __init__(self) -> None:
        self._plain: set[str] = set()
        self._coded: set[str] = set()

    def add(self, secret: str) -> None:
        """Look for one more secret."""
        raw = secret.encode("utf-8", "surrogatepass")
        self._plain |= {secret.lower(), raw.decode("latin-1").lower()}
        if len(secret) >= _SHORTEST_CODED:
            self._plain.add(raw.hex())
            self._coded |= {code.lower() for code in in_base64(raw)}

    def seen_in(self, text: str) -> bool:
        """Whether any secret stands in a text, in any letter case."""
        return any(self._stands_in(view.lower()) for view in _views(text))

    def _stands_in(self, lowered: str) -> bool:
        if any(secret in lowered for secret in self._plain):
            return True
        signs = lowered.replace("-", "+").replace("_", "/")  # as Base64 is written where a URL may hold it
        return any(code in signs for code in self._coded)


def in_base64(raw: bytes) -> Iterator[str]:
    """The signs that stand for some bytes wherever they stand in a longer text, for each of three places."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode("ascii").rstrip("=")
        # The first and the last signs depend on the neighbours.
        yield coded[(0, 2, 3)[before] : len(coded) - 1]


def _views(text: str) -> Iterator[str]:
    """A text, and what it says with one and with two layers taken off."""
    yield text
    layer = [text]
    for _ in range(_LAYERS):
        layer = [view for each in layer for view in _uncovered(each)]
        yield from layer


def _uncovered(text: str) -> Iterator[str]:
    if "%" in text:
        yield unquote_plus(text, errors="replace")
        yield unquote_plus(text, encoding="latin-1")
    if "&" in text:
        yield html.unescape(text)
    if "\\" in text:
        yield _ESCAPE.sub(_unescaped, text)
    if "\0" in text:
        yield text.replace("\0", "")


def _unescaped(escape: re.Match[str]) -> str:
    code = escape.group(1) or escape.group(2)
    return chr(int(code, 16)) if code else escape.group(3)
