"""`prove --part drawn`: draws, runs, reports, and compares with the kill rate that was landed last."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import click

from contracts.cases.generated_faults import make_all
from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.proving.drawn import (
    FAIL,
    FALSE_ALARM,
    FALSE_PASS,
    FAULT,
    PASS,
    TROUBLE,
    UNOBSERVABLE,
    DrawnProof,
    DrawnResult,
    DrawnTrial,
    fault_trial,
    fault_trials,
    service_trial,
    service_trials,
)
from contracts.proving.drawn_report import (
    below,
    interval,
    kills,
    read_landed,
    report,
    write_landed,
)
from contracts.proving.proof_report import put_between
from contracts.sandbox.faults import population

_MANY_TRIALS = 8


@dataclass(frozen=True)
class DrawnOptions:
    """What `prove --part drawn` was asked for.

    Attributes:
        faults: How many faults to draw.
        services: How many services to draw.
        seed: Of the draw and of generated data; None for a fresh one.
        families: Only faults of these; empty for all.
        names: These faults in place of a draw.
        variants: These services in place of a draw, each as names with a plus between them.
        realm: Judge here; None for a realm that the seed draws.
        whole: Do not end a trial at its finding.
        smoke: Also run the profile `smoke` on each fault.
        floor: File with the kill rate that this one may not fall below; None for no bound.
        land: File that takes this proof's kill rate; None for none.
    """

    faults: int = 60
    services: int = 20
    seed: int | None = None
    families: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    realm: str | None = None
    whole: bool = False
    smoke: bool = False
    floor: Path | None = None
    land: Path | None = None


def planned(options: DrawnOptions, seed: int) -> tuple[list[DrawnTrial], Iterator[DrawnTrial]]:
    """The trials that a proof begins with, and those that stand by.

    Raises:
        UsageError: an unknown fault or variant.
    """
    if options.names or options.variants:
        return _named(options, seed), iter(())
    _check_families(options)
    spare = fault_trials(options.faults, seed, options.families)
    first = [trial for _, trial in zip(range(options.faults), spare, strict=False)]
    return [*service_trials(options.services, seed), *first], spare


def _named(options: DrawnOptions, seed: int) -> list[DrawnTrial]:
    faults = [fault_trial(population.load(name), seed, options.realm) for name in options.names]
    return [*faults, *(service_trial(name, seed, options.realm) for name in options.variants)]


def _check_families(options: DrawnOptions) -> None:
    unknown = set(options.families) - {fault.family for fault in population.population().values()}
    if unknown:
        raise UsageError(f"there is no family of faults named '{min(unknown)}'")


def check_names(options: DrawnOptions) -> None:
    """Look up every name and file of a drawn proof, so that a mistake is said before anything is loaded.

    Raises:
        UsageError: an unknown fault, family or variant, or a landed rate that cannot be read.
    """
    # Nothing is drawn for it: a cover of all variants takes its time.
    _named(options, 0)
    _check_families(options)
    if options.floor is not None:
        read_landed(options.floor)


def carry_out_drawn(
    options: DrawnOptions, command: str, folder: Path, jobs: int, docs: Path | None = None
) -> int:
    """Run a drawn proof in a process that has loaded the suite, and write its report.

    Args:
        command: As the report names it.
        folder: For the report, the results, and the evidence of trials that need a look.
        jobs: Trials side by side.
        docs: Document that takes the tables, or None.

    Returns:
        0 the proof holds, 1 a false alarm, a false pass or too low a kill rate, 3 a trial says nothing.

    Raises:
        UsageError: a file cannot be written.
    """
    seed = options.seed if options.seed is not None else Random().randrange(10**6)  # noqa: S311 - as above
    click.echo(f"drawn with seed {seed}")
    trials, spare = planned(options, seed)
    if len(trials) > _MANY_TRIALS:
        make_all()
    proof = DrawnProof(folder, jobs, whole=options.whole, smoke=options.smoke)
    results: list[DrawnResult] = []
    with (folder / "drawn.jsonl").open("w", encoding="utf-8") as file:
        for result in proof.results(trials, spare):
            results.append(result)
            file.write(json.dumps({**vars(result), "outcome": result.outcome}) + "\n")
            file.flush()
            _tell(result)
    text = report(results, seed, command)
    (folder / "drawn.md").write_text(text, "utf-8")
    if docs is not None:
        put_between(docs, "drawn", text)
    if options.land is not None:
        write_landed(options.land, results, seed, command)
    return _closing(results, options, folder / "drawn.md")


def _tell(result: DrawnResult) -> None:
    if result.outcome not in (FAIL, PASS, UNOBSERVABLE):
        what = result.musts or result.false_passes or result.reasons or result.trouble
        click.echo(f"{result.outcome}: {result.name} in {result.realm}: {what}"[:600])


def _closing(results: Sequence[DrawnResult], options: DrawnOptions, page: Path) -> int:
    hits, of = kills(results)
    if of:
        low, high = interval(hits, of)
        click.echo(f"drawn: {hits} of {of} faults fail the run ({100 * low:.1f} % to {100 * high:.1f} %)")
    services = [result for result in results if result.kind != FAULT]
    if services:
        passed = sum(result.outcome == PASS for result in services)
        click.echo(f"drawn: {passed} of {len(services)} services pass")
    click.echo(f"drawn: report: {page}")
    landed = read_landed(options.floor) if options.floor is not None else None
    loud = [result for result in services if result.outcome in (FALSE_ALARM, FALSE_PASS)]
    code = ExitCode.PASS
    if any(result.outcome == TROUBLE for result in results):
        code = ExitCode.ERROR
    if landed is not None and below(results, landed):
        click.echo(f"drawn: the kill rate fell below the landed {landed.failed} of {landed.drawn}")
        code = ExitCode.FAIL
    if loud:
        code = ExitCode.FAIL
    return code
