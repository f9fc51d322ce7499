"""What the workers of a run share: state that is made once, and limits that hold for all of them together."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from contracts.session.breaker import Admission, Breaker
from contracts.session.budgets import BudgetSpent, RequestBudget
from contracts.session.layers import DryRun, Request
from contracts.session.shared_state import SharedState
from tests.meta.http_answers import JSON, OK, answer
from tests.meta.program import PATIENCE
from tests.meta.wire import Serve


def test_workers_that_ask_at_once_make_it_once(tmp_path: Path) -> None:
    made: list[int] = []
    barrier = threading.Barrier(4)

    def ask() -> None:
        sharing = SharedState(tmp_path)
        barrier.wait()
        sharing.once("draft", lambda: made.append(1))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_counters_go_on_from_worker_to_worker(tmp_path: Path) -> None:
    first, second = SharedState(tmp_path), SharedState(tmp_path)
    assert [first.take("files"), second.take("files"), first.take("files")] == [0, 1, 2]
    assert second.take("records") == 0


WORKERS = 3
#: What each worker process does: so many requests through a session of its own, on a folder that all share.
WORK = """
import sys
from dataclasses import dataclass, field
from pathlib import Path
from contracts.session.layers import Request
from contracts.session.session import Session, SessionGroup
from contracts.errors import EnvironmentFault
from contracts.settings.target import Pace, Target

name, folder, url, count, rate, places, budget = sys.argv[1:]
pace = Pace(requests_per_second=float(rate) or None, concurrency=int(places) or None, timeout_seconds=20.0)
session = Session(
    Target("service", url, pace=pace),
    name,
    group=SessionGroup(Path(folder), stop=lambda _: None),
    request_budget=int(budget) or None,
)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(count)):
    try:
        session.send(Request("getDraft", "GET", url, {}, case="case", realm="abs-dev", role="author"))
    except EnvironmentFault as fault:
        print(fault)
"""


@dataclass
class Counting:
    """Notes when requests come and how many are under way; each takes a little while, one asks to be left alone."""

    takes: float = 0.0
    rest_at: int = 0
    rested: float = 0.0
    under_way: int = 0
    most: int = 0
    said: str = ""
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
            if number == self.rest_at:
                self.rested = time.monotonic()
        return answer("429 Slow", JSON, "Retry-After: 3") if number == self.rest_at else OK


@pytest.fixture
def counted(tmp_path: Path, serve: Serve) -> Callable[..., Counting]:
    """Lets three processes send at once, and says what the server saw."""

    def go(count: int, *, rate: float = 0, places: int = 0, budget: int = 0, **changes: Any) -> Counting:
        seen = Counting(**changes)
        url = f"{serve(seen).url}/"
        numbers = [str(each) for each in (count, rate, places, budget)]
        workers = [
            subprocess.Popen(
                [sys.executable, "-c", WORK, f"gw{n}", str(tmp_path), url, *numbers],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for n in range(WORKERS)
        ]
        assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * WORKERS  # type: ignore[union-attr]
        for worker in workers:
            worker.stdin.write("go\n")  # type: ignore[union-attr]
            worker.stdin.flush()  # type: ignore[union-attr]
        seen.said = "".join(worker.communicate(timeout=PATIENCE)[0] for worker in workers)
        assert all(worker.returncode == 0 for worker in workers)
        return seen

    return go


def test_the_rate_holds_over_all_workers(counted: Any) -> None:
    rate = 40
    seen = counted(20, rate=rate)
    assert len(seen.starts) == 20 * WORKERS
    # Requests leave at even moments; on the way some are held up, so any second may see a few more.
    busiest = max(sum(1 for other in seen.starts if 0 <= other - start < 1) for start in seen.starts)
    assert busiest <= rate * 1.25
    assert seen.starts[-1] - seen.starts[0] >= (len(seen.starts) - 1) / rate * 0.9


def test_no_more_are_under_way_than_allowed(counted: Any) -> None:
    assert counted(8, places=2, takes=0.05).most == 2


def test_a_rest_that_the_service_asks_for_is_kept_by_all_workers(counted: Any) -> None:
    seen = counted(10, rate=30, places=3, rest_at=5, takes=0.01)
    # What was under way already, two requests at most, may still arrive; then none comes for three seconds.
    later = sorted(start - seen.rested for start in seen.starts if start > seen.rested + 1.5)
    assert later[2] >= 2.7
    assert len(seen.starts) == 10 * WORKERS + 1


def test_the_budget_is_never_exceeded(counted: Any) -> None:
    seen = counted(30, budget=60)
    assert len(seen.starts) == 45  # the rest is kept back for cleaning
    assert "the request budget of this run is spent: 60, 45 of them for cases" in seen.said


def test_cleaning_may_use_what_the_cases_may_not(tmp_path: Path) -> None:
    spent: list[str] = []
    budget = RequestBudget(tmp_path, 40)
    admission = Admission(DryRun(), Breaker(print, tmp_path), budget, spent.append)
    cases, cleaning = (Request(None, "GET", "", {}, case=case) for case in ("a case", "[cleaning]"))
    for _ in range(30):
        admission.send(cases)
    with pytest.raises(BudgetSpent):
        admission.send(cases)
    assert len(spent) == 1
    for _ in range(10):
        admission.send(cleaning)
    assert not budget.affords()
    with pytest.raises(BudgetSpent):
        admission.send(cleaning)
    assert len(spent) == 1
