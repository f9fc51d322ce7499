"""Waiting for the effect of a request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LOOK_AGAIN_SECONDS = 0.5


def until(ask: Callable[[], T], good: Callable[[T], bool], patience: float) -> T:
    """Call `ask` until its result is good or `patience` seconds have passed; return the last result."""
    deadline = time.monotonic() + patience
    while not good(latest := ask()) and time.monotonic() <= deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return latest
