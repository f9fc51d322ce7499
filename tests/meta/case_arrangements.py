"""Measures what each case sends by itself, and what it arranges once in a run and uses together with others.

python -m tests.meta.case_arrangements
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from contracts.cases.properties import Properties
from contracts.plugin.collection import case_of, marks, realm_of
from contracts.plugin.forecast import without_realm
from contracts.plugin.worker import WORKER
from contracts.proving.case_costs import MEASURED, Cost, KnownCosts, write_costs
from contracts.proving.processes import ForkedSandbox, run_suite
from contracts.proving.runs import Watch
from contracts.session.shared_state import SharedState

#: A document's own name, another in each run.
_OWN_NAME = re.compile(r"\brc-[\w-]+")


class Arrangements(Watch):
    """Watches which case asks for what is arranged once, and who sends what."""

    def __init__(self, sandbox: ForkedSandbox) -> None:
        super().__init__(sandbox)
        self.sent: Counter[str] = Counter()
        self.needs: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.realms: Counter[str] = Counter()
        self._under_way: list[str] = []
        self._realm = ""
        self._worker: Any = None
        self._seen = 0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Count what a case sends, with what is cleaned up after it."""
        if not any(marks(item)):
            return (yield)
        self._worker, self._realm = item.config.stash[WORKER], realm_of(item)
        case = f"case {without_realm(case_of(item))}"
        self.realms[case] += 1
        self._count()
        self._under_way.append(case)
        try:
            return (yield)
        finally:
            self._count()
            self._under_way.pop()

    def once(self, name: str, make: Callable[[], Any]) -> Callable[[], Any]:
        """Note that something is asked for; what making it sends counts as its own."""
        known = _OWN_NAME.sub("rc-", name.replace(f"{self._realm} ", "* ", 1))
        if not self._under_way:
            return make
        self.needs[self._under_way[-1]][known] = None

        def made() -> Any:
            self._count()
            self._under_way.append(f"made {known}")
            self.realms[f"made {known}"] += 1
            try:
                return make()
            finally:
                self._count()
                self._under_way.pop()

        return made

    def costs(self) -> KnownCosts:
        """What was seen: the mean of all realms."""
        known = {
            name: Cost(round(self.sent[name] / number, 2), tuple(sorted(self.needs[name])))
            for name, number in sorted(self.realms.items())
        }
        cases, arranged = (
            {name.removeprefix(kind): cost for name, cost in known.items() if name.startswith(kind)}
            for kind in ("case ", "made ")
        )
        return KnownCosts(cases, arranged)

    def _count(self) -> None:
        now = self._worker.counts["requests"]
        if self._under_way:
            self.sent[self._under_way[-1]] += now - self._seen
        self._seen = now


def _of_run(profile: str) -> KnownCosts:
    original = SharedState.once
    sandbox = ForkedSandbox([])
    watch = Arrangements(sandbox)

    def once(self: SharedState, name: str, make: Callable[[], Any]) -> Any:
        return original(self, name, watch.once(name, make))

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(SharedState, "once", once)
        # What a case costs decides what `smoke` takes in, which draws nothing where there are examples to begin with.
        patch.setattr(Properties, "draws", lambda _, first: not first)
        words = [f"--profile={profile}", "--seed=1", f"--reports={folder}", "--history=off", "-q"]
        try:
            run_suite(words, [], [watch])
        finally:
            sandbox.stop()
    return watch.costs()


def _most(one: Mapping[str, Cost], other: Mapping[str, Cost]) -> dict[str, Cost]:
    """The most of two measurements: in a gate others may have sent what a case can use."""
    return {
        name: max((known[name] for known in (one, other) if name in known), key=lambda cost: cost.requests)
        for name in sorted(one.keys() | other.keys())
    }


def main() -> None:
    """Run a gate and `smoke` on the faithful sandbox, and write down what was seen."""
    gate, smoke = _of_run("gate"), _of_run("smoke")
    write_costs(MEASURED, KnownCosts(_most(gate.cases, smoke.cases), _most(gate.arranged, smoke.arranged)))


if __name__ == "__main__":
    main()
