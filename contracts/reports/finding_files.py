"""The files of findings: `findings/<id>.json` for each, and for each cause `<id>.md` for a ticket and `<id>.sh`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import structs

from contracts.evidence.causes import check_of
from contracts.evidence.findings import Finding
from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.exchange import ExchangeEntry, exchange_entry
from contracts.file_formats import Level, Moment, Name, Seed, write_file
from contracts.interface.catalogue import Clause
from contracts.reports.cards import FOLDER_NAME, SCRIPT, card_of, case_names, markdown, shown_exchanges
from contracts.reports.earlier_writes import earlier_writes
from contracts.reports.shell_commands import script
from contracts.reports.verdict_json import TargetEntry, target_of

_KINDS = (".json", ".md", SCRIPT)


class FindingFile(Finding, frozen=True, kw_only=True):
    """A finding with its clause, its target and its exchanges.

    `level`, `wording` and `source` are null where the catalogue does not have the clause. `arranged` was sent before
    `sequence`, the minimal sequence that shows the finding. `check` is the check of the table that saw it; empty for a
    comparison that a case made by itself.
    """

    level: Level | None
    wording: str | None
    source: str | None
    target: TargetEntry
    seed: Seed
    started: Moment
    versions: Mapping[str, str]
    case_names: tuple[Name, ...]
    arranged: tuple[ExchangeEntry, ...]
    sequence: tuple[ExchangeEntry, ...]
    check: str = ""


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write the files, and remove those of an earlier rendering.

    Returns:
        The folder `findings`, which is there even when nothing was found.
    """
    target = folder / FOLDER_NAME
    target.mkdir(exist_ok=True)
    for stale in (path for kind in _KINDS for path in target.glob(f"*{kind}")):
        stale.unlink()
    clauses = {cell.clause.id: cell.clause for cell in verdict.cells}
    for finding in verdict.findings:
        content = build(record, finding, clauses.get(finding.clause))
        write_file(target / f"{finding.id}.json", content, FindingFile)
    for cause in verdict.causes:
        card = card_of(record, cause, clauses.get(cause.lead.clause))
        (target / f"{cause.id}.md").write_text(markdown(record, card), "utf-8")
        if lines := script(card.commands):
            (target / f"{cause.id}{SCRIPT}").write_text(lines, "utf-8", newline="\n")
    return target


def build(record: RunRecord, finding: Finding, clause: Clause | None) -> FindingFile:
    """Return a finding with its clause, target and exchanges."""
    run = record.run
    shown = shown_exchanges(record, finding)
    return FindingFile(
        **structs.asdict(finding),
        level=str(clause.level) if clause else None,
        wording=clause.wording if clause else None,
        source=clause.source if clause else None,
        target=target_of(record),
        seed=run.seed,
        started=run.started,
        versions=run.versions,
        case_names=tuple(case_names(record, finding.cases)),
        arranged=tuple(map(exchange_entry, earlier_writes(record, shown))),
        sequence=tuple(map(exchange_entry, shown)),
        check=check_of(record, finding),
    )
