"""Stored files: received in pieces, never whole in memory, and gone when they did not arrive whole."""

import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contracts.errors import UsageError
from contracts.sandbox.refusals import Reason, Refusal

if TYPE_CHECKING:
    from filelock import FileLock

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
