"""What a run against an altered sandbox shows: pytest plugins that look at its cases and its findings."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict
from zlib import crc32

import pytest

from contracts.cases.marks import Profile
from contracts.checks.outcomes import Confirmed
from contracts.evidence.record import Verdict
from contracts.interface.catalogue import load_catalogue
from contracts.plugin.case_record import VERDICT_PROPERTY
from contracts.plugin.collection import clauses_of, marks, operations_of, realm_of
from contracts.plugin.plan import Sandbox
from contracts.plugin.worker import WORKER

_SHOWN: Final = 300
_PROFILES: Final = list(Profile)
#: Only the machine's answer is wanted of a run that is one of thousands.
FORMATS: Final = ("verdict",)


def case_name(item: pytest.Item) -> str:
    """A case's name whatever its realm: file, function, and parameters but for the realm."""
    function = str(getattr(item, "originalname", item.name)).removeprefix("test_")
    callspec = getattr(item, "callspec", None)
    parameters = str(callspec.id).replace(realm_of(item), "", 1).strip("-") if callspec else ""
    return f"{item.path.stem.removeprefix('test_')}: {function.replace('_', ' ')}" + (
        f" [{parameters}]" if parameters else ""
    )


@dataclass(frozen=True)
class CaseFacts:
    """What is known of a case before it runs.

    Attributes:
        clauses: Ids of the clauses it tests.
        operations: What it exercises.
        realms: Where it runs.
        profile: The first profile that takes it in.
        file: Where it stands.
    """

    clauses: tuple[str, ...]
    operations: tuple[str, ...]
    realms: tuple[str, ...]
    profile: str
    file: str


@dataclass
class CaseIndex:
    """Plugin that notes all cases when they are collected."""

    cases: dict[str, CaseFacts] = field(default_factory=dict)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note every contract case."""
        catalogue = load_catalogue()
        realms: dict[str, dict[str, None]] = {}
        for item in session.items:
            if any(marks(item)):
                name = case_name(item)
                realms.setdefault(name, {})[realm_of(item)] = None
                profile = min((m.kwargs["profile"] for m in marks(item)), key=_PROFILES.index)
                self.cases[name] = CaseFacts(
                    clauses_of(item),
                    operations_of(item, catalogue),
                    tuple(realms[name]),
                    str(profile),
                    str(item.path),
                )

    def files(self, clause: str, case: str | None = None) -> list[str]:
        """The files that hold the cases of a clause, or the one that holds a case."""
        if case is not None:
            return [self.cases[case].file]
        return sorted({facts.file for facts in self.cases.values() if clause in facts.clauses})


def _leave_the_rest(item: pytest.Item) -> None:
    """End the run after this case; pytest's own way makes a traceback, which takes as long as the case."""
    items = item.session.items
    del items[items.index(item) + 1 :]


class FirstFinding(TypedDict):
    """How far a run had come at its first finding on the clause: requests sent, seconds since the start."""

    requests: float | int
    seconds: float | int


@dataclass
class Watch:
    """Plugin that gives a run its sandbox and looks at what the run finds.

    Attributes:
        sandbox: Serves the run.
        clause: The clause the sandbox breaks; empty for a sandbox that breaks none.
        operations: Where the break shows; cases of these come first.
        stop: End the run at the first confirmed finding on the clause.
        only: Run no other case than this one; None for all.
        share: Of the cases dealt out to so many runs, the number of this run's, from 0.
        formats: Report formats that the run writes.
        findings: Confirmed findings, as they came.
        red: Cases with a confirmed finding on the clause, in their order.
        first: Requests and seconds until the first finding on the clause.
        errors: Cases in which the suite itself broke.
        ended: Whether the run was ended at its finding, so that its exit code says nothing.
    """

    sandbox: Sandbox
    clause: str = ""
    operations: Sequence[str] = ()
    stop: bool = True
    only: str | None = None
    share: tuple[int, int] = (0, 1)
    formats: Sequence[str] = FORMATS
    findings: list[dict[str, Any]] = field(default_factory=list)
    red: dict[str, None] = field(default_factory=dict)
    first: FirstFinding | None = None
    errors: list[str] = field(default_factory=list)
    requests: int = 0
    ended: bool = False
    _started: float = field(default_factory=time.monotonic)

    def pytest_contract_sandbox(self, size_limit: int, arguments: Sequence[str]) -> Sandbox:  # noqa: ARG002 - the hook's
        """Serve the run from the sandbox that is there."""
        return self.sandbox

    def pytest_contract_formats(self) -> Sequence[str]:
        """Write no more reports than are wanted."""
        return self.formats

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Put first what is most likely to find the break: the fewest clauses, the right operations."""
        yield
        if self.only is not None:
            items[:] = [item for item in items if case_name(item) == self.only]
        number, of = self.share
        items[:] = [item for item in items if crc32(case_name(item).encode()) % of == number]
        if self.stop:
            items.sort(key=self._remoteness)

    def _remoteness(self, item: pytest.Item) -> tuple[bool, bool, bool, int, int]:
        """How far a case is from the clause."""
        own = list(marks(item))
        exercised = operations_of(item, load_catalogue())
        return (
            any(mark.kwargs["last"] for mark in own),
            self.clause not in clauses_of(item),
            not set(exercised) & set(self.operations),
            len(clauses_of(item)) + 10 * any(mark.kwargs["faults"] for mark in own),
            max(mark.kwargs["requests"] for mark in own),
        )

    def pytest_contract_finding(self, item: pytest.Item, finding: Confirmed) -> None:
        """Note a confirmed finding; end the run where it is the one looked for."""
        if not finding.confirmed:
            return
        evidence = finding.evidence
        worker = item.config.stash[WORKER]
        self.findings.append(
            {
                "clause": evidence.clause,
                "level": str(worker.catalogue.clause(evidence.clause).level),
                "realm": realm_of(item),
                "operation": evidence.operation,
                "case": case_name(item),
                "expected": worker.redactor.text(evidence.expected)[:_SHOWN],
                "seen": worker.redactor.text(evidence.seen)[:_SHOWN],
            }
        )
        if evidence.clause == self.clause:
            self.red[case_name(item)] = None
            if self.first is None:
                seconds = round(time.monotonic() - self._started, 3)
                self.first = {"requests": worker.counts["requests"], "seconds": seconds}
            if self.stop:
                self.ended = True
                _leave_the_rest(item)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a case in which the suite itself broke."""
        if (
            VERDICT_PROPERTY,
            str(Verdict.ERROR),
        ) in report.user_properties and report.nodeid not in self.errors:
            self.errors.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note what the run sent."""
        if WORKER in session.config.stash:
            self.requests = session.config.stash[WORKER].counts["requests"]
