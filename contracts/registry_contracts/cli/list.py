"""`registry-contracts list`: lists clauses, operations, faults, findings, runs and the like, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import click
from msgspec import structs

from registry_contracts.cli.options import as_json, kept_reports, print_lines
from registry_contracts.errors import UsageError, suggestion
from registry_contracts.file_formats import plain
from registry_contracts.history.runs import FILE_NAME as HISTORY
from registry_contracts.history.runs import History, Trend, past_of, read
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS
from registry_contracts.reports.kept_runs import last_run
from registry_contracts.safe_text import many
from registry_contracts.settings.embedded_sandbox import require_extra

Row = dict[str, Any]
#: The values of the options; None for one that was not given.
Filters = dict[str, Any]


def _of_sandbox(name: str) -> ModuleType:
    """Import a module of the sandbox, which is an optional extra and slow to import.

    Raises:
        UsageError: the sandbox is not installed.
    """
    require_extra()
    return import_module(f"registry_contracts.sandbox.{name}")


def faults(*, fixed: bool = False) -> list[Row]:
    """List every fault, or only the fixed set, with the clauses that it breaks."""
    population = _of_sandbox("faults.population")
    return [
        {
            "id": each.name,
            "sentence": each.sentence,
            "clauses": list(each.breaks),
            "operations": list(each.at),
        }
        for each in (population.fixed_set() if fixed else population.population().values())
    ]


def variants() -> list[Row]:
    """List every server variant with the silent clauses that it decides."""
    known = _of_sandbox("variants").ALL.values()
    return [{"id": each.name, "sentence": each.sentence, "silent": list(each.silent)} for each in known]


def _weathers() -> list[Row]:
    """List every kind of network faults for `--weather` with its figures."""
    module = _of_sandbox("weather")
    known = module.ALL.values()
    return [
        {"id": each.name, "sentence": each.sentence, "figures": module.figures_text(each)} for each in known
    ]


def _check(what: str, chosen: Filters, possible: list[str]) -> None:
    known = {
        "operation": list(load_description().operations),
        "family": sorted({clause.family for clause in load_catalogue()}),
        "realm": [*WORKFLOW_REALMS, ANY_REALM],
    }
    for name, value in chosen.items():
        if value is not None and name not in possible:
            advice = f"use {', '.join(f'--{each}' for each in possible)}" if possible else "leave it out"
            raise UsageError(f"--{name} is not a filter of {what}; {advice}")
        if value is not None and name in known and value not in known[name]:
            raise UsageError(f"unknown {name} '{value}'; {suggestion(value, known[name])}")


def _chosen_clauses(chosen: Filters) -> list[Clause]:
    return [
        clause
        for clause in load_catalogue()
        if chosen["level"] in (None, clause.level)
        and chosen["family"] in (None, clause.family)
        and chosen["operation"] in (None, *clause.operations)
        and chosen["realm"] in (None, *clause.realms)
    ]


def _clauses(chosen: Filters) -> Iterable[Row]:
    kept_run = last_run(chosen["reports"], chosen["run"])
    for clause in _chosen_clauses(chosen):
        cells = kept_run[1].cells_of(clause.id) if kept_run else {}
        words = {realm: str(cell.verdict) for realm, cell in cells.items()}
        verdicts = {realm: words.get(realm) for realm in clause.realms} if kept_run else {}
        facts = plain(clause)
        kept = {name: facts[name] for name in ("id", "level", "operations", "realms", "wording")}
        yield {**kept, "family": clause.family, "verdicts": verdicts}


def _operations(chosen: Filters) -> Iterable[Row]:
    for each in load_description().operations.values():
        if chosen["realm"] in (None, *each.realms):
            row: Row = {"id": each.id, "address": f"{each.method} {each.path}", "realms": list(each.realms)}
            yield row | {"clauses": len(load_catalogue().by_operation(each.id))}


def _faults(chosen: Filters) -> Iterable[Row]:
    wanted = {clause.id for clause in _chosen_clauses(chosen)}
    for fault in faults():
        if not wanted.isdisjoint(fault["clauses"]) and chosen["operation"] in (None, *fault["operations"]):
            yield fault


def _findings(chosen: Filters) -> Iterable[Row]:
    kept_run = last_run(chosen["reports"], chosen["run"])
    if kept_run is None:
        raise UsageError(f"no run in '{chosen['reports']}' yet; `registry-contracts run` makes one")
    wanted = {clause.id for clause in _chosen_clauses(chosen)}
    for finding in kept_run[1].findings:
        here = all(chosen[name] in (None, getattr(finding, name)) for name in ("realm", "operation"))
        if here and finding.clause in wanted:
            names = ("id", "standing", "clause", "operation", "realm", "expected", "seen")
            yield {name: getattr(finding, name) for name in names}


def _history(chosen: Filters) -> History:
    """Read the history; complaints about damaged lines go to standard error.

    Raises:
        UsageError: the history has no run on the chosen target.
    """
    file, target = chosen["reports"] / HISTORY, chosen["target"]
    history = read(file)
    for complaint in history.damaged:
        click.echo(f"{complaint}; skipped", err=True)
    if target is not None and target not in history.targets:
        raise UsageError(f"no runs on '{target}' in {file}; it holds {', '.join(history.targets) or 'none'}")
    return history


def _runs(chosen: Filters) -> Iterable[Row]:
    for entry in _history(chosen).entries:
        if chosen["target"] in (None, entry.target) and entry.series.startswith(chosen["series"] or ""):
            row: Row = {"started": entry.started, "target": entry.target, "verdict": entry.verdict}
            row |= {"fail": entry.counts.get("fail", 0), "requests": entry.requests, "seconds": entry.seconds}
            yield row | {"run": entry.run, "series": entry.series}


def _trends(matters: Callable[[Trend], bool]) -> Callable[[Filters], Iterable[Row]]:
    """List the clauses whose trend matters, in the last series whose name begins with the chosen one."""

    def rows(chosen: Filters) -> Iterable[Row]:
        history = _history(chosen)
        wanted = {clause.id for clause in _chosen_clauses(chosen)}
        target, named = chosen["target"] or next(iter(history.targets), ""), chosen["series"]
        names = history.series_of(target)
        series = next((name for name in names if name.startswith(named or "")), None)
        if named and series is None:
            there = f"there are {'; '.join(map(repr, names))}" if names else "no run of it is kept"
            raise UsageError(f"no series '{named}' on {target or 'any target'}; {there}")
        for clause, realms in past_of(history, target, series).cells.items():
            for realm, trend in realms.items() if clause in wanted else ():
                if chosen["realm"] in (None, realm) and matters(trend):
                    row: Row = {"clause": clause, "realm": realm}
                    row |= {"trend": trend.letters, "since": trend.since}
                    yield row | structs.asdict(trend) | {"series": series}

    return rows


_OF_CLAUSES: Final = "level family operation realm"
#: By list: the function that finds its rows, its columns, and its filters.
_LISTS: Final[dict[str, tuple[Callable[[Filters], Iterable[Row]], str, str]]] = {
    "clauses": (_clauses, "id level wording", f"{_OF_CLAUSES} run"),
    "operations": (_operations, "id address clauses realms", "realm"),
    "faults": (_faults, "id sentence", _OF_CLAUSES),
    "variants": (lambda _: variants(), "id sentence", ""),
    "weathers": (lambda _: _weathers(), "id figures sentence", ""),
    "findings": (_findings, "id standing clause operation realm seen", f"{_OF_CLAUSES} run"),
    "runs": (_runs, "started target verdict fail requests seconds series", "target series"),
    "red": (
        _trends(lambda trend: trend.red_since is not None),
        "clause realm trend since",
        f"{_OF_CLAUSES} target series",
    ),
    "flaky": (
        _trends(lambda trend: trend.flaky),
        "clause realm flips trend since",
        f"{_OF_CLAUSES} target series",
    ),
}


def _table(rows: list[Row], columns: list[str]) -> Iterable[str]:
    """Align columns below their names; the last column is not padded."""
    texts = [columns, *([_text(row[name]) for name in columns] for row in rows)] if rows else []
    widths = [max((len(line[place]) for line in texts), default=0) for place in range(len(columns) - 1)]
    for line in texts:
        cells = [f"{text:<{width}}" for text, width in zip(line, widths, strict=False)]
        yield "  ".join([*cells, line[-1]]).rstrip()


def _text(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.split())


@click.command()
@click.argument("what", metavar=f"{{{'|'.join(_LISTS)}}}")
@click.option("--level", type=click.Choice([*map(str, Level)]), help="Only clauses of this level.")
@click.option("--family", metavar="NAME", help="Only clauses of this family, such as draft or workflow.")
@click.option("--operation", metavar="ID", help="Only what concerns this operation.")
@click.option("--realm", metavar="REALM", help="Only what concerns this realm.")
@click.option("--run", metavar="NAME", help="Run to read; by default the latest.")
@click.option("--target", metavar="NAME", help="Only runs on it; for trends, by default the latest target.")
@click.option("--series", metavar="NAME", help="Only runs of this profile, selection and consumer.")
@kept_reports
@as_json
def command(*, what: str, as_json: bool, reports: Path, **filters: Any) -> int:
    """List clauses, findings, runs and the like, one a line below the names of the columns.

    Findings come from the latest run. Runs come from the history, and so do red and flaky clauses, from its last 20
    runs. Faults, variants and weathers are options of the sandbox. A trend reads from old to new: p pass,
    o observed, F fail, A advisory, D deviation, ? inconclusive, E error. The number of lines goes to standard error.

    Exit codes: 0 listed, 4 usage.

    \b
    Examples:
      registry-contracts list clauses --level must --family uid
      registry-contracts list faults --operation saveDraft --json
      registry-contracts list findings
      registry-contracts list variants
      registry-contracts list red --realm abs-dev
    """  # noqa: D301 - click's mark for lines to be left as they are
    if what not in _LISTS:
        raise UsageError(f"there is no list of '{what}'; {suggestion(what, _LISTS)}")
    find, columns, possible = _LISTS[what]
    _check(what, filters, possible.split())
    rows = list(find(filters | {"reports": reports}))
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    print_lines(_table(rows, columns.split()))
    click.echo(many(len(rows), "line"), err=True)
    return 0
