"""`registry-contracts list`: lists clauses, operations, cases, findings, runs and the like, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from msgspec import structs

from contracts.checks.table import UNIVERSAL
from contracts.cli.options import as_json, kept_reports, print_lines
from contracts.errors import UsageError, suggestion
from contracts.history.runs import FILE_NAME as HISTORY
from contracts.history.runs import History, Trend, read, trends
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.description import load_description
from contracts.interface.known_cases import known_cases
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS
from contracts.manual import sandbox_setup
from contracts.reports.kept_runs import LastRun, last_run
from contracts.safe_text import many

Row = dict[str, Any]
#: The verdict of a clause that could not be tested.
_UNTESTED: Final = "untested"


@dataclass(frozen=True)
class Filters:
    """What a list is limited to; None for no limit."""

    reports: Path
    level: str | None
    family: str | None
    operation: str | None
    realm: str | None
    untested: bool
    run: str | None
    target: str | None
    series: str | None
    history: Path | None

    def clauses(self) -> list[Clause]:
        """The clauses that the filters leave."""
        return [
            clause
            for clause in load_catalogue()
            if self.level in (None, clause.level)
            and self.family in (None, clause.family)
            and self.operation in (None, *clause.operations)
            and self.realm in (None, *clause.realms)
        ]


@dataclass(frozen=True)
class _List:
    rows: Callable[[Filters], Iterable[Row]]
    columns: tuple[str, ...]
    filters: tuple[str, ...] = ()


@click.command()
@click.argument("what", metavar="WHAT")
@click.option(
    "--level", type=click.Choice([str(level) for level in Level]), help="Only clauses of this level."
)
@click.option("--family", metavar="NAME", help="Only clauses of this family, such as draft or workflow.")
@click.option("--operation", metavar="ID", help="Only what concerns it.")
@click.option("--realm", metavar="REALM", help="Only what there is in it.")
@click.option("--untested", is_flag=True, help="Only what no case tests, or the last run could not test.")
@click.option("--run", metavar="NAME", help="Another run than the latest.")
@click.option("--target", metavar="NAME", help="Only runs on it; for trends, by default the last one.")
@click.option(
    "--series", metavar="NAME", help="Runs of one profile, selection and consumer; by default the last."
)
@click.option(
    "--history",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="By default history.jsonl in the reports.",
)
@kept_reports
@as_json
def command(*, what: str, as_json: bool, **filters: Any) -> int:
    """List WHAT: clauses, operations, cases, faults, variants, weathers, findings, runs, red, flaky.

    Findings are those of the latest run; runs, and what is red or came and went over the last 20 of them, those of the
    history. A trend reads from old to new: p pass, o observed, F fail, A advisory, D deviation, ? inconclusive,
    E error. The number of lines is printed on standard error.

    Exit codes: 0 listed, 4 usage.

    \b
    Examples:
      registry-contracts list clauses --level must --family uid
      registry-contracts list clauses --untested --realm ort-dev
      registry-contracts list cases --operation listDrafts
      registry-contracts list faults --operation saveDraft --json
      registry-contracts list findings
      registry-contracts list red --realm abs-dev
    """  # noqa: D301 - click's mark for lines to be left as they are
    chosen = Filters(**filters)
    listing = _LISTS.get(what) or _LISTS.get(f"{what}s")
    if listing is None:
        raise UsageError(f"nothing is called '{what}'; {suggestion(what, _LISTS)}")
    _check(what, chosen, listing.filters)
    rows = list(listing.rows(chosen))
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    print_lines(_table(rows, listing.columns))
    click.echo(many(len(rows), "line"), err=True)
    return 0


def _check(what: str, chosen: Filters, possible: Sequence[str]) -> None:
    for name, value in vars(chosen).items():
        if value and name not in ("reports", *possible):
            advice = f"use {', '.join(f'--{each}' for each in possible)}" if possible else "it has no filters"
            raise UsageError(f"--{name} says nothing about {what}; {advice}")
    known = {
        "operation": list(load_description().operations),
        "family": sorted({clause.family for clause in load_catalogue()}),
        "realm": [*WORKFLOW_REALMS, ANY_REALM],
    }
    for name, names in known.items():
        value = getattr(chosen, name)
        if value is not None and value not in names:
            raise UsageError(f"unknown {name} '{value}'; {suggestion(value, names)}")


def _clauses(chosen: Filters) -> Iterable[Row]:
    run = last_run(chosen.reports, chosen.run)
    cases = known_cases() if chosen.untested else {}
    for clause in chosen.clauses():
        reason = _why_untested(clause, cases, run, chosen.realm) if chosen.untested else ""
        if chosen.untested and not reason:
            continue
        yield {
            "id": clause.id,
            "level": str(clause.level),
            "family": clause.family,
            "operations": list(clause.operations),
            "realms": list(clause.realms),
            "wording": clause.wording,
            "verdicts": {realm: run.verdict_of(clause.id, realm) for realm in clause.realms} if run else {},
            "shown": reason or clause.wording,
        }


def _why_untested(clause: Clause, cases: Any, run: LastRun | None, realm: str | None) -> str:
    if clause.id not in cases and clause.id not in UNIVERSAL:
        return clause.untested or "no case"
    cells = run.cells.get(clause.id, {}) if run else {}
    wanted = [cell for place, cell in cells.items() if realm in (None, place) and cell.verdict == _UNTESTED]
    return "; ".join(sorted({str(cell.reason) for cell in wanted}))


def _operations(chosen: Filters) -> Iterable[Row]:
    for each in load_description().operations.values():
        if chosen.realm in (None, *each.realms):
            row: Row = {"id": each.id, "address": f"{each.method} {each.path}", "realms": list(each.realms)}
            yield row | {"clauses": len(load_catalogue().by_operation(each.id))}


def _cases(chosen: Filters) -> Iterable[Row]:
    wanted = {clause.id for clause in chosen.clauses()}
    clauses_of: dict[str, list[str]] = {}
    for clause, names in known_cases().items():
        for name in names if clause in wanted else ():
            clauses_of.setdefault(name, []).append(clause)
    return ({"id": name, "clauses": clauses} for name, clauses in sorted(clauses_of.items()))


def _faults(chosen: Filters) -> Iterable[Row]:
    wanted = {clause.id for clause in chosen.clauses()}
    for fault in sandbox_setup.installed(sandbox_setup.faults()):
        if not wanted.isdisjoint(fault.clauses) and chosen.operation in (None, *fault.operations):
            row: Row = {
                "id": fault.name,
                "clauses": list(fault.clauses),
                "operations": list(fault.operations),
            }
            yield row | {"sentence": fault.sentence}


def _named(find: Callable[[], Sequence[sandbox_setup.Breakage] | None]) -> Callable[[Filters], Iterable[Row]]:
    """Rows of what has a name and a sentence and nothing else."""
    return lambda _: [
        {"id": each.name, "sentence": each.sentence} for each in sandbox_setup.installed(find())
    ]


def _findings(chosen: Filters) -> Iterable[Row]:
    run = last_run(chosen.reports, chosen.run)
    if run is None:
        raise UsageError(f"no run in '{chosen.reports}' yet; `registry-contracts run` makes one")
    wanted = {clause.id for clause in chosen.clauses()}
    for finding in run.findings:
        here = chosen.realm in (None, finding.realm) and chosen.operation in (None, finding.operation)
        if here and finding.clause in wanted:
            names = ("id", "standing", "clause", "operation", "realm", "expected", "seen")
            yield {name: getattr(finding, name) for name in names}


def _history(chosen: Filters) -> History:
    """The history, with complaints about damaged lines on standard error.

    Raises:
        UsageError: a file or a target that was named is not there.
    """
    file = chosen.history or chosen.reports / HISTORY
    if chosen.history is not None and not file.exists():
        raise UsageError(f"there is no history {file}")
    history = read(file)
    for complaint in history.damaged:
        click.echo(f"{complaint}; passed over", err=True)
    if chosen.target is not None and chosen.target not in history.targets:
        raise UsageError(
            f"no runs on '{chosen.target}' in {file}; it holds {', '.join(history.targets) or 'none'}"
        )
    return history


def _runs(chosen: Filters) -> Iterable[Row]:
    for entry in _history(chosen).entries:
        if chosen.target in (None, entry.target) and entry.kind.startswith(chosen.series or ""):
            row: Row = {"started": entry.started, "target": entry.target, "verdict": entry.verdict}
            row |= {"fail": entry.counts.get("fail", 0), "requests": entry.requests, "seconds": entry.seconds}
            yield row | {"run": entry.run, "series": entry.kind}


def _trends(matters: Callable[[Trend], bool]) -> Callable[[Filters], Iterable[Row]]:
    """Rows of the clauses whose trend in the chosen series matters."""

    def rows(chosen: Filters) -> Iterable[Row]:
        history = _history(chosen)
        wanted = {clause.id for clause in chosen.clauses()}
        target = chosen.target or next(iter(history.targets), "")
        series = _series(history, target, chosen.series)
        for (clause, realm), trend in trends(history, target, series).items():
            if clause in wanted and chosen.realm in (None, realm) and matters(trend):
                row: Row = {"clause": clause, "realm": realm, "trend": trend.letters, "since": trend.since}
                yield row | structs.asdict(trend) | {"series": series}

    return rows


def _series(history: History, target: str, chosen: str | None) -> str | None:
    """The series of a name, or of the beginning of one."""
    names = history.series_of(target)
    matching = [name for name in names if name.startswith(chosen or "")]
    if chosen is None or chosen in names:
        return chosen
    if len(matching) != 1:
        which = "no series" if not matching else f"{len(matching)} series"
        raise UsageError(f"{which} '{chosen}' on {target}; there are {'; '.join(map(repr, names))}")
    return matching[0]


_OF_CLAUSES: Final = ("level", "family", "operation", "realm")
_OF_RUNS: Final = ("target", "series", "history")
_LISTS: Final[dict[str, _List]] = {
    "clauses": _List(_clauses, ("id", "level", "shown"), (*_OF_CLAUSES, "untested", "run")),
    "operations": _List(_operations, ("id", "address", "clauses", "realms"), ("realm",)),
    "cases": _List(_cases, ("id", "clauses"), _OF_CLAUSES),
    "faults": _List(_faults, ("id", "clauses", "sentence"), _OF_CLAUSES),
    "variants": _List(_named(sandbox_setup.variants), ("id", "sentence")),
    "weathers": _List(_named(sandbox_setup.weathers), ("id", "sentence")),
    "findings": _List(
        _findings, ("id", "standing", "clause", "operation", "realm", "seen"), (*_OF_CLAUSES, "run")
    ),
    "runs": _List(_runs, ("started", "target", "verdict", "fail", "requests", "seconds", "series"), _OF_RUNS),
    "red": _List(
        _trends(lambda trend: trend.red_since is not None),
        ("clause", "realm", "trend", "since"),
        (*_OF_CLAUSES, *_OF_RUNS),
    ),
    "flaky": _List(
        _trends(lambda trend: trend.flaky),
        ("clause", "realm", "flips", "trend", "since"),
        (*_OF_CLAUSES, *_OF_RUNS),
    ),
}


def _table(rows: list[Row], columns: tuple[str, ...]) -> Iterable[str]:
    """Lines with aligned columns; the last one as long as it is."""
    texts = [[_text(row[name]) for name in columns] for row in rows]
    widths = [max((len(line[place]) for line in texts), default=0) for place in range(len(columns) - 1)]
    for line in texts:
        cells = [f"{text:<{width}}" for text, width in zip(line, widths, strict=False)]
        yield "  ".join([*cells, line[-1]]).rstrip()


def _text(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return " ".join(text.split())
