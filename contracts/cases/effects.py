"""Effects of a request, which may take a moment to show."""

from __future__ import annotations

import time
from collections.abc import Callable

_LOOK_AGAIN_SECONDS = 0.25


def eventually(look: Callable[[], bool], patience: float) -> bool:
    """Whether an effect shows within some seconds; looks again while it does not."""
    deadline = time.monotonic() + patience
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_AGAIN_SECONDS)
    return True
