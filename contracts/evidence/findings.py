"""`findings/<id>.json` and `findings/<id>.md`: one finding each, ready to be attached to a ticket."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from contracts.evidence.arranging import arranged, settings_in
from contracts.evidence.contradictions import Finding, Standing
from contracts.evidence.plain import fenced, inline
from contracts.evidence.record import RecordedExchange, RunRecord
from contracts.evidence.transcript import heading, request_text, response_text
from contracts.evidence.verdict_json import describe
from contracts.evidence.verdicts import RunVerdict
from contracts.interface.clauses import Clause

FOLDER_NAME = "findings"

SAYS = {
    Standing.FAIL: "a statement of the interface document is contradicted; this fails the run",
    Standing.ADVISORY: "a reasonable reading of the document is contradicted; this does not fail a run",
    Standing.DEVIATION: "contradicted, known and accepted until a day; this does not fail a run",
    Standing.UNCONFIRMED: "seen, but it did not come back on fresh data; this does not fail a run",
    Standing.OBSERVED: "the interface document is silent here; this does not fail a run",
}


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write two files per finding and remove those of an earlier rendering.

    Returns:
        The folder `findings`, which is there even when nothing was found.
    """
    target = folder / FOLDER_NAME
    target.mkdir(exist_ok=True)
    for stale in (*target.glob("*.json"), *target.glob("*.md")):
        stale.unlink()
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    for finding in verdict.findings:
        clause = clauses.get(finding.clause)
        content = build(record, finding, clause)
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (target / f"{finding.id}.json").write_text(text + "\n", "utf-8")
        (target / f"{finding.id}.md").write_text(markdown(record, finding, clause), "utf-8")
    return target


def shown_exchanges(record: RunRecord, finding: Finding) -> tuple[RecordedExchange, ...]:
    """Return the exchanges of a finding that the record holds, in the order of the sequence."""
    return tuple(record.exchanges[key] for key in finding.exchanges if key in record.exchanges)


def build(record: RunRecord, finding: Finding, clause: Clause | None) -> dict[str, Any]:
    """Return a finding with its clause, target and exchanges as plain data."""
    run = record.run
    shown = shown_exchanges(record, finding)
    before = arranged(record, shown)
    return {
        **describe(finding),
        "level": str(clause.level) if clause else None,
        "wording": clause.wording if clause else None,
        "source": clause.source if clause else None,
        "target": {"name": run.target, "kind": run.target_kind, "base_url": run.base_url},
        "seed": run.seed,
        "started": run.started,
        "versions": dict(run.versions),
        "case_names": _case_names(record, finding),
        "settings": settings_in(run.settings, finding.realm, (*before, *shown)),
        "arranged": [asdict(exchange) for exchange in before],
        "sequence": [asdict(exchange) for exchange in shown],
    }


def markdown(record: RunRecord, finding: Finding, clause: Clause | None) -> str:
    """Return a finding as a Markdown page."""
    place = f"{finding.operation or 'the service'} in {finding.realm}"
    lines = [
        f"# {inline(finding.clause)}: {inline(place)}",
        "",
        f"**{finding.standing}** — {SAYS[finding.standing]}.",
        "",
        *_facts(record, finding, clause),
        "",
        *_quoted("Expected", finding.expected),
        *_quoted("Seen", finding.seen),
        "## Reproduce",
        "",
        fenced(finding.command, "sh"),
        "",
    ]
    if finding.curl:
        lines += [fenced("\n".join(finding.curl), "sh"), ""]
    for number, exchange in enumerate(shown_exchanges(record, finding), start=1):
        lines += [f"## Exchange {number}: {inline(heading(exchange))}", ""]
        lines += [fenced(request_text(exchange), "http"), "", fenced(response_text(exchange), "http"), ""]
    return "\n".join(lines)


def _facts(record: RunRecord, finding: Finding, clause: Clause | None) -> list[str]:
    accepted, outside = finding.accepted, "no: outside what the consumer uses"
    facts: Mapping[str, str] = {
        "Clause": clause.wording if clause else finding.clause,
        "Level": str(clause.level) if clause else "unknown to the catalogue",
        "Source": clause.source if clause else "unknown to the catalogue",
        "Role": finding.role or "any",
        "Confirmed": "yes" if finding.confirmed else "no",
        "Rate": finding.rate,
        "Counts": "yes" if finding.counted else outside,
        **({"Methods": ", ".join(finding.methods)} if finding.methods else {}),
        **(
            {"Accepted": f"{accepted.reason} ({accepted.issue}, until {accepted.expires})"}
            if accepted
            else {}
        ),
        "Cases": "; ".join(_case_names(record, finding)),
        "Target": f"{record.run.target} ({record.run.base_url}), {record.run.started}",
    }
    return ["| | |", "|---|---|", *(f"| {name} | {inline(value, 2000)} |" for name, value in facts.items())]


def _quoted(title: str, text: str) -> list[str]:
    return [f"## {title}", "", fenced(text, "text"), ""]


def _case_names(record: RunRecord, finding: Finding) -> list[str]:
    names = {case.id: case.name for case in record.cases}
    return list(dict.fromkeys(names.get(case, case) for case in finding.cases))
