"""What runs have left on a sandbox, seen from its database, against what their ledgers admit to."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.proving.neighbours import Snapshot
from contracts.proving.serving import Served
from contracts.session.ledger import Entry, read_entries, residue
from contracts.session.residue import PERMANENT

_BUDGET: Final = 12
_DRAFT, _PUBLISHED = "draft", "published"


@dataclass(frozen=True)
class Remains:
    """What is new on the service.

    Attributes:
        drafts_at_kill: Drafts that were there when the run was killed.
        drafts: Drafts that belong to no record of the residue.
        unlisted: Permanent records that no ledger admits to.
        most_permanent: New permanent records in the realm that has most.
        folders: Private folders of dead runs.
    """

    drafts_at_kill: int
    drafts: tuple[str, ...]
    unlisted: tuple[str, ...]
    most_permanent: int
    folders: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is left but residue that is listed and within its budget."""
        return not (self.drafts or self.unlisted or self.folders) and self.most_permanent <= _BUDGET


def remains(service: Served, before: Snapshot, after: Snapshot, killed: Snapshot | None = None) -> Remains:
    """Compare two snapshots with what the ledgers of all runs say.

    Args:
        before, after: The database before the run, and once somebody has cleaned up.
        killed: The database when the run was killed.
    """
    new = after.keys() - before.keys()
    permanent = {place[1:3] for place in new if place[0] == "locks" or place[-1] == _PUBLISHED}
    listed = list(residue(read_entries(sorted(service.reports.glob("*/ledger*.jsonl")))))
    records = {(entry.realm, entry.identifier) for entry in listed if entry.what in PERMANENT}
    drafts = {place[1:3] for place in new if place[0] == "versions" and place[-1] == _DRAFT}
    return Remains(
        drafts_at_kill=len([place for place in (killed or {}).keys() - before.keys() if place[-1] == _DRAFT]),
        drafts=tuple(sorted(" ".join(place) for place in drafts - permanent - records)),
        unlisted=tuple(_unlisted(permanent - records, listed)),
        most_permanent=max(Counter(place[0] for place in permanent).values(), default=0),
        folders=tuple(str(path) for path in _private_folders(service.private_parent)),
    )


def _unlisted(records: set[tuple[str, ...]], listed: list[Entry]) -> list[str]:
    """Records that no ledger names; a creation whose answer was lost accounts for one record in its realm."""
    nameless = Counter(entry.realm for entry in listed if not entry.identifier)
    found = []
    for record in sorted(records):
        if nameless[record[0]] > 0:
            nameless[record[0]] -= 1
        else:
            found.append(" ".join(record))
    return found


def _private_folders(parent: Path) -> list[Path]:
    return [path for path in parent.glob("registry-contracts-*") if path.is_dir()]


def finished_runs(reports: Path) -> int:
    """How many runs in a folder have their closing record."""
    facts = (json.loads(path.read_text(encoding="utf-8")) for path in reports.glob("*/run.json"))
    return sum(bool(each.get("finished")) for each in facts)
