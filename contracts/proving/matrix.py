"""A proof: its plan, the kill matrix made of its results, and its report.

The plan takes every defect and variant on every seed, and every case. The report is `proof.json`, a page, the lines at
the end of the command, and the tables of `docs/proof.md`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

from msgspec import Meta

from contracts.cases.marks import Profile
from contracts.checks.table import UNIVERSAL
from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.file_formats import Count, Format, Moment, Name, OpenFormat, Seconds, checked, one_of
from contracts.file_formats import Level as ClauseLevel
from contracts.interface.catalogue import Level, load_catalogue
from contracts.proving.trials import (
    AND,
    LAST_FOR_DEFECTS,
    SLOW,
    STAGES,
    CaseFacts,
    CaseIndex,
    ProofTrial,
    TrialKind,
    TrialResult,
    drawn,
    pairs,
    stage_of_case,
)
from contracts.reports.html_sections import inlined, template_environment, template_text
from contracts.safe_text import many
from contracts.sandbox.defects import ALL as DEFECTS
from contracts.sandbox.defects import UNBREAKABLE, Defect
from contracts.sandbox.defects import load as defect_named
from contracts.sandbox.variants import ALL, COMBINATIONS

#: Defects whose finding waits for a time limit.
_HANGS = "hangs-"
#: Defects that show once in so many times: repetition finds them, which is the nightly profile's; other realms do not.
_RARE = "-one-in-"
PLAIN = "plain"


class ProofPart(StrEnum):
    """What a proof proves."""

    DEFECTS = "defects"
    CASES = "cases"
    CALM = "calm"
    PAIRS = "pairs"


@dataclass(frozen=True)
class Proof:
    """What is asked for.

    Attributes:
        defects: Names; empty for all.
        clauses: Only defects of these clauses; empty for all.
        whole: Judge every case of the profile against each defect, not just those of its clause.
        to_the_end: Do not stop a trial at its finding.
    """

    seeds: tuple[int, ...]
    defects: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    parts: tuple[ProofPart, ...] = tuple(ProofPart)
    whole: bool = False
    to_the_end: bool = False

    @property
    def complete(self) -> bool:
        """Whether it is about everything there is."""
        return not self.defects and not self.clauses and set(self.parts) == set(ProofPart)


def chosen_defects(proof: Proof) -> list[Defect]:
    """The defects that a proof is about.

    Raises:
        UsageError: an unknown defect or clause, or none is left.
    """
    named = [defect_named(name) for name in proof.defects] or list(DEFECTS)
    clauses = {load_catalogue().clause(clause).id for clause in proof.clauses}
    defects = [defect for defect in named if not clauses or defect.clause in clauses]
    if not defects:
        raise UsageError(f"no defect breaks {', '.join(sorted(clauses))}; 'prove' has nothing to try")
    return defects


def first_trials(proof: Proof) -> list[ProofTrial]:
    """The trials a proof begins with; those that wait come first, so that nothing waits for them at the end."""
    return sorted(_first_trials(proof), key=lambda trial: not waits(trial))


def _first_trials(proof: Proof) -> Iterator[ProofTrial]:
    for seed in proof.seeds:
        if ProofPart.DEFECTS in proof.parts:
            for defect in chosen_defects(proof):
                parts = TrialKind.DEFECT, defect.name, defect.clause, seed
                yield ProofTrial(*parts, whole=proof.whole, stop=not proof.to_the_end)
        if ProofPart.CALM in proof.parts:
            yield ProofTrial(TrialKind.PLAIN, PLAIN, "", seed, whole=True)
            for name in (*COMBINATIONS, *(name for name in ALL if ALL[name].settings)):
                yield ProofTrial(TrialKind.VARIANT, name, "", seed, whole=True)
            yield from _longer(seed)
        if ProofPart.PAIRS in proof.parts:
            yield from _pairs(proof, seed)


def _longer(seed: int) -> Iterator[ProofTrial]:
    """The longer profiles, each once on a few variants that are drawn: they send what no gate run sends."""
    for stage, (profile, _) in enumerate(STAGES):
        if Profile(profile) in (Profile.NIGHTLY, Profile.FULL):
            yield ProofTrial(TrialKind.VARIANT, drawn(seed, profile), "", seed, stage, whole=True)


def _pairs(proof: Proof, seed: int) -> Iterator[ProofTrial]:
    """Each variant with one other, with the cases dealt out to the seeds: it meets every case once in the proof."""
    turn, of = proof.seeds.index(seed), len(proof.seeds)
    for name in pairs(turn):
        yield ProofTrial(TrialKind.VARIANT, name, "", seed, whole=True, share=(turn, of))


def waits(trial: ProofTrial) -> bool:
    """Whether a trial waits for answers most of its time, and leaves the cores to others."""
    return trial.name.startswith(_HANGS) or SLOW in COMBINATIONS.get(trial.name, trial.name.split(AND))


def next_stage(result: TrialResult) -> ProofTrial | None:
    """The trial that goes further where a defect lived; None when it was killed or there is nothing further."""
    trial = result.trial
    again = trial.kind is TrialKind.DEFECT and trial.only is None and not result.killed
    if not again or trial.stage == LAST_FOR_DEFECTS:
        return None
    return trial.further(LAST_FOR_DEFECTS if _RARE in trial.name else trial.stage + 1)


def idle_cases(index: CaseIndex, results: Iterable[TrialResult]) -> dict[str, CaseFacts]:
    """Cases that make claims and have killed no defect yet."""
    killers = {case for result in results for case in result.cases}
    return {name: facts for name, facts in index.cases.items() if name not in killers and claims(facts)}


def claims(facts: CaseFacts) -> tuple[str, ...]:
    """The clauses of a case that can be contradicted: those that are not silent."""
    catalogue = load_catalogue()
    return tuple(clause for clause in facts.clauses if catalogue.clause(clause).level is not Level.SILENT)


def trials_for_case(name: str, facts: CaseFacts, seed: int) -> Sequence[ProofTrial]:
    """What may show that a case can kill: the defects of its clauses, the most promising first."""
    stage = stage_of_case(facts.profile)
    nearest = sorted(_candidates(facts), key=lambda candidate: candidate[0])
    return [ProofTrial(TrialKind.DEFECT, d.name, d.clause, seed, stage, only=name) for _, d in nearest]


def _candidates(facts: CaseFacts) -> Iterator[tuple[tuple[bool, int, int], Defect]]:
    """The defects of a case's clauses, each with how far it is from the case.

    Nearest is what shows on the case's operations and on no other; a clause with many defects leaves room to the next.
    What any exchange would show is not among them when it shows on none of the case's.
    """
    operations = set(facts.operations)
    for clause in claims(facts):
        near: Counter[tuple[bool, int]] = Counter()
        for defect in DEFECTS:
            if defect.clause == clause:
                strange = set(defect.operations) - operations
                apart = strange == set(defect.operations)
                if apart and clause in UNIVERSAL:
                    continue
                distance = (apart, len(strange))
                yield (*distance, near[distance]), defect
                near[distance] += 1


@dataclass(frozen=True)
class SeedRow:
    """A defect on one seed.

    Attributes:
        killed: Its clause has a confirmed finding.
        cases: Those that found it.
        first: The result that found it first, or the last that did not.
        elsewhere: Clauses that had a finding beside the defect's own.
    """

    seed: int
    killed: bool
    cases: tuple[str, ...]
    first: TrialResult
    elsewhere: tuple[str, ...]


@dataclass(frozen=True)
class DefectRow:
    """A defect and what became of it on every seed."""

    defect: Defect
    level: str
    family: str
    seeds: tuple[SeedRow, ...]

    @property
    def killed(self) -> bool:
        """Whether every seed killed it."""
        return all(row.killed for row in self.seeds)


@dataclass(frozen=True)
class CaseRow:
    """A case and the defects it killed; `tried` counts the defects it was given alone, for want of a kill."""

    name: str
    facts: CaseFacts
    kills: tuple[str, ...]
    tried: int

    @property
    def silent(self) -> bool:
        """Whether it only observes, so that nothing can turn it red."""
        return not claims(self.facts)


@dataclass(frozen=True)
class Matrix:
    """All that a proof found out.

    Attributes:
        calm: Results on sandboxes that break nothing.
        troubles: Results that say nothing, because the suite broke or took too long.
    """

    defects: tuple[DefectRow, ...]
    cases: tuple[CaseRow, ...]
    calm: tuple[TrialResult, ...]
    troubles: tuple[TrialResult, ...]

    @property
    def survivors(self) -> list[DefectRow]:
        """Defects that lived on some seed."""
        return [row for row in self.defects if not row.killed]

    @property
    def idle(self) -> list[CaseRow]:
        """Cases that make claims and killed no defect."""
        return [row for row in self.cases if not row.kills and not row.silent]

    @property
    def alarms(self) -> list[TrialResult]:
        """Sandboxes that break nothing and did not get a pass, or of which a must was said to be contradicted.

        A variant may read a should otherwise; the faithful sandbox keeps them all.
        """
        return [result for result in self.calm if alarming(result)]

    @property
    def holds(self) -> bool:
        """Whether the suite is proven: no survivor, no idle case, no alarm, no trouble."""
        return not (self.survivors or self.idle or self.alarms or self.troubles)

    def summary(self) -> dict[str, Any]:
        """The figures, as plain data."""
        killing = [
            row.first for defect in self.defects for row in defect.seeds if row.killed and row.first.first
        ]
        broken = {row.defect.clause for row in self.defects}
        levels = {clause.id: clause.level for clause in load_catalogue()}
        return {
            "defects": len(self.defects),
            "killed_on_every_seed": len(self.defects) - len(self.survivors),
            "must_clauses_broken": sum(levels[clause] is Level.MUST for clause in broken),
            "must_clauses": sum(level is Level.MUST for level in levels.values()),
            "cases": sum(not row.silent for row in self.cases),
            "cases_that_killed": sum(bool(row.kills) and not row.silent for row in self.cases),
            "calm_runs": len(self.calm),
            "alarms": len(self.alarms),
            "troubles": len(self.troubles),
            "median_requests_to_the_finding": _median(r.first["requests"] for r in killing if r.first),
            "median_seconds_to_the_finding": _median(r.first["seconds"] for r in killing if r.first),
        }


def alarming(result: TrialResult) -> bool:
    """Whether a sandbox that breaks nothing got no pass, or was said to contradict what it keeps."""
    findings = [
        finding
        for finding in result.findings
        if result.trial.kind is TrialKind.PLAIN or finding["level"] == Level.MUST
    ]
    return bool(findings) or result.exit_code != ExitCode.PASS


def matrix(results: Sequence[TrialResult], cases: Mapping[str, CaseFacts]) -> Matrix:
    """Put the results of a proof together.

    Args:
        cases: Every case there is; empty when the proof was not about them.
    """
    broad = [result for result in results if result.trial.only is None]
    kills: dict[str, dict[str, None]] = defaultdict(dict)
    tried: dict[str, int] = defaultdict(int)
    for result in results:
        for case in result.cases:
            kills[case][result.trial.name] = None
        if result.trial.only:
            tried[result.trial.only] += 1
    return Matrix(
        defects=tuple(_defect_rows(broad)),
        cases=tuple(
            CaseRow(name, facts, tuple(kills[name]), tried[name]) for name, facts in sorted(cases.items())
        ),
        calm=tuple(result for result in broad if result.trial.kind is not TrialKind.DEFECT),
        troubles=tuple(result for result in results if result.trouble),
    )


def _defect_rows(results: Iterable[TrialResult]) -> Iterable[DefectRow]:
    catalogue = load_catalogue()
    by_defect: dict[str, dict[int, list[TrialResult]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result.trial.kind is TrialKind.DEFECT:
            by_defect[result.trial.name][result.trial.seed].append(result)
    for defect in DEFECTS:
        if defect.name in by_defect:
            clause = catalogue.clause(defect.clause)
            rows = tuple(
                _seed_row(seed, results_of_seed)
                for seed, results_of_seed in sorted(by_defect[defect.name].items())
            )
            yield DefectRow(defect, str(clause.level), clause.family, rows)


def _seed_row(seed: int, results: list[TrialResult]) -> SeedRow:
    killing = [result for result in results if result.killed]
    first = killing[0] if killing else max(results, key=lambda result: result.trial.stage)
    cases = dict.fromkeys(case for result in results for case in result.cases)
    others = {f["clause"] for result in results for f in result.findings} - {first.trial.clause}
    return SeedRow(seed, bool(killing), tuple(cases), first, tuple(sorted(others)))


def _median(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(median(numbers), 3) if numbers else None


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
        "troubles": [TroubleEntry(_trial_data(result), result.trouble or "") for result in matrix.troubles],
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


def _trial_data(result: TrialResult) -> dict[str, Any]:
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
            "rows": [{**row, "kills": _kills(row)} for row in family_rows],
            "cases": sorted({case for row in family_rows for case in _kills(row)}),
            "killed": sum(row["killed"] for row in family_rows),
        }
        for name, family_rows in sorted(rows.items())
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
        clauses = ", ".join(dict.fromkeys(f["clause"] for f in result.findings)) or "no finding"
        word = ExitCode(result.exit_code).word
        yield f"alarm     {result.trial.name}, seed {result.trial.seed}, {', '.join(result.realms)}: {word}: {clauses}"
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
    yield f"({minutes} of trials, {many(facts['jobs'], 'job')} side by side, {facts['cores']} cores)."
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
        median_cost = figures[f"median_{what}_to_the_finding"]
        yield f"| {what} to the finding, median | {'none found' if median_cost is None else f'{median_cost:g}'} |"


def _family_rows(matrix: Matrix) -> Iterator[str]:
    rows: dict[str, list[DefectRow]] = defaultdict(list)
    for row in matrix.defects:
        rows[row.family].append(row)
    yield "| family | clauses | defects | killed | needed more than one realm or the nightly profile |"
    yield "|---|---:|---:|---:|---:|"
    for family, family_rows in sorted(rows.items()):
        clauses = len({row.defect.clause for row in family_rows})
        hard = sum(any(seed.first.trial.stage > 0 for seed in row.seeds) for row in family_rows)
        killed = sum(row.killed for row in family_rows)
        yield f"| {family} | {clauses} | {len(family_rows)} | {killed} | {hard} |"


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

    The marks are the comments `<!-- begin NAME -->` and `<!-- end NAME -->`; without a text they are only looked for.

    Raises:
        UsageError: the document is not there or lacks the marks.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    try:
        before, marker, rest = path.read_text(encoding="utf-8").partition(begin)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror}") from None
    _, closed, after = rest.partition(end)
    if not marker or not closed:
        raise UsageError(f"'{path}' lacks the line '{begin}' or '{end}' between which the tables go")
    if text:
        path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
