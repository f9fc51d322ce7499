"""JSON as the sandbox writes it: in UTF-8, and with an escape for what UTF-8 does not hold."""

import json
import re
from typing import Any

from starlette.responses import JSONResponse

_HALVES = re.compile("[\ud800-\udfff]")


def json_text(value: Any) -> str:
    """Return a JSON value as text, in the order and with the numbers it came with.

    Raises:
        ValueError: a number that JSON does not have, such as NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def json_bytes(value: Any) -> bytes:
    """Return a JSON value as the bytes of its text."""
    return json_text(value).encode("utf-8")


class JsonAnswer(JSONResponse):
    """An answer in JSON; half of a surrogate pair, which a draft may hold, stands in it as an escape."""

    def render(self, content: Any) -> bytes:
        """Return the body; what JSON does not have, such as NaN, raises ValueError."""
        return json_bytes(content)
