"""The report of a drawn proof, and what it leaves for the order of cases.

`prove --part drawn`: draws, runs, reports survivors first and the kill rate with its interval, by family and by
operator, and compares with the kill rate that was landed last.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Final

import click

from contracts.cases.generated_faults import make_all
from contracts.cases.marks import Profile
from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.file_formats import Count, Format, Name, read_file, write_file
from contracts.plugin.collection import write_order
from contracts.proving.case_costs import known_costs
from contracts.proving.drawn import (
    ADVISORY,
    ELSEWHERE,
    FAIL,
    FALSE_ALARM,
    FALSE_PASS,
    FAULT,
    INCONCLUSIVE,
    NOT_JUDGED,
    NOT_SEEN,
    PASS,
    SERVICE,
    TOO_MANY_LEFT,
    TROUBLE,
    UNLISTED,
    UNOBSERVABLE,
    DrawnProof,
    DrawnResult,
    DrawnTrial,
    fault_trial,
    fault_trials,
    service_trial,
    service_trials,
)
from contracts.proving.matrix import put_between
from contracts.proving.ordering import FoundFaults, order_of_cases, read_found, write_found
from contracts.proving.trials import CaseFacts
from contracts.safe_text import many
from contracts.sandbox.faults import population

#: The normal quantile of a confidence of 95 percent.
_Z: Final = 1.96
_SIGNIFICANT: Final = 0.05
_LIVING: Final = (NOT_SEEN, INCONCLUSIVE, ELSEWHERE, TROUBLE)


class LandedRate(Format, frozen=True):
    """The kill rate that a later proof may not fall below by more than its interval."""

    failed: Count
    drawn: Count
    seed: int
    command: Name


def read_landed(path: Path) -> LandedRate:
    """Read the kill rate that was landed last.

    Raises:
        UsageError: there is no such file, it cannot be read, or holds something else.
    """
    try:
        return read_file(path, LandedRate)
    except FileNotFoundError:
        raise UsageError(f"no kill rate in '{path}': --land writes one") from None


def write_landed(path: Path, results: Sequence[DrawnResult], seed: int, command: str) -> None:
    """Write the kill rate of a proof as the one to be kept.

    Raises:
        UsageError: the file cannot be written.
    """
    hits, of = kills(results)
    write_file(path, LandedRate(hits, of, seed, command), LandedRate)


def below(results: Sequence[DrawnResult], landed: LandedRate) -> bool:
    """Whether the kill rate is significantly lower than the landed one: Fisher's exact test, one-sided, 5 percent."""
    hits, of = kills(results)
    found, all_faults = hits + landed.failed, of + landed.drawn
    ways = sum(math.comb(found, few) * math.comb(all_faults - found, of - few) for few in range(hits + 1))
    return ways / math.comb(all_faults, of) < _SIGNIFICANT


def kills(results: Iterable[DrawnResult]) -> tuple[int, int]:
    """How many faults fail the run on a clause that they break, and of how many that can be observed."""
    outcomes = [r.outcome for r in results if r.kind == FAULT and r.outcome != UNOBSERVABLE]
    return outcomes.count(FAIL), len(outcomes)


def interval(hits: int, of: int) -> tuple[float, float]:
    """The Wilson score interval of a share, with a confidence of 95 percent."""
    if of == 0:
        return 0.0, 1.0
    share, spread = hits / of, _Z**2 / of
    middle = share + spread / 2
    reach = _Z * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)


def report(results: Sequence[DrawnResult], seed: int, command: str) -> str:
    """The tables of a drawn proof in Markdown, survivors first."""
    return "\n".join(_report(results, seed, command)) + "\n"


def _report(results: Sequence[DrawnResult], seed: int, command: str) -> Iterator[str]:
    faults = [r for r in results if r.kind == FAULT and r.outcome != UNOBSERVABLE]
    services = [r for r in results if r.kind == SERVICE]
    blind = [r for r in results if r.kind == FAULT and r.outcome == UNOBSERVABLE]
    yield f"`{command}`: {many(len(faults), 'fault')} and {many(len(services), 'service')}, drawn with seed {seed}."
    yield ""
    yield from _figures(faults, services)
    yield from _survivors(faults)
    yield from _advisory(faults)
    yield from _alarms(services)
    yield from _table(
        "family", faults, lambda result: result.name.split("/")[0] if "/" in result.name else "rows"
    )
    yield from _table("operator", faults, lambda result: _operator(result.name))
    if blind:
        yield ""
        yield "Drawn, and left out because a plain client sees no difference either:"
        yield ""
        yield from (f"- `{result.name}` in {result.realm}" for result in sorted(blind, key=_name))


def _name(result: DrawnResult) -> str:
    return result.name


def _operator(name: str) -> str:
    return name.split("/")[-2:][0]


def _figures(faults: Sequence[DrawnResult], services: Sequence[DrawnResult]) -> Iterator[str]:
    hits, of = kills(faults)
    low, high = interval(hits, of)
    ends = Counter(result.outcome for result in services)
    yield "| | |"
    yield "|---|---|"
    if of:
        yield f"| faults that fail the run on a clause they break | {hits} of {of}, {100 * hits / of:.1f} % |"
        yield f"| … with a confidence of 95 % | {100 * low:.1f} % to {100 * high:.1f} % |"
        requests = [result.requests for result in faults if result.outcome == FAIL]
        yield f"| requests until the first confirmed finding, median | {median(requests) if requests else 'none'} |"
        smoke = [result for result in faults if result.smoke is not None]
        if smoke:
            yield f"| found in `smoke` too | {sum(r.smoke is True for r in smoke)} of {len(smoke)} |"
    if services:
        yield f"| conformant services that pass | {ends[PASS]} of {len(services)} |"
        outcomes = (FALSE_ALARM, FALSE_PASS, TOO_MANY_LEFT, UNLISTED)
        numbers = ", ".join(str(ends[outcome]) for outcome in outcomes)
        yield (
            "| … false alarms, false passes, too many permanent records left, unlisted drafts, not judged |"
            f" {numbers}, {ends[NOT_JUDGED] + ends[TROUBLE]} |"
        )
    spent = [result.cpu_seconds for result in (*faults, *services)]
    mean = sum(spent) / max(1, len(spent))
    yield f"| CPU seconds of a trial, mean and longest | {mean:.1f}, {max(spent, default=0):.1f} |"


def _survivors(faults: Sequence[DrawnResult]) -> Iterator[str]:
    living = sorted((r for r in faults if r.outcome in _LIVING), key=lambda r: (r.outcome, r.name))
    if living:
        yield ""
        yield "| survivor | realm | the gate says | why |"
        yield "|---|---|---|---|"
    for result in living:
        yield f"| `{result.name}` | {result.realm} | {result.outcome} | {_why(result)} |"


def _why(result: DrawnResult) -> str:
    if result.trouble:
        return result.trouble
    if result.altered == 0:
        return "only the plain client meets it: no request of the run is one on which it acts"
    if result.musts:
        return f"fails on {', '.join(sorted(result.musts))}"
    reasons = [f"{clause}: {reason}" for clause, reason in result.reasons.items()]
    met = f"altered {many(result.altered or 0, 'exchange')}"
    return "; ".join(reasons).replace("|", "\\|").replace("\n", " ") or met


def _advisory(faults: Sequence[DrawnResult]) -> Iterator[str]:
    advisory = sorted((result for result in faults if result.outcome == ADVISORY), key=_name)
    if advisory:
        yield ""
        yield "Found on a clause of level should alone, which no run fails for:"
        yield ""
        yield from (f"- `{result.name}` in {result.realm}" for result in advisory)


def _alarms(services: Sequence[DrawnResult]) -> Iterator[str]:
    loud = sorted((result for result in services if result.outcome != PASS), key=_name)
    if loud:
        yield ""
        yield "| service | realm | the gate says | on |"
        yield "|---|---|---|---|"
    for result in loud:
        yield (
            f"| {result.name.replace('+', ' ')} | {result.realm} | {result.outcome} |"
            f" {result.shown[:1000].replace('|', chr(92) + '|').replace(chr(10), ' ')} |"
        )


def _table(head: str, faults: Sequence[DrawnResult], of: Callable[[DrawnResult], str]) -> Iterator[str]:
    groups: dict[str, list[DrawnResult]] = defaultdict(list)
    for result in faults:
        groups[of(result)].append(result)
    if not groups:
        return
    yield ""
    yield f"| {head} | drawn | fail | elsewhere | advisory | inconclusive | not seen | rate | 95 % |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---|"
    for name, members in (*sorted(groups.items()), ("all", list(faults))):
        ends = Counter(result.outcome for result in members)
        low, high = interval(ends[FAIL], len(members))
        yield (
            f"| {name} | {len(members)} | {ends[FAIL]} | {ends[ELSEWHERE]} | {ends[ADVISORY]} |"
            f" {ends[INCONCLUSIVE] + ends[TROUBLE]} | {ends[NOT_SEEN]} |"
            f" {100 * ends[FAIL] / len(members):.1f} % | {100 * low:.1f}-{100 * high:.1f} |"
        )


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
        order: File that takes the order of cases that finds these faults soonest; None for none. Each fault then
            meets all the cases that can find it, and no other.
        found: File with what earlier proofs found, which counts for the order, too, and which takes up what this
            proof finds; None for none.
        everywhere: Judge all realms, and not only the one that is drawn.
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
    order: Path | None = None
    found: Path | None = None
    everywhere: bool = False


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
    if options.found is not None:
        read_found(options.found)


def carry_out_drawn(
    options: DrawnOptions,
    command: str,
    folder: Path,
    jobs: int,
    docs: Path | None = None,
    cases: Iterable[CaseFacts] = (),
) -> int:
    """Run a drawn proof in a process that has loaded the suite, and write its report.

    Args:
        command: As the report names it.
        folder: For the report, the results, and the evidence of trials that need a look.
        jobs: Trials side by side.
        docs: Document that takes the tables, or None.
        cases: What is known of every case.

    Returns:
        0 the proof holds, 1 a service is not passed or the kill rate is too low, 3 a trial says nothing.

    Raises:
        UsageError: a file cannot be written.
    """
    seed = options.seed if options.seed is not None else Random().randrange(10**6)  # noqa: S311 - as above
    click.echo(f"drawn with seed {seed}")
    trials, spare = planned(options, seed)
    if len(trials) > _MANY_TRIALS:
        make_all()
    ordering = options.order is not None
    proof = DrawnProof(
        folder,
        jobs,
        whole=options.whole or ordering,
        smoke=options.smoke,
        near=ordering,
        everywhere=options.everywhere,
    )
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
    kept = read_found(options.found) if options.found is not None else FoundFaults((), {})
    kept = kept.with_draw(f"{command} --drawn-seed {seed}", {r.name: r.cases for r in results if r.cases})
    if options.found is not None:
        write_found(options.found, kept)
    if options.order is not None:
        facts_by_case = {facts.key: facts for facts in cases if Profile.GATE.includes(Profile(facts.profile))}
        write_order(options.order, order_of_cases(command, kept.found, facts_by_case, known_costs()))
    return _closing(results, options, folder / "drawn.md")


def _tell(result: DrawnResult) -> None:
    if result.outcome not in (FAIL, PASS, UNOBSERVABLE):
        click.echo(f"{result.outcome}: {result.name} in {result.realm}: {result.shown}"[:600])


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
    code = ExitCode.PASS
    if any(result.outcome == TROUBLE for result in results):
        code = ExitCode.ERROR
    if landed is not None and below(results, landed):
        click.echo(f"drawn: significantly below the landed {landed.failed} of {landed.drawn}")
        code = ExitCode.FAIL
    if any(result.outcome not in (PASS, TROUBLE) for result in services):
        code = ExitCode.FAIL
    return code
