"""Long texts made short; it stands below all packages, those that may import no other included.

Text from the wire made safe for a file: encodable as UTF-8, without control or direction characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; one that was longer ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


# Control characters but tab and newline, lone surrogates, bidirectional overrides (which reorder what a
# reader sees) and the two that no XML may hold.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BACKTICKS = re.compile("`+")


def printable(text: str) -> str:
    r"""Return the text with every character that could not be seen written as its escape, like `\x1b`."""
    return _UNPRINTABLE.sub(_escape, text.replace("\r\n", "\n"))


def encodable(value: Any) -> Any:
    """Return a JSON value with lone surrogates written as their escapes, members and items included."""
    if isinstance(value, str):
        return _SURROGATE.sub(_escape, value)
    if isinstance(value, Mapping):
        return {encodable(key): encodable(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a JSON value as text that any file and terminal takes; a lone surrogate stands in it as JSON's escape."""
    return _SURROGATE.sub(_escape, json.dumps(value, indent=indent, ensure_ascii=False))


def fenced(text: str, language: str = "") -> str:
    """Return a Markdown code block that no text can close from within."""
    longest = max((len(ticks) for ticks in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{printable(text)}\n{fence}"


def plain_line(text: str, limit: int = 160) -> str:
    """Return a text on one line, at most `limit` characters, without any that a terminal would obey."""
    return cut(" ".join(printable(text).split()), limit)


def inline(text: str, limit: int = 300) -> str:
    """Return one line of Markdown, safe in a table cell, at most `limit` characters of the text."""
    return re.sub(r"([\\`*_\[\]<>|~#&])", r"\\\1", plain_line(text, limit))


def many(number: int, noun: str) -> str:
    """Return a number with its noun: `1 case`, `2,000 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
