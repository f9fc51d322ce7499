"""Trends on the page: the runs before this one and this one as strips of bars, and what comes and goes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from contracts.evidence.outcomes import Verdict
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.history.past import Past, PastRun

#: A chart of few runs keeps its bars as thin as one of this many.
_COLUMNS = 16
_GAP = 0.16
#: What is there but small still has to be seen, in hundredths of the strip's height.
_LOWEST = 6.0
_FLAKY_AT_MOST = 30
_RED = ("fail", "advisory", "deviation")
_UNJUDGED = ("inconclusive", "error")

Pieces = Callable[[PastRun], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """One piece of a bar: `x` and `width` in columns, `y` and `height` in hundredths, `kind` names its colour."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Strip:
    """One figure over all runs: its name, its bars, and the figure of this run in words."""

    name: str
    bars: tuple[Bar, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Flaky:
    """A clause that came and went in a realm over the last runs."""

    clause: str
    realm: str
    flips: int


@dataclass(frozen=True, slots=True)
class Trends:
    """What the page says of earlier runs.

    `runs` are all that are known, the latest first and this one before them; `strips` show those of this run's
    profile, as others judge other clauses. `columns` is the width of every strip.
    """

    runs: tuple[PastRun, ...]
    strips: tuple[Strip, ...]
    columns: int
    compared: int
    flaky: tuple[Flaky, ...]


def trends(record: RunRecord, verdict: RunVerdict, past: Past, name: str) -> Trends | None:
    """Put this run after those before it.

    Args:
        name: of this run's folder.

    Returns:
        The trends, or None when no earlier run is known.
    """
    if not past.runs:
        return None
    now = _now(record, verdict, name)
    alike = [*(run for run in past.runs if run.profile == now.profile), now]
    columns = max(len(alike), _COLUMNS)
    return Trends(
        runs=(now, *reversed(past.runs)),
        strips=tuple(_strips(alike, columns)),
        columns=columns,
        compared=len(alike) - 1,
        flaky=_flaky(past),
    )


def _now(record: RunRecord, verdict: RunVerdict, name: str) -> PastRun:
    run = record.run
    counts = {str(each): number for each in Verdict if (number := verdict.count(each))}
    requests = int(run.environment.get("requests") or 0)
    return PastRun(name, run.started, run.profile, verdict.word, requests, run.seconds or 0.0, counts)


def _strips(runs: Sequence[PastRun], columns: int) -> Iterator[Strip]:
    now, before = runs[-1], runs[:-1]
    passed = sum(run.verdict == "pass" for run in before)
    words = (
        f"{now.verdict} now; {passed} of {len(before)} before it passed" if before else f"{now.verdict} now"
    )
    yield Strip("Verdict", _bars(runs, columns, _verdict), words)
    for name, kinds in (("Contradicted", _RED), ("Not judged", _UNJUDGED)):
        pieces = _counted(kinds)
        yield Strip(name, _bars(runs, columns, pieces), _figures(runs, pieces, ""))
    yield Strip("Requests", _bars(runs, columns, _requests), _figures(runs, _requests, ""))
    yield Strip("Time", _bars(runs, columns, _seconds), _figures(runs, _seconds, " s"))


def _verdict(run: PastRun) -> Mapping[str, float]:
    return {run.verdict: 1.0}


def _requests(run: PastRun) -> Mapping[str, float]:
    return {"plain": float(run.requests)}


def _seconds(run: PastRun) -> Mapping[str, float]:
    return {"plain": run.seconds}


def _counted(kinds: Sequence[str]) -> Pieces:
    return lambda run: {kind: float(run.counts.get(kind, 0)) for kind in kinds}


def _figures(runs: Sequence[PastRun], pieces: Pieces, unit: str) -> str:
    """Return the figure of this run and the span of those before it."""
    *before, now = (sum(pieces(run).values()) for run in runs)
    said = f"{now:,.0f}{unit} now"
    if not before:
        return said
    low, high = f"{min(before):,.0f}", f"{max(before):,.0f}"
    return f"{said}; {low}{unit} before" if low == high else f"{said}; {low} to {high}{unit} before"


def _bars(runs: Sequence[PastRun], columns: int, pieces: Pieces) -> tuple[Bar, ...]:
    highest = max(sum(pieces(run).values()) for run in runs) or 1.0
    bars: list[Bar] = []
    for column, run in enumerate(runs, start=columns - len(runs)):
        top = 100.0
        for kind, value in pieces(run).items():
            if not value:
                continue
            height = max(_LOWEST, 100.0 * value / highest)
            top = max(0.0, top - height)
            title = f"{run.started[:16].replace('T', ' ')}: {_worded(kind, value)}"
            bars.append(Bar(column + _GAP / 2, round(top, 2), 1 - _GAP, round(height, 2), kind, title))
    return tuple(bars)


def _worded(kind: str, value: float) -> str:
    return f"{value:,.0f}" if kind == "plain" else kind if value == 1.0 else f"{value:,.0f} {kind}"


def _flaky(past: Past) -> tuple[Flaky, ...]:
    found = [
        Flaky(clause, realm, since.flips)
        for clause, realms in past.cells.items()
        for realm, since in realms.items()
        if since.flips > 1
    ]
    found.sort(key=lambda each: (-each.flips, each.clause, each.realm))
    return tuple(found[:_FLAKY_AT_MOST])
