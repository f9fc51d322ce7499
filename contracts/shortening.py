"""Long texts made short; it stands below all packages, those that may import no other included."""

from __future__ import annotations


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; one that was longer ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
