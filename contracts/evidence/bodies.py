"""Reads recorded bodies as JSON for the reports: the one place where text of the wire becomes values of a report.

JSON can carry more than a file can: half of a surrogate pair stands in it as an escape, and becomes a character that no
UTF-8 holds as soon as it is read. What comes from here fits any writer. The judging side reads bodies by itself,
exactly.
"""

import json
from collections.abc import Mapping
from typing import Any

from contracts.evidence.plain import encodable


def json_of(body: Mapping[str, Any] | None) -> Any:
    """Return a recorded body as JSON, or None when it is none or was not kept whole."""
    text = body.get("text") if body and not body.get("truncated") else None
    if not text:
        return None
    try:
        return encodable(json.loads(text, parse_constant=_refuse))
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")
