"""What the workers of a run share: state that is made once, and limits that hold for all of them together."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.errors import EnvironmentFault
from registry_contracts.session.breaker import Admission, Breaker
from registry_contracts.session.budgets import BudgetSpent, RequestBudget
from registry_contracts.session.pipeline import DryRun, Request
from registry_contracts.session.session import Session, SessionGroup
from registry_contracts.session.shared_state import SharedState
from registry_contracts.settings.target import Pace, Target
from tests.meta.wire import JSON, OK, answer


def test_workers_that_ask_at_once_make_it_once(tmp_path: Path) -> None:
    made: list[int] = []
    barrier = threading.Barrier(4)

    def ask(_: int) -> None:
        sharing = SharedState(tmp_path)
        barrier.wait()
        sharing.once("draft", lambda: made.append(1))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [None] * 4
    assert made == [1]


WORKERS = 3


@dataclass
class Counting:
    """Notes when requests come and how many are under way; each takes a little while, one asks to be left alone."""

    takes: float = 0.0
    rest_at: int = 0
    under_way: int = 0
    most: int = 0
    said: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, *_: object) -> bytes:
        with self.lock:
            self.starts.append(time.monotonic())
            number = len(self.starts)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        time.sleep(self.takes)
        with self.lock:
            self.under_way -= 1
        return answer("429 Busy", JSON, "Retry-After: 3") if number == self.rest_at else OK


@pytest.fixture
def counted(tmp_path: Path, serve: Any) -> Callable[..., Counting]:
    """Lets three sessions of a group send at once, and says what the server saw."""

    def go(
        count: int, *, rate: float | None = None, places: int = 8, budget: int | None = None, **changes: Any
    ) -> Counting:
        seen, barrier = Counting(**changes), threading.Barrier(WORKERS)
        target = Target("service", serve(seen).url, pace=Pace(rate, places, timeout_seconds=20.0))
        request = Request("getDraft", "GET", target.base_url, {}, case="case", realm="abs-dev", role="author")

        def work(number: int) -> None:
            group = SessionGroup(tmp_path, stop=lambda _: None)
            with Session(target, f"gw{number}", group=group, request_budget=budget) as session:
                barrier.wait()
                for _ in range(count):
                    try:
                        session.send(request)
                    except EnvironmentFault as fault:
                        seen.said.append(str(fault))

        with ThreadPoolExecutor(WORKERS) as pool:
            assert list(pool.map(work, range(WORKERS))) == [None] * WORKERS
        return seen

    return go


def test_the_rate_and_the_budget_hold_over_all_workers(counted: Any) -> None:
    rate = 40
    seen = counted(30, rate=rate, budget=60)
    assert len(seen.starts) == 45  # the rest is kept back for cleaning
    assert "the request budget of this run is spent: 60, 45 of them for cases" in seen.said[0]
    assert seen.starts[-1] - seen.starts[0] >= (len(seen.starts) - 1) / rate * 0.9


def test_no_more_are_under_way_than_allowed(counted: Any) -> None:
    assert counted(8, places=2, takes=0.05).most == 2


def test_a_rest_that_the_service_asks_for_is_kept_by_all_workers(counted: Any) -> None:
    seen = counted(10, rate=30, places=3, rest_at=5, takes=0.01)
    # What was under way already, two requests at most, may still arrive; then none comes for three seconds.
    later = sorted(start - seen.starts[4] for start in seen.starts if start > seen.starts[4] + 1.5)
    assert later[2] >= 2.7
    assert len(seen.starts) == 10 * WORKERS + 1


def test_cleaning_may_use_what_the_cases_may_not(tmp_path: Path) -> None:
    spent: list[str] = []
    shared = SharedState(tmp_path)
    budget = RequestBudget(shared, 40)
    admission = Admission(DryRun(), Breaker(spent.append, shared), budget)
    for case, most in (("a case", 30), ("[cleaning]", 10)):
        request = Request(None, "GET", "", {}, case=case)
        for _ in range(most):
            admission.send(request)
        with pytest.raises(BudgetSpent):
            admission.send(request)
        assert len(spent) == 1
    assert not budget.affords()
