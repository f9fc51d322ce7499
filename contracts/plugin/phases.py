"""Takes the time of the phases that each process of a run goes through."""

from __future__ import annotations

import time
from collections.abc import Generator
from datetime import UTC, datetime

import pytest

from contracts.plugin.worker import WORKER


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Take how long collecting takes, and how long the run has gone on when this process can begin."""
    began = time.perf_counter()
    result = yield
    worker = session.config.stash.get(WORKER, None)
    if worker is not None:
        gone = datetime.now(UTC) - datetime.fromisoformat(worker.plan.started)
        worker.spent |= {"collection": time.perf_counter() - began, "start": gone.total_seconds()}
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Take how long a case takes in all: sending, waiting, judging and cleaning."""
    began = time.perf_counter()
    result = yield
    worker = item.config.stash.get(WORKER, None)
    if worker is not None:
        worker.spent["cases"] = worker.spent.get("cases", 0.0) + time.perf_counter() - began
    return result
