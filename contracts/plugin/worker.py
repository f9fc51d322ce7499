"""One process's share of a run: its door, journal and ledger, and what its cases hold in common."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from filelock import FileLock

from contracts.errors import EnvironmentFault
from contracts.evidence.journal import Journal, journal_path
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.interface.description import Description, load_description
from contracts.judging.attempts import Attempt
from contracts.plugin.options import Selection
from contracts.plugin.plan import Plan
from contracts.session.actor import Actor
from contracts.session.credentials import token_issuer
from contracts.session.door import Door
from contracts.session.ledger import Entry, Ledger
from contracts.session.namespace import Namespace
from contracts.session.pace import Pace
from contracts.session.recording import JournalRecorder
from contracts.session.redaction import Redactor
from contracts.session.tokens import TokenStore
from contracts.session.transport import Transport
from contracts.target.guard import GuardViolation, refuse_request
from contracts.target.model import ANONYMOUS, AUTHOR, Target

#: Identifiers that the settings name for the suite to write to; every such write is meant to be refused,
#: but for spare and existing ones.
_GRANTS = (
    "locked_identifier",
    "existing_identifier",
    "others_identifier",
    "published_identifier",
    "spare_identifiers",
)


#: Files in the private folder that stop every worker before its next case.
BREAKER_FILE = "breaker"
STOP_FILE = "stop"


def counts_path(private: Path, name: str) -> Path:
    """Where a worker leaves its counts as the last thing it does."""
    return private / f"counts-{name}.json"


class Worker:
    """State of one process of a run.

    Attributes:
        shared: What cases of one realm arrange once and use together, by (realm, name).
    """

    def __init__(self, name: str, plan: Plan, target: Target, selection: Selection) -> None:
        folder, private = Path(plan.folder), Path(plan.private)
        self.name = name
        self.plan = plan
        self.target = target
        self.selection = selection
        self.catalogue: Catalogue = load_catalogue()
        self.description: Description = load_description()
        self.redactor = Redactor(account.password.reveal() for account in target.accounts.values())
        self.journal = Journal(journal_path(folder, name), name)
        self.ledger = Ledger(folder / f"ledger-{name}.jsonl")
        self.namespace = Namespace(plan.token, _granted(target), f"{selection.seed} {name}")
        self.shared: dict[tuple[str, str], Any] = {}
        self.kept: set[str] = set()
        self._stubborn: set[tuple[str, str]] = set()
        self._closed = False
        self.door = self._door(private)
        issue = token_issuer(self.door, target, self.description)
        self.tokens = TokenStore(private, issue, self.redactor.learn)

    def _door(self, private: Path) -> Door:
        pace = self.target.pace
        unhurried = self.target.is_sandbox
        ca_bundle = self.target.tls.ca_bundle
        return Door(
            transport=Transport(
                self.target.base_url,
                pace.timeout_seconds,
                str(ca_bundle) if ca_bundle else None,
                self._may_follow,
            ),
            guard=lambda method, url, headers: refuse_request(method, url, headers, self.target),
            pace=Pace(
                private,
                None if unhurried else pace.requests_per_second,
                None if unhurried else pace.concurrency,
            ),
            ledger=self.ledger,
            namespace=self.namespace,
            recorder=JournalRecorder(self.journal, self.redactor),
            name=self.name,
            on_break=self._note_breaker,
        )

    def _may_follow(self, method: str, url: str) -> bool:
        """Whether a redirect may be followed: to any host, which gets no credentials, but never to production."""
        parts = urlsplit(url)
        there = replace(self.target, base_url=f"{parts.scheme}://{parts.netloc}")
        try:
            refuse_request(method, url, {}, there)
        except GuardViolation:
            return False
        return True

    def _note_breaker(self, reason: str) -> None:
        (Path(self.plan.private) / BREAKER_FILE).write_text(reason, encoding="utf-8")

    def halted(self) -> str | None:
        """Why no further case is to be started, by any worker: the breaker is open somewhere, or a person said so."""
        for name in (STOP_FILE, BREAKER_FILE):
            path = Path(self.plan.private) / name
            if path.exists():
                return path.read_text(encoding="utf-8") or name
        return None

    def actor(self, role: str, realm: str, case: str, attempt: Attempt) -> Actor:
        """Somebody of this role in this realm, acting for one attempt at a case."""
        return Actor(
            role=role,
            realm=realm,
            door=self.door,
            description=self.description,
            tokens=self.tokens,
            base_url=self.target.base_url,
            case=case,
            attempt=attempt.number,
            exchanges=attempt.exchanges,
        )

    def keep(self, identifier: str) -> None:
        """Keep a draft that cases share until the end of the run."""
        self.kept.add(identifier)

    def take(self, counter: str) -> int:
        """The next number of a counter that all workers of the run share, from 0."""
        path = Path(self.plan.private) / f"counter-{counter}"
        with FileLock(f"{path}.lock"):
            number = int(path.read_text()) if path.exists() else 0
            path.write_text(str(number + 1))
        return number

    def clean(self, *, everything: bool = False) -> None:
        """Delete the drafts that are there or may be there, newest first.

        Args:
            everything: Also the shared ones, and those that a first try did not remove.
        """
        for entry in self.ledger.removable():
            if self.door.broken:
                return
            place = entry.realm, entry.identifier
            if everything or (entry.identifier not in self.kept and place not in self._stubborn):
                self._stubborn.add(place)
                self._delete(entry.role, entry.realm, entry.identifier)

    def _delete(self, role: str, realm: str, identifier: str) -> None:
        # A draft that the anonymous could save is a finding; it takes an account to remove it.
        actor = self.actor(AUTHOR if role == ANONYMOUS else role, realm, "[cleaning]", Attempt(1))
        try:
            answer = actor.send("deleteDraft", path={"uid": identifier}).answer
        except EnvironmentFault:
            return  # stays in the ledger as not removed, and is reported as a leftover
        if answer.success or answer.status in (404, 410):
            self.ledger.removed(realm, identifier)

    def close(self) -> None:
        """Clean up, write what stays behind, and close the books; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self.clean(everything=True)
        for entry in self.ledger.removable():
            self._left("leftover", entry)
        for entry in self.ledger.residue():
            self._left("residue", entry)
        self.journal.close()
        self.ledger.close()
        counts = json.dumps({**self.door.counts, "faults": self.door.faults})
        counts_path(Path(self.plan.private), self.name).write_text(counts, encoding="utf-8")

    def _left(self, kind: str, entry: Entry) -> None:
        what = entry.what if entry.state == "created" else f"{entry.what} ({entry.state})"
        self.journal.write(
            kind, realm=entry.realm, operation=entry.operation, identifier=entry.identifier, what=what
        )


def _granted(target: Target) -> set[str]:
    granted: set[str] = set()
    for settings in target.realm.values():
        for name in _GRANTS:
            value = getattr(settings, name)
            granted |= {value} if isinstance(value, str) else set(value or ())
    return granted


WORKER = pytest.StashKey[Worker]()
