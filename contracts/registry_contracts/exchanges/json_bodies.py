"""Reads a body as strict JSON, names its flaws, and limits its depth and number of values."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from registry_contracts.file_formats import nests_deeper, whole_number

#: Deepest nesting, since readers are recursive; far deeper than a sensible answer.
DEEPEST: Final = 300
#: Most values, since each takes much more memory than its text.
MOST_VALUES: Final = 1_000_000
_TOO_DEEP: Final = f"nested deeper than {DEEPEST} levels"
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class _NotAValue(Exception):
    """A body holds a constant that is not JSON, which the text names."""


def read_json(content: bytes) -> tuple[Any, str | None]:
    """Read a body.

    Returns:
        The value, or None if the body is not JSON; and its flaw, or None. Of a member that an object holds twice the
        last one counts, as most readers do it, and the flaw names it.
    """
    if not content.strip():
        return None, "an empty body"
    doubled: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            doubled.extend(name for name, times in counts.items() if times > 1)
        return members

    try:
        value = json.loads(
            content, object_pairs_hook=members, parse_constant=_no_constant, parse_int=whole_number
        )
        flaw = _TOO_DEEP if nests_deeper(value, DEEPEST) else None
    except RecursionError:
        flaw = _TOO_DEEP
    except UnicodeDecodeError:
        flaw = "bytes that are not UTF-8"
    except _NotAValue as constant:
        flaw = f"{constant}, which is not a JSON value"
    except ValueError:
        flaw = "not JSON"
    if flaw:
        return None, flaw
    if doubled:
        return value, f"the member {doubled[0]!r} stands twice in one object"
    marked = content.startswith(_BYTE_ORDER_MARKS)
    return value, "a byte order mark, which JSON does not have" if marked else None


def holds_masses(content: bytes | bytearray) -> bool:
    """Whether a body holds too many values to be read into memory."""
    return content.count(b",") + content.count(b"[") + content.count(b"{") > MOST_VALUES


def _no_constant(name: str) -> Any:
    raise _NotAValue(name)
