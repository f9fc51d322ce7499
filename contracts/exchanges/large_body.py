"""Large bodies: their bytes wait in a file until they are asked for, so that a case may gather as many as it likes."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from contracts.exchanges.exchange import Body, read_json

#: Bytes from which a body is large; no answer that the interface describes comes near it, but for attachments.
LARGE: Final = 256 * 1024
#: Bytes after which a file takes no further body.
_FULL: Final = 64 * 1024 * 1024


class _File:
    """A file without a name, which is gone with the last body in it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the last body in it
        weakref.finalize(self, self._file.close)
        self.size = 0

    def add(self, content: bytes) -> int:
        """Write some bytes to the end, and return where they begin.

        Raises:
            OSError: there is no room for them.
        """
        with self._lock:
            at = self._file.seek(0, 2)
            self._file.write(content)
            self._file.flush()
            self.size = at + len(content)
            return at

    def read(self, at: int, size: int) -> bytes:
        """Read some bytes."""
        with self._lock:
            self._file.seek(at)
            return self._file.read(size)


class LargeBody(Body):
    """A body that is known as a whole; bytes, text and JSON value are kept of those alone that were asked for last."""

    def __init__(self, file: _File, at: int, size: int) -> None:
        for name, value in {"size": size, "whole": True, "digest": None, "_file": file, "_at": at}.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Callable[[bytes], Body], tuple[bytes]]:
        """Another process has files of its own."""
        return body_of, (self.content,)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def content(self) -> bytes:
        """Its bytes."""
        return _content(self)

    @property
    def decoded(self) -> str | None:
        """The content as UTF-8 text; None for binary content."""
        return _decoded(self)

    @property
    def _read_as_json(self) -> tuple[Any, str | None]:
        return _json(self)

    def read(self) -> bytes:
        """Read its bytes from the file."""
        file: _File = self._file  # type: ignore[attr-defined]
        return file.read(self._at, self.size)  # type: ignore[attr-defined]


@lru_cache(maxsize=2)
def _content(body: LargeBody) -> bytes:
    return body.read()


@lru_cache(maxsize=2)
def _decoded(body: LargeBody) -> str | None:
    return Body.of(body.content).decoded


@lru_cache(maxsize=1)  # a value takes up many times the room of its text
def _json(body: LargeBody) -> tuple[Any, str | None]:
    return read_json(body.content)


_filling = threading.Lock()
_files: list[_File] = []


def body_of(content: bytes) -> Body:
    """A body that is known as a whole; a large one waits in a file, where there is room for one."""
    if len(content) < LARGE:
        return Body.of(content)
    with _filling:
        try:
            if not _files or _files[0].size > _FULL:
                _files[:] = [_File()]
            return LargeBody(_files[0], _files[0].add(content), len(content))
        except OSError:
            return Body.of(content)
