"""The report of a proof: `proof.json`, a page, the lines at the end of the command, the tables of `docs/proof.md`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.file_formats import Count, Format, Moment, Name, OpenFormat, Seconds, checked, one_of
from contracts.file_formats import Level as ClauseLevel
from contracts.interface.catalogue import load_catalogue
from contracts.proving.matrix import CaseRow, DefectRow, Matrix, SeedRow, alarming
from contracts.proving.trials import TrialResult
from contracts.reports.html_page import inlined, template_environment, template_text
from contracts.safe_text import many
from contracts.sandbox.defects import UNBREAKABLE


class SeedEntry(Format, frozen=True):
    """One defect with one seed; both figures are null where nothing was found."""

    seed: int
    killed: bool
    cases: tuple[Name, ...]
    profile: Name
    realms: tuple[Name, ...]
    requests_to_the_finding: float | int | None
    seconds_to_the_finding: float | int | None
    findings_elsewhere: tuple[str, ...]


class DefectEntry(Format, frozen=True):
    """One defect, and whether it was found with every seed."""

    name: Name
    clause: Name
    level: Annotated[str, one_of("must", "should")]
    family: Name
    operations: tuple[Name, ...]
    sentence: Name
    killed: bool
    seeds: tuple[SeedEntry, ...]


class CaseEntry(Format, frozen=True):
    """One case, and the defects that it found."""

    name: Name
    clauses: dict[str, ClauseLevel]
    profile: Name
    kills: tuple[Name, ...]
    only_observes: bool
    tried_alone_on: Count


class CalmEntry(Format, frozen=True):
    """A trial that breaks nothing: the faithful service or one of its variants."""

    name: Name
    seed: int
    profile: Name
    realms: tuple[Name, ...]
    exit_code: Count
    findings: tuple[dict[str, Any], ...]
    alarm: bool
    requests: Count
    seconds: Seconds


class TroubleEntry(Format, frozen=True):
    """A trial without a result, and why."""

    trial: dict[str, Any]
    why: Name


class ProofFile(OpenFormat, frozen=True, kw_only=True):
    """The kill matrix, and everything else that `prove` showed.

    `holds`: every defect was found, and nothing was found where nothing is broken. `unbreakable`: clauses without a
    defect, and why.
    """

    command: Name
    started: Moment
    seconds: Seconds
    seeds: tuple[int, ...]
    jobs: Annotated[int, Meta(ge=1)]
    cores: int | None
    versions: dict[str, str]
    holds: bool
    summary: dict[str, Any]
    defects: tuple[DefectEntry, ...]
    cases: tuple[CaseEntry, ...]
    calm: tuple[CalmEntry, ...]
    troubles: tuple[TroubleEntry, ...]
    unbreakable: dict[str, Name]


def as_data(matrix: Matrix, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The matrix as plain data that fits `ProofFile`.

    Args:
        facts: Of the proof as a whole: seeds, versions, moments.
    """
    content = {
        **facts,
        "holds": matrix.holds,
        "summary": matrix.summary(),
        "defects": [_defect(row) for row in matrix.defects],
        "cases": [_case(row) for row in matrix.cases],
        "calm": [_calm(result) for result in matrix.calm],
        "troubles": [TroubleEntry(_trial(result), result.trouble or "") for result in matrix.troubles],
        "unbreakable": dict(UNBREAKABLE),
    }
    data: dict[str, Any] = checked(content, ProofFile, "proof.json")
    return data


def _defect(row: DefectRow) -> DefectEntry:
    return DefectEntry(
        name=row.defect.name,
        clause=row.defect.clause,
        level=row.level,
        family=row.family,
        operations=tuple(row.defect.operations),
        sentence=row.defect.sentence,
        killed=row.killed,
        seeds=tuple(map(_seed, row.seeds)),
    )


def _seed(row: SeedRow) -> SeedEntry:
    first = row.first.first
    return SeedEntry(
        seed=row.seed,
        killed=row.killed,
        cases=row.cases,
        profile=row.first.profile,
        realms=row.first.realms,
        requests_to_the_finding=first["requests"] if first else None,
        seconds_to_the_finding=first["seconds"] if first else None,
        findings_elsewhere=row.elsewhere,
    )


def _case(row: CaseRow) -> CaseEntry:
    return CaseEntry(
        name=row.name,
        clauses={clause: str(load_catalogue().clause(clause).level) for clause in row.facts.clauses},
        profile=row.facts.profile,
        kills=tuple(row.kills),
        only_observes=row.silent,
        tried_alone_on=row.tried,
    )


def _calm(result: TrialResult) -> CalmEntry:
    return CalmEntry(
        name=result.trial.name,
        seed=result.trial.seed,
        profile=result.profile,
        realms=result.realms,
        exit_code=result.exit_code,
        findings=result.findings,
        alarm=alarming(result),
        requests=result.requests,
        seconds=result.seconds,
    )


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
