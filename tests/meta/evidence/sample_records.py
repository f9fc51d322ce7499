"""Sample records of runs: what a run saw, the terms it was held to, and journals as a run writes them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import structs

from registry_contracts.evidence.findings import UNWEIGHED, Finding, Reproduce
from registry_contracts.evidence.journal import Journal, utc_now
from registry_contracts.evidence.record import (
    AssertionCount,
    Block,
    Case,
    Environment,
    Narrowed,
    RunFacts,
    RunRecord,
    Verdict,
)
from registry_contracts.evidence.terms import Consumer, Deviation, Terms, Waiver
from registry_contracts.evidence.verdicts import RunVerdict, judge
from registry_contracts.exchanges.exchange import BodyEntry, ExchangeEntry, RequestEntry, ResponseEntry
from registry_contracts.file_formats import plain
from registry_contracts.interface.catalogue import Clause, Level

TODAY = date(2026, 5, 10)
REALMS = ("abs-dev", "bch-dev")


def clause(name: str, level: str, *operations: str, realms: tuple[str, ...] = REALMS) -> Clause:
    return Clause(
        name, Level(level), operations, "Drafts", f"{name} holds.", realms=realms, file="draft.yaml"
    )


CATALOGUE = [
    clause("draft-get-content", "must", "getDraft"),
    clause("draft-save-creates", "must", "saveDraft"),
    clause("uid-too-short", "must", "saveDraft", "getDraft"),
    clause("draft-get-absent", "should", "getDraft"),
    clause("workflow-locked-record", "must", "createWorkflowRecord"),
]
BY_NAME = {each.id: each for each in CATALOGUE}


def case(name: str, outcome: str, held: int = 0, contradicted: int = 0, **changes: Any) -> Case:
    """A case of one clause in one realm and how often it held and contradicted it, with what is given otherwise."""
    of = {"clauses": ("c",), "operations": ("getDraft",), "operation": None} | changes
    count = AssertionCount(
        of["clauses"][0], changes.pop("operation", of["operations"][0]), held, contradicted
    )
    plain = Case(
        id=f"t.py::{name}[abs-dev]",
        name=name,
        realm="abs-dev",
        clauses=("c",),
        operations=("getDraft",),
        outcome=Verdict(outcome),
        attempts=1,
        seconds=0.1,
        requests=1,
        assertions=(count,) if held or contradicted else (),
        worker="main",
    )
    return structs.replace(plain, **changes)


def finding(by: Case, *, confirmed: bool = True, reproduced: int = 3, **changes: Any) -> Finding:
    """A contradiction of a case's clause that came back in so many of three replays, with what is given otherwise."""
    plain = Finding(
        **UNWEIGHED,
        clause=by.clauses[0],
        realm=by.realm,
        operation=by.operations[0],
        cases=(by.id,),
        role="author",
        expected="what was saved",
        seen="something else",
        confirmed=confirmed,
        rate=(reproduced, 3),
        exchanges=(),
        reproduce=Reproduce("registry-contracts run --clause x", ("curl http://127.0.0.1",)),
    )
    return structs.replace(plain, **changes)


def run_facts(**changes: Any) -> RunFacts:
    """What is known of a gate run in one realm, with what is given otherwise."""
    plain = RunFacts(
        target="sandbox",
        target_kind="development",
        base_url="http://127.0.0.1",
        profile="gate",
        seed=1,
        realms=("abs-dev",),
        clauses=("c",),
        started=f"{TODAY}T08:00:00+00:00",
        finished=f"{TODAY}T08:01:00+00:00",
        workers=1,
        command="registry-contracts gate",
        versions={"suite": "1"},
        environment=Environment(),
        interrupted=False,
        expected_workers=("main",),
    )
    return replace(plain, **changes)


def run_record(*cases: Case, **changes: Any) -> RunRecord:
    """What a run of some cases amounts to that found nothing, with what is given otherwise, facts of it included."""
    of_run = RunFacts.__dataclass_fields__.keys() & changes.keys()
    run = run_facts(**{name: changes.pop(name) for name in of_run})
    return replace(RunRecord(run, cases, (), (), {}, (), (), (), (), ()), **changes)


def deviation(name: str = "draft-get-content", **other: Any) -> Deviation:
    plain = Deviation(
        clause=name,
        realms=REALMS,
        operation=None,
        reason="Old records lose a member.",
        owner="drafts team",
        issue="https://tracker.example.test/17",
        expires=date(2027, 1, 1),
        profile="gate",
        file="deviations/dev.toml",
        line=7,
    )
    return structs.replace(plain, **other)


def waiver(name: str) -> Waiver:
    return Waiver(name, "the SDK never sends it", "sdk.toml", 9)


def consumer(*operations: str, **other: Any) -> Consumer:
    return Consumer(file="sdk.toml", operations=operations, **other)


@dataclass
class Story:
    """A run under construction."""

    cases: list[Case] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    narrowed: tuple[Narrowed, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def case(
        self,
        name: str,
        realm: str = "abs-dev",
        outcome: str = "pass",
        held: int = 1,
        contradicted: int = 0,
        operation: str | None = None,
        blocked: str | None = None,
        **changes: Any,
    ) -> None:
        """A case on one clause; `blocked` is the operation that stood in its way."""
        operation = operation or BY_NAME[name].operations[0]
        changes |= {"id": f"test_draft.py::test_{name}[{realm}-{operation}-{len(self.cases)}]"}
        changes |= {"realm": realm, "clauses": (name,), "operations": BY_NAME[name].operations}
        if blocked:
            changes["blocked_by"] = Block(blocked, f"{blocked}: answered 404")
        about = f"{name} on {operation}"
        self.cases.append(case(about, outcome, held, contradicted, operation=operation, **changes))

    def holds(self, *names: str) -> None:
        """Clauses that hold on all their operations."""
        for name in names:
            for realm in REALMS:
                for operation in BY_NAME[name].operations:
                    self.case(name, realm, operation=operation)

    def contradicts(self, name: str, realm: str = "abs-dev", operation: str | None = None) -> None:
        """A case that contradicts a clause."""
        operation = operation or BY_NAME[name].operations[0]
        outcome = "fail" if BY_NAME[name].level is Level.MUST else "advisory"
        self.case(name, realm, outcome, held=0, contradicted=1, operation=operation)
        self.findings.append(finding(self.cases[-1], operation=operation))

    def record(self, terms: Terms | None = None) -> RunRecord:
        """What the run amounts to, held to terms."""
        terms = terms or Terms()
        usual: dict[str, Any] = {"target": "dev", "realms": REALMS, "clauses": tuple(BY_NAME), "strict": True}
        usual |= {"environment": Environment(requests=1), "waived": terms.waived, "terms": terms}
        found = {"findings": tuple(self.findings), "narrowed": self.narrowed}
        return run_record(*self.cases, **usual | found | self.facts)

    def verdict(self, terms: Terms | None = None) -> RunVerdict:
        """How the run is judged, held to terms."""
        return judge(self.record(terms), CATALOGUE)


NO_BODY = BodyEntry(text=None, base64=None, size=0, sha256="0" * 64, truncated=False)
_NUMBERS = count(1)


def write_exchange(journal: Journal, case: str, realm: str = "abs-dev", **changes: Any) -> str:
    """Write an exchange of the author's; `changes` take the place of what is usual. Return its id."""
    key = f"{journal.worker}-{next(_NUMBERS)}"
    usual: dict[str, Any] = {
        "attempt": 1,
        "role": "author",
        "operation": "getDraft",
        "started": utc_now(),
        "seconds": 0.01,
        "request": RequestEntry(method="GET", url="http://127.0.0.1/x", headers=(), body=None),
        "response": ResponseEntry(status=200, reason="OK", headers=(), body=NO_BODY),
        "fault": None,
        "retries": 0,
    }
    journal.write("exchange", ExchangeEntry(id=key, case=case, realm=realm, **usual | changes))
    return key


def write_run_file(folder: Path, workers: Sequence[str] = ("main",), **changes: Any) -> Path:
    """Write the run.json of a gate that is over into a folder; `changes` take the place of what is usual."""
    usual = {
        "started": "2020-01-01T00:00:00+00:00",
        "finished": utc_now(),
        "workers": len(workers),
        "versions": {"suite": version("registry-contracts")},
        "expected_workers": list(workers),
    }
    (folder / "run.json").write_text(json.dumps(plain(run_facts(**usual | changes))), "utf-8")
    return folder
