"""`index.html`: the run for people, one page that asks nothing of the network."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from contracts.evidence import observations
from contracts.evidence.cards import cards
from contracts.evidence.cells import Cell, counts_for
from contracts.evidence.digest import counts_per_realm, lamps, wanting
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import many, printable
from contracts.evidence.record import Case, RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.clauses import Clause
from contracts.interface.operations import ANY_REALM

FILE_NAME = "index.html"
# What a person reads; the rest is in the files beside the page.
_CASES_AT_MOST = 6
_LINES_AT_MOST = 200
_THINNEST = 0.012


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case as a cell of the grid names it; `blocked` is the id of the finding that stood in its way."""

    case: Case
    held: int
    contradicted: int
    blocked: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One clause with its cells by realm and the cases behind each."""

    clause: Clause
    cells: Mapping[str, Cell]
    cases: Mapping[str, tuple[CaseLine, ...]]


@dataclass(frozen=True, slots=True)
class Family:
    """The rows of one clause family and how many cells have which verdict."""

    name: str
    rows: tuple[Row, ...]
    counts: Counter[Verdict]


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `index.html` and return its path."""
    path = folder / FILE_NAME
    path.write_text(render(record, verdict), "utf-8", newline="\n")
    return path


def render(record: RunRecord, verdict: RunVerdict) -> str:
    """Return the page: what came over the wire is escaped, and no script but the page's own may run."""
    realms = _realms(record, verdict)
    style = f":root {{ --realms: {len(realms)}; --cell: 106px; }}\n{_template_text('report.css')}"
    script = _template_text("report.js")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            record=record,
            run=record.run,
            verdict=verdict,
            verdicts=list(Verdict),
            lamps=lamps(record, verdict),
            realms=realms,
            families=_families(record, verdict),
            operations=sorted({name for cell in verdict.cells for name in cell.clause.operations}),
            totals=Counter(cell.verdict for cell in verdict.cells),
            levels=Counter(str(clause.level) for clause in _clauses(verdict).values()),
            per_realm=counts_per_realm(verdict.cells),
            cards=list(cards(record, verdict)),
            broken=[case for case in record.cases if case.outcome is Verdict.ERROR],
            observations=_observations(record, verdict),
            wanting=wanting(verdict.cells),
            lines_at_most=_LINES_AT_MOST,
            cases_at_most=_CASES_AT_MOST,
            style=Markup(style),  # noqa: S704 - the page's own style
            script=Markup(script),  # noqa: S704 - the page's own script
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(_template_text),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters["many"] = many
    environment.filters["bar"] = _bar
    environment.filters["clock"] = lambda moment: moment.replace("T", " ").partition(".")[0].partition("+")[0]
    return environment


def _finalize(value: Any) -> Any:
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _template_text(name: str) -> str:
    return files("contracts.evidence").joinpath(f"templates/{name}").read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _clauses(verdict: RunVerdict) -> dict[str, Clause]:
    return {cell.clause.id: cell.clause for cell in verdict.cells}


def _realms(record: RunRecord, verdict: RunVerdict) -> list[str]:
    """Return the columns of the grid: the run's realms, then `any` when a clause is judged once for all."""
    seen = {cell.realm for cell in verdict.cells}
    known = [*record.run.realms, ANY_REALM]
    return [realm for realm in known if realm in seen] + sorted(seen - set(known))


def _families(record: RunRecord, verdict: RunVerdict) -> list[Family]:
    by_id = {case.id: case for case in record.cases}
    rows: dict[str, list[Row]] = {}
    for _, group in groupby(verdict.cells, key=lambda cell: cell.clause.id):
        cells = list(group)
        row = Row(
            clause=cells[0].clause,
            cells={cell.realm: cell for cell in cells},
            cases={cell.realm: _case_lines(cell, by_id, verdict) for cell in cells},
        )
        rows.setdefault(cells[0].clause.family, []).append(row)
    return [Family(name, tuple(members), _count(members)) for name, members in rows.items()]


def _count(rows: list[Row]) -> Counter[Verdict]:
    return Counter(cell.verdict for row in rows for cell in row.cells.values())


def _case_lines(cell: Cell, by_id: Mapping[str, Case], verdict: RunVerdict) -> tuple[CaseLine, ...]:
    cases = sorted((by_id[case] for case in cell.cases), key=lambda case: case.outcome.rank)
    # A universal check is reached by nearly every case: those that list the clause come first.
    cases.sort(key=lambda case: cell.clause.id not in case.clauses)
    lines = []
    for case in cases:
        count = counts_for(cell.clause.id, case)
        lines.append(CaseLine(case, count.held, count.contradicted, verdict.blocked.get(case.id)))
    return tuple(lines)


def _observations(record: RunRecord, verdict: RunVerdict) -> list[dict[str, Any]]:
    """Return what was seen, one line per clause, operation and content, with the realms that agree on it."""
    clauses, places = _clauses(verdict), _realms(record, verdict)
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in observations.put_together(record.observations):
        seen = (
            json.dumps(each["seen"], ensure_ascii=False)
            if not isinstance(each["seen"], str)
            else each["seen"]
        )
        key = (each["clause"], each["operation"] or "", seen)
        line = lines.setdefault(
            key, {**each, "seen": seen, "clause": clauses.get(each["clause"]), "realms": []}
        )
        line["id"] = each["clause"]
        line["realms"].append(each["realm"])
        line["realms"].sort(key=places.index)
    return list(lines.values())


def _bar(counts: Mapping[Verdict, int]) -> list[tuple[Verdict, float, float]]:
    """Return a bar as verdict, start and width in hundredths, the worst first, none too thin to see."""
    present = [(verdict, counts[verdict]) for verdict in Verdict if counts.get(verdict)]
    shares = [max(_THINNEST, number / sum(counts.values())) for _, number in present]
    pieces, start = [], 0.0
    for (verdict, _), share in zip(present, shares, strict=True):
        width = 100 * share / sum(shares)
        pieces.append((verdict, round(start, 3), round(width, 3)))
        start += width
    return pieces
