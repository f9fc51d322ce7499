"""Files to attach: bytes that services tend to spoil, pictures of a few lines, and bodies too large to hold."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contracts.judging.outcomes import Untested

_BLOCK: Final = 64 * 1024

#: Small files by what they try: one byte, every byte value, line ends and nulls, text that looks like something else.
SMALL: Final[dict[str, bytes]] = {
    "one.bin": b"x",
    "every-byte.bin": bytes(range(256)) * 2,
    "line-ends.txt": b"\x00one\r\ntwo\nthree\rfour\x00\x1a\r\n\r\n",
    "marked.json": b'\xef\xbb\xbf{"not": "parsed", "again": 1.0}\n',
}
#: Names that are allowed or not, by what they try; the document does not say.
UNUSUAL_NAMES: Final[dict[str, str]] = {
    "script and length": "na\u00efve 文件 \U0001f30d" + "n" * 150 + ".txt",
    "spaces, dots, reserved": "100%25 & more.. +; it's #1?.tar.gz",
}


def content(size: int, seed: int = 0) -> bytes:
    """Bytes of a length, of all values; no two blocks and no two seeds are the same."""
    return b"".join(blocks(size, seed))


def blocks(size: int, seed: int = 0) -> Iterator[bytes]:
    """The same bytes in pieces; sent so, a body has no announced length (chunked)."""
    pattern = bytes(range(256)) * (_BLOCK // 256)
    for number in range(0, size, _BLOCK):
        block = struct.pack(">QQ", number, seed) + pattern
        yield block[: min(_BLOCK, size - number)]


class Announced:
    """The same bytes in pieces, sent with their length announced (Content-Length).

    Args:
        size: Bytes.
    """

    def __init__(self, size: int, seed: int = 0) -> None:
        self._size = size
        self._seed = seed

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        return blocks(self._size, self._seed)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal digits."""
        found = hashlib.sha256()
        for block in self:
            found.update(block)
        return found.hexdigest()


def png(red: int, green: int, blue: int, width: int = 96, height: int = 64) -> bytes:
    """A valid PNG picture: a frame of one colour around a white field."""
    colour, white = bytes((red, green, blue)), b"\xff\xff\xff"
    edge = b"\x00" + colour * width
    side = b"\x00" + colour * (width // 4) + white * (width - 2 * (width // 4)) + colour * (width // 4)
    rows = edge * (height // 4) + side * (height - 2 * (height // 4)) + edge * (height // 4)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


#: Two pictures that no preview can take for each other.
RED: Final = png(200, 16, 16)
BLUE: Final = png(16, 16, 200, width=64, height=96)


#: 1 GB is a thousand million bytes or 2 to the power of 30: the document does not say which.
ONE_GIGABYTE: Final = (10**9, 2**30)
#: Larger files are sent in the profile `full` only.
LARGEST_EVERYDAY: Final = 64 * 1024**2


@dataclass(frozen=True)
class Limit:
    """Sizes around the limit for created attachments, in bytes.

    Attributes:
        within: Somewhat below it.
        exact: The limit itself, where the settings name it; the document leaves open what a gigabyte is.
        above: The smallest size that is above it by any reading.
    """

    within: int
    exact: int | None
    above: int


def upload_limit(known: int | None, *, everything: bool) -> Limit:
    """The limit of a target.

    Args:
        known: The setting, in bytes.
        everything: Whether a gigabyte may be sent.

    Raises:
        Untested: the limit is not known, or too large for this profile.
    """
    if known is None and not everything:
        raise Untested(
            "setting attachments.size_limit_bytes is missing, and 1 GB is sent in the profile full only"
        )
    if known is not None and known > LARGEST_EVERYDAY and not everything:
        raise Untested(f"a file of {known} bytes is sent in the profile full only")
    low, high = (known, known) if known is not None else ONE_GIGABYTE
    return Limit(low - low // 50, known, high + 1)


def exactly(limit: Limit) -> int:
    """The limit to the byte.

    Raises:
        Untested: it is not known that well.
    """
    if limit.exact is None:
        raise Untested("setting attachments.size_limit_bytes is missing, and 1 GB may mean two sizes")
    return limit.exact
