"""Checks of the chapter on attachments: the preview image."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from contracts.checks.check import Arguments, Check, Needs, Subject
from contracts.exchanges import images
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


IMAGE: Final = Check(
    "image",
    "an image",
    _no_image,
    clauses=("attachment-thumbnail-image",),
    needs=Needs.FACTS,
    applies=_of_a_picture,
)
CHECKS: Final = (IMAGE,)
