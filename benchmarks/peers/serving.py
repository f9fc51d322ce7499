"""Starts a sandbox that counts its requests, and reads the count when it has ended."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from contracts.settings.embedded_sandbox import EmbeddedSandbox

#: A measurement of an hour should not end because something else kept the machine busy for a while.
_READY_SECONDS = 120.0


class CountedSandbox:
    """A sandbox in a process of its own, for as long as the `with` block lasts.

    Args:
        arguments: `--defect NAME` or `--variant NAME`, or nothing for the faithful one.
        count: file for the number of requests.

    Attributes:
        requests: how many reached it; known after the block.

    """

    def __init__(self, arguments: Sequence[str], count: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.peers.served", str(count), *arguments]
        self._sandbox = EmbeddedSandbox(command=command, ready_seconds=_READY_SECONDS)
        self._count = count
        self.requests = 0

    @property
    def base_url(self) -> str:
        """Where it answers."""
        return self._sandbox.base_url

    def __enter__(self) -> Self:
        """Start it and wait until it is ready."""
        self._sandbox.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sandbox.__exit__(kind, error, trace)
        if self._count.is_file():
            self.requests = int(self._count.read_text(encoding="utf-8"))
