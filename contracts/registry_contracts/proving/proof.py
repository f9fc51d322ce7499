"""One proof: runs its trials side by side, confirms what they found, and writes the report."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

import click

from registry_contracts.errors import UsageError
from registry_contracts.file_formats import convert, parse, plain, read_file
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.proving.manners import run_beside
from registry_contracts.proving.plan import (
    calm_trials,
    drawn_trials,
    faithful_trial,
    fault_trial,
    fixed_trials,
    further,
    manners_trials,
    service_trial,
)
from registry_contracts.proving.processes import Ended, SideBySide, preload
from registry_contracts.proving.report import Floor, Report
from registry_contracts.proving.runs import CaseIndex, run_trial
from registry_contracts.proving.trials import FAITHFUL, Kind, Outcome, Part, Result, Trial, function_of
from registry_contracts.safe_text import many
from registry_contracts.sandbox.faults import population

#: Many times what the slowest trial takes alone, because other work may use the cores too.
_LONGEST_SECONDS: Final = 1800.0
_SAID_EVERY_SECONDS: Final = 15.0
_SHOWN: Final = 500


@dataclass(frozen=True)
class Proof:
    """The options of the command.

    Attributes:
        names: Faults to try instead of the fixed set or a draw.
        command: The command line for the report.
    """

    parts: tuple[Part, ...]
    names: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    faults: int = 60
    services: int = 20
    seed: int | None = None
    realm: str = ""
    profile: str = "gate"
    jobs: int = 4
    reports: Path = Path("reports/proof")
    floor: Path | None = None
    command: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether it only tries what the options name."""
        return bool(self.names or self.clauses or self.variants)


def trials_of(proof: Proof, seed: int) -> list[Trial]:
    """The first trials of a proof; those that mostly wait come first.

    Raises:
        UsageError: an unknown fault, clause or variant, or nothing is left to try.
    """
    manners = Part.MANNERS in proof.parts and not proof.narrowed
    trials = [*manners_trials(seed)] if manners else []
    trials += [*_drawn(proof, seed), *_fixed(proof, seed)]
    if not trials:
        raise UsageError(f"no fault breaks {', '.join(proof.clauses)}; there is nothing to try")
    return trials


def _fixed(proof: Proof, seed: int) -> Iterator[Trial]:
    if Part.FIXED not in proof.parts:
        return
    if not proof.narrowed:
        yield from calm_trials(seed)
    clauses = {load_catalogue().clause(clause).id for clause in proof.clauses}
    faults = [population.load(name) for name in proof.names]
    if not faults and not proof.variants:
        faults = [fault for fault in population.fixed_set() if not clauses or fault.breaks[0] in clauses]
    yield from fixed_trials(faults, proof.realm)
    for name in proof.variants:
        yield service_trial(Part.FIXED, name, 1, proof.realm, proof.profile)


def _drawn(proof: Proof, seed: int) -> Iterator[Trial]:
    if Part.DRAWN not in proof.parts:
        return
    if proof.narrowed:
        faults = map(population.load, proof.names)
        yield from (fault_trial(fault, seed, proof.realm, proof.profile) for fault in faults)
        for name in proof.variants:
            yield service_trial(Part.DRAWN, name, seed, proof.realm, proof.profile)
    else:
        yield from drawn_trials(proof.faults, proof.services, seed, proof.realm, proof.profile)


def carry_out(proof: Proof) -> int:
    """Run a proof and write its report.

    Returns:
        0 the proof holds, 1 it does not, 3 a trial broke.

    Raises:
        UsageError: an unknown name, or a file or folder that cannot be used.
    """
    seed = Random().randrange(10**6) if proof.seed is None else proof.seed  # noqa: S311 - nothing secret
    floor = None if proof.floor is None else read_file(proof.floor, Floor)
    trials = trials_of(proof, seed)
    runs = proof.reports / "runs"
    try:
        shutil.rmtree(runs, ignore_errors=True)
        runs.mkdir(parents=True)
    except OSError as error:
        raise UsageError(f"cannot write the proof to '{proof.reports}': {error.strerror}") from None
    index = CaseIndex()
    preload(index)
    click.echo(f"proof: {many(len(trials), 'trial')} to begin with; seed {seed}")
    started = time.monotonic()
    results = _Prover(proof, index, runs).results(trials)
    report = Report(
        results,
        f"{proof.command} --seed {seed}" if proof.seed is None else proof.command,
        time.monotonic() - started,
        floor,
    )
    _write(proof, report)
    for line in report.closing_lines():
        click.echo(line)
    click.echo(f"report: {proof.reports / 'proof.md'}")
    return report.exit_code()


def _write(proof: Proof, report: Report) -> None:
    lines = [json.dumps(plain(result), ensure_ascii=False) for result in report.results]
    (proof.reports / "trials.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (proof.reports / "proof.md").write_text("".join(f"{line}\n" for line in report.lines()), "utf-8")


class _Prover:
    """Runs the trials of a proof side by side in forks."""

    def __init__(self, proof: Proof, index: CaseIndex, folder: Path) -> None:
        self._proof = proof
        self._index = index
        self._folder = folder
        self._numbers = count()
        self._done = 0
        self._said = time.monotonic()

    def results(self, trials: Sequence[Trial]) -> list[Result]:
        """Run trials and those that follow, then the cases that found a fault on the faithful service."""
        results = list(self._run(trials, further))
        results += self._run(list(self._confirming(results)))
        passed = _passed(results)
        for result in results:
            if result.trial.kind is Kind.FAULT and result.found_by:
                result.confirmed = not passed.get(_place(result), set()).isdisjoint(result.found_by)
        return results

    def _confirming(self, results: Sequence[Result]) -> Iterator[Trial]:
        """Trials of the faithful service with the cases that found a fault, if it has not passed them yet.

        A narrow trial may have more cases of a clause than a whole run, so the same selection is repeated.
        """
        passed = _passed(results)
        wanted: dict[_Place, set[str]] = {}
        for result in results:
            place = _place(result)
            if result.trial.kind is not Kind.FAULT or not result.found_by:
                continue
            if result.trial.narrow and passed.get(place, set()).isdisjoint(result.found_by):
                yield replace(result.trial, kind=Kind.SERVICE, name=FAITHFUL)
            elif place not in passed:
                wanted.setdefault(place, set()).update(map(function_of, result.found_by))
        for (profile, seed, realms), functions in sorted(wanted.items()):
            yield faithful_trial(realms, profile, seed, sorted(functions))

    def _run(
        self, trials: Sequence[Trial], follows: Callable[[Trial], Trial | None] = lambda _: None
    ) -> Iterator[Result]:
        """Run trials, and those that follow a surviving fault; a service that was not judged runs again, alone.

        A service may be silent only because other trials keep the machine busy.
        """
        unjudged = []
        for result in self._side_by_side(trials, self._proof.jobs, follows):
            if result.outcome is Outcome.NOT_JUDGED:
                unjudged.append(result)
            else:
                yield result
        alone = self._side_by_side([result.trial for result in unjudged], 1, follows)
        for first, second in zip(unjudged, alone, strict=True):
            second.first_run = first.why
            yield second

    def _side_by_side(
        self, trials: Sequence[Trial], jobs: int, follows: Callable[[Trial], Trial | None]
    ) -> Iterator[Result]:
        queue: SideBySide[tuple[int, Trial]] = SideBySide(self._work, jobs, _LONGEST_SECONDS)
        for trial in trials:
            queue.add((next(self._numbers), trial))
        for ended in queue.results():
            result = self._result(ended)
            further_trial = None if result.found else follows(result.trial)
            if further_trial is not None:
                queue.add((next(self._numbers), further_trial))
            elif not result.outcome.good and not result.trial.only:
                where = ", ".join(result.trial.realms)
                click.echo(f"{result.outcome} in {where}: {result.why}"[:_SHOWN])
                click.echo(f"  {result.trial.shown}")
            self._tell(queue.left)
            if further_trial is None:
                yield result

    def _work(self, task: tuple[int, Trial]) -> None:
        number, trial = task
        folder = self._folder / str(number)
        folder.mkdir()
        if trial.kind in (Kind.CANARY, Kind.KILL):
            result = run_beside(trial, folder)
        else:
            result = run_trial(trial, self._index, folder)
        (self._folder / f"{number}.json").write_text(json.dumps(plain(result)), "utf-8")
        if result.outcome.good or trial.only:
            shutil.rmtree(folder)

    def _result(self, ended: Ended[tuple[int, Trial]]) -> Result:
        number, trial = ended.task
        path = self._folder / f"{number}.json"
        if path.exists() and not ended.code:
            text = path.read_text("utf-8")
            path.unlink()
            return convert(parse(text, "a trial"), Result, "a trial")
        why = "took too long" if ended.late else f"ended with {ended.code}; see {self._folder / str(number)}"
        return Result(trial, seconds=round(ended.seconds, 2), trouble=why)

    def _tell(self, left: int) -> None:
        """Report the progress from time to time."""
        self._done += 1
        if time.monotonic() - self._said > _SAID_EVERY_SECONDS:
            self._said = time.monotonic()
            click.echo(f"{self._done} trials done, {left} to come", err=True)


#: Profile, seed and realms of a run.
_Place = tuple[str, int, tuple[str, ...]]


def _passed(results: Iterable[Result]) -> dict[_Place, set[str]]:
    """The cases that the faithful service passed, by their place."""
    passed: dict[_Place, set[str]] = {}
    for result in results:
        if result.trial.name == FAITHFUL and result.trial.kind is Kind.SERVICE:
            passed.setdefault(_place(result), set()).update(result.passed)
    return passed


def _place(result: Result) -> _Place:
    return result.trial.profile, result.trial.seed, result.trial.realms
