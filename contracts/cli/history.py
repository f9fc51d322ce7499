"""`registry-contracts history`: verdicts of earlier runs, of the whole target or of one clause."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from contracts.cli.options import DefaultCommandGroup, known_realms, print_lines
from contracts.errors import UsageError
from contracts.history.runs import FILE_NAME, WINDOW, Entry, History, Trend, merge, read, trends, write
from contracts.interface.catalogue import load_catalogue
from contracts.safe_text import many

_LETTERS = {
    "pass": "p",
    "observed": "o",
    "fail": "F",
    "advisory": "A",
    "deviation": "D",
    "inconclusive": "?",
    "error": "E",
}
_DEFAULT = Path("reports") / FILE_NAME


@click.group(cls=DefaultCommandGroup)
def command() -> None:
    """Show the verdicts of earlier runs; `show` need not be named."""


@command.command()
@click.argument("clause", required=False)
@click.option("--history", "file", type=click.Path(path_type=Path), default=_DEFAULT, metavar="FILE")
@click.option("--target", metavar="NAME", help="By default the one that was run last.")
@click.option(
    "--series", metavar="NAME", help="Of the target's, by its name or beginning; the last one by default."
)
@click.option("--realm", "realms", metavar="REALM", multiple=True, help="Only this realm; repeatable.")
@click.option(
    "--runs", default=WINDOW, show_default=True, type=click.IntRange(1), help="How far to look back."
)
def show(
    *,
    clause: str | None,
    file: Path,
    target: str | None,
    series: str | None,
    realms: tuple[str, ...],
    runs: int,
) -> int:
    """Show the runs on a target and what is red or flaky, or the trend of one CLAUSE in each realm.

    Runs of one profile, selection and consumer make a series; only these are compared.

    A trend reads from old to new: p pass, o observed, F fail, A advisory, D deviation, ? inconclusive, E error.
    """
    wanted = load_catalogue().clause(clause).id if clause else None
    known_realms(realms)
    if file != _DEFAULT and not file.exists():
        raise UsageError(f"there is no history {file}")
    history = _read(file)
    if not history.entries and (target or series):
        raise UsageError(f"no runs on '{target or series}' in {file}, nor on anything else")
    if not history.entries:
        click.echo(f"no runs in {file} yet")
        return 0
    name = _target(history, target, file)
    kind = _series(history, name, series)
    chosen = [
        trend
        for trend in trends(history, name, runs, kind).values()
        if (wanted is None or trend.clause == wanted) and (not realms or trend.realm in realms)
    ]
    lines = (
        _of_clause(chosen, name, clause or "") if wanted else _of_series(history, name, kind, chosen, runs)
    )
    print_lines(lines)
    return 0


@command.command("merge")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="By default the first file."
)
def merge_command(*, files: tuple[Path, ...], output: Path | None) -> int:
    """Put the runs of several history FILES into one, each run once."""
    for path in files:
        if not path.exists():
            raise UsageError(f"there is no history {path}")
    together = merge(_read(path) for path in files)
    write(output or files[0], together)
    click.echo(f"{many(len(together.entries), 'run')} in {output or files[0]}")
    return 0


def _read(path: Path) -> History:
    history = read(path)
    for complaint in history.damaged:
        click.echo(f"{complaint}; passed over", err=True)
    return history


def _target(history: History, name: str | None, file: Path) -> str:
    if name is not None and name not in history.targets:
        raise UsageError(f"no runs on '{name}' in {file}; it holds {', '.join(history.targets)}")
    return name or history.targets[0]


def _series(history: History, target: str, chosen: str | None) -> str:
    names = history.series_of(target)
    if chosen is None:
        return next(iter(names), "")
    matching = [name for name in names if name.startswith(chosen)]
    if chosen not in matching and len(matching) != 1:
        which = "no series" if not matching else f"{len(matching)} series"
        raise UsageError(f"{which} '{chosen}' on {target}; there are {'; '.join(map(repr, names))}")
    return chosen if chosen in matching else matching[0]


def _of_series(history: History, target: str, series: str, trends: list[Trend], runs: int) -> Iterator[str]:
    entries = history.of(target, series)
    folded = history.folded_of(target, series)
    older = f", and {many(folded.runs, 'older one')} folded" if folded else ""
    yield f"{target}, {series}: {many(len(entries), 'run')}{older}"
    for name in history.series_of(target):
        if name != series:
            yield f"  another series: {name} ({many(len(history.of(target, name)), 'run')})"
    yield f"{'started':<17} {'profile':<8} {'verdict':<13} {'fail':>5} {'requests':>9} {'seconds':>8}"
    yield from map(_row, entries[-runs:])
    red = [trend for trend in trends if trend.red_since]
    flaky = [trend for trend in trends if trend.flaky]
    yield f"red: {len(red)}" + (":" if red else "")
    yield from (_line(trend) for trend in red)
    yield f"flaky over {many(runs, 'run')}: {len(flaky)}" + (":" if flaky else "")
    yield from (_line(trend) for trend in flaky)


def _row(entry: Entry) -> str:
    fails = entry.counts.get("fail", 0)
    figures = f"{fails:>5} {entry.requests:>9,} {entry.seconds:>8.1f}"
    return f"{_minute(entry.started):<17} {entry.profile:<8} {entry.verdict:<13} {figures}"


def _of_clause(trends: list[Trend], target: str, clause: str) -> Iterator[str]:
    yield f"{clause} on {target}"
    if not trends:
        yield "  no run judged it"
    for trend in trends:
        yield _line(trend)
        yield (
            f"      {many(trend.flips, 'flip')}; {trend.requests:.1f} requests and {trend.seconds:.2f} s a run, "
            f"over {many(len(trend.verdicts), 'run')}"
        )


def _line(trend: Trend) -> str:
    strip = "".join(_LETTERS.get(verdict, ".") for verdict in trend.verdicts)
    green = f"last green {_minute(trend.last_green)}" if trend.last_green else "never green"
    red = f"red since {_minute(trend.red_since)}, " if trend.red_since else ""
    return f"  {trend.clause} · {trend.realm}  {strip}  {red}{green}"


def _minute(moment: str) -> str:
    return moment.replace("T", " ")[:16]
