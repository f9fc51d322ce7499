"""One process's part of a run: its session, its journal, which holds no secrets, and the clean-up of its drafts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from msgspec import structs

from registry_contracts.cases.rights import Rights
from registry_contracts.checks.outcomes import Attempt, Result, confirm
from registry_contracts.errors import breakdown
from registry_contracts.evidence.findings import UNWEIGHED, Finding, Reproduce
from registry_contracts.evidence.journal import Journal, journal_path
from registry_contracts.evidence.record import AssertionCount, Block, Left, Untested, Verdict
from registry_contracts.evidence.record import Case as EndedCase
from registry_contracts.exchanges import transcript
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.redaction import redacted
from registry_contracts.history.observed_facts import Observation
from registry_contracts.interface.catalogue import Catalogue, Level, load_catalogue
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.plugin.case import Case, Ending
from registry_contracts.plugin.plan import Plan, Selection, request_budget
from registry_contracts.session.actor import Actor
from registry_contracts.session.budgets import USED_UP_FILE
from registry_contracts.session.draft_cleanup import (
    DraftCleanup,
    delete_drafts_of_records,
    note_of_refused_submissions,
)
from registry_contracts.session.ledger import Entry, read_entries
from registry_contracts.session.pipeline import Request
from registry_contracts.session.session import Session, SessionGroup, namespace_of
from registry_contracts.settings.target import Target

#: Why a run stops early: the environment fails, a person stopped it, a worker cannot go on.
BREAKER: Final = "breaker"
BY_HAND: Final = "stopped by hand"
BROKEN: Final = "broken"
_STOP: Final = "stop"
#: Members that a finding takes unchanged from a result.
_SAME: Final = ("clause", "operation", "role", "confirmed", "rate", "exchanges", "check")
#: How long nodes of an earlier version may go on answering during a rolling deployment, in seconds.
ROLLING_SECONDS = 30.0
_POLL_SECONDS: Final = 0.2
_LASTING: Final = "a contradiction lasted"
#: The controller: it runs the preflight check, and the cases if there are no workers.
MAIN: Final = "main"


class Worker(Session):
    """One process's session in a run, with the journal it writes and the clean-up of its drafts.

    Args:
        name: `MAIN`, or that of the worker.
    """

    def __init__(self, name: str, plan: Plan, target: Target, selection: Selection) -> None:
        folder, private = Path(plan.folder), Path(plan.private)
        self.journal = Journal(journal_path(folder, name), name, plan.token)
        super().__init__(
            target,
            name,
            namespace=namespace_of(target, plan.token, f"{selection.seed} {name}"),
            group=SessionGroup(private, partial(self.stop, BREAKER), folder.parent / USED_UP_FILE),
            ledger_folder=folder,
            request_budget=request_budget(target, selection.profile),
            events=self.journal.write,
        )
        self.plan = plan
        self.day = datetime.fromisoformat(plan.started).date()
        self.selection = selection
        self.catalogue: Catalogue = load_catalogue()
        self.rights = Rights(self)
        self.cleanup = DraftCleanup(self)
        self._waited_in = ""
        self._parent = os.getppid()

    def stop(self, kind: str, why: str) -> None:
        """Let no process of the run begin another case; the first reason stays, unless a worker broke."""
        (self.shared.put if kind == BROKEN else self.shared.offer)(_STOP, (kind, why))

    @property
    def stopped(self) -> tuple[str, str]:
        """Why the run stops, as a kind (`BREAKER`, `BY_HAND`, `BROKEN`) and a text; both empty while it goes on."""
        return self.shared.offered(_STOP) or ("", "")

    def halted(self) -> str | None:
        """Why this worker must not begin another case; None if it may."""
        if why := self.stopped[1]:
            return why
        if self.name != MAIN and os.getppid() != self._parent:
            return "the run of this worker is gone"
        return None

    def send(self, request: Request) -> Exchange:
        """Send a request; if a person has stopped the run, a worker ends its case here."""
        if self.name != MAIN and not request.housekeeping and self.stopped[0] == BY_HAND:
            raise KeyboardInterrupt
        return super().send(request)

    def give_up(self, session: pytest.Session, error: BaseException) -> None:
        """Let no worker begin another case, since this one cannot go on; the controller reports it in one line.

        xdist would treat it as a crash, show a traceback, which may hold credentials, and let the run pass without this
        worker.
        """
        why = f"worker {self.name} broke: {self.redactor.text(breakdown(error))}"
        session.shouldstop = why
        # If not even that can be written, the journal lacks its closing line.
        with suppress(OSError):
            self.stop(BROKEN, why)

    def actor(self, role: str, realm: str, case: str, attempt: Attempt) -> Actor:
        """An actor of this role in this realm, for one attempt at a case."""
        return Actor(
            self,
            role,
            realm,
            case,
            attempt=attempt.number,
            advisory=attempt.advisory,
            exchanges=attempt.exchanges,
            judge=self.rights.judge,
        )

    def wait_for_deployment(self, case: Case, contradicted: Iterable[tuple[str, str]]) -> None:
        """Before a failing contradiction is checked again, wait until a rolling deployment would be over.

        Waits once per case, and not at all after one contradiction outlasted the wait: the run fails anyway. The
        run's own sandbox is never deployed anew.
        """
        terms = self.selection.terms
        fails = any(
            self.catalogue.clause(clause).level is Level.MUST
            and terms.consumer.counts(clause, case.realm, operation)
            and not terms.accepted(clause, case.realm, operation, self.day)
            for clause, operation in contradicted
        )
        if not fails or self.target.is_sandbox or self._waited_in == case.id:
            return
        self._waited_in, end = case.id, time.monotonic() + ROLLING_SECONDS
        while time.monotonic() < end and not (self.shared.offered(_LASTING) or self.halted()):
            time.sleep(_POLL_SECONDS)

    def write_case(
        self,
        case: Case,
        counted: Attempt,
        ending: Ending,
        started: datetime,
        *,
        findings: Iterable[Finding] = (),
        attempts: Sequence[Attempt] = (),
    ) -> None:
        """Write a judged case to the journal: its findings, its observations, and how it ended.

        Args:
            counted: The attempt whose assertions and observations count.
            attempts: All attempts; by default the counted one.
        """
        text, write, realm = self.redactor.text, self.journal.write, case.realm
        attempts = attempts or [counted]
        for finding in findings:
            write("finding", finding)
            if finding.fails:
                self.shared.offer(_LASTING, value=True)
        for clause, reason in counted.untested.items():
            write("untested", Untested(clause, realm, reason))
        for seen in counted.observations:
            value = self.redactor.value(seen.seen)
            write("observation", Observation(seen.clause, realm, seen.operation, case.id, value))
        by, counts = ending.blocked, (counted.held, counted.contradicted)
        ended = EndedCase(
            **structs.asdict(case.begun),
            doc=case.doc,
            deals=case.deals,
            outcome=ending.verdict,
            reason=text(ending.reason) if ending.reason else None,
            blocked_by=Block(by.operation, text(by.cause), by.clause) if by else None,
            attempts=len(attempts),
            seconds=(datetime.now(UTC) - started).total_seconds(),
            requests=sum(len(attempt.exchanges) for attempt in attempts),
            assertions=tuple(
                AssertionCount(*key, *(count[key] for count in counts))
                for key in sorted({*counted.held, *counted.contradicted})
            ),
            settings=ending.settings,
            worker=self.name,
        )
        write("case", ended)

    def findings(self, case: Case, attempts: Sequence[Attempt]) -> list[Finding]:
        """A case's findings, with their rates among its attempts, weighed by the run's terms and without secrets."""
        exchanges = [exchange for attempt in attempts for exchange in attempt.exchanges]
        seen = confirm(attempts, interfered=self.breaker.interfered)
        return [self._finding(each, case, exchanges) for each in seen]

    def _finding(self, seen: Result, case: Case, exchanges: Iterable[Exchange]) -> Finding:
        selection, text = self.selection, self.redactor.text
        # The exchanges that the result names become curl commands.
        shown = [each for each in exchanges if each.id in seen.exchanges]
        command = transcript.command(
            target=selection.target or self.target.name,
            realm=case.realm,
            clause=seen.clause,
            profile=str(selection.profile),
            seed=selection.seed,
            sandbox_arguments=selection.sandbox_arguments,
        )
        made = Finding(
            **UNWEIGHED,
            **{name: getattr(seen, name) for name in _SAME},
            realm=case.realm,
            expected=text(seen.expected),
            seen=text(seen.seen),
            cases=(case.id,),
            reproduce=Reproduce(
                command, tuple(transcript.curl(redacted(each, self.redactor)) for each in shown)
            ),
        )
        return made.weighed(str(self.catalogue.clause(seen.clause).level), selection.terms, self.day)

    def write_trouble(self, where: str, why: str) -> None:
        """Write an error outside the cases to the journal."""
        case = Case(f"[{where}]", ANY_REALM, title=where)
        self.write_case(case, Attempt(1), Ending(Verdict.ERROR, why), datetime.now(UTC))

    def finish(self) -> dict[str, int]:
        """Delete drafts, and close journal and ledger.

        Other workers may still need shared drafts: the controller, which finishes last, deletes these, and writes to
        the journal what all processes leave behind.

        Returns:
            Counts of this process's requests, retries and faults by kind.
        """
        if self.name == MAIN:
            self._finish_run(Path(self.plan.folder))
        else:
            self.cleanup.at_the_end(last=False)
        self.journal.close()
        self.ledger.close()
        if self.name != MAIN:
            self.close()
        return {**self.counts, **self.faults}

    def _finish_run(self, folder: Path) -> None:
        writes = read_entries(sorted(folder.glob("ledger-*.jsonl")))
        of_workers = [entry for entry in writes if entry.by != MAIN]
        self.ledger.take_over(of_workers)
        self.cleanup.at_the_end(last=True)
        with suppress(OSError):  # a disk that is full
            note_of_refused_submissions(self, writes)
            delete_drafts_of_records(self, writes)
        self.cleanup.at_the_end(last=True)
        self._write_left("leftover", self.ledger.removable())
        self._write_left("residue", self.ledger.residue(of_workers))

    def _write_left(self, kind: str, entries: Iterable[Entry]) -> None:
        for entry in entries:
            what = entry.what if entry.state == "created" else f"{entry.what} ({entry.state})"
            self.journal.write(kind, Left(entry.realm, entry.operation, entry.identifier, what))


WORKER = pytest.StashKey[Worker]()
