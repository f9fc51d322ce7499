"""Removes the drafts of a run: after each case, at its end, and those of workers that died."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor
from contracts.session.ledger import Entry, Ledger, read_entries, residue
from contracts.session.session import Session
from contracts.settings.target import ANONYMOUS, AUTHOR

#: The case on whose behalf drafts are deleted; it may use what the request budget keeps back.
CASE: Final = "[cleaning]"
#: How long a write that was cut off on its way may still take to have an effect.
_SETTLING_SECONDS: Final = 1.0
_GONE: Final = (404, 410)


class DraftCleanup:
    """Deletes the drafts that a ledger holds, newest first.

    Args:
        delete: Sends the request that deletes a draft, as the role that saved it.
        stopped: Whether nothing can be sent any more.
        kept: Identifiers of drafts that cases share until the end of the run; may grow meanwhile.
    """

    def __init__(
        self,
        ledger: Ledger,
        delete: Callable[[Entry], Exchange],
        stopped: Callable[[], bool],
        kept: set[str],
    ) -> None:
        self._ledger = ledger
        self._delete = delete
        self._stopped = stopped
        self._tried: set[tuple[str, str]] = set()
        self._kept = kept

    def after_case(self) -> None:
        """Delete what is not shared, and was not tried in vain before."""
        self._sweep(lambda entry: (entry.realm, entry.identifier) not in self._tried, certain=False)

    def at_the_end(self, *, last: bool, at_once: int = 1) -> None:
        """Delete what is not shared, also what a first try did not remove.

        Args:
            last: No process comes after this one: the shared ones go too, and a write that may still be on its
                way is waited for.
            at_once: Deletions under way side by side; with more than one their order is no longer fixed.
        """
        if last:
            self._kept.clear()
        self._sweep(lambda _: True, certain=False, at_once=at_once)
        if last and any(map(_uncertain, self._ledger.removable())) and not self._stopped():
            time.sleep(_SETTLING_SECONDS)
            self._sweep(_uncertain, certain=True)

    def _sweep(self, chosen: Callable[[Entry], bool], *, certain: bool, at_once: int = 1) -> None:
        """Delete what is chosen; the pace holds for deletions side by side as well."""
        entries = [
            entry
            for entry in self._ledger.removable()
            if entry.identifier not in self._kept and chosen(entry)
        ]
        if at_once == 1:
            for entry in entries:
                self._remove(entry, certain)
            return
        with ThreadPoolExecutor(at_once) as pool:
            # Looked at one by one: what a thread raises is raised here.
            for _ in pool.map(lambda entry: self._remove(entry, certain), entries):
                pass

    def _remove(self, entry: Entry, certain: bool) -> None:
        if self._stopped():
            return
        self._tried.add((entry.realm, entry.identifier))
        try:
            answer = self._delete(entry).answer
        except EnvironmentFault:
            return  # stays in the ledger as not removed, and is reported as a leftover
        absent = answer.status in _GONE and (certain or not _uncertain(entry))
        if answer.success or absent:
            self._ledger.removed(entry.realm, entry.identifier)


def draft_cleanup(session: Session) -> DraftCleanup:
    """A cleanup of the drafts in a session's ledger, sent through the session until its breaker opens."""
    return DraftCleanup(
        session.ledger,
        lambda entry: _delete(session, entry),
        lambda: session.breaker_reason is not None,
        session.kept,
    )


def _delete(session: Session, entry: Entry) -> Exchange:
    actor = Actor(session, deleting_role(entry), entry.realm, CASE)
    return actor.send("deleteDraft", path={"uid": entry.identifier})


def deleting_role(entry: Entry) -> str:
    """The role that may delete a draft: the one that saved it, but it takes an account."""
    return AUTHOR if entry.role == ANONYMOUS else entry.role


def residue_of_dead_workers(ledgers: Iterable[Path]) -> list[Entry]:
    """What workers that could not close their ledgers leave behind for good."""
    return list(residue(read_entries(ledgers)))


def _uncertain(entry: Entry) -> bool:
    """Whether a draft may come into being after it was found absent: its save was not answered."""
    return entry.state in ("intended", "unknown")
