"""`registry-contracts list`: lists clauses, operations, cases, findings and the like, one line each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from contracts.cases.marks import Profile
from contracts.checks.table import UNIVERSAL
from contracts.cli import completion
from contracts.cli.options import as_json, kept_reports, print_lines
from contracts.errors import UsageError, suggestion
from contracts.interface.catalogue import Clause, Level, load_catalogue
from contracts.interface.clause_table import known_cases
from contracts.interface.description import load_description
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS
from contracts.manual import sandbox_setup
from contracts.reports.kept_runs import LastRun, last_run
from contracts.safe_text import many

Row = dict[str, Any]
#: The verdict of a clause that could not be tested.
_UNTESTED: Final = "untested"
_PROFILES: Final = {
    Profile.SMOKE: "each operation once in each realm",
    Profile.GATE: "every must clause in every realm, with a fixed seed",
    Profile.NIGHTLY: "a fresh seed, all generated faults, many more examples",
    Profile.FULL: "also what is expensive, such as the 1 GB limit",
}


@dataclass(frozen=True)
class Filters:
    """What a list is limited to; None for no limit."""

    level: str | None
    family: str | None
    operation: str | None
    realm: str | None
    untested: bool
    reports: Path
    run: str | None

    def given(self) -> list[str]:
        """The filters that were given, as options."""
        names = [name for name in ("level", "family", "operation", "realm") if getattr(self, name)]
        return [f"--{name}" for name in [*names, *(["untested"] if self.untested else [])]]


@click.command()
@click.argument(
    "what",
    metavar="WHAT",
    shell_complete=lambda _ctx, _param, begun: [name for name in _LISTS if name.startswith(begun)],
)
@click.option(
    "--level", type=click.Choice([str(level) for level in Level]), help="Only clauses of this level."
)
@click.option("--family", metavar="NAME", help="Only clauses of this family, such as draft or workflow.")
@click.option(
    "--operation", metavar="ID", shell_complete=completion.operations, help="Only what concerns it."
)
@click.option("--realm", metavar="REALM", shell_complete=completion.realms, help="Only what there is in it.")
@click.option("--untested", is_flag=True, help="Only what no case tests, or the last run could not test.")
@click.option("--run", metavar="NAME", help="Another run than the latest.")
@kept_reports
@as_json
def command(*, what: str, as_json: bool, **filters: Any) -> int:
    """List WHAT: clauses, operations, cases, realms, profiles, defects, variants, weathers or findings.

    Findings are those of the latest run. The number of lines is printed on standard error.

    Exit codes: 0 listed, 4 usage.

    \b
    Examples:
      registry-contracts list clauses --level must --family uid
      registry-contracts list clauses --untested --realm ort-dev
      registry-contracts list cases --operation listDrafts
      registry-contracts list defects --operation saveDraft --json
      registry-contracts list findings
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


@dataclass(frozen=True)
class _List:
    rows: Callable[[Filters], Iterable[Row]]
    columns: tuple[str, ...]
    filters: tuple[str, ...] = ()


def _check(what: str, chosen: Filters, possible: tuple[str, ...]) -> None:
    for option in chosen.given():
        if option.removeprefix("--") not in possible:
            raise UsageError(f"{option} says nothing about {what}; {_possible(possible)}")
    operations, families = load_description().operations, {clause.family for clause in load_catalogue()}
    for value, names, name in (
        (chosen.operation, list(operations), "operation"),
        (chosen.family, sorted(families), "family"),
        (chosen.realm, [*WORKFLOW_REALMS, ANY_REALM], "realm"),
    ):
        if value is not None and value not in names:
            raise UsageError(f"unknown {name} '{value}'; {suggestion(value, names)}")


def _possible(possible: tuple[str, ...]) -> str:
    return f"use {', '.join(f'--{name}' for name in possible)}" if possible else "it has no filters"


def _chosen_clauses(chosen: Filters) -> list[Clause]:
    return [
        clause
        for clause in load_catalogue()
        if (chosen.level is None or clause.level == chosen.level)
        and (chosen.family is None or clause.family == chosen.family)
        and (chosen.operation is None or chosen.operation in clause.operations)
        and (chosen.realm is None or chosen.realm in clause.realms)
    ]


def _clauses(chosen: Filters) -> Iterable[Row]:
    run = last_run(chosen.reports, chosen.run)
    cases = known_cases() if chosen.untested else {}
    for clause in _chosen_clauses(chosen):
        reason = _why_untested(clause, cases, run, chosen.realm) if chosen.untested else ""
        if chosen.untested and not reason:
            continue
        row: Row = {"id": clause.id, "level": str(clause.level), "family": clause.family}
        row |= {
            "operations": list(clause.operations),
            "realms": list(clause.realms),
            "wording": clause.wording,
        }
        yield row | {"verdicts": _verdicts(run, clause), "shown": reason or clause.wording}


def _why_untested(clause: Clause, cases: Any, run: LastRun | None, realm: str | None) -> str:
    if clause.id not in cases and clause.id not in UNIVERSAL:
        return clause.untested or "no case"
    cells = run.cells.get(clause.id, {}) if run else {}
    reasons = {
        str(cell.reason)
        for place, cell in cells.items()
        if cell.verdict == _UNTESTED and realm in (None, place)
    }
    return "; ".join(sorted(reasons))


def _verdicts(run: LastRun | None, clause: Clause) -> dict[str, str | None]:
    return {realm: run.verdict_of(clause.id, realm) for realm in clause.realms} if run else {}


def _operations(chosen: Filters) -> Iterable[Row]:
    catalogue = load_catalogue()
    for operation in load_description().operations.values():
        if chosen.realm is None or chosen.realm in operation.realms:
            address = f"{operation.method} {operation.path}"
            clauses = len(catalogue.by_operation(operation.id))
            yield {
                "id": operation.id,
                "address": address,
                "realms": list(operation.realms),
                "clauses": clauses,
            }


def _cases(chosen: Filters) -> Iterable[Row]:
    wanted = {clause.id for clause in _chosen_clauses(chosen)}
    clauses_of: dict[str, list[str]] = {}
    for clause, names in known_cases().items():
        for name in names if clause in wanted else ():
            clauses_of.setdefault(name, []).append(clause)
    return ({"id": name, "clauses": clauses} for name, clauses in sorted(clauses_of.items()))


def _realms(_chosen: Filters) -> Iterable[Row]:
    operations = load_description().operations.values()
    for realm in (*WORKFLOW_REALMS, ANY_REALM):
        ids = [operation.id for operation in operations if realm in operation.realms]
        clauses = sum(realm in clause.realms for clause in load_catalogue())
        yield {"id": realm, "operations": ids, "clauses": clauses}


def _profiles(_chosen: Filters) -> Iterable[Row]:
    return ({"id": str(profile), "meaning": meaning} for profile, meaning in _PROFILES.items())


def _defects(chosen: Filters) -> Iterable[Row]:
    wanted = {clause.id for clause in _chosen_clauses(chosen)}
    for defect in sandbox_setup.installed(sandbox_setup.defects()):
        if defect.clause in wanted and (chosen.operation is None or chosen.operation in defect.operations):
            row: Row = {"id": defect.name, "clause": defect.clause, "operations": list(defect.operations)}
            yield row | {"sentence": defect.sentence}


def _named(
    find: Callable[[], Sequence[sandbox_setup.Breakage] | None],
) -> Callable[[Filters], Iterable[Row]]:
    """Rows of what has a name and a sentence and nothing else."""
    return lambda _: [
        {"id": breakage.name, "sentence": breakage.sentence} for breakage in sandbox_setup.installed(find())
    ]


def _findings(chosen: Filters) -> Iterable[Row]:
    run = last_run(chosen.reports, chosen.run)
    if run is None:
        raise UsageError(f"no run in '{chosen.reports}' yet; `registry-contracts run` makes one")
    wanted = {clause.id for clause in _chosen_clauses(chosen)}
    for finding in run.findings:
        here = chosen.realm in (None, finding.realm) and chosen.operation in (None, finding.operation)
        if here and finding.clause in wanted:
            names = ("id", "standing", "clause", "operation", "realm", "expected", "seen")
            yield {name: getattr(finding, name) for name in names}


_OF_CLAUSES: Final = ("level", "family", "operation", "realm")
_LISTS: Final[dict[str, _List]] = {
    "clauses": _List(_clauses, ("id", "level", "shown"), (*_OF_CLAUSES, "untested")),
    "operations": _List(_operations, ("id", "address", "clauses", "realms"), ("realm",)),
    "cases": _List(_cases, ("id", "clauses"), _OF_CLAUSES),
    "realms": _List(_realms, ("id", "clauses", "operations")),
    "profiles": _List(_profiles, ("id", "meaning")),
    "defects": _List(_defects, ("id", "clause", "sentence"), _OF_CLAUSES),
    "variants": _List(_named(sandbox_setup.variants), ("id", "sentence")),
    "weathers": _List(_named(sandbox_setup.weathers), ("id", "sentence")),
    "findings": _List(_findings, ("id", "standing", "clause", "operation", "realm", "seen"), _OF_CLAUSES),
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
