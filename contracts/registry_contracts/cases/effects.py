"""Waiting for the effect of a request."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LOOK_AGAIN_SECONDS = 0.5


def until(ask: Callable[[], T], good: Callable[[T], bool], patience: float) -> T:
    """Call `ask` until its result is good, for the last time once `patience` seconds have passed; return its result.

    A slow answer must not be the last one because it came late: it may tell of the moment at which it was asked for.
    """
    deadline = time.monotonic() + patience
    while True:
        last = time.monotonic() >= deadline
        latest = ask()
        if last or good(latest):
            return latest
        time.sleep(_LOOK_AGAIN_SECONDS)
