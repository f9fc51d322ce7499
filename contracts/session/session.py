"""A session with a target: each request of the suite, by hand or in a run, goes through `Session.send`."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import length_hint
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import unquote, urlsplit

import requests

from contracts.errors import EnvironmentFault, SuiteError
from contracts.exchanges.exchange import NO_BODY, Body, Exchange, Headers
from contracts.exchanges.readers import GATEWAY_STATUSES
from contracts.exchanges.redaction import Redactor, learn_tokens, redacted
from contracts.interface.description import Description, load_description
from contracts.session.ledger import Entry, Ledger, named, outcome, realm_as_sent
from contracts.session.namespace import Namespace, new_run_token
from contracts.session.retry import Breaker, RetryingSender
from contracts.session.shared_state import (
    PRIVATE_PREFIX,
    Pace,
    ProcessLock,
    RequestBudget,
    ResidueBudget,
    SharedState,
)
from contracts.session.tokens import Token, TokenStore, token_of
from contracts.session.transport import Transport
from contracts.session.used_up import UsedUp
from contracts.settings.guard import GuardViolation, refuse_request
from contracts.settings.target import ANY_REALM, AUTHOR, Target, WireNames


class Events(Protocol):
    """Takes what is written down; a run's journal is one."""

    def write(self, kind: str, **fields: Any) -> None:
        """Append one event."""


class JournalRecorder:
    """The session's recorder: one journal event an exchange."""

    def __init__(self, journal: Events, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    def exchange(self, exchange: Exchange) -> None:
        """Write one exchange down, redacted."""
        learn_tokens(exchange, self._redactor)
        self._journal.write("exchange", **redacted(exchange, self._redactor).to_record())

    def fault(self, fault: str, exchange: Exchange) -> None:
        """Write down a fault of the environment that an exchange met."""
        self._journal.write("fault", fault=fault, case=exchange.case, realm=exchange.realm)


#: In place of a fault of the environment, where a request was prepared in a dry run.
UNSENT = "not sent: a dry run"
#: The case on whose behalf the session signs in.
SIGNING_IN = "[signing in]"


def housekeeping(case: str) -> bool:
    """Whether a request is sent by the suite itself, which names itself in brackets, and not by a case."""
    return case.startswith("[")


@dataclass(frozen=True)
class RequestContext:
    """On whose behalf a request is sent: case, attempt, realm and role.

    Attributes:
        advisory: Nothing that the attempt may find is about a must.
    """

    case: str
    attempt: int
    realm: str
    role: str
    advisory: bool = False


@dataclass(frozen=True)
class HttpRequest:
    """One request before it is sent.

    Attributes:
        operation: `operationId`, or None for a path outside the description.
        body: Bytes, or chunks of them; chunks that can be read only once are never sent twice, and chunks
            that have a length, in bytes, are announced by it.
        identifiers: Record identifiers that the request would write to, decoded.
        writes: Whether the request may change something.
        summed: Keep only the beginning of the answer's body, and the digest of all of it.
        altered: What of the request ought to have it refused, as `no credentials`; empty for its content, or nothing.
        verbatim: The address goes out as written; otherwise the client library decodes what needs no encoding.
        documented: A name that goes out as the interface document writes it, whatever the target calls it.
    """

    operation: str | None
    method: str
    url: str
    headers: Mapping[str, str | bytes]
    body: bytes | Iterable[bytes] | None = None
    identifiers: tuple[str, ...] = ()
    writes: bool = False
    verbatim: bool = False
    summed: bool = False
    altered: str = ""
    documented: str = ""


@dataclass(frozen=True)
class SessionGroup:
    """What the sessions of a run's processes share.

    Attributes:
        private: Folder (0700) outside the reports with the run's tokens, pace, budgets and marks; the group's owner
            removes it.
        stop: Called with the reason when none of them is to send any more: the breaker is open, or the request
            budget of the cases is spent.
        used_up: File that remembers what runs use up; None for none.
    """

    private: Path
    stop: Callable[[str], None]
    used_up: Path | None = None


class Session:
    """Guard, pace, ledger, tokens, retry, redaction and recording around one transport.

    Use it as a context manager, or call `close`.

    Args:
        name: Of this session within its group; part of the ledger's file name and of exchange ids.
        namespace: Identifiers that may be written to; by default those of a new run.
        group: Other processes' sessions of the same run; by default the session is alone, in a private folder of
            its own.
        ledger_folder: Where the ledger stands; the private folder by default.
        request_budget: Requests that all sessions of the group may send together; None for no limit.
        disposable: The target is a sandbox that ends with the session, so requests need no pace.
        events: Takes each exchange and fault, redacted; by default nothing is recorded.
        dry_run: Requests are prepared, guarded and recorded, and not sent; tokens are stand-ins.

    Attributes:
        private: Private folder of the session, or of its group.
        redactor: Knows the passwords, and every token once it is issued.
        shared: What cases arrange once and use together, and the counters and marks of the whole group.
        kept: Identifiers of drafts that cases share until the end.
        faults: How often each environment fault was met.
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
        disposable: bool = False,
        events: Events | None = None,
        dry_run: bool = False,
    ) -> None:
        self.target = target
        self.name = name
        self.description: Description = load_description()
        self._names = WireNames.of(target)
        self.namespace = namespace or namespace_of(target, new_run_token())
        passwords = {role: account.password.reveal() for role, account in target.accounts.items()}
        self.redactor = Redactor(proxy_passwords(), passwords)
        self.faults: Counter[str] = Counter()
        self.kept: set[str] = set()
        self.disposable = disposable
        self._recorder = JournalRecorder(events, self.redactor) if events is not None else None
        self._dry_run = dry_run
        self._lock = threading.Lock()
        self._number = 0
        with ExitStack() as resources:
            self.private = group.private if group else _private_folder(resources)
            folder = ledger_folder or self.private
            for place in dict.fromkeys((folder, self.private)):
                resources.callback(ProcessLock(place, name).release)
            self.permanent_records = self._residue_budget()
            self.ledger = Ledger(folder / f"ledger-{name}.jsonl", self.permanent_records)
            resources.callback(self.ledger.close)
            self._resources = resources.pop_all()
        self.shared = SharedState(self.private)
        #: What earlier runs used up; a sandbox that begins with the session has lost nothing.
        self.used_up = UsedUp(group.used_up if group and not self.unused else None, target.base_url)
        stop = group.stop if group else _nothing
        self._pace = self._make_pace(request_budget, stop)
        self._transport = self._make_transport()
        self._breaker = Breaker(stop, self.private)
        self._sender = RetryingSender(
            self._transport, self._pace, self._breaker, self._guard, self._record_fault
        )
        self.tokens = TokenStore(self.private, self._sign_in, self.redactor.learn)

    def __enter__(self) -> Self:
        """Return the session; it is open already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the session."""
        self.close()

    def close(self) -> None:
        """Close the ledger, release the locks, and remove the private folder if it is the session's own.

        A second call does nothing. Drafts are left as they are: `contracts.session.draft_cleanup` deletes them.
        """
        self._resources.close()

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self.target.pace.settle_seconds

    @property
    def unused(self) -> bool:
        """Whether the target began with this session or its group, so that nothing was used up before."""
        return self.disposable or self.target.is_sandbox

    def keep(self, identifier: str) -> None:
        """Keep a draft that cases share until the end."""
        self.kept.add(identifier)

    @property
    def breaker_reason(self) -> str | None:
        """Why the breaker is open; None while it is closed."""
        return self._breaker.open

    @property
    def counts(self) -> Counter[str]:
        """How many requests were sent, and how many of them were repetitions."""
        return self._sender.counts

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds spent on sending, on waiting for the pace, and on waiting after faults."""
        return self._sender.seconds

    @property
    def unanswered(self) -> int:
        """How many exchanges have ended without an answer."""
        return self._breaker.unanswered

    def time_limit(self, seconds: float) -> AbstractContextManager[None]:
        """Let nothing that is sent inside take longer than some seconds in all, tries and waits included."""
        return self._sender.time_limit(seconds)

    def wait_after_faults(self, attempts: int) -> None:
        """Wait after so many attempts in a row at a case were spoilt by the environment."""
        self._sender.pause(attempts)

    def fault_since(self, moment: float) -> bool:
        """Whether any session of the group has met a fault since a moment, in seconds since the epoch."""
        return self._breaker.fault_since(moment)

    def send(self, request: HttpRequest, context: RequestContext) -> Exchange:
        """Send one request and return the exchange, faults included; in a dry run, only prepare it.

        Raises:
            GuardViolation: the request must never leave; nothing was sent.
            SuiteError: the request would write outside the session's namespace, or HTTP has no way to carry it;
                nothing was sent.
            EnvironmentFault: the breaker is open, or the operation was given up; nothing was sent.
        """
        if not self._dry_run:
            self._breaker.admit(request.operation)
        written = request
        request = self._as_sent(written)
        prepared = self._transport.prepare(
            request.method,
            request.url,
            request.headers,
            request.body,
            verbatim=request.verbatim,
            operation=request.operation,
        )
        self._guard(request.method, prepared.url or "", _texts(prepared.headers))
        if self._dry_run:
            self._refuse_foreign(request)
            exchange = self._start(written, request, prepared, context)
            exchange.fault = UNSENT
        else:
            # Before the ledger: what the budget refuses was never on its way.
            self._pace.count(essential=housekeeping(context.case))
            self._sender.pause()
            entry = self._write_ahead(written, context)
            exchange = self._start(written, request, prepared, context)
            once = isinstance(request.body, Iterator)
            self._sender.send(exchange, prepared, summed=request.summed, once=once)
            if exchange.written is not None and exchange.response is not None:
                given = exchange.request_headers.first("Realm") or ""
                exchange.response = replace(exchange.response, realm_given=given)
            if entry is not None:
                self._record_outcome(entry, exchange)
        if self._recorder is not None:
            self._recorder.exchange(exchange)
        return exchange

    def _make_pace(self, request_budget: int | None, stop: Callable[[str], None]) -> Pace:
        pace = self.target.pace
        return Pace(
            self.private,
            None if self.disposable else pace.requests_per_second,
            None if self.disposable else pace.concurrency,
            RequestBudget(self.private, request_budget),
            stop,
        )

    def _residue_budget(self) -> ResidueBudget:
        most = self.target.pace.permanent_records
        return ResidueBudget(self.private, most, self.namespace.names_existing)

    def _make_transport(self) -> Transport:
        bundle = self.target.tls.ca_bundle
        timeout = self.target.pace.timeout_seconds
        own = (self.target.names.realm_header,) if self.target.names.realm_header else ()
        return Transport(
            self.target.base_url,
            timeout,
            str(bundle) if bundle else None,
            self._may_follow,
            private_headers=own,
        )

    def _guard(self, method: str, url: str, headers: Mapping[str, str]) -> None:
        refuse_request(method, url, headers, self.target)

    def _may_follow(self, method: str, url: str) -> bool:
        """Whether a redirect may be followed: to any host, which gets no credentials, but never to production."""
        parts = urlsplit(url)
        there = replace(self.target, base_url=f"{parts.scheme}://{parts.netloc}")
        try:
            refuse_request(method, url, {}, there)
        except GuardViolation:
            return False
        return self._pace.hop()

    def _sign_in(self, role: str) -> Token:
        """Ask the service for a role's token; never raises for what the service answers.

        The token operation's own cases judge it; here a failure is only noted, as the reason why whatever needs the
        token is inconclusive.
        """
        if self._dry_run:
            return Token(value=f"token-of-the-{role}-not-asked-for")
        account = self.target.accounts[role]
        body = json.dumps({"email": account.email, "password": account.password.reveal()}).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        url = self.description.operations["createToken"].url(self.target.base_url)
        request = HttpRequest("createToken", "POST", url, headers, body)
        exchange = None
        try:
            exchange = self.send(request, RequestContext(SIGNING_IN, 1, ANY_REALM, role))
            return token_of(exchange.answer)
        except EnvironmentFault as fault:
            gateway = exchange is not None and exchange.status in GATEWAY_STATUSES
            return Token(refusal=str(fault), gateway=gateway)

    def _record_fault(self, fault: str, exchange: Exchange) -> None:
        self.faults[fault] += 1
        self._breaker.mark_fault()
        if self._recorder is not None:
            self._recorder.fault(fault, exchange)

    def _write_ahead(self, request: HttpRequest, context: RequestContext) -> Entry | None:
        if not request.writes:
            return None
        self._refuse_foreign(request)
        identifier = request.identifiers[0] if request.identifiers else ""
        return self.ledger.intend(
            request.operation or "",
            context.realm,
            context.role,
            identifier,
            case=context.case,
            kind=request.altered,
            advisory=context.advisory,
            realm_sent=realm_as_sent(request.headers, context.realm),
        )

    def _refuse_foreign(self, request: HttpRequest) -> None:
        foreign = [name for name in request.identifiers if not self.namespace.owns(name)]
        if request.writes and foreign:
            raise SuiteError(
                f"{request.operation} would write to {foreign[0]!r}, outside the run's namespace"
            )

    def _as_sent(self, request: HttpRequest) -> HttpRequest:
        """A request in the target's own names."""
        names = self._names.without(request.documented)
        if not names:
            return request
        url = names.url(request.url, request.operation)
        return replace(request, url=url, headers=names.headers(request.headers))

    def _start(
        self,
        written: HttpRequest,
        request: HttpRequest,
        prepared: requests.PreparedRequest,
        context: RequestContext,
    ) -> Exchange:
        """An exchange that begins; `written` is its request in the names of the document."""
        with self._lock:
            self._number += 1
            number = self._number
        return Exchange(
            id=f"{self.name}-{number}",
            case=context.case,
            attempt=context.attempt,
            realm=context.realm,
            role=context.role,
            operation=request.operation,
            method=request.method,
            url=prepared.url or request.url,
            request_headers=_texts(prepared.headers),
            request_body=_body(request.body),
            started=datetime.now(UTC),
            written=None if written is request else (written.url, _texts(written.headers)),
        )

    def _record_outcome(self, entry: Entry, exchange: Exchange) -> None:
        state = outcome(exchange.response, exchange.fault, entry.what)
        assigns = self.description.operations[entry.operation].assigns_identifier
        renamed = assigns and state == "created" and not _tells(exchange, entry.identifier)
        given = named(exchange.response) if state == "created" and (renamed or not entry.identifier) else None
        self.ledger.settle(entry, state, given, renamed=renamed)


def _tells(exchange: Exchange, identifier: str) -> bool:
    """Whether an answer says that its record has this identifier."""
    answer = exchange.response
    return answer is not None and (
        identifier in answer.text or identifier in answer.headers.get("location", "")
    )


def _private_folder(resources: ExitStack) -> Path:
    return Path(resources.enter_context(tempfile.TemporaryDirectory(prefix=PRIVATE_PREFIX)))


def _nothing(_reason: str) -> None:
    """Stop no other session: this one is alone."""


def _body(content: bytes | Iterable[bytes] | None) -> Body:
    """What is known of a body that is sent: of chunks that are made as they are sent, at most their size."""
    if content is None:
        return NO_BODY
    if isinstance(content, bytes):
        return Body.of(content)
    if isinstance(content, list | tuple):
        return Body.of(b"".join(content))
    return Body(size=length_hint(content), whole=False)


def _texts(headers: Mapping[str, str | bytes]) -> Headers:
    return Headers(
        (str(name), value.decode("latin-1") if isinstance(value, bytes) else value)
        for name, value in headers.items()
    )


#: Settings that name records for the suite to write to; every such write is meant to be refused, but for spare and
#: existing ones.
_GRANTS = (
    "locked_identifier",
    "existing_identifier",
    "others_identifier",
    "published_identifier",
    "spare_identifiers",
    "attachment_identifiers",
)
#: Settings that name records which are only referred to.
_REFERENCES = ("contact_organization",)


def namespace_of(target: Target, token: str, seed: str | None = None) -> Namespace:
    """The identifiers that may be written to on a target: the run's own, and those that the settings name."""
    return Namespace(token, _named(target, _GRANTS), seed, foreign=_named(target, _REFERENCES))


def _named(target: Target, names: tuple[str, ...]) -> set[str]:
    identifiers: set[str] = set()
    for settings in target.realm.values():
        for name in names:
            value = getattr(settings, name)
            identifiers |= {value} if isinstance(value, str) else set(value or ())
    return identifiers


#: Name of the sessions that look whether a target has started.
_WAITING = "waiting"
#: Between two tries at a target that is just starting, and at most for one of them.
_PAUSE_SECONDS = 1.0
_LONGEST_TRY_SECONDS = 8.0


def wait_for_start(target: Target, seconds: float) -> bool:
    """Wait until a target answers for itself, and not its gateway; each try is a session of its own.

    So none of them counts as a fault of the session that goes on.

    Returns:
        Whether it does.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(_PAUSE_SECONDS)
        with Session(target, _WAITING) as session, session.time_limit(_LONGEST_TRY_SECONDS):
            if not session.tokens.token(AUTHOR).gateway:
                return True
    return False


def secrets_of(target: Target) -> set[str]:
    """The passwords of a target's accounts and of the proxy on the way to it."""
    return {account.password.reveal() for account in target.accounts.values()} | proxy_passwords()


def proxy_passwords(environ: Mapping[str, str] = os.environ) -> set[str]:
    """Passwords of proxies in the usual variables, which are secrets like any other."""
    addresses = [value for name, value in environ.items() if name.lower().endswith("_proxy")]
    passwords = {_password(address) for address in addresses}
    return {form for password in passwords if password for form in (password, unquote(password))}


def _password(address: str) -> str | None:
    try:
        return urlsplit(address if "://" in address else f"//{address}").password
    except ValueError:
        return None
