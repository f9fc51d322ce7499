"""Made-up runs for the history."""

from collections.abc import Callable
from typing import Any

import pytest

from contracts.history.runs import Entry, Seen

Made = Callable[..., Entry]


@pytest.fixture
def made() -> Made:
    """Makes the run of a day: `made(3, "fail")`; `cells` for more than one clause."""

    def make(day: int, verdict: str = "pass", **more: Any) -> Entry:
        started = f"2026-11-{day:02}T12:00:00+00:00"
        cells = more.pop("cells", {"draft-get-content": {"abs-dev": Seen(verdict, 4, 0.25)}})
        plain: dict[str, Any] = {
            "run": f"2026-11-{day:02}-sandbox",
            "target": "sandbox",
            "profile": "gate",
            "seed": 1,
            "started": started,
            "verdict": "fail" if verdict == "fail" else "pass",
            "exit_code": int(verdict == "fail"),
            "requests": 2000,
            "seconds": 30.5,
            "counts": {verdict: 1},
            "cells": cells,
        }
        return Entry(**{**plain, **more})

    return make
