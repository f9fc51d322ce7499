"""A session with a target: assembles the pipeline that each request of the suite passes, by hand or in a run."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.foreign_answers import GATEWAY_STATUSES
from registry_contracts.exchanges.redaction import Redactor
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.session.authentication import Authentication, Token, TokenStore, token_of
from registry_contracts.session.breaker import Admission, Breaker
from registry_contracts.session.budgets import RequestBudget, ResidueBudget, UsedUp
from registry_contracts.session.ledger import Ledger, WriteAhead
from registry_contracts.session.namespace import Namespace, new_run_token
from registry_contracts.session.pace import Pace
from registry_contracts.session.pipeline import (
    DryRun,
    Events,
    Guard,
    Record,
    Request,
    Stage,
    may_follow,
    plain_request,
)
from registry_contracts.session.retry import Retry
from registry_contracts.session.shared_state import PRIVATE_PREFIX, ProcessLock, SharedState
from registry_contracts.session.transport import Transport
from registry_contracts.session.transport_settings import check_transport_settings, proxy_passwords
from registry_contracts.settings.target import AUTHOR, Target

#: The case of the session's own sign-ins.
SIGNING_IN = "[signing in]"


@dataclass(frozen=True)
class SessionGroup:
    """What the sessions of a run's processes share.

    `private` is a folder (0700) outside the reports with the run's tokens, pace, budgets and other shared state; the
    group's owner removes it. `stop` is called with the reason when no session may send any more: the breaker is open,
    or the request budget of the cases is spent. `used_up` lists used temporary files.
    """

    private: Path
    stop: Callable[[str], None]
    used_up: Path | None = None


class Session:
    """Sends every request; use it as a context manager, or call `close`.

    Its `name` within its group is part of the ledger's file name and of exchange ids. Without a group it has its own
    private folder, and the identifiers of a new run. All sessions of a group together may send `request_budget`
    requests; those to the embedded sandbox need no pace. `events` gets each exchange and fault, redacted. In a
    `dry_run` requests are prepared, guarded and recorded, but not sent; tokens are stand-ins.

    `shared_drafts` are identifiers of drafts that cases share until the end; `faults` counts faults by text.

    Raises:
        UsageError: the variables or settings of proxy and TLS cannot be used.
    """

    def __init__(
        self,
        target: Target,
        name: str,
        *,
        namespace: Namespace | None = None,
        group: SessionGroup | None = None,
        ledger_folder: Path | None = None,
        request_budget: int | None = None,
        events: Events | None = None,
        dry_run: bool = False,
    ) -> None:
        check_transport_settings(target)
        self.target = target
        self.name = name
        self.namespace = namespace or namespace_of(target, new_run_token())
        passwords = {role: account.password.reveal() for role, account in target.accounts.items()}
        self.redactor = Redactor(proxy_passwords(), passwords)
        self.shared_drafts: set[str] = set()
        self._dry_run = dry_run
        with ExitStack() as resources:
            if group is None:
                own = resources.enter_context(tempfile.TemporaryDirectory(prefix=PRIVATE_PREFIX))
                group = SessionGroup(Path(own), lambda _: None)
            self.private = group.private
            folder = ledger_folder or self.private
            for place in dict.fromkeys((folder, self.private)):
                resources.callback(ProcessLock(place, name).release)
            most = target.pace.permanent_records
            self.shared = SharedState(self.private)
            self.permanent_records = ResidueBudget(self.shared, most, self.namespace.names_existing)
            self.ledger = Ledger(folder / f"ledger-{name}.jsonl", self.permanent_records)
            resources.callback(self.ledger.close)
            self._resources = resources.pop_all()
        self.used_up = UsedUp(None if target.is_sandbox else group.used_up, target.base_url)
        self._build_pipeline(group.stop, request_budget, events)

    def _build_pipeline(
        self, stop: Callable[[str], None], request_budget: int | None, events: Events | None
    ) -> None:
        """Assemble the stages from the connection up; a request passes them from the last to the first."""
        target, pace = self.target, self.target.pace
        rate, places = (None, None) if target.is_sandbox else (pace.requests_per_second, pace.concurrency)
        self.breaker = Breaker(stop, self.shared)
        self._budget = budget = RequestBudget(self.shared, request_budget)
        transport = Transport(target, self._may_follow)
        self._pace = Pace(transport, self.shared, rate, places)
        self._retry = Retry(self._pace, target, transport, self.breaker, budget, self.redactor.text)
        sending: Stage = DryRun() if self._dry_run else WriteAhead(self._retry, self.ledger)
        record = Record(sending, self.name, self.redactor, events)
        self.faults = record.faults
        admitted: Stage = Admission(record, self.breaker, budget)
        self._guard = Guard(record if self._dry_run else admitted, target, self.namespace, transport.prepare)
        self.tokens = TokenStore(self.shared, self._sign_in, self.redactor.learn)
        self.authentication = Authentication(
            self._guard, self.tokens, self.breaker, target.base_url, record.note_fault
        )

    def send(self, request: Request) -> Exchange:
        """Send one request through all stages, and return the exchange, with its fault if there was one."""
        return self.authentication.send(request)

    def __enter__(self) -> Self:
        """Return the session; it is open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session."""
        self.close()

    def close(self) -> None:
        """Close the ledger, release the locks, and remove the private folder if it is the session's own.

        A second call does nothing. Drafts stay: `registry_contracts.session.draft_cleanup` deletes them.
        """
        self._resources.close()

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self.target.pace.settle_seconds

    @property
    def counts(self) -> Counter[str]:
        """How many requests were sent, and how many of them were retries."""
        return +Counter({"requests": self._pace.sent, "retries": self._retry.repeated})

    def time_limit(self, seconds: float) -> AbstractContextManager[None]:
        """Limit the total time of what is sent inside, retries and waits included."""
        return self._retry.time_limit(seconds)

    def _may_follow(self, method: str, url: str) -> bool:
        """Whether a redirect may be followed; it counts as a request, so budget and pace apply."""
        if not may_follow(self.target, method, url) or not self._budget.affords():
            return False
        self._pace.wait_for_moment()
        return True

    def _sign_in(self, role: str) -> Token:
        """Ask the service for a role's token; a failure is only noted, since cases on signing in judge it."""
        if self._dry_run:
            return Token(value=f"token-of-the-{role}-not-asked-for")
        account = self.target.accounts[role]
        body = json.dumps({"email": account.email, "password": account.password.reveal()}).encode()
        request = plain_request(SIGN_IN, self.target.base_url, body=body, case=SIGNING_IN, role=role)
        status = None
        try:
            exchange = self._guard.send(request)
            status = exchange.status
            return token_of(exchange.answer)
        except EnvironmentFault as fault:
            return Token(refusal=str(fault), gateway=status in GATEWAY_STATUSES)


#: Endings of the settings that name records which the suite may write to.
_GRANTS = ("_identifier", "_identifiers")
#: The setting that names records which the suite only refers to.
_REFERENCES = ("contact_organization",)


def namespace_of(target: Target, token: str, seed: str | None = None) -> Namespace:
    """The namespace of a run on a target: its own identifiers, and those that the settings grant."""
    return Namespace(token, _named(target, _GRANTS), seed, foreign=_named(target, _REFERENCES))


def _named(target: Target, endings: tuple[str, ...]) -> set[str]:
    settings = [pair for realm in target.realm.values() for pair in vars(realm).items()]
    given = [value or () for name, value in settings if name.endswith(endings)]
    return {each for value in given for each in ([value] if isinstance(value, str) else value)}


#: Name of the sessions that poll a target that is starting.
_WAITING = "waiting"
#: Pause between two polls, and the longest duration of one.
_PAUSE_SECONDS = 1.0
_LONGEST_TRY_SECONDS = 8.0


def wait_for_start(target: Target, seconds: float) -> bool:
    """Wait until a target answers itself instead of its gateway; polls in sessions whose faults do not count.

    Returns:
        Whether it did so within `seconds`.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(_PAUSE_SECONDS)
        with Session(target, _WAITING) as session, session.time_limit(_LONGEST_TRY_SECONDS):
            if not session.tokens.token(AUTHOR).gateway:
                return True
    return False


def secrets_of(target: Target) -> set[str]:
    """The passwords of a target's accounts and of the configured proxies."""
    return {account.password.reveal() for account in target.accounts.values()} | proxy_passwords()
