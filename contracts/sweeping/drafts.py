"""Deletes the drafts of earlier runs, as the accounts that saved them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from contracts.errors import EnvironmentFault
from contracts.session.actor import Actor
from contracts.session.ledger import Entry, append_removed
from contracts.session.namespace import Namespace
from contracts.sweeping.runs import SWEPT_FILE, EarlierRun, earlier_runs
from contracts.target.model import ANONYMOUS, AUTHOR, Target

#: The case on whose behalf a sweep sends; it may use what the request budget keeps back.
CASE: Final = "[sweeping]"
_GONE: Final = (404, 410)
_MOST_NAMED: Final = 5

MakeActor = Callable[[str, str], Actor]


@dataclass(frozen=True)
class Draft:
    """A draft to be removed: where, under which identifier, and as whom."""

    realm: str
    identifier: str
    role: str


@dataclass
class Swept:
    """What a sweep did.

    Attributes:
        what: Whose drafts these were, for a sentence.
        removed: Drafts that are gone now.
        left: Drafts that are still there, each with the reason.
        residue: What nobody can remove.
        dry: Nothing was removed; `removed` is what would have been.
    """

    what: str
    removed: list[Draft] = field(default_factory=list)
    left: list[tuple[Draft, str]] = field(default_factory=list)
    residue: list[Entry] = field(default_factory=list)
    dry: bool = False

    @property
    def sentence(self) -> str:
        """One line for the terminal."""
        said = [f"{_drafts(len(self.removed))} {'to be removed' if self.dry else 'removed'}"]
        if self.left:
            named = ", ".join(f"{draft.identifier} in {draft.realm}" for draft, _ in self.left[:_MOST_NAMED])
            more = len(self.left) - _MOST_NAMED
            said.append(
                f"{_drafts(len(self.left))} left: {named}{f' and {more} more' if more > 0 else ''} "
                f"({self.left[0][1]})"
            )
        if self.residue:
            said.append(f"{len(self.residue)} records and attachments that nobody can remove")
        return f"{self.what}: {'; '.join(said)}"


class Sweeper:
    """Deletes drafts through the door of a run, or of the command.

    Args:
        actor: Makes somebody of a role in a realm.
        namespace: The door's; takes in what is to be deleted, and nothing else.
        target: Says which accounts there are.
        dry: Say what would be deleted, and delete nothing.
    """

    def __init__(self, actor: MakeActor, namespace: Namespace, target: Target, *, dry: bool = False) -> None:
        self._actor = actor
        self._namespace = namespace
        self._target = target
        self._dry = dry

    def runs(self, reports: Path) -> Iterator[Swept]:
        """Delete what earlier runs on the target left, by their ledgers; runs that are alive are left alone."""
        for run in earlier_runs(reports, self._target.base_url):
            self._namespace.adopt(run.token)
            swept = self.drafts(f"run {run.folder.name}", (_draft(entry) for entry in run.drafts))
            swept.residue = run.residue
            if not self._dry:
                _write_down(run, swept)
            yield swept

    def drafts(self, what: str, drafts: Iterable[Draft]) -> Swept:
        """Delete drafts that the namespace owns."""
        swept = Swept(what, dry=self._dry)
        for draft in drafts:
            why = self._why_not(draft)
            if why is None:
                swept.removed.append(draft)
            else:
                swept.left.append((draft, why))
        return swept

    def _why_not(self, draft: Draft) -> str | None:
        """Delete one draft; None when it is gone, else what stands in the way."""
        if draft.role not in self._target.accounts:
            return f"the settings have no account {draft.role}"
        if not self._namespace.owns(draft.identifier):
            return "its identifier is not one of the suite's"
        if self._dry:
            return None
        try:
            sent = self._actor(draft.role, draft.realm).send("deleteDraft", path={"uid": draft.identifier})
            answer = sent.answer
        except EnvironmentFault as fault:
            return str(fault)
        return None if answer.success or answer.status in _GONE else f"deleteDraft answered {answer.status}"


def _draft(entry: Entry) -> Draft:
    return Draft(entry.realm, entry.identifier, AUTHOR if entry.role == ANONYMOUS else entry.role)


def _write_down(run: EarlierRun, swept: Swept) -> None:
    """Note in the run's folder what became of its drafts, so that the next sweep need not ask again."""
    gone = {(draft.realm, draft.identifier) for draft in swept.removed}
    entries = [entry for entry in run.entries if (entry.realm, entry.identifier) in gone]
    if run.ledgers:
        append_removed(run.ledgers[0], [entry for entry in entries if entry.what == "draft"])
    facts = {
        "at": datetime.now(UTC).isoformat(),
        "removed": [asdict(draft) for draft in swept.removed],
        "left": [{**asdict(draft), "why": why} for draft, why in swept.left],
        "residue": [asdict(entry) for entry in swept.residue],
    }
    (run.folder / SWEPT_FILE).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _drafts(count: int) -> str:
    return f"{count} draft" if count == 1 else f"{count} drafts"
