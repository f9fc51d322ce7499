"""Stored files: received in pieces, never whole in memory, and gone when they did not arrive whole.

Preview images: a small picture of a picture, a plain tile for any other file.
"""

import io
import secrets
import shutil
import struct
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from contracts.errors import UsageError
from contracts.sandbox.http_requests import Reason, Refusal

if TYPE_CHECKING:
    from filelock import FileLock
    from PIL import Image


_LOCK = "sandbox.lock"


@dataclass(frozen=True)
class StoredFile:
    """A file that arrived whole: its key in the store, and its size in bytes."""

    key: str
    size: int


class FileStore:
    """Keeps the bytes of attachments and temporary files.

    Args:
        data: the sandbox's data folder; ``None`` takes a temporary one, removed at the end.

    Raises:
        UsageError: the folder cannot be written, or another sandbox is using it.

    """

    def __init__(self, data: Path | None) -> None:
        self._own = Path(tempfile.mkdtemp(prefix="registry-sandbox-")) if data is None else None
        self._lock = None if data is None else _locked(data)
        self.root = (self._own or data or Path()) / "files"
        self.arriving = self.root / "arriving"
        # What a killed sandbox was receiving can never become whole.
        shutil.rmtree(self.arriving, ignore_errors=True)
        self.arriving.mkdir(parents=True)

    def path(self, key: str) -> Path:
        """Return where the file of that key lies."""
        return self.root / key

    async def receive(self, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        """Store a file from its pieces.

        Args:
            pieces: the bytes as they arrive.
            limit: largest size in bytes; ``None`` for no limit.

        Raises:
            Refusal: the file is larger than the limit; nothing of it is kept.

        """
        key = secrets.token_hex(16)
        part = self.arriving / key
        try:
            size = await self._write(part, pieces, limit)
            part.replace(self.path(key))
        finally:
            part.unlink(missing_ok=True)
        return StoredFile(key, size)

    async def _write(self, part: Path, pieces: AsyncIterator[bytes], limit: int | None) -> int:
        size = 0
        with part.open("wb") as file:
            async for piece in pieces:
                size += len(piece)
                if limit is not None and size > limit:
                    raise too_large(limit)
                # A short write into the page cache; a thread for each piece would cost more than it saves.
                file.write(piece)
        return size

    def keep(self, content: bytes) -> StoredFile:
        """Store a small file that is already in memory."""
        key = secrets.token_hex(16)
        self.path(key).write_bytes(content)
        return StoredFile(key, len(content))

    def remove(self, key: str) -> None:
        """Remove a stored file."""
        self.path(key).unlink(missing_ok=True)

    def close(self) -> None:
        """Let the folder go; a temporary one is removed."""
        if self._lock is not None:
            self._lock.release()
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


def too_large(limit: int) -> Refusal:
    """Return the refusal of a file over the limit (Limits: larger uploads cause errors)."""
    return Refusal(Reason.TOO_LARGE, f"the file is larger than {limit} bytes")


def _locked(data: Path) -> "FileLock":
    from filelock import FileLock, Timeout  # noqa: PLC0415 - only needed for a folder that outlives the process

    lock = FileLock(data / _LOCK)
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as problem:
        raise UsageError(f"another sandbox is using {data}; give --data another folder") from problem
    except OSError as problem:
        raise UsageError(f"cannot keep data in {data}: {problem.strerror}") from problem
    return lock


_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
_LARGEST_FILE = 64 * 1024**2
_SHOWN_LETTERS = 5
_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,
    ArithmeticError,
    LookupError,
    EOFError,
    TypeError,
    struct.error,
)


class Thumbnails:
    """Makes preview images.

    Args:
        pixels: longest side, in pixels.

    """

    def __init__(self, pixels: int) -> None:
        self.pixels = pixels

    async def of(self, path: Path, filename: str) -> bytes:
        """Return a PNG preview of a stored file.

        Args:
            path: where it lies.
            filename: its name; the extension is written on the tile of a file that is no picture.

        """
        return await run_in_threadpool(self.draw, path, filename)

    def draw(self, path: Path, filename: str) -> bytes:
        """Return a PNG preview; pictures that cannot be read get the plain tile."""
        if path.stat().st_size <= _LARGEST_FILE:
            try:
                return self.picture(path)
            except _UNREADABLE:
                return self.tile(filename)
        return self.tile(filename)

    def picture(self, path: Path) -> bytes:
        """Return a picture made small enough.

        Raises:
            OSError: the file is no picture; broken ones raise others of ``_UNREADABLE``.

        """
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > (Image.MAX_IMAGE_PIXELS or 0):
                raise ValueError("the picture unpacks to more than can be handled")
            image.thumbnail((self.pixels, self.pixels))
            return _png(image.convert("RGBA"))

    def tile(self, filename: str) -> bytes:
        """Return a plain tile with the file's extension on it."""
        from PIL import Image, ImageDraw  # noqa: PLC0415 - as above

        extension = Path(filename).suffix[1:].upper()[:_SHOWN_LETTERS]
        side = self.pixels
        image = Image.new("RGBA", (side, side), "#eef1f4")
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, side - 1, side - 1), outline="#9aa5b1")
        if extension.isascii():
            pen.text((side // 3, side // 2), extension, fill="#52606d")
        return _png(image)


def _png(image: "Image.Image") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
