"""Effects of a request, which may take a moment to show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LOOK_AGAIN_SECONDS = 0.5


def until(ask: Callable[[], T], good: Callable[[T], bool], patience: float) -> T:
    """The latest of what is asked for, again for some seconds until it is good."""
    deadline = time.monotonic() + patience
    while not good(latest := ask()) and time.monotonic() <= deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return latest
