"""One trial: the suite against one altered sandbox, with one seed, and what it shows; variants that trials combine."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any, Final, TypedDict
from zlib import crc32

import pytest

from contracts.cases.marks import Profile
from contracts.checks.outcomes import Confirmed
from contracts.checks.table import UNIVERSAL
from contracts.evidence.record import ExitCode, Verdict
from contracts.file_formats import Count, Format, Name, Seconds, convert, parse, plain
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import ANY_REALM
from contracts.plugin.collection import (
    case_of,
    clauses_of,
    is_last,
    marks,
    operations_of,
    realm_of,
    records_of,
)
from contracts.plugin.forecast import without_realm
from contracts.plugin.plan import Sandbox
from contracts.plugin.protocol import VERDICT_PROPERTY
from contracts.plugin.worker import WORKER
from contracts.proving.processes import ForkedSandbox, output_to, run_suite
from contracts.reports.writers import ALL as ALL_FORMATS
from contracts.sandbox.defects import load as defect_named
from contracts.sandbox.variants import ALL, Variant, chosen
from contracts.settings.target import DEVELOPMENT_REALMS, DOCUMENT_REALMS, RealmSettings, Target

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
        key: Its id, with `*` for the realm.
        last: Whether others have to run before it.
        records: Permanent records that it creates.
    """

    clauses: tuple[str, ...]
    operations: tuple[str, ...]
    realms: tuple[str, ...]
    profile: str
    file: str
    key: str = ""
    last: bool = False
    records: int = 0


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
                    without_realm(case_of(item)),
                    is_last(item),
                    records_of(item),
                )

    def files(self, clause: str, case: str | None = None) -> list[str]:
        """The files that hold the cases of a clause, or the one that holds a case."""
        if case is not None:
            return [self.cases[case].file]
        return sorted({facts.file for facts in self.cases.values() if clause in facts.clauses})


def leave_the_rest(item: pytest.Item) -> None:
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
        settings: What the sandbox needs in the settings of each realm beside those of the embedded one, by name.
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
    settings: Mapping[str, Any] = field(default_factory=dict)
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

    def pytest_contract_target(self, target: Target) -> Target | None:
        """Name what the sandbox takes, as the settings of such a service would."""
        if not self.settings:
            return None
        realms = {
            realm: replace(own, **{name: _told(value, realm, own) for name, value in self.settings.items()})
            for realm, own in target.realm.items()
        }
        return replace(target, realm=realms)

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
                leave_the_rest(item)

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


#: Stands between two names of variants.
AND: Final = "+"
#: The variant that answers late each time: a long run against it would take all day.
SLOW: Final = "slow"
#: So many variants are drawn for one run.
_DRAWN: Final = 5


def pairs(turn: int) -> Iterator[str]:
    """Deal all variants into pairs, each time others.

    Args:
        turn: How often they were dealt before.

    Yields:
        Two names with a plus between them, or one name where a variant's partner would touch what it touches.
    """
    # Those that need settings of their own have gates of their own.
    names = [name for name in ALL if not ALL[name].settings]
    half = (len(names) + 1) // 2
    firsts, seconds = names[:half], names[half:]
    # Neighbours are of one kind; half a list apart they hardly ever are.
    at = turn % len(seconds)
    for first, second in zip_longest(firsts, seconds[at:] + seconds[:at]):
        if second is not None and apart(ALL[first], ALL[second]):
            yield f"{first}{AND}{second}"
        else:
            yield from filter(None, (first, second))


def drawn(seed: int, profile: str) -> str:
    """Draw a few variants that do not touch each other, mechanically, whether they go well together or not.

    Returns:
        Their names with a plus between them, the same for the same seed and profile.
    """
    # Those that need a contact of their own meet all cases in `pairs`.
    names = [name for name in ALL if name != SLOW and not (ALL[name].contact or ALL[name].settings)]
    Random(f"{seed} {profile}").shuffle(names)  # noqa: S311 - nothing secret hangs on it
    taken: list[str] = []
    for name in names:
        if all(apart(ALL[name], ALL[other]) for other in taken):
            taken.append(name)
        if len(taken) == _DRAWN:
            break
    return AND.join(taken)


def apart(one: Variant, other: Variant) -> bool:
    """Whether two variants change different habits and different parts, and no more than one stands at the wire."""
    return (
        not one.habits.keys() & other.habits.keys()
        and not one.parts.keys() & other.parts.keys()
        and not (one.wrap and other.wrap)
    )


#: How a trial is stepped up while the defect lives: the profile, and whether all realms are judged.
STAGES: Final = (("gate", False), ("gate", True), ("nightly", True), ("full", True))
#: A defect that lives through this stage is a survivor; the expensive one beyond is for cases that no other takes in.
LAST_FOR_DEFECTS: Final = 2
_WITHOUT_DOCUMENTS: Final = DEVELOPMENT_REALMS[len(DOCUMENT_REALMS) :]


class TrialKind(StrEnum):
    """How the sandbox of a trial is altered; `plain` is not at all."""

    DEFECT = "defect"
    VARIANT = "variant"
    PLAIN = "plain"


@dataclass(frozen=True)
class ProofTrial:
    """What is tried.

    Attributes:
        kind: How the sandbox is altered.
        name: Of the defect or variant, or of two variants with a plus between them.
        clause: The clause that is broken; empty when none is.
        seed: Seed of generated data.
        stage: Place in `STAGES`.
        only: The one case to run, or None for every case of the clause.
        whole: Run every case of the profile, not just those of the clause.
        stop: End at the first finding on the clause.
        share: Run only the share of this number, from 0, when the cases are dealt out to so many trials.
    """

    kind: TrialKind
    name: str
    clause: str
    seed: int
    stage: int = 0
    only: str | None = None
    whole: bool = False
    stop: bool = True
    share: tuple[int, int] = (0, 1)

    def further(self, stage: int) -> ProofTrial:
        """The same, at a later stage."""
        return replace(self, stage=stage)


def stage_of_case(profile: str) -> int:
    """The stage at which a case is tried alone: in all its realms, in the first profile that takes it in."""
    return next(
        number
        for number, (name, everywhere) in enumerate(STAGES)
        if everywhere and Profile(name).includes(Profile(profile))
    )


class TrialsHead(Format, frozen=True):
    """The first line of `trials.jsonl`: the suite and the proof that the trials belong to."""

    suite: Name
    proof: dict[str, Any]


@dataclass(frozen=True)
class TrialResult:
    """What came of a trial.

    Attributes:
        killed: The clause has a confirmed finding.
        cases: The cases that found it.
        first: Requests and seconds until the first finding on the clause; None without one.
        findings: All confirmed findings, on whatever clause.
        trouble: Why the trial says nothing: the suite broke, or took too long; None otherwise.
    """

    trial: ProofTrial
    realms: tuple[Name, ...]
    profile: Name
    killed: bool
    cases: tuple[Name, ...]
    first: FirstFinding | None
    findings: tuple[dict[str, Any], ...]
    exit_code: Count
    requests: Count
    seconds: Seconds
    trouble: str | None = None

    @classmethod
    def nothing(cls, trial: ProofTrial, realms: tuple[str, ...], seconds: float, trouble: str) -> TrialResult:
        """The result of a trial that says nothing."""
        return cls(
            trial=trial,
            realms=realms,
            profile=STAGES[trial.stage][0],
            killed=False,
            cases=(),
            first=None,
            findings=(),
            exit_code=ExitCode.ERROR,
            requests=0,
            seconds=round(seconds, 3),
            trouble=trouble,
        )

    def line(self) -> str:
        """The result as one line of JSON."""
        return json.dumps(plain(self), ensure_ascii=False)

    @classmethod
    def read(cls, line: str) -> TrialResult:
        """Read what `line` wrote.

        Raises:
            UsageError: it did not write this.
        """
        return convert(parse(line, "a line of the proof"), cls, "a line of the proof")


def realms_of(trial: ProofTrial) -> tuple[str, ...]:
    """Where a trial runs: where its defect shows, else in one realm that changes from seed to seed.

    What breaks nothing runs in a realm with documents, and in those that have none.
    """
    if trial.kind is not TrialKind.DEFECT:
        return (_by_turns(trial, DOCUMENT_REALMS), *_WITHOUT_DOCUMENTS)
    if defect_named(trial.name).realms:
        return defect_named(trial.name).realms
    offered = _offered(trial)
    if STAGES[trial.stage][1]:
        return tuple(offered or DEVELOPMENT_REALMS[:1])
    return (_by_turns(trial, offered or DEVELOPMENT_REALMS[:1]),)


def _by_turns(trial: ProofTrial, realms: Sequence[str]) -> str:
    return realms[(crc32(trial.name.encode()) + trial.seed) % len(realms)]


def _offered(trial: ProofTrial) -> list[str]:
    """The realms of the clause in which every operation of the defect is found, or where there is none, any."""
    described = load_description().operations
    homes = [described[operation].realms for operation in defect_named(trial.name).operations]
    own = [realm for realm in load_catalogue().clause(trial.clause).realms if realm != ANY_REALM]
    common = [realm for realm in own if all(realm in home for home in homes)]
    return common or [realm for realm in own if any(realm in home for home in homes)]


def run_trial(trial: ProofTrial, index: CaseIndex, folder: Path) -> TrialResult:
    """Run one trial in this process, which must be a fork made for it.

    Args:
        folder: For the run's evidence and output; made here, and removed at the end unless it explains something.
    """
    folder.mkdir(parents=True, exist_ok=True)
    profile = STAGES[trial.stage][0]
    realms = realms_of(trial)
    words = [
        f"--profile={profile}",
        f"--seed={trial.seed}",
        f"--reports={folder}",
        "--history=off",
        "-q",
        "--no-header",
        "--tb=no",
    ]
    words += [f"--realm={realm}" for realm in realms]
    words += _selection(trial)
    anywhere = trial.whole or (trial.clause in UNIVERSAL and trial.only is None)
    files = [] if anywhere else index.files(trial.clause, trial.only)
    started = time.monotonic()
    with (folder / "output.txt").open("w", encoding="utf-8") as output, output_to(output.fileno()):
        sandbox = ForkedSandbox(_alteration(trial))
        watch = Watch(
            sandbox,
            trial.clause,
            _operations(trial),
            stop=trial.stop,
            only=trial.only,
            share=trial.share,
            formats=_formats(trial),
            settings=settings_needed(trial.name) if trial.kind is TrialKind.VARIANT else {},
        )
        try:
            code = run_suite(words, files, [watch])
        finally:
            sandbox.stop()
    result = TrialResult(
        trial=trial,
        realms=realms,
        profile=profile,
        killed=bool(watch.red),
        cases=tuple(watch.red),
        first=watch.first,
        findings=tuple(watch.findings),
        exit_code=code,
        requests=watch.requests,
        seconds=round(time.monotonic() - started, 3),
        trouble="; ".join(_troubles(watch, code)) or None,
    )
    if result.trouble is None and (trial.kind is TrialKind.DEFECT or code == ExitCode.PASS):
        shutil.rmtree(folder)
    return result


def _selection(trial: ProofTrial) -> list[str]:
    """Which cases can find the defect: those of its clause, or of its operations where any exchange would show it."""
    if trial.whole:
        return []
    if trial.clause in UNIVERSAL:
        return [f"--operation={operation}" for operation in defect_named(trial.name).operations]
    return [f"--clause={trial.clause}"]


def _alteration(trial: ProofTrial) -> list[str]:
    if trial.kind is TrialKind.PLAIN:
        return []
    return [word for name in trial.name.split(AND) for word in (f"--{trial.kind}", name)]


def settings_needed(name: str) -> dict[str, Any]:
    """What only settings can tell of a sandbox with variants: a contact that it takes, and what they name themselves.

    Args:
        name: Of the variants, with a plus between them; combinations have names of their own.
    """
    variants = chosen(name.split(AND)).variants
    contact = {key: value for variant in variants for key, value in variant.contact.items()}
    named = {key: value for variant in variants for key, value in variant.settings.items()}
    return named | ({"contact_document": contact} if contact else {})


def _told(value: Any, realm: str, own: RealmSettings) -> Any:
    """The value of a setting: that of another one, several values for the realm, or what it is."""
    if isinstance(value, str):
        return getattr(own, value)
    return tuple(each.format(realm=realm) for each in value) if isinstance(value, tuple) else value


def _operations(trial: ProofTrial) -> tuple[str, ...]:
    return defect_named(trial.name).operations if trial.kind is TrialKind.DEFECT else ()


def _formats(trial: ProofTrial) -> Sequence[str]:
    """All reports of a whole run where nothing is broken: each has to be able to write what such a service says."""
    return ALL_FORMATS if trial.kind is not TrialKind.DEFECT and trial.share == (0, 1) else FORMATS


def _troubles(watch: Watch, code: int) -> Iterator[str]:
    if watch.errors:
        yield f"the suite broke in {watch.errors[0]}"
    elif not watch.ended and code in (ExitCode.ERROR, ExitCode.USAGE):
        yield f"the run ended with exit code {code}"
