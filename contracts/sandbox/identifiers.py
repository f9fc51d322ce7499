"""The identifier rule (uid), applied to every operation with a uid.

The document prints the pattern with a doubled backslash; its prose is the rule: letters, digits, hyphen and
underscore, 11 to 128 characters, case-sensitive.
"""

import re
import secrets
from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from contracts.sandbox.refusals import bad_request

_UID = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")

RULE = "letters, digits, hyphen and underscore, 11 to 128 characters"


def decoded_segment(raw: str) -> str | None:
    """Return one path segment with its percent-encoding undone exactly once.

    Args:
        raw: the segment as it came over the wire.

    Returns:
        The text, or ``None`` when it is not valid percent-encoded UTF-8.

    """
    if _BAD_ESCAPE.search(raw):
        return None
    try:
        return unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        return None


class IdentifierRule:
    """Decides which texts are identifiers, and makes new ones."""

    def holds(self, text: str) -> bool:
        """Tell whether a text obeys the identifier rule (the whole of it; no trailing newline)."""
        return _UID.fullmatch(text) is not None

    def from_path(self, request: Request, name: str = "uid") -> str:
        """Return the identifier in the path.

        Args:
            request: the request; its path parameters are still percent-encoded.
            name: the placeholder's name.

        Raises:
            Refusal: the segment is no identifier (Identifier rule).

        """
        text = decoded_segment(request.path_params[name])
        if text is None or not self.holds(text):
            raise bad_request(f"{name} must be {RULE}")
        return text

    def mint(self) -> str:
        """Return a new identifier that nobody has used (24 hexadecimal digits)."""
        return secrets.token_hex(12)
