"""Which runs in a reports folder are over without having cleaned up, and what their ledgers still hold."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from contracts.evidence.collecting import RUN_FILE
from contracts.session.alive import anybody_alive
from contracts.session.ledger import Entry, read_entries, removable, residue

#: What a sweep found in a run's folder, written beside its ledger.
SWEPT_FILE: Final = "swept.json"
#: A run of another machine cannot be asked whether it is alive; one this old, in hours, is taken to be over.
LONGEST_RUN_HOURS: Final = 24.0
#: How long workers whose controller was killed take to notice it.
_LAST_BREATH_SECONDS: Final = 20.0
_LOOK_AGAIN_SECONDS: Final = 0.1


@dataclass(frozen=True)
class EarlierRun:
    """A run that is over.

    Attributes:
        token: The run's part of its identifiers' prefix.
        base_url: The target it wrote to.
        entries: The latest state of each of its writes.
    """

    folder: Path
    token: str
    base_url: str
    entries: tuple[Entry, ...]

    @property
    def drafts(self) -> list[Entry]:
        """Drafts that are there or may be there, newest first."""
        return removable(self.entries)

    @property
    def residue(self) -> list[Entry]:
        """What nobody can remove."""
        return list(residue(self.entries))

    @property
    def ledgers(self) -> list[Path]:
        """Its ledger files."""
        return sorted(self.folder.glob("ledger*.jsonl"))


def earlier_runs(reports: Path, base_url: str) -> Iterator[EarlierRun]:
    """The runs on a target that are over and whose ledgers may still hold drafts.

    Args:
        reports: Folder of run folders; one that is not there holds none.
        base_url: The target; runs on others are none of our business.
    """
    folders = sorted(path for path in reports.glob("*/") if not path.is_symlink())
    for folder in folders:
        facts = _facts(folder)
        if facts.get("base_url") == base_url and facts.get("token") and _to_be_swept(folder, facts):
            entries = tuple(read_entries(sorted(folder.glob("ledger*.jsonl"))))
            yield EarlierRun(folder, str(facts["token"]), base_url, entries)


def tokens_at_work(reports: Path) -> set[str]:
    """Tokens of the runs in a reports folder that are not over, whatever they aim at."""
    folders = [path for path in reports.glob("*/") if not path.is_symlink()]
    return {str(_facts(folder).get("token")) for folder in folders if anybody_alive(folder)}


def _facts(folder: Path) -> dict[str, Any]:
    try:
        facts = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # no run folder of ours, or one that was killed before it wrote anything to a service
    return facts if isinstance(facts, dict) else {}


def _to_be_swept(folder: Path, facts: dict[str, Any]) -> bool:
    if facts.get("finished") and not facts.get("left"):
        return False
    return _unswept(folder) and _over(folder, facts)


def _unswept(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / SWEPT_FILE).read_text(encoding="utf-8"))["left"])
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _over(folder: Path, facts: dict[str, Any]) -> bool:
    if facts.get("finished"):
        return True
    process = facts.get("process") or {}
    if process.get("host") != platform.node():
        return _age(str(facts.get("started"))) > timedelta(hours=LONGEST_RUN_HOURS)
    deadline = time.monotonic() + _LAST_BREATH_SECONDS
    while anybody_alive(folder):
        if _controller_alive(folder) or time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_AGAIN_SECONDS)
    return True


def _controller_alive(folder: Path) -> bool:
    return anybody_alive(folder, "main")


def _age(started: str) -> timedelta:
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return timedelta()
    return datetime.now(UTC) - (moment if moment.tzinfo else moment.replace(tzinfo=UTC))
