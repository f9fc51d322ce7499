"""Checks of the chapter on attachments: a preview and its image format, the bytes of a file, its place in the list."""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final
from xml.etree import ElementTree

from contracts.checks.definition import Arguments, Check, Subject
from contracts.exchanges import readers
from contracts.exchanges.exchange import Response

#: The root of a drawing, which may carry a prefix for its namespace.
_SVG = re.compile(rb"<(?:[\w.-]+:)?svg[\s/>]")
_PNG = b"\x89PNG\r\n\x1a\n"
#: Labels that deny what they label: with them a client does not get an image, whatever the bytes are.
_DENYING = ("json", "html")
#: Control characters that stand in texts.
_IN_TEXTS = frozenset("\t\n\f\r")


def is_image(answer: Response) -> bool:
    """Whether a body is an image: of a known format, whole and not denied, or at least called one and not text."""
    body, label = answer.content, answer.media_type
    known = image_kind(body)
    if known is not None:
        return known != "" and not any(word in label for word in _DENYING)
    return label.startswith("image/") and bool(body) and not _is_text(body)


def _is_text(body: bytes) -> bool:
    """Whether a body reads as text; formats of images that are not known here are binary."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(letter < " " and letter not in _IN_TEXTS for letter in text)


def image_kind(body: bytes) -> str | None:
    """The format of an image: empty when it is one of the known formats but broken, None when it is none of them."""
    for name, begins, whole in _FORMATS:
        if begins(body):
            return name if whole(body) else ""
    return None


def _png_whole(body: bytes) -> bool:
    """Every chunk is there with the right checksum, a header first, pixels, and the end last."""
    at, names = len(_PNG), []
    while at + 12 <= len(body):
        size = struct.unpack(">I", body[at : at + 4])[0]
        name, data = body[at + 4 : at + 8], body[at + 8 : at + 8 + size]
        stored = body[at + 8 + size : at + 12 + size]
        if stored != struct.pack(">I", zlib.crc32(name + data)):
            return False
        names.append(name)
        at += 12 + size
    return bool(names) and names[0] == b"IHDR" and b"IDAT" in names and names[-1] == b"IEND"


def _svg_begins(body: bytes) -> bool:
    head = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"<") and _SVG.search(head) is not None


def _svg_whole(body: bytes) -> bool:
    if b"<!ENTITY" in body:
        return False  # entities can unfold to any size, and no picture needs them
    try:
        return ElementTree.fromstring(body).tag.rpartition("}")[2] == "svg"  # noqa: S314 - entities are shut out above
    except ElementTree.ParseError:
        return False


_FORMATS = (
    ("png", lambda body: body.startswith(_PNG), _png_whole),
    ("jpeg", lambda body: body.startswith(b"\xff\xd8\xff"), lambda body: b"\xff\xd9" in body[-64:]),
    (
        "gif",
        lambda body: body[:6] in (b"GIF87a", b"GIF89a"),
        lambda body: body.rstrip(b"\x00").endswith(b";"),
    ),
    (
        "webp",
        lambda body: body[:4] == b"RIFF" and body[8:12] == b"WEBP",
        lambda body: len(body) >= struct.unpack("<I", body[4:8])[0] + 8,
    ),
    ("bmp", lambda body: body[:2] == b"BM", lambda body: len(body) >= struct.unpack("<I", body[2:6])[0] > 0),
    (
        "avif",
        lambda body: body[4:12] in (b"ftypavif", b"ftypavis", b"ftypheic"),
        lambda body: b"mdat" in body,
    ),
    ("svg", _svg_begins, _svg_whole),
)

_PICTURES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif"})


def _of_a_picture(subject: Subject, _: str) -> Arguments | None:
    if not subject.success or subject.facts is None:
        return None
    ending = PurePosixPath(subject.facts.path.get("filename", "")).suffix.lower()
    return {} if ending in _PICTURES else None


def _no_image(response: Response) -> str | None:
    if is_image(response):
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
