"""Where the time of a run goes, and how much memory it takes: figures of all its processes put together.

One process's share of a run: its door, journal and ledger, and what its cases hold in common.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.cases.shared_state import Sharing, inherit
from contracts.checks.outcomes import Attempt
from contracts.evidence.journal import Journal, journal_path
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import Redactor
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.interface.description import Description, load_description
from contracts.plugin.interruption import note_pid
from contracts.plugin.options import Selection, request_budget
from contracts.plugin.plan import Plan
from contracts.session import draft_cleanup
from contracts.session.actor import Actor
from contracts.session.ledger import Entry, Ledger
from contracts.session.limits import Pace, ResidueBudget
from contracts.session.private_folder import Alive
from contracts.session.recording import JournalRecorder
from contracts.session.session import Door, namespace_of, open_door, pace_of, proxy_passwords
from contracts.session.tokens import TokenStore, token_issuer
from contracts.settings.target import ANONYMOUS, AUTHOR, Target

#: Phases that processes go through side by side: the longest counts. Of the others the sum does.
_SIDE_BY_SIDE: Final = ("start", "collection")
_STATUS: Final = Path("/proc/self/status")
_PEAK: Final = "VmHWM:"


def peak_memory() -> float | None:
    """The most memory that this process has had at once, in MiB; None where the system does not say."""
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(_PEAK)), None)


def put_together(workers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Put together what the processes of a run have measured.

    Args:
        workers: Of each process `seconds` by phase and `peak_memory` in MiB.

    Returns:
        `seconds` by phase: of all processes together, or of the slowest where they go through it side by side;
        and `peak_memory_mb`, in MiB, of the process that took most.
    """
    known = list(workers)
    total: dict[str, float] = {}
    for phase, seconds in (pair for each in known for pair in each.get("seconds", {}).items()):
        before = total.get(phase, 0.0)
        total[phase] = max(before, seconds) if phase in _SIDE_BY_SIDE else before + seconds
    peaks = [each["peak_memory"] for each in known if each.get("peak_memory")]
    return {
        "seconds": {phase: round(seconds, 3) for phase, seconds in sorted(total.items())},
        "peak_memory_mb": round(max(peaks), 1) if peaks else None,
    }


#: Files in the private folder that stop every worker before its next case.
BREAKER_FILE = "breaker"
STOP_FILE = "stop"


#: The controller's own share of a run: signing in, looking at the target, and the cases when there are no workers.
MAIN: Final = "main"


def counts_path(private: Path, name: str) -> Path:
    """Where a worker leaves its counts as the last thing it does."""
    return private / f"counts-{name}.json"


class Worker:
    """State of one process of a run.

    Attributes:
        shared: What cases arrange once in the run and use together, and the counters and marks of all workers.
    """

    def __init__(self, name: str, plan: Plan, target: Target, selection: Selection) -> None:
        folder, private = Path(plan.folder), Path(plan.private)
        self.name = name
        self.plan = plan
        self.target = target
        self.selection = selection
        self.catalogue: Catalogue = load_catalogue()
        self.description: Description = load_description()
        self._alive = [Alive(place, name) for place in (folder, private)]
        note_pid(private, name)
        passwords = (account.password.reveal() for account in target.accounts.values())
        self.redactor = Redactor([*passwords, *proxy_passwords()])
        self.journal = Journal(journal_path(folder, name), name)
        self.namespace = namespace_of(target, plan.token, f"{selection.seed} {name}")
        self.ledger = Ledger(folder / f"ledger-{name}.jsonl", self._residue_budget(private))
        self.shared = Sharing(private)
        #: Seconds by phase, of this process.
        self.spent: dict[str, float] = {}
        self._closed = False
        self._parent = os.getppid()
        self.door = self._door(
            pace_of(
                target,
                private,
                budget=request_budget(target, selection.profile),
                unhurried=plan.sandbox_url is not None,
                on_spent=self._note_breaker,
            ),
        )
        self.cleaning = draft_cleanup.Cleaning(
            self.ledger, self._delete, lambda: self.door.broken is not None
        )
        issue = token_issuer(self.door, target, self.description)
        contended = selection.shard is not None and plan.sandbox_url is None
        self.tokens = TokenStore(private, issue, self.redactor.learn, contended=contended)

    def _door(self, pace: Pace) -> Door:
        return open_door(
            self.target,
            pace=pace,
            ledger=self.ledger,
            namespace=self.namespace,
            recorder=JournalRecorder(self.journal, self.redactor),
            name=self.name,
            on_break=self._note_breaker,
            shared=Path(self.plan.private),
        )

    def _residue_budget(self, private: Path) -> ResidueBudget | None:
        """None for the embedded sandbox: it is gone with the run, and everything in it."""
        if self.plan.sandbox_url is not None:
            return None
        return ResidueBudget(private, self.target.pace.permanent_records, self.namespace.grants)

    def _note_breaker(self, reason: str) -> None:
        (Path(self.plan.private) / BREAKER_FILE).write_text(reason, encoding="utf-8")

    def halted(self) -> str | None:
        """Why no further case is to be started, by any worker: the breaker is open somewhere, or a person said so."""
        for name in (STOP_FILE, BREAKER_FILE):
            path = Path(self.plan.private) / name
            if path.exists():
                return path.read_text(encoding="utf-8") or name
        if self.name != MAIN and os.getppid() != self._parent:
            return "the run this worker belongs to is gone"
        return None

    def actor(self, role: str, realm: str, case: str, attempt: Attempt) -> Actor:
        """Somebody of this role in this realm, acting for one attempt at a case."""
        return Actor(
            role=role,
            realm=realm,
            door=self.door,
            description=self.description,
            tokens=self.tokens,
            target=self.target,
            case=case,
            attempt=attempt.number,
            exchanges=attempt.exchanges,
        )

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self.target.pace.settle_seconds

    @property
    def unused(self) -> bool:
        """Whether the target began with this run, as the embedded sandbox does."""
        return self.target.is_sandbox

    def keep(self, identifier: str) -> None:
        """Keep a draft that cases share until the end of the run."""
        self.cleaning.kept.add(identifier)

    def clean(self) -> None:
        """Delete the drafts of a case that are there or may be there, newest first."""
        self.cleaning.after_case()

    def _delete(self, entry: Entry) -> Exchange:
        # A draft that the anonymous could save is a finding; it takes an account to remove it.
        role = AUTHOR if entry.role == ANONYMOUS else entry.role
        actor = self.actor(role, entry.realm, draft_cleanup.CASE, Attempt(1))
        return actor.send("deleteDraft", path={"uid": entry.identifier})

    def close(self) -> None:
        """Clean up, write what stays behind, and close the books; a second call does nothing.

        Other workers may still need the kept drafts: the controller, which closes last, removes them.
        """
        if self._closed:
            return
        self._closed = True
        main = self.name == MAIN
        workers = self._take_over() if main else 0
        # One process sends its requests in one order; where workers did not, their drafts may go as they came.
        self.cleaning.at_the_end(last=main, at_once=max(1, workers))
        for entry in self.ledger.removable() if main else ():
            self._left("leftover", entry)
        for entry in self.ledger.residue():
            self._left("residue", entry)
        self.journal.close()
        self.ledger.close()
        self._leave_counts()
        if not main:
            self.gone()

    def _leave_counts(self) -> None:
        counts = {
            **self.door.counts,
            "faults": self.door.faults,
            "seconds": {**self.spent, **self.door.seconds, "processor": time.process_time()},
            "peak_memory": peak_memory(),
        }
        counts_path(Path(self.plan.private), self.name).write_text(json.dumps(counts), encoding="utf-8")

    def gone(self) -> None:
        """Give up the sign of life; nothing more is sent."""
        for sign in self._alive:
            sign.end()

    def _take_over(self) -> int:
        """Take in what workers leave to the controller: the drafts of all, and what the dead could not list.

        Returns:
            How many workers there were.
        """
        folder, private = Path(self.plan.folder), Path(self.plan.private)
        ledgers = sorted(folder.glob("ledger-gw*.jsonl"))
        inherit(self.ledger, ledgers)
        for path in ledgers:
            if not counts_path(private, path.stem.removeprefix("ledger-")).exists():
                for entry in draft_cleanup.residue_of_the_dead([path]):
                    self._left("residue", entry)
        return len(ledgers)

    def _left(self, kind: str, entry: Entry) -> None:
        what = entry.what if entry.state == "created" else f"{entry.what} ({entry.state})"
        self.journal.write(
            kind, realm=entry.realm, operation=entry.operation, identifier=entry.identifier, what=what
        )


WORKER = pytest.StashKey[Worker]()
