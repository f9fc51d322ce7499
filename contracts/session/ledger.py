"""The write-ahead file of everything a run created or may have created (design 5)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

State = Literal["intended", "created", "refused", "unknown", "removed"]

#: What each writing operation leaves behind, in the words of the report.
LEAVES = {
    "saveDraft": "draft",
    "createContact": "contact",
    "updateContact": "contact",
    "createAttachment": "attachment",
    "persistTemporaryFile": "attachment",
    "createWorkflowRecord": "submission",
    "createWorkflowRecordWithIdentifier": "submission",
    "updateWorkflowRecord": "submission",
}
#: The only thing that the interface gives a means to remove.
REMOVABLE = "draft"


@dataclass(frozen=True, slots=True)
class Entry:
    """One write: `what` it leaves, where, as whom, and what became of it."""

    number: int
    operation: str
    what: str
    realm: str
    role: str
    identifier: str
    state: State
    at: str


class Ledger:
    """Append-only; each line is handed to the operating system before the write is sent.

    Args:
        path: File of this worker in the run folder; created.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._entries: dict[int, Entry] = {}

    def intend(self, operation: str, realm: str, role: str, identifier: str) -> Entry | None:
        """Note a write before it is sent; None for operations that leave nothing behind."""
        what = LEAVES.get(operation)
        if what is None:
            return None
        with self._lock:
            number = len(self._entries) + 1
            entry = Entry(number, operation, what, realm, role, identifier, "intended", _now())
            self._write(entry)
        return entry

    def settle(self, entry: Entry, state: State, identifier: str | None = None) -> None:
        """Note what became of a write, and the identifier that the service gave, where it gave one."""
        with self._lock:
            self._write(replace(entry, state=state, at=_now(), identifier=identifier or entry.identifier))

    def removed(self, realm: str, identifier: str) -> None:
        """Note that a draft was deleted through the interface."""
        with self._lock:
            for entry in list(self._entries.values()):
                if entry.what == REMOVABLE and (entry.realm, entry.identifier) == (realm, identifier):
                    self._write(replace(entry, state="removed", at=_now()))

    def removable(self) -> list[Entry]:
        """Drafts that are there or may be there, newest first, one entry for each."""
        newest: dict[tuple[str, str], Entry] = {}
        for entry in reversed(self._entries.values()):
            if entry.what == REMOVABLE and entry.state not in ("refused", "removed"):
                newest.setdefault((entry.realm, entry.identifier), entry)
        return list(newest.values())

    def residue(self) -> Iterator[Entry]:
        """What stays behind because the interface gives no means to remove it."""
        seen: set[tuple[str, str, str]] = set()
        for entry in self._entries.values():
            key = (entry.what, entry.realm, entry.identifier)
            if (
                entry.what != REMOVABLE
                and entry.state in ("created", "unknown", "intended")
                and key not in seen
            ):
                seen.add(key)
                yield entry

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, entry: Entry) -> None:
        self._entries[entry.number] = entry
        # In ASCII: an identifier may hold half a surrogate pair, which has no form in UTF-8.
        self._file.write(json.dumps(asdict(entry)) + "\n")
        self._file.flush()


def read_ledger(path: Path) -> list[dict[str, Any]]:
    """Every whole line of a ledger file; a line cut short by a kill is left out."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines if line]


def _now() -> str:
    return datetime.now(UTC).isoformat()
