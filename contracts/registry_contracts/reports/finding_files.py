"""The files of findings: `findings/<id>.json` for each, and for each cause `<id>.md` for a ticket and `<id>.sh`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import structs

from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import RunRecord
from registry_contracts.evidence.verdicts import RunVerdict
from registry_contracts.exchanges.exchange import exchange_entry
from registry_contracts.file_formats import plain
from registry_contracts.interface.catalogue import Clause
from registry_contracts.reports.cards import (
    FOLDER_NAME,
    SCRIPT,
    cards_of,
    case_names,
    markdown,
    shown_exchanges,
)
from registry_contracts.reports.earlier_writes import earlier_writes
from registry_contracts.reports.verdict_json import target_of
from registry_contracts.safe_text import json_text

_KINDS = (".json", ".md", SCRIPT)


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> None:
    """Write the files, and remove those of an earlier rendering; the folder also exists without findings."""
    target = folder / FOLDER_NAME
    target.mkdir(exist_ok=True)
    for stale in (path for kind in _KINDS for path in target.glob(f"*{kind}")):
        stale.unlink()
    for finding in verdict.findings:
        content = json_text(build(record, finding, verdict.clauses.get(finding.clause)), indent=2)
        (target / f"{finding.id}.json").write_text(content + "\n", "utf-8")
    for card in cards_of(record, verdict):
        (target / f"{card.cause.id}.md").write_text(markdown(record, card), "utf-8")
        if card.script:
            (target / f"{card.cause.id}{SCRIPT}").write_text(card.script, "utf-8", newline="\n")


def build(record: RunRecord, finding: Finding, clause: Clause | None) -> dict[str, Any]:
    """Return a finding with its clause, its target and its exchanges.

    `level`, `wording` and `source` are null if the catalogue lacks the clause. `sequence` is the minimal sequence that
    shows the finding; `arranged` was sent before it.
    """
    run, shown = record.run, shown_exchanges(record, finding)
    texts = f"{finding.expected} {finding.seen}"
    of_clause = {name: getattr(clause, name, None) for name in ("level", "wording", "source")}
    around = {
        "target": target_of(record),
        "seed": run.seed,
        "started": run.started,
        "versions": run.versions,
        "case_names": case_names(record, finding.cases),
        "arranged": [exchange_entry(each) for each in earlier_writes(record, shown, texts)],
        "sequence": [exchange_entry(each) for each in shown],
    }
    return dict(plain({**structs.asdict(finding), **of_clause, **around}))
