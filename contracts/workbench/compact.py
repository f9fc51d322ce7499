"""Bodies as people read them in a terminal: a member of the outermost object on one line where it fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from contracts.evidence.plain import json_text

_WIDTH: Final = 110


def compact(text: str) -> str:
    """Return a JSON text with a line for each member that fits on one, indented where it does not.

    Args:
        text: Any text; what is no JSON object or array comes back as it is.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(_lines(value, "")) if isinstance(value, dict | list) else text


def _lines(value: Any, indent: str, name: str = "", comma: str = "") -> Iterator[str]:
    start = f"{indent}{json_text(name)}: " if name else indent
    short = json_text(value)
    if not isinstance(value, dict | list) or not value or (indent and len(start + short) < _WIDTH):
        yield f"{start}{short}{comma}"
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield start + opening
    members = list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
    for number, (key, member) in enumerate(members, 1):
        yield from _lines(member, indent + "  ", key, "," if number < len(members) else "")
    yield f"{indent}{closing}{comma}"
