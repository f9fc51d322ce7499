"""Drawn faults and drawn conformant services: whole gate runs against them, chosen by a seed.

What counts is the gate's own verdict: a fault is found when the run fails on a clause that the fault breaks; a must
finding on a conformant service is a false alarm, and a must clause that passes on a service which never showed what
the clause is about is a false pass.
"""

from __future__ import annotations

import http.client
import json
import resource
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from contracts.checks.outcomes import Confirmed
from contracts.checks.table import UNIVERSAL
from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.file_formats import plain
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.description import load_description, operations_with
from contracts.plugin.collection import case_of
from contracts.plugin.forecast import without_realm
from contracts.plugin.worker import WORKER
from contracts.proving.observability import observable
from contracts.proving.processes import ForkedSandbox, SideBySide, output_to, run_suite
from contracts.proving.trials import AND, SLOW, Watch, leave_the_rest, settings_needed
from contracts.reports import verdict_json
from contracts.sandbox.faults import population
from contracts.sandbox.faults.fault import COUNT_PATH, Fault
from contracts.sandbox.faults.observer import ERRORS, REFUSAL, SHOWN_PATH, SUCCESS
from contracts.sandbox.variants import ALL, chosen
from contracts.sandbox.variants.model import CONTRADICTORY, SILENT_CLAUSES, SILENT_POINTS
from contracts.settings.target import DEVELOPMENT_REALMS, DOCUMENT_REALMS, Pace

#: Stands for a knob at which the service behaves as the faithful sandbox.
_FAITHFUL: Final = ""
#: How many knobs are turned at random in a service that is not of the cover.
_FEW: Final = (2, 3, 4, 6, 9, 12)


def knobs() -> Mapping[str, tuple[str, ...]]:
    """Every knob with the variants that turn it; each variant belongs to one knob, the first that names it.

    Variants that need the cores for themselves, or settings of their own, are left out.
    """
    placed: set[str] = {SLOW, *(name for name in ALL if ALL[name].settings)}
    knobs_by_name: dict[str, tuple[str, ...]] = {}
    for point, names in {**SILENT_CLAUSES, **SILENT_POINTS}.items():
        own = tuple(name for name in names if name not in placed)
        placed.update(own)
        if own:
            knobs_by_name[point] = own
    return knobs_by_name


def draw_services(number: int, seed: int) -> Iterator[str]:
    """Draw services: by turns the next row of a pairwise cover, and a random few variants.

    Args:
        number: How many.

    Yields:
        Names of variants with a plus between them, the same for the same seed.
    """
    chance = Random(f"services {seed}")  # noqa: S311 - nothing secret hangs on it
    rows = cover(seed)
    met: Counter[str] = Counter()
    for turn in range(number):
        row = next(rows, None) if turn % 2 == 0 else None
        names = row or _few(chance, met)
        met.update(names)
        yield AND.join(names)


def cover(seed: int) -> Iterator[list[str]]:
    """Draw the rows of a cover in which each two variants that go together meet, and each alone with a faithful knob.

    Each row begins with two values that have not met, and takes for every other knob the value that meets most others
    for the first time.

    Args:
        seed: The same rows for the same seed.

    Yields:
        The variants of a row.
    """
    chance = Random(f"cover {seed}")  # noqa: S311 - as above
    choices = [(knob, name) for knob, names in knobs().items() for name in (_FAITHFUL, *names)]
    fitting = _fitting(choices)
    unmet = list(fitting)
    by_knob: dict[str, list[int]] = {}
    for number, (knob, _) in enumerate(choices):
        by_knob.setdefault(knob, []).append(number)
    while any(unmet):
        first = max(
            chance.sample(range(len(choices)), len(choices)), key=lambda choice: unmet[choice].bit_count()
        )
        partners = [choice for choice in range(len(choices)) if unmet[first] >> choice & 1]
        row = [first, chance.choice(partners)]
        taken = 1 << row[0] | 1 << row[1]
        for knob in chance.sample(list(by_knob), len(by_knob)):
            free = [choice for choice in by_knob[knob] if fitting[choice] & taken == taken]
            if free:
                chance.shuffle(free)
                row.append(max(free, key=lambda choice: (unmet[choice] & taken).bit_count()))
                taken |= 1 << row[-1]
        for choice in row:
            unmet[choice] &= ~taken
        yield [choices[choice][1] for choice in row if choices[choice][1]]


def _fitting(choices: Sequence[tuple[str, str]]) -> list[int]:
    """For each value of a knob the values of other knobs that go with it, a bit for each."""

    def fit(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return one[0] != other[0] and (not one[1] or not other[1] or together(one[1], other[1]))

    return [sum(1 << number for number, other in enumerate(choices) if fit(one, other)) for one in choices]


def _few(chance: Random, met: Counter[str]) -> list[str]:
    """A few variants that go together, of those that were drawn least often."""
    size, taken = chance.choice(_FEW), list[str]()
    names = [name for names in knobs().values() for name in names]
    chance.shuffle(names)
    names.sort(key=lambda name: met[name])
    for name in names:
        if len(taken) < size and all(together(name, other) for other in taken):
            taken.append(name)
    return taken


@cache
def together(one: str, other: str) -> bool:
    """Whether two variants can both be seen and together obey the document: no habit or method is changed by both."""
    if frozenset({one, other}) in CONTRADICTORY:
        return False
    first, second = ALL[one], ALL[other]
    if first.habits.keys() & second.habits.keys():
        return False
    common = first.parts.keys() & second.parts.keys()
    return not any(_methods(first.parts[part]) & _methods(second.parts[part]) for part in common)


def _methods(layer: type) -> set[str]:
    """What the classes of one layer define, those of the service itself left out."""
    classes = [c for c in layer.__mro__ if ".sandbox.variants" in c.__module__]
    return {name for c in classes for name in vars(c) if not name.startswith("__")}


#: Words in the ids of clauses about refusals that name neither a status nor a generated fault.
_REFUSED: Final = ("-needs-token", "-absent", "-other-document", "-too-", "-non-ascii", "-forbidden-")
_ABOUT_REFUSALS: Final = frozenset(
    {
        "uid-misread-range",
        "uid-trailing-newline",
        "workflow-document-validated",
        "workflow-order-validation-before-initiate",
        "workflow-order-validation-before-save",
        "workflow-refused-update-keeps-draft",
        "workflow-rights-refusal-stores-nothing",
    }
)


def needed(clause: Clause) -> tuple[str, tuple[str, ...]]:
    """What a service has to show before a clause can have been exercised on it.

    Returns:
        `success`, `refusal` or `errors`, and the operations of which one must have shown it; no operations for a
        clause that any answer exercises.
    """
    if clause.id in UNIVERSAL or clause.family == "http":
        return SUCCESS, ()
    if clause.id.startswith("errors-"):
        return ERRORS, clause.operations
    about_refusal = clause.faults or clause.status is not None or clause.id in _ABOUT_REFUSALS
    if about_refusal or any(word in clause.id for word in _REFUSED):
        return REFUSAL, clause.operations
    # What is read, listed or checked has to be stored first.
    described = load_description().operations
    if clause.id == "workflow-created-known":
        # The update may be refused, be it for a lock.
        return SUCCESS, operations_with(stores="submission", method="POST")
    writes = tuple(operation for operation in clause.operations if described[operation].stores)
    return SUCCESS, writes or clause.operations


def false_passes(verdict: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, str]:
    """Find the must clauses that pass though the service never showed what they are about.

    Args:
        verdict: The content of a run's `verdict.json`.
        shown: What the service's observer counted in that run.

    Returns:
        Why, by clause.
    """
    return dict(_false_passes(verdict, shown))


def _false_passes(verdict: Mapping[str, Any], shown: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in verdict["clauses"]:
        clause = load_catalogue().clause(entry["id"])
        passes = any(cell["verdict"] == "pass" for cell in entry["realms"].values())
        if clause.level is not Level.MUST or not passes:
            continue
        what, operations = needed(clause)
        if operations and not any(shown["operations"].get(o, {}).get(what) for o in operations):
            yield clause.id, f"passes, yet the service showed no {what} of {', '.join(operations)}"
        elif clause.message is not None and clause.id not in shown["messages"]:
            yield clause.id, "passes, yet the service never gave its message"


FAULT: Final = "fault"
SERVICE: Final = "service"
#: Outcomes of a trial of a fault, the one that counts first.
FAIL: Final = "fail"
ELSEWHERE: Final = "fail elsewhere"
ADVISORY: Final = "advisory"
INCONCLUSIVE: Final = "inconclusive"
NOT_SEEN: Final = "not seen"
#: A plain client sees no difference either: the trial says nothing and another fault takes its place.
UNOBSERVABLE: Final = "not observable"
#: Outcomes of a trial of a service.
PASS: Final = "pass"  # noqa: S105 - a verdict
FALSE_ALARM: Final = "false alarm"
FALSE_PASS: Final = "false pass"  # noqa: S105 - as above
NOT_JUDGED: Final = "not judged"
#: The run left more permanent records than the settings allow.
TOO_MANY_LEFT: Final = "too many left"
#: Drafts are left that the run's verdict does not list.
UNLISTED: Final = "unlisted drafts"
TROUBLE: Final = "trouble"
#: Many times what a gate in one realm takes alone, as other work may want the cores too.
_LONGEST_SECONDS: Final = 900.0
_SHOWN: Final = 300
#: Of the faults drawn, this many times more stand by for those that no plain client can see.
_RESERVE: Final = 3


@dataclass(frozen=True)
class DrawnTrial:
    """One whole gate run.

    Attributes:
        kind: `fault` or `service`.
        name: Of the fault, or of the variants with a plus between them.
        realm: The realm judged.
        seed: Seed of generated data.
        clauses: What the fault breaks.
    """

    kind: str
    name: str
    realm: str
    seed: int
    clauses: tuple[str, ...] = ()


@dataclass
class DrawnResult:
    """What the gate said.

    Attributes:
        found: The run has a confirmed must finding on a clause that the fault breaks.
        advisory: The same on a should clause.
        musts: Clauses with a confirmed must finding, with one sentence each.
        requests: Sent until the first finding that counts, or in all.
        exit_code: The run's own; that of a run which was ended at its finding says nothing.
        seconds: Of the clock.
        cpu_seconds: Of run and sandbox together.
        reasons: Of a fault's clauses, or a service's must clauses, those that were not judged, and why.
        false_passes: Must clauses that passed without the service showing what they are about, and why.
        left: Permanent records that the run made; None when the sandbox did not say.
        unlisted: Drafts that are left and that the verdict does not list.
        altered: How often the fault made a difference in the run; None when the sandbox did not say.
        observable: Whether a plain client sees the fault; None when the run had found it.
        smoke: Whether a run of the profile `smoke` finds the fault too; None when it was not asked for.
        cases: Those with a finding that counts, the realm aside; of a run that ends at its finding only the first.
        trouble: Why the trial says nothing; empty otherwise.
    """

    kind: str
    name: str
    realm: str
    found: bool = False
    advisory: bool = False
    musts: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    exit_code: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    reasons: dict[str, str] = field(default_factory=dict)
    false_passes: dict[str, str] = field(default_factory=dict)
    left: int | None = None
    unlisted: list[str] = field(default_factory=list)
    altered: int | None = None
    observable: bool | None = None
    smoke: bool | None = None
    cases: list[str] = field(default_factory=list)
    trouble: str = ""

    @property
    def shown(self) -> str:
        """What there is to say of a trial that did not end well."""
        what = self.musts or self.false_passes or self.reasons
        left = f"{self.left} permanent records" if self.outcome == TOO_MANY_LEFT else ", ".join(self.unlisted)
        return "; ".join(f"{clause}: {text}" for clause, text in what.items()) or left or self.trouble

    @property
    def outcome(self) -> str:
        """How the trial ended, in a word or two."""
        if self.trouble:
            return TROUBLE
        return self._of_service() if self.kind == SERVICE else self._of_fault()

    def _of_service(self) -> str:
        if self.musts:
            return FALSE_ALARM
        if self.false_passes:
            return FALSE_PASS
        if (self.left or 0) > Pace().permanent_records:
            return TOO_MANY_LEFT
        if self.unlisted:
            return UNLISTED
        return PASS if self.exit_code == ExitCode.PASS else NOT_JUDGED

    def _of_fault(self) -> str:
        if self.found:
            return FAIL
        if self.observable is False:
            return UNOBSERVABLE
        if self.musts:
            return ELSEWHERE
        if self.advisory:
            return ADVISORY
        return NOT_SEEN if self.exit_code == ExitCode.PASS and not self.reasons else INCONCLUSIVE


class _CountedSandbox(ForkedSandbox):
    """A sandbox that tells what it counted when it is stopped, after the run has cleaned up."""

    def __init__(self, arguments: Sequence[str], counts_path: str) -> None:
        super().__init__(arguments)
        self._counts_path = counts_path
        self.counts: dict[str, Any] = {}
        self._asked_to_end = False

    def ask_to_end(self) -> None:
        """Note the counts, which it tells as long as it has not been asked, and ask it."""
        self._note_counts()
        super().ask_to_end()

    def stop(self) -> None:
        """Note the counts, and end it; a second call does nothing."""
        self._note_counts()
        super().stop()

    def _note_counts(self) -> None:
        if self._process is not None and not self._asked_to_end:
            self._asked_to_end = True
            self.counts = _counts(self.base_url, self._counts_path)


@dataclass
class _GateWatch(Watch):
    """Watches a whole gate run; ends it at the first finding that decides the trial."""

    clauses: frozenset[str] = frozenset()
    whole: bool = False
    advisory: bool = False
    musts: dict[str, str] = field(default_factory=dict)
    cases: dict[str, None] = field(default_factory=dict)

    def pytest_contract_finding(self, item: pytest.Item, finding: Confirmed) -> None:
        """Note a confirmed finding."""
        if not finding.confirmed:
            return
        evidence = finding.evidence
        worker = item.config.stash[WORKER]
        must = worker.catalogue.clause(evidence.clause).level is Level.MUST
        right = evidence.clause in self.clauses
        self.advisory = self.advisory or (right and not must)
        if must:
            shown = f"{evidence.operation}: expected {evidence.expected}; seen {evidence.seen}"
            self.musts.setdefault(evidence.clause, worker.redactor.text(shown)[:_SHOWN])
        if must and right:
            self.cases.setdefault(without_realm(case_of(item)))
        if must and right and self.first is None:
            self.first = {"requests": worker.counts["requests"], "seconds": 0.0}
            if not self.whole:
                self.ended = True
                leave_the_rest(item)


def fault_trials(number: int, seed: int, families: Sequence[str] = ()) -> Iterator[DrawnTrial]:
    """Draw must faults, each with a realm in which it shows; more than asked for, as some may be unobservable."""
    for fault in population.draw(_RESERVE * number, seed, families=families):
        yield fault_trial(fault, seed)


def fault_trial(fault: Fault, seed: int, realm: str | None = None) -> DrawnTrial:
    """The trial of a fault, in a realm that the seed draws among those in which it shows."""
    chance = Random(f"realm {seed} {fault.name}")  # noqa: S311 - nothing secret hangs on it
    drawn = chance.choice(fault.realms or DOCUMENT_REALMS)
    return DrawnTrial(FAULT, fault.name, realm or drawn, seed, fault.clauses)


def service_trials(number: int, seed: int) -> Iterator[DrawnTrial]:
    """Draw conformant services, each with a realm; the workflow's own realm comes up least often."""
    for name in draw_services(number, seed):
        yield service_trial(name, seed)


def service_trial(name: str, seed: int, realm: str | None = None) -> DrawnTrial:
    """The trial of a service, in a realm that the seed draws.

    Raises:
        UsageError: there is no variant of one of the names.
    """
    chosen(name.split(AND))
    chance = Random(f"realm {seed} {name}")  # noqa: S311 - as above
    drawn = chance.choice((*DOCUMENT_REALMS, *DOCUMENT_REALMS, DEVELOPMENT_REALMS[-1]))
    return DrawnTrial(SERVICE, name, realm or drawn, seed)


class DrawnProof:
    """Runs drawn trials in forks, side by side.

    Args:
        folder: For the results, and for the reports of trials that need a look.
        jobs: Trials side by side.
        whole: Do not end a trial at its finding.
        smoke: Also run the profile `smoke` on each fault.
        near: Judge only the clauses that a fault breaks, since no other case can find it.
        everywhere: Judge all realms, and not only the trial's.
    """

    def __init__(
        self,
        folder: Path,
        jobs: int,
        *,
        whole: bool = False,
        smoke: bool = False,
        near: bool = False,
        everywhere: bool = False,
    ) -> None:
        self._folder = folder
        self._jobs = jobs
        self._whole = whole
        self._smoke = smoke
        self._near = near
        self._everywhere = everywhere
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write the proof to '{folder}': {error.strerror}") from None

    def results(self, trials: Sequence[DrawnTrial], spare: Iterator[DrawnTrial]) -> Iterator[DrawnResult]:
        """Run the trials.

        Args:
            spare: Trials of faults that take the places of those that no plain client can see.

        Yields:
            What came of each, as it ends.
        """
        queue: SideBySide[tuple[int, DrawnTrial]] = SideBySide(self._work, self._jobs, _LONGEST_SECONDS)
        number = 0
        for trial in trials:
            queue.add((number := number + 1, trial))
        for ended in queue.results():
            result = self._result(*ended.task, ended.late, ended.code, ended.seconds)
            another = next(spare, None) if result.outcome == UNOBSERVABLE else None
            if another is not None:
                queue.add((number := number + 1, another))
            yield result

    def _result(self, number: int, trial: DrawnTrial, late: bool, code: int, seconds: float) -> DrawnResult:
        path = self._folder / f"{number}.json"
        if path.exists():
            content = json.loads(path.read_text("utf-8"))
            path.unlink()
            return DrawnResult(**content)
        why = "took too long" if late else f"ended with {code}"
        return DrawnResult(trial.kind, trial.name, trial.realm, trouble=why, seconds=round(seconds, 2))

    def _work(self, task: tuple[int, DrawnTrial]) -> int:
        number, trial = task
        folder = self._folder / f"run-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        everywhere = self._everywhere
        result = run_drawn(trial, folder, whole=self._whole, near=self._near, everywhere=everywhere)
        if self._smoke and trial.kind == FAULT and result.outcome != UNOBSERVABLE:
            smoke = run_drawn(trial, folder / "smoke", profile="smoke", look=False, everywhere=everywhere)
            result.smoke = smoke.found
        (self._folder / f"{number}.json").write_text(json.dumps(vars(result)), "utf-8")
        if result.outcome in (FAIL, PASS, UNOBSERVABLE):
            shutil.rmtree(folder)
        return 0


def run_drawn(
    trial: DrawnTrial,
    folder: Path,
    *,
    whole: bool = False,
    profile: str = "gate",
    look: bool = True,
    near: bool = False,
    everywhere: bool = False,
    files: Sequence[str] = (),
) -> DrawnResult:
    """Run one trial in this process, which must be a fork made for it.

    Args:
        folder: For the run's evidence and output.
        whole: Do not end the trial at its finding.
        profile: How far the run goes.
        look: Let a plain client look at a fault that was not found.
        near: Judge only the clauses that the fault breaks, where some are not shown by every exchange.
        everywhere: Judge all realms, and not only the trial's.
        files: Only these files of cases; empty for all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = [f"--profile={profile}", f"--seed={trial.seed}", f"--reports={folder}"]
    words += ["--history=off", "-q", "--no-header", "--tb=no"]
    # As the command `gate`: on a service that keeps the interface no must clause stays without a judgement.
    words += ["--strict"] if trial.kind == SERVICE else []
    words += [] if everywhere else [f"--realm={trial.realm}"]
    if near and UNIVERSAL.isdisjoint(trial.clauses):
        words += [f"--clause={clause}" for clause in trial.clauses]
    started, cpu = time.monotonic(), _cpu_seconds()
    with (folder / "output.txt").open("w", encoding="utf-8") as output, output_to(output.fileno()):
        counts_path = COUNT_PATH if trial.kind == FAULT else SHOWN_PATH
        sandbox = _CountedSandbox(_sandbox_words(trial), counts_path)
        watch = _GateWatch(
            sandbox,
            stop=False,
            clauses=frozenset(trial.clauses),
            whole=whole,
            settings=settings_needed(trial.name) if trial.kind == SERVICE else {},
        )
        try:
            code = run_suite(words, files, [watch])
        finally:
            sandbox.stop()
    trouble = f"the suite broke in {watch.errors[0]}" if watch.errors else ""
    if not watch.ended and code in (ExitCode.ERROR, ExitCode.USAGE):
        trouble = trouble or f"the run ended with exit code {code}"
    result = DrawnResult(
        trial.kind,
        trial.name,
        trial.realm,
        found=watch.first is not None,
        advisory=watch.advisory,
        musts=watch.musts,
        requests=int(watch.first["requests"]) if watch.first else watch.requests,
        exit_code=code,
        left=sandbox.counts.get("permanent", {}).get(trial.realm),
        altered=sandbox.counts.get("altered"),
        cases=list(watch.cases),
        trouble=trouble,
    )
    if not watch.ended and not trouble:
        _read_verdict(result, trial, folder, sandbox.counts)
    if look and trial.kind == FAULT and not result.found and not trouble:
        result.observable = observable(population.load(trial.name), trial.realm)
    result.seconds = round(time.monotonic() - started, 2)
    result.cpu_seconds = round(_cpu_seconds() - cpu, 2)
    return result


def _sandbox_words(trial: DrawnTrial) -> list[str]:
    if trial.kind == FAULT:
        return ["--fault", trial.name]
    return ["--observed", *(word for name in trial.name.split(AND) for word in ("--variant", name))]


def _cpu_seconds() -> float:
    """CPU seconds of this process and of its children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _counts(base_url: str, path: str) -> dict[str, Any]:
    """What a sandbox counted; empty when it does not answer, as one with a fault may not."""
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=10)
    try:
        connection.request("GET", path)
        content = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return content if isinstance(content, dict) else {}


def _read_verdict(result: DrawnResult, trial: DrawnTrial, folder: Path, counts: Mapping[str, Any]) -> None:
    """Take from the run's verdict what was not judged and what passed wrongly."""
    paths = [path for path in folder.glob("*/verdict.json") if not path.parent.is_symlink()]
    if not paths:
        return
    verdict: dict[str, Any] = plain(verdict_json.read(paths[0]))
    for entry in verdict["clauses"]:
        cells: dict[str, dict[str, Any]] = entry["realms"]
        cell = cells.get(trial.realm, next(iter(cells.values()), {}))
        wanted = entry["id"] in trial.clauses if trial.kind == FAULT else entry["level"] == Level.MUST
        if wanted and cell.get("verdict") == "inconclusive":
            result.reasons[entry["id"]] = str(cell.get("reason", ""))[:_SHOWN]
    if trial.kind == SERVICE and result.exit_code == ExitCode.INCONCLUSIVE:
        result.reasons.setdefault("gate", verdict["reason"][:_SHOWN])
    if trial.kind == SERVICE and counts:
        result.false_passes = false_passes(verdict, counts)
        listed = {entry["identifier"] for entry in (*verdict["residue"], *verdict["leftovers"])}
        result.unlisted = [draft for draft in counts["drafts"] if draft not in listed]
