"""`proof.json`: the kill matrix as data.

The kill matrix as one page that asks nothing of the network.

The proof in words: the lines at the end of the command, and the tables of `docs/proof.md`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from contracts.errors import UsageError
from contracts.evidence.outcomes import ExitCode
from contracts.interface.catalogue import load_catalogue
from contracts.proving.matrix import CaseRow, DefectRow, Matrix, SeedRow, alarming
from contracts.proving.trials import TrialResult
from contracts.reports.html_page import inlined, template_environment, template_text
from contracts.safe_text import many
from contracts.sandbox.defects import UNBREAKABLE


def as_data(matrix: Matrix, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The matrix as plain data.

    Args:
        facts: Of the proof as a whole: seeds, versions, moments.
    """
    return {
        **facts,
        "holds": matrix.holds,
        "summary": matrix.summary(),
        "defects": [_defect(row) for row in matrix.defects],
        "cases": [_case(row) for row in matrix.cases],
        "calm": [_calm(result) for result in matrix.calm],
        "troubles": [{"trial": _trial(result), "why": result.trouble} for result in matrix.troubles],
        "unbreakable": dict(UNBREAKABLE),
    }


def _defect(row: DefectRow) -> dict[str, Any]:
    return {
        "name": row.defect.name,
        "clause": row.defect.clause,
        "level": row.level,
        "family": row.family,
        "operations": list(row.defect.operations),
        "sentence": row.defect.sentence,
        "killed": row.killed,
        "seeds": [_seed(seed) for seed in row.seeds],
    }


def _seed(row: SeedRow) -> dict[str, Any]:
    first = row.first.first or {}
    return {
        "seed": row.seed,
        "killed": row.killed,
        "cases": list(row.cases),
        "profile": row.first.profile,
        "realms": list(row.first.realms),
        "requests_to_the_finding": first.get("requests"),
        "seconds_to_the_finding": first.get("seconds"),
        "findings_elsewhere": list(row.elsewhere),
    }


def _case(row: CaseRow) -> dict[str, Any]:
    levels = {clause: str(load_catalogue().clause(clause).level) for clause in row.facts.clauses}
    return {
        "name": row.name,
        "clauses": levels,
        "profile": row.facts.profile,
        "kills": list(row.kills),
        "only_observes": row.silent,
        "tried_alone_on": row.tried,
    }


def _calm(result: TrialResult) -> dict[str, Any]:
    return {
        "name": result.trial.name,
        "seed": result.trial.seed,
        "profile": result.profile,
        "realms": list(result.realms),
        "exit_code": result.exit_code,
        "findings": list(result.findings),
        "alarm": alarming(result),
        "requests": result.requests,
        "seconds": result.seconds,
    }


def _trial(result: TrialResult) -> dict[str, Any]:
    trial = result.trial
    return {"name": trial.name, "clause": trial.clause, "seed": trial.seed, "case": trial.only}


_PACKAGE: Final = "contracts.proving"


def render(data: Mapping[str, Any]) -> str:
    """The page.

    Args:
        data: What `proof.json` holds.
    """
    return (
        template_environment(_PACKAGE)
        .get_template("proof.html.j2")
        .render(
            proof=data,
            families=_families(data["defects"]),
            survivors=[row for row in data["defects"] if not row["killed"]],
            idle=[case for case in data["cases"] if not case["kills"] and not case["only_observes"]],
            alarms=[run for run in data["calm"] if run["alarm"]],
            **inlined(template_text(_PACKAGE, "proof.css"), template_text(_PACKAGE, "proof.js")),
        )
    )


def _families(defects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The matrix in blocks, one for each family of clauses: its defects, and the cases that killed any of them."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for defect in defects:
        rows[defect["family"]].append(defect)
    return [
        {
            "name": name,
            "rows": [{**row, "kills": _kills(row)} for row in found],
            "cases": sorted({case for row in found for case in _kills(row)}),
            "killed": sum(row["killed"] for row in found),
        }
        for name, found in sorted(rows.items())
    ]


def _kills(defect: Mapping[str, Any]) -> dict[str, int]:
    """Case → on how many seeds it killed the defect."""
    counts: dict[str, int] = defaultdict(int)
    for seed in defect["seeds"]:
        for case in seed["cases"]:
            counts[case] += 1
    return dict(counts)


_LISTED: Final = 20


def closing_lines(matrix: Matrix) -> Iterator[str]:
    """What the command says at its end."""
    for row in matrix.survivors[:_LISTED]:
        yield f"survived  {row.defect.name} ({row.defect.clause}): {row.defect.sentence}{_elsewhere(row)}"
    for case in matrix.idle[:_LISTED]:
        yield f"no kill   {case.name}: tried alone on {many(case.tried, 'defect')}"
    for result in matrix.alarms[:_LISTED]:
        found = ", ".join(dict.fromkeys(f["clause"] for f in result.findings)) or "no finding"
        word = ExitCode(result.exit_code).word
        yield f"alarm     {result.trial.name}, seed {result.trial.seed}, {', '.join(result.realms)}: {word}: {found}"
    for result in matrix.troubles[:_LISTED]:
        yield f"trouble   {result.trial.name}, seed {result.trial.seed}: {result.trouble}"
    figures = matrix.summary()
    word = "holds" if matrix.holds else "does not hold"
    parts = [
        f"{figures['killed_on_every_seed']} of {many(figures['defects'], 'defect')} killed on every seed"
    ]
    if matrix.cases:
        parts.append(f"{figures['cases_that_killed']} of {many(figures['cases'], 'case')} killed one or more")
    if matrix.calm:
        parts.append(
            f"{many(figures['alarms'], 'alarm')} in {many(figures['calm_runs'], 'run')} without a defect"
        )
    yield f"proof: {word}: {'; '.join(parts)}"


def _elsewhere(row: DefectRow) -> str:
    others = dict.fromkeys(clause for seed in row.seeds if not seed.killed for clause in seed.elsewhere)
    return f"; found under {', '.join(others)}" if others else ""


def markdown(matrix: Matrix, facts: Mapping[str, Any]) -> str:
    """The tables of `docs/proof.md`."""
    return "\n".join(
        [
            *_head(matrix, facts),
            "",
            *_family_rows(matrix),
            "",
            *_survivors(matrix),
            *_calm_rows(matrix),
            *_gaps(),
        ]
    )


def _head(matrix: Matrix, facts: Mapping[str, Any]) -> Iterator[str]:
    figures = matrix.summary()
    broken = f"{figures['must_clauses_broken']} of {figures['must_clauses']}"
    seeds = ", ".join(map(str, facts["seeds"]))
    yield f"Measured on {facts['started'][:10]} with seeds {seeds} by `{facts['command']}`"
    minutes = many(round(facts["seconds"] / 60), "minute")
    yield f"({minutes}, {many(facts['jobs'], 'job')} side by side, {facts['cores']} cores)."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| defects killed on every seed | {figures['killed_on_every_seed']} of {figures['defects']} |"
    yield f"| must clauses broken by at least one defect | {broken} |"
    if matrix.cases:
        yield f"| cases that killed at least one defect | {figures['cases_that_killed']} of {figures['cases']} |"
    if matrix.calm:
        yield f"| runs on sandboxes without a defect (faithful and variants) | {figures['calm_runs']} |"
        yield f"| … of these with an alarm | {figures['alarms']} |"
    for what in ("requests", "seconds"):
        found = figures[f"median_{what}_to_the_finding"]
        yield f"| {what} to the finding, median | {'none found' if found is None else f'{found:g}'} |"


def _family_rows(matrix: Matrix) -> Iterator[str]:
    rows: dict[str, list[DefectRow]] = defaultdict(list)
    for row in matrix.defects:
        rows[row.family].append(row)
    yield "| family | clauses | defects | killed | needed more than one realm or the nightly profile |"
    yield "|---|---:|---:|---:|---:|"
    for family, found in sorted(rows.items()):
        clauses = len({row.defect.clause for row in found})
        hard = sum(any(seed.first.trial.stage > 0 for seed in row.seeds) for row in found)
        killed = sum(row.killed for row in found)
        yield f"| {family} | {clauses} | {len(found)} | {killed} | {hard} |"


def _survivors(matrix: Matrix) -> Iterator[str]:
    if not matrix.survivors:
        yield "No defect survived."
    for row in matrix.survivors:
        seeds = ", ".join(str(seed.seed) for seed in row.seeds if not seed.killed)
        broken = f"`{row.defect.name}` on `{row.defect.clause}`: {row.defect.sentence}"
        yield f"- **survived** (seed {seeds}): {broken}{_elsewhere(row)}"
    yield ""


def _calm_rows(matrix: Matrix) -> Iterator[str]:
    for result in matrix.alarms:
        what = f"`{result.trial.name}`, profile {result.profile}, seed {result.trial.seed}"
        yield f"- **alarm**: {what}: {ExitCode(result.exit_code).word}"
    if matrix.alarms:
        yield ""


def _gaps() -> Iterator[str]:
    yield "Must clauses that no defect breaks, because nothing at the interface would show it:"
    yield ""
    yield from (f"- `{clause}`: {reason}" for clause, reason in sorted(UNBREAKABLE.items()))


def put_between(path: Path, name: str, text: str) -> None:
    """Put a text between the two marks of a name in a document, and leave the rest as it is.

    The marks are the comments `<!-- begin NAME -->` and `<!-- end NAME -->`.

    Raises:
        UsageError: the document is not there or lacks the marks.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    try:
        before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from None
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise UsageError(f"'{path}' lacks the line '{begin}' or '{end}' between which the tables go")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
