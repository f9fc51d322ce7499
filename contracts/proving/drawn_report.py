"""The report of a drawn proof: survivors first, the kill rate with its interval, by family and by operator."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from contracts.file_formats import Count, Format, Name, read_file, write_file
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
    TROUBLE,
    UNOBSERVABLE,
    DrawnResult,
)
from contracts.safe_text import many

#: The normal quantile of a confidence of 95 percent.
_Z: Final = 1.96
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
        UsageError: the file cannot be read, or holds something else.
    """
    return read_file(path, LandedRate)


def write_landed(path: Path, results: Sequence[DrawnResult], seed: int, command: str) -> None:
    """Write the kill rate of a proof as the one to be kept.

    Raises:
        UsageError: the file cannot be written.
    """
    hits, of = kills(results)
    write_file(path, LandedRate(hits, of, seed, command), LandedRate)


def below(results: Sequence[DrawnResult], landed: LandedRate) -> bool:
    """Whether the whole interval of the kill rate lies below the landed rate."""
    return landed.drawn > 0 and interval(*kills(results))[1] < landed.failed / landed.drawn


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
    yield from _table("family", faults, lambda result: result.name.split("/")[0])
    yield from _table("operator", faults, lambda result: _operator(result.name))
    if blind:
        yield ""
        yield "Drawn, and left out because a plain client sees no difference either:"
        yield ""
        yield from (f"- `{result.name}` in {result.realm}" for result in sorted(blind, key=_name))


def _name(result: DrawnResult) -> str:
    return result.name


def _operator(name: str) -> str:
    return name.split("/")[2]


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
        yield (
            f"| … false alarms, false passes, not judged | {ends[FALSE_ALARM]}, {ends[FALSE_PASS]},"
            f" {ends[NOT_JUDGED] + ends[TROUBLE]} |"
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
    found = sorted((result for result in faults if result.outcome == ADVISORY), key=_name)
    if found:
        yield ""
        yield "Found on a clause of level should alone, which no run fails for:"
        yield ""
        yield from (f"- `{result.name}` in {result.realm}" for result in found)


def _alarms(services: Sequence[DrawnResult]) -> Iterator[str]:
    loud = sorted((result for result in services if result.outcome != PASS), key=_name)
    if loud:
        yield ""
        yield "| service | realm | the gate says | on |"
        yield "|---|---|---|---|"
    for result in loud:
        what = result.musts or result.false_passes or result.reasons
        shown = "; ".join(f"{clause}: {text}" for clause, text in what.items()) or result.trouble
        yield (
            f"| {result.name.replace('+', ' ')} | {result.realm} | {result.outcome} |"
            f" {shown[:1000].replace('|', chr(92) + '|').replace(chr(10), ' ')} |"
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
