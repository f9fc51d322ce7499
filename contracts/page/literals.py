"""Values of a request as Python: identifiers of the bench become fresh ones of the run that the test is part of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_WIDTH: Final = 88
_INDENT: Final = "    "
#: What an identifier of the namespace looks like where nobody spoilt it.
_OWN: Final = re.compile(r"[a-z0-9]+")
_USUAL_LENGTH: Final = 24


class Literals:
    """Writes values.

    Args:
        prefix: What identifiers of the bench begin with.
        known: Identifiers of the valid request, each with the expression that stands for it.

    Attributes:
        preamble: Lines that have to come before whatever was written.
    """

    def __init__(self, prefix: str, known: Mapping[str, str]) -> None:
        self._prefix = prefix
        self._known = known
        self._names: dict[str, str] = {}
        self.preamble: list[str] = []

    @property
    def fresh(self) -> bool:
        """Whether something that was written needs the fixture `fresh`."""
        return bool(self._names) or self._prefixed

    _prefixed = False

    def value(self, value: Any, indent: str = "") -> str:
        """A JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list):
            return repr(value)
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        inner = indent + _INDENT
        if isinstance(value, dict):
            items = [f"{self.text(name)}: {self.value(each, inner)}" for name, each in value.items()]
        else:
            items = [self.value(each, inner) for each in value]
        short = f"{opening}{', '.join(items)}{closing}"
        if len(indent) + len(short) <= _WIDTH and "\n" not in short:
            return short
        lines = "".join(f"{inner}{item},\n" for item in items)
        return f"{opening}\n{lines}{indent}{closing}"

    def text(self, text: str) -> str:
        """A text; the identifiers in it are fresh in the test."""
        if text in self._known:
            return self._known[text]
        if self._prefix not in text:
            return self.quoted(text)
        if text.startswith(self._prefix) and _OWN.fullmatch(text[len(self._prefix) :]):
            return self._named(text)
        self._prefixed = True
        pieces = [self.quoted(piece) if piece else "" for piece in text.split(self._prefix)]
        joined = " + fresh.prefix + ".join(pieces)
        return joined.removeprefix(" + ").removesuffix(" + ")

    def quoted(self, text: str) -> str:
        """A text in double quotes, as the cases write them."""
        shown = repr(text)
        if shown[0] == "'" and '"' not in text:
            return f'"{shown[1:-1]}"'
        return shown if '"' in text and "'" not in text else json.dumps(text) if text.isprintable() else shown

    def _named(self, identifier: str) -> str:
        if identifier not in self._names:
            name = "uid" if not self._names else f"uid_{len(self._names) + 1}"
            length = len(identifier)
            asked = "" if length == _USUAL_LENGTH else str(length)
            self.preamble.append(f"{name} = fresh.uid({asked})")
            self._names[identifier] = name
        return self._names[identifier]
