"""Runs the suite for a trial, in a fork of its own, and notes what it finds."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from registry_contracts.checks.table import UNIVERSAL
from registry_contracts.errors import ExitCode
from registry_contracts.evidence.findings import Finding, Standing
from registry_contracts.evidence.record import Verdict
from registry_contracts.file_formats import plain, read_file
from registry_contracts.interface.catalogue import Level, load_catalogue
from registry_contracts.plugin.case import case_of, is_case
from registry_contracts.plugin.hooks import Sandbox
from registry_contracts.plugin.protocol import verdict_of
from registry_contracts.plugin.worker import WORKER
from registry_contracts.proving.false_passes import false_passes
from registry_contracts.proving.processes import ForkedSandbox, output_to, run_suite
from registry_contracts.proving.services import AND, PERMANENT_RECORDS, setting_in, settings_needed
from registry_contracts.proving.trials import FAITHFUL, Found, Kind, Part, Result, Trial, function_of
from registry_contracts.reports.verdict_json import VerdictFile
from registry_contracts.reports.writers import ALL as ALL_FORMATS
from registry_contracts.sandbox.faults import population
from registry_contracts.settings.target import Target

_SHOWN: Final = 300
#: Only the machine's answer is wanted of a run that is one of hundreds.
_VERDICT_ALONE: Final = ("verdict",)
_PASSED: Final = frozenset({Verdict.PASS, Verdict.OBSERVED})


@dataclass
class CaseIndex:
    """Plugin that notes the files of test functions and of clauses when pytest collects their cases."""

    by_function: dict[str, str] = field(default_factory=dict)
    by_clause: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note every contract case."""
        catalogue = load_catalogue()
        for item in session.items:
            if not is_case(item):
                continue
            self.by_function[function_of(item.nodeid)] = str(item.path)
            for clause in case_of(item).clauses:
                if catalogue.clause(clause).level is not Level.SILENT:
                    self.by_clause[clause].add(str(item.path))

    def files_of(self, trial: Trial) -> list[str]:
        """The files that hold the cases of a trial; none for all."""
        if trial.only:
            return sorted({self.by_function[name] for name in trial.only})
        if not trial.narrow or not self.are_own(trial.clauses):
            return []
        return sorted({file for clause in trial.clauses for file in self.by_clause[clause]})

    def are_own(self, clauses: Sequence[str]) -> bool:
        """Whether each of some clauses has cases of its own, so that no other case is needed for it."""
        return self.by_clause.keys() >= set(clauses) and UNIVERSAL.isdisjoint(clauses)


@dataclass
class Watch:
    """Plugin that gives a run its sandbox and notes what the run finds and passes.

    Attributes:
        sandbox: Serves the run.
        clauses: A finding on one of these counts.
        operations: Operations at which the sandbox is altered; their cases on the clauses come first, and the run ends
            at the first finding that counts.
        only: Run only the cases of these test functions; empty for all.
        settings: Further settings of each realm that the sandbox needs, by name.
        errors: Cases in which the suite itself broke.
        ended: Whether the run was ended early, so that its exit code has no meaning.
    """

    sandbox: Sandbox
    clauses: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    only: Sequence[str] = ()
    settings: Mapping[str, Any] | None = None
    findings: dict[str, Found] = field(default_factory=dict)
    found_by: dict[str, None] = field(default_factory=dict)
    passed: dict[str, None] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    requests: int = 0
    ended: bool = False

    def pytest_contract_sandbox(self, size_limit: int, arguments: Sequence[str]) -> Sandbox:  # noqa: ARG002 - the hook's
        """Give the run the sandbox of the trial."""
        return self.sandbox

    def pytest_contract_target(self, target: Target) -> Target | None:
        """Add the settings that the sandbox needs."""
        if self.settings is None:
            return None
        realms = {}
        for realm, own in target.realm.items():
            told = {name: setting_in(realm, value, own) for name, value in self.settings.items()}
            realms[realm] = replace(own, **told)
        return replace(target, realm=realms, pace=replace(target.pace, permanent_records=PERMANENT_RECORDS))

    def pytest_contract_formats(self) -> Sequence[str]:
        """Choose the report formats: of a variant's answers all, because each has to cope with them."""
        return _VERDICT_ALONE if self.settings is None else ALL_FORMATS

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Put the cases first that most likely find the fault, if the run ends at its finding."""
        yield
        if self.only:
            items[:] = [item for item in items if function_of(item.nodeid) in self.only]
        if self.operations:
            items.sort(key=self._remoteness)

    def _remoteness(self, item: pytest.Item) -> tuple[int, bool, bool, float]:
        case = case_of(item)
        return (
            case.facts.last,
            self.clauses.isdisjoint(case.clauses),
            self.operations.isdisjoint(case.operations),
            case.facts.requests + case.facts.dealt,
        )

    def pytest_contract_case(self, item: pytest.Item, findings: Sequence[Finding]) -> None:
        """Note what a case has found."""
        for finding in findings:
            if finding.confirmed:
                self._note(item, finding)

    def _note(self, item: pytest.Item, finding: Finding) -> None:
        """Note a confirmed finding, and drop the remaining cases if it ends the run."""
        worker, case = item.config.stash[WORKER], item.nodeid
        if finding.clause not in self.findings:
            must = worker.catalogue.clause(finding.clause).level is Level.MUST
            self.findings[finding.clause] = _found(finding, case, must=must)
        if finding.clause in self.clauses:
            self.found_by[case] = None
            if self.operations:
                self.ended = True
                items = item.session.items
                del items[items.index(item) + 1 :]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a case that passed, and one in which the suite itself broke."""
        verdict = verdict_of(report)
        if verdict in _PASSED:
            self.passed[report.nodeid] = None
        if verdict == Verdict.ERROR:
            self.errors.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note what the run sent."""
        if WORKER in session.config.stash:
            self.requests = session.config.stash[WORKER].counts["requests"]


def run_trial(trial: Trial, index: CaseIndex, folder: Path) -> Result:
    """Run a trial of a fault, a service or a network fault in this process, which must be a fork made for it.

    Args:
        folder: A fresh one, for the run's evidence and output.
    """
    started = time.monotonic()
    with (folder / "output.txt").open("w", encoding="utf-8") as output, output_to(output.fileno()):
        sandbox = ForkedSandbox(_alteration(trial), counting=trial.kind in (Kind.FAULT, Kind.SERVICE))
        watch = _watch(trial, sandbox)
        try:
            code = run_suite(list(_words(trial, index, folder)), index.files_of(trial), [watch])
        finally:
            sandbox.stop()
    result = Result(
        trial,
        exit_code=code,
        findings=tuple(watch.findings.values()),
        found_by=tuple(watch.found_by),
        passed=tuple(watch.passed) if trial.name == FAITHFUL and trial.kind is Kind.SERVICE else (),
        requests=watch.requests,
        altered=sandbox.counts.get("altered"),
        mattered=sandbox.counts.get("mattered"),
        permanent=max(sandbox.counts.get("permanent", {}).values(), default=0),
        trouble=_trouble(watch, code),
    )
    if not watch.ended and not result.trouble:
        _read_verdict(result, folder, sandbox.counts)
    result.seconds = round(time.monotonic() - started, 2)
    return result


def _alteration(trial: Trial) -> list[str]:
    """Options of the sandbox."""
    if trial.kind is Kind.FAULT:
        return ["--fault", trial.name]
    if trial.kind is Kind.SERVICE:
        variants = () if trial.name == FAITHFUL else trial.name.split(AND)
        return ["--observed", *(word for name in variants for word in ("--variant", name))]
    network = ("--weather", trial.name, "--weather-seed", str(trial.seed))
    return [*network, *(("--fault", trial.fault) if trial.fault else ())]


def _watch(trial: Trial, sandbox: Sandbox) -> Watch:
    fault = population.load(trial.name) if trial.kind is Kind.FAULT else None
    catalogue, own = load_catalogue(), trial.part is Part.FIXED
    # A drawn fault has to fail the run, and a should clause does not.
    counting = frozenset(c for c in trial.clauses if own or catalogue.clause(c).level is Level.MUST)
    variants = trial.kind is Kind.SERVICE and trial.name != FAITHFUL
    return Watch(
        sandbox,
        counting,
        frozenset(fault.at if fault else ()),
        only=trial.only,
        settings=settings_needed(trial.name) if variants else None,
    )


def _words(trial: Trial, index: CaseIndex, folder: Path) -> Iterator[str]:
    """Options of the run in pytest's spelling."""
    yield from (f"--profile={trial.profile}", f"--seed={trial.seed}", f"--reports={folder}", "--no-history")
    yield from ("-q", "--no-header", "--tb=no")
    yield from (f"--realm={realm}" for realm in trial.realms)
    if trial.only:
        return
    if not trial.narrow:
        # Strict, as the command `gate`: on a conformant service every must clause has to be judged.
        yield from ["--strict"] * (trial.kind is Kind.SERVICE)
    elif index.are_own(trial.clauses):
        yield from (f"--clause={clause}" for clause in trial.clauses)
    elif trial.kind is Kind.FAULT:
        yield from (f"--operation={operation}" for operation in population.load(trial.name).at)


def _trouble(watch: Watch, code: int) -> str:
    if watch.errors:
        return f"the suite broke in {watch.errors[0]}"
    broken = not watch.ended and code in (ExitCode.ERROR, ExitCode.USAGE)
    return f"the run ended with exit code {code}" if broken else ""


def _found(finding: Finding, case: str, *, must: bool) -> Found:
    text = f"{finding.operation}: expected {finding.expected}; seen {finding.seen}"
    return Found(finding.clause, must, case, text[:_SHOWN])


def _read_verdict(result: Result, folder: Path, counts: Mapping[str, Any]) -> None:
    """Add from the run's verdict the findings outside cases, what was not judged, and the false passes."""
    paths = [path for path in folder.glob("*/verdict.json") if not path.parent.is_symlink()]
    if not paths:
        return
    file = read_file(paths[0], VerdictFile)
    trial, verdict = result.trial, plain(file)
    known = {found.clause for found in result.findings}
    for finding in file.findings:
        if finding.standing is Standing.FAIL and finding.clause not in known:
            result.findings += (_found(finding, finding.cases[0], must=True),)
            if finding.clause in trial.clauses and not result.found_by:
                result.found_by = finding.cases
    result.reasons = tuple(_reasons(trial, verdict))
    # A run of a few cases shows only what they need.
    if trial.kind is Kind.SERVICE and counts and not (trial.only or trial.narrow):
        passes = false_passes(verdict, counts)
        result.false_passes = tuple(f"{clause}: {why}" for clause, why in passes.items())
        listed = {entry["identifier"] for entry in (*verdict["residue"], *verdict["leftovers"])}
        result.unlisted = tuple(draft for draft in counts["drafts"] if draft not in listed)


def _reasons(trial: Trial, verdict: Mapping[str, Any]) -> Iterator[str]:
    """The fault's clauses, or else the must clauses, that were not judged, and why."""
    for entry in verdict["clauses"]:
        wanted = entry["id"] in trial.clauses if trial.clauses else entry["level"] == Level.MUST
        cells = [cell for cell in entry["realms"].values() if cell["verdict"] == "inconclusive"]
        if wanted and cells:
            yield f"{entry['id']}: {cells[0].get('reason', '')}"[:_SHOWN]
    if trial.kind is not Kind.FAULT and verdict["verdict"] == "inconclusive":
        yield f"the run: {verdict['reason']}"[:_SHOWN]
