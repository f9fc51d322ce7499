"""Where arrangements that cases share are kept, as those who arrange see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from contracts.session.namespace import Namespace

T = TypeVar("T")


class Shared(Protocol):
    """What all workers of a run share."""

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made by the first worker that asks for it under this name."""

    def take(self, counter: str) -> int:
        """The next number of a counter, from 0."""

    def offer(self, name: str, value: T) -> None:
        """Put something where other cases find it, unless something lies there."""

    def offered(self, name: str) -> Any:
        """What lies under a name; None for nothing."""

    def marked(self, name: str) -> bool:
        """Whether some worker has left this mark."""


class Shelf(Protocol):
    """Where arrangements that cases share are kept; the plugin's worker is one."""

    namespace: Namespace

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""

    @property
    def unused(self) -> bool:
        """Whether the target began with this run, so that no earlier one can have used anything up."""

    @property
    def shared(self) -> Shared:
        """What all workers of the run share."""

    def keep(self, identifier: str) -> None:
        """Keep a draft until the end of the run."""
