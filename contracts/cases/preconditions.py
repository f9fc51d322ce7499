"""Waiting for an effect, and requiring what a case relies on."""

from __future__ import annotations

import time
from collections.abc import Callable

from contracts.checks.outcomes import Blocked

_LOOK_AGAIN_SECONDS = 0.25


def eventually(look: Callable[[], bool], patience: float) -> bool:
    """Whether an effect shows within some seconds; looks again while it does not."""
    deadline = time.monotonic() + patience
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_AGAIN_SECONDS)
    return True


def require(condition: bool, operation: str, cause: str) -> bool:
    """Go on only when something holds that the case relies on.

    Args:
        operation: What stands in the way when it does not.
        cause: What that operation did, in a few words.

    Raises:
        Blocked: it does not hold.
    """
    if not condition:
        raise Blocked(operation, cause)
    return condition
