"""Reads a body as JSON exactly, says what is wrong with it, and keeps its depth and number of values in bounds."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from registry_contracts.file_formats import whole_number

#: Deeper than any answer of a service in its right mind; readers walk through it by recursion.
DEEPEST: Final = 300
#: More values than this take up many times the room of the text they stand in.
MOST_VALUES: Final = 1_000_000
_TOO_DEEP: Final = f"nested deeper than {DEEPEST} levels"
_OPENINGS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class _Flawed(Exception):
    """Why a body is no JSON, in a few words."""


def read_json(content: bytes) -> tuple[Any, str | None]:
    """Read a body.

    Returns:
        The value, or None when the body is not JSON; and what is wrong with it, or None when nothing is. A member
        that stands twice is read as most readers do, the last one counts, and is named nevertheless.
    """
    doubled: list[str] = []
    try:
        value = _parsed(content, doubled)
    except _Flawed as flaw:
        return None, str(flaw)
    if doubled:
        return value, f"the member {doubled[0]!r} stands twice in one object"
    marked = content.startswith(_BYTE_ORDER_MARKS)
    return value, "a byte order mark, which JSON does not have" if marked else None


def _parsed(content: bytes, doubled: list[str]) -> Any:
    """The value of a body; names of members that stand twice in an object are put into `doubled`."""
    if not content.strip():
        raise _Flawed("an empty body")
    if _too_deep(content):
        raise _Flawed(_TOO_DEEP)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            doubled.extend(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        return members

    try:
        return json.loads(
            content, object_pairs_hook=members, parse_constant=_no_constant, parse_int=whole_number
        )
    except UnicodeDecodeError:
        raise _Flawed("bytes that are not UTF-8") from None
    except RecursionError:
        raise _Flawed(_TOO_DEEP) from None
    except ValueError:
        raise _Flawed("not JSON") from None


def holds_masses(content: bytes | bytearray) -> bool:
    """Whether a body holds so many values that reading them would take up all memory."""
    return content.count(b",") + content.count(b"[") + content.count(b"{") > MOST_VALUES


def _no_constant(name: str) -> Any:
    raise _Flawed(f"{name}, which is no JSON value")


def _too_deep(content: bytes) -> bool:
    if content.count(b"[") + content.count(b"{") <= DEEPEST:
        return False
    depth = 0
    for sign in _OPENINGS.finditer(content):
        first = sign.group()[:1]
        depth += (first in b"[{") - (first in b"]}")
        if depth > DEEPEST:
            return True
    return False
