"""Checks of the chapter on attachments: the preview image, the bytes of a file, and its place in the list."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from contracts.checks.check import Arguments, Check, Subject
from contracts.exchanges import readers
from contracts.exchanges import readers as images
from contracts.exchanges.exchange import Response

_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif"})


def _of_a_picture(subject: Subject, _: str) -> Arguments | None:
    if not subject.success or subject.facts is None:
        return None
    ending = PurePosixPath(subject.facts.path.get("filename", "")).suffix.lower()
    return {} if ending in _PICTURES else None


def _no_image(response: Response) -> str | None:
    if images.is_image(response):
        return None
    return f"{response.media_type or 'no type'}, {len(response.content)} bytes"


def digest_of(content: bytes) -> str:
    """The digest by which bytes are compared: SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def _other_bytes(response: Response, *, size: int, digest: str) -> str | None:  # noqa: ARG001 - part of its wording
    if digest_of(response.content) == digest:
        return None
    return f"{len(response.content)} bytes, others than were sent"


def _not_listed(response: Response, *, filename: str, numbers: Sequence[int]) -> str | None:
    listed = filename in response.text or not set(numbers).isdisjoint(readers.integers(response.json))
    return None if listed else f"{len(readers.records(response) or ())} attachments without it"


IMAGE: Final = Check(
    "image",
    "an image",
    _no_image,
    clauses=("attachment-thumbnail-image",),
    applies=_of_a_picture,
)
SAME_BYTES: Final = Check(
    "same-bytes",
    "the {size} bytes that were sent",
    _other_bytes,
)
LISTED: Final = Check(
    "attachment-listed",
    "a list with {filename}",
    _not_listed,
)
CHECKS: Final = (IMAGE, SAME_BYTES, LISTED)
