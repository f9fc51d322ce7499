"""Copies of bodies that pass, bounded, so that a big one costs no memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from contracts.traffic.passed import Body

#: Bytes of a body that are kept to be judged; a longer one is judged without its body.
LARGEST_COPY: Final = 1024 * 1024


class Copy:
    """What passed of a body so far."""

    def __init__(self, most: int = LARGEST_COPY) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._whole = True
        self._ended = False
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Note a piece."""
        self.size += len(piece)
        if self.size > self._most:
            self._whole = False
            self._pieces.clear()
        elif self._whole:
            self._pieces.append(piece)

    def end(self) -> None:
        """Note that this was all of it."""
        self._ended = True

    async def along(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass pieces on, and note each."""
        async for piece in pieces:
            self.add(piece)
            yield piece
        self.end()

    @property
    def body(self) -> Body:
        """The body, known when all of it passed and was kept."""
        content = b"".join(self._pieces)
        return Body(content, self.size, known=self._whole and self._ended)
