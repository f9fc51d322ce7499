"""`summary.md`: the run on one page, for the job page of a build server."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from contracts.drift.changes import Severity
from contracts.drift.report import DriftReport
from contracts.evidence.contradictions import Finding
from contracts.evidence.digest import Light, counts_per_realm, deviation_groups, lamps, wanting
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import inline, many
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.history.past import Past, read_past

FILE_NAME = "summary.md"
_FINDINGS_AT_MOST = 50
_CHANGES_AT_MOST = 30
_CLAUSES_AT_MOST = 8
_WHERE = (
    "In the run's folder: `index.html` shows exchanges and how to reproduce each finding, `findings/<id>.md` is "
    "ready for a ticket, `questions.md` holds questions to the owner of the service."
)
_LIGHTS = {Light.GREEN: "good", Light.AMBER: "**look**", Light.RED: "**bad**", Light.DARK: "dark"}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `summary.md` and return its path.

    Raises:
        UsageError: what the folder keeps of earlier runs was altered.
    """
    path = folder / FILE_NAME
    path.write_text("\n".join(_page(record, verdict, read_past(folder))) + "\n", "utf-8")
    return path


def _page(record: RunRecord, verdict: RunVerdict, past: Past) -> Iterator[str]:
    run = record.run
    yield f"## Registry contracts: {verdict.word} (exit code {int(verdict.exit_code)})"
    yield f"\n{inline(verdict.sentence, 1000)}\n"
    if verdict.problems:
        yield "> **This report is invalid: it is incomplete and must not be relied on:** " + inline(
            "; ".join(verdict.problems), 1000
        )
        yield ""
    yield from _table(
        ["Lamp", "", ""],
        [[lamp.name, _LIGHTS[lamp.light], inline(lamp.says)] for lamp in lamps(record, verdict)],
    )
    yield from _findings(verdict.findings, past)
    yield from _drift(verdict.drift)
    yield from _deviations(verdict)
    yield from _notes(verdict)
    yield from _counts(record, verdict)
    yield from _untested(verdict)
    left = len(record.residue) + len(record.leftovers)
    requests = many(int(run.environment.get("requests") or 0), "request")
    took = f"{run.seconds:.0f} s" if run.seconds is not None else "an unknown time (not finished)"
    settings = f"profile {inline(run.profile)}, seed {inline(str(run.seed))}"
    merged = f", merged from {many(len(run.shards), 'shard')}" if run.shards else ""
    settings += f", {run.shard.name}" if run.shard else merged
    yield (
        f"{inline(run.target)} ({inline(run.base_url)}), {settings}: {many(len(record.cases), 'case')}, "
        f"{requests}, {took}; {many(left, 'thing')} left on the target{_permanent(run.environment)}."
    )
    yield ""
    yield _WHERE


def _permanent(environment: Mapping[str, Any]) -> str:
    """How many records the run has created that nobody can remove, and how many it might have."""
    created = environment.get("permanent_records") or {}
    most = (environment.get("limits") or {}).get("permanent_records_per_realm")
    if not created:
        return ""
    listed = ", ".join(f"{inline(realm)} {count}" for realm, count in sorted(created.items()))
    return f", permanent records among them: {listed}" + (f" (at most {most} in a realm)" if most else "")


def _findings(findings: tuple[Finding, ...], past: Past) -> Iterator[str]:
    if not findings:
        return
    yield f"### {many(len(findings), 'finding')}\n"
    rows = [
        [
            f"`{each.id}`",
            str(each.standing) + ("" if each.counted else ", not counted"),
            inline(each.clause),
            inline(each.operation or "") + (f" ({inline(', '.join(each.methods))})" if each.methods else ""),
            inline(each.realm),
            inline(each.expected, 160),
            inline(each.seen, 160),
            inline(each.rate),
            *([inline(past.tells(each.clause, each.realm))] if past.runs else []),
        ]
        for each in findings[:_FINDINGS_AT_MOST]
    ]
    head = ["Id", "Standing", "Clause", "Operation", "Realm", "Expected", "Seen", "Rate"]
    yield from _table([*head, *(["Since when"] if past.runs else [])], rows)
    if len(findings) > _FINDINGS_AT_MOST:
        yield f"{many(len(findings) - _FINDINGS_AT_MOST, 'finding')} more in the report.\n"


def _drift(drift: DriftReport) -> Iterator[str]:
    if drift.sentence is None:
        return
    yield "### Drift\n"
    yield f"{inline(drift.sentence, 1000)}\n"
    if not drift.changes:
        return
    rows = [
        [
            f"**{change.severity}**" if change.severity is Severity.BREAKING else str(change.severity),
            str(change.kind) + (", outside the consumer" if change in drift.outside else ""),
            inline(change.clause),
            inline(change.operation),
            inline(", ".join(change.realms)),
            inline(change.says, 160),
        ]
        for change in drift.changes[:_CHANGES_AT_MOST]
    ]
    yield from _table(["Severity", "Change", "Clause", "Operation", "Realms", "Was, and is now"], rows)
    if len(drift.changes) > _CHANGES_AT_MOST:
        yield f"{many(len(drift.changes) - _CHANGES_AT_MOST, 'change')} more in the report.\n"


def _deviations(verdict: RunVerdict) -> Iterator[str]:
    if not verdict.deviations:
        return
    yield f"### {many(len(verdict.deviations), 'accepted deviation')}\n"
    rows = [
        [
            inline(each.deviation.clause)
            + (f" ({each.deviation.operation})" if each.deviation.operation else ""),
            f"**{group.name}**" if each.fails else group.name,
            inline(each.says),
            inline(f"{each.deviation.reason} ({each.deviation.owner})"),
            inline(each.deviation.issue),
            inline(each.deviation.place),
        ]
        for group in deviation_groups(verdict)
        for each in group.outcomes[:_FINDINGS_AT_MOST]
    ]
    yield from _table(["Clause", "Course", "", "Reason", "Issue", "Entry"], rows)


def _notes(verdict: RunVerdict) -> Iterator[str]:
    waived = [outcome.line for outcome in verdict.waivers if outcome.needed]
    unjudged = verdict.unjudged_lines
    for title, lines in (
        ("Could not be judged", unjudged),
        ("Waived", waived),
        ("To be seen to", verdict.notes),
    ):
        if lines:
            yield f"### {title}\n"
            yield from (f"- {inline(line)}" for line in lines[:_FINDINGS_AT_MOST])
            yield ""


def _counts(record: RunRecord, verdict: RunVerdict) -> Iterator[str]:
    counts = counts_per_realm(verdict.cells)
    yield "### Clauses by realm\n"
    realms = [realm for realm in dict.fromkeys([*record.run.realms, *counts]) if realm in counts]
    rows = [[realm, *(str(counts[realm][each] or "") for each in Verdict)] for realm in realms]
    yield from _table(["Realm", *map(str, Verdict)], rows)


def _untested(verdict: RunVerdict) -> Iterator[str]:
    groups = [group for group in wanting(verdict.cells) if group.settings]
    if not groups:
        return
    yield "### Untested for want of a setting\n"
    yield from _table(
        ["Missing", "Clauses", "Realms"],
        [[inline(group.settings or ""), _some(group.clauses), ", ".join(group.realms)] for group in groups],
    )


def _some(clauses: tuple[str, ...]) -> str:
    more = len(clauses) - _CLAUSES_AT_MOST
    listed = ", ".join(inline(clause) for clause in clauses[:_CLAUSES_AT_MOST])
    return f"{listed} and {more} more" if more > 0 else listed


def _table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
