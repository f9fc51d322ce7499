"""Reads a body as strict JSON, names its flaws, and limits its depth and number of values."""

from __future__ import annotations

import json
from typing import Any, Final

from registry_contracts.file_formats import nests_deeper, whole_number

#: Deepest nesting, since readers are recursive; far deeper than a sensible answer.
DEEPEST: Final = 300
#: Most values, since each takes much more memory than its text.
MOST_VALUES: Final = 1_000_000
_TOO_DEEP: Final = f"nested deeper than {DEEPEST} levels"
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class _Flawed(Exception):
    """A body is not JSON, for the reason in the text."""


def read_json(content: bytes) -> tuple[Any, str | None]:
    """Read a body.

    Returns:
        The value, or None if the body is not JSON; and its flaw, or None. Of a member that an object holds twice the
        last one counts, as most readers do it, and the flaw names it.
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
    """The value of a body; adds the names of duplicate members of objects to `doubled`."""
    if not content.strip():
        raise _Flawed("an empty body")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            seen: set[str] = set()
            doubled.extend(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        return members

    try:
        value = json.loads(
            content, object_pairs_hook=members, parse_constant=_no_constant, parse_int=whole_number
        )
    except UnicodeDecodeError:
        raise _Flawed("bytes that are not UTF-8") from None
    except RecursionError:
        raise _Flawed(_TOO_DEEP) from None
    except ValueError:
        raise _Flawed("not JSON") from None
    if nests_deeper(value, DEEPEST):
        raise _Flawed(_TOO_DEEP)
    return value


def holds_masses(content: bytes | bytearray) -> bool:
    """Whether a body holds too many values to be read into memory."""
    return content.count(b",") + content.count(b"[") + content.count(b"{") > MOST_VALUES


def _no_constant(name: str) -> Any:
    raise _Flawed(f"{name}, which is not a JSON value")
