"""`summary.md`: the run on one page, for the job page of a build server."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from contracts.evidence.contradictions import Finding
from contracts.evidence.digest import Light, counts_per_realm, lamps, wanting
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import inline, many
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict

FILE_NAME = "summary.md"
_FINDINGS_AT_MOST = 50
_CLAUSES_AT_MOST = 8
_LIGHTS = {Light.GREEN: "good", Light.AMBER: "**look**", Light.RED: "**bad**", Light.DARK: "dark"}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `summary.md` and return its path."""
    path = folder / FILE_NAME
    path.write_text("\n".join(_page(record, verdict)) + "\n", "utf-8")
    return path


def _page(record: RunRecord, verdict: RunVerdict) -> Iterator[str]:
    run = record.run
    yield f"## Registry contracts: {verdict.word} (exit code {int(verdict.exit_code)})"
    yield f"\n{inline(verdict.sentence, 1000)}\n"
    if verdict.problems:
        yield "> **This report is incomplete and cannot be relied on:** " + inline(
            "; ".join(verdict.problems), 1000
        )
        yield ""
    yield from _table(
        ["Lamp", "", ""],
        [[lamp.name, _LIGHTS[lamp.light], inline(lamp.says)] for lamp in lamps(record, verdict)],
    )
    yield from _findings(verdict.findings)
    yield from _counts(record, verdict)
    yield from _untested(verdict)
    left = len(record.residue) + len(record.leftovers)
    requests = many(int(run.environment.get("requests") or 0), "request")
    took = f"{run.seconds:.0f} s" if run.seconds is not None else "an unknown time (not finished)"
    settings = f"profile {inline(run.profile)}, seed {inline(str(run.seed))}"
    yield (
        f"{inline(run.target)} ({inline(run.base_url)}), {settings}: {many(len(record.cases), 'case')}, "
        f"{requests}, {took}; {many(left, 'thing')} left on the target."
    )


def _findings(findings: tuple[Finding, ...]) -> Iterator[str]:
    if not findings:
        return
    yield f"### {many(len(findings), 'finding')}\n"
    rows = [
        [
            f"`{each.id}`",
            str(each.standing),
            inline(each.clause),
            inline(each.operation or ""),
            inline(each.realm),
            inline(each.expected, 160),
            inline(each.seen, 160),
            inline(each.rate),
        ]
        for each in findings[:_FINDINGS_AT_MOST]
    ]
    yield from _table(["Id", "Standing", "Clause", "Operation", "Realm", "Expected", "Seen", "Rate"], rows)
    if len(findings) > _FINDINGS_AT_MOST:
        yield f"{many(len(findings) - _FINDINGS_AT_MOST, 'finding')} more in the report.\n"


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
