"""Finds out whether a target can be judged: its address, clock, accounts, realms and read operations.

Only reads are sent, unless writing was asked for; what a record's life shows is judged like any request by hand.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from contracts.cases.rights import WRITERS, Rights
from contracts.checks.outcomes import Blocked, Result
from contracts.checks.table import Judge
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange, read_timestamp
from contracts.exchanges.readers import Ambiguous, records
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import DOCUMENT_REALMS, Operation
from contracts.manual.call import call
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import RequestOptions
from contracts.safe_text import many, plain_line
from contracts.session.session import wait_for_start
from contracts.session.tokens import CLOCKS_AGREE_SECONDS, seconds_ahead
from contracts.settings.target import (
    ACCOUNT_ROLES,
    ANY_REALM,
    AUTHOR,
    SCHEME_ADVICE,
    RealmSettings,
    sent_as_line,
)

#: What one look at a target may take before it is given up.
LONGEST_SECONDS: Final = 60.0
_LONGEST_SIGN_IN_SECONDS: Final = 10.0
_SHORT_LIFE_SECONDS: Final = 120.0
_UNAUTHENTICATED: Final = 401
_RATE_LIMIT: Final = re.compile(r"(x-)?rate-?limit.*|retry-after", re.IGNORECASE)
#: More drafts than a list gives in one page on any service that has a cap.
_MANY_DRAFTS: Final = 1000
#: Settings that name records a run reads.
_NAMED_RECORDS: Final = (
    "existing_identifier",
    "others_identifier",
    "locked_identifier",
    "published_identifier",
)
#: Of several records under one setting, so many are looked at.
_MOST_RECORDS: Final = 2
_SAVING: Final = "saveDraft"
_FORBIDDEN: Final = 403
_DRAFT_LIFE: Final = (
    _SAVING,
    "draftExists",
    "getDraftInfo",
    "getDraft",
    "createAttachment",
    "listAttachments",
    "deleteDraft",
)
#: What is refused to the setting that names what is taken in its place.
_INSTEAD: Final = {_SAVING: "draft_document", "createAttachment": "attachment_identifiers"}
#: Characters of a response that a line quotes.
_QUOTED_CHARACTERS: Final = 120
#: What leaves a record for good.
_PERMANENT: Final = operations_with(assigns_identifier=True)


class State(StrEnum):
    """How one point of a target stands."""

    OK = "ok"
    #: Worth reading; a run goes on.
    NOTE = "note"
    #: Nothing was looked at, or nothing can be told.
    UNKNOWN = "unknown"
    #: The settings do not fit the target.
    SETTINGS = "settings"
    #: The service breaks the interface where nothing can be looked at without it, which a run tells as a finding.
    SERVICE = "service"
    #: The target cannot be judged as it is.
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class Diagnosis:
    """One point that was looked at.

    Attributes:
        subject: What it is about: `address`, an account, a realm, an operation in a realm.
        text: What was seen, and what to do where something is to be done.
    """

    subject: str
    state: State
    text: str


@dataclass
class Readiness:
    """What a look at a target showed.

    Attributes:
        requests: How many were sent.
        seconds: How long it took.
        spellings: Realms that the target knows in another spelling alone, with that.
    """

    diagnoses: list[Diagnosis] = field(default_factory=list)
    requests: int = 0
    seconds: float = 0.0
    spellings: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """`ok` when a run can go; otherwise what stands in its way, the environment before the settings."""
        states = {diagnosis.state for diagnosis in self.diagnoses}
        return next(
            (state for state in (State.ENVIRONMENT, State.SERVICE, State.SETTINGS) if state in states),
            State.OK,
        )


def examine(
    session: ManualSession, *, write: bool = False, permanent: bool = False, wait_seconds: float = 0.0
) -> Readiness:
    """Look at a target.

    Args:
        session: A session with it, in which nothing was sent.
        write: Also live one draft's and one attachment's life in each realm that has drafts.
        permanent: Also create a contact and a submission in each realm, which stay.
        wait_seconds: How long to wait for a target whose gateway answers in its place.

    Raises:
        GuardViolation: a request must not be sent.
    """
    readiness = Readiness()
    waited = _wait(session, wait_seconds)
    started = time.monotonic()
    examination = _Examination(session)
    try:
        with session.time_limit(LONGEST_SECONDS):
            readiness.diagnoses += examination.reads()
        if write and readiness.state is not State.ENVIRONMENT:
            readiness.diagnoses += examination.lacking_rights()
            readiness.diagnoses += examination.calls(_DRAFT_LIFE)
        if permanent and readiness.state is not State.ENVIRONMENT:
            readiness.diagnoses += examination.calls(_PERMANENT)
    except EnvironmentFault as fault:
        readiness.diagnoses.append(Diagnosis("address", State.ENVIRONMENT, str(fault)))
    if waited:
        readiness.diagnoses.append(Diagnosis("start", State.NOTE, f"was waited for, {waited:.0f} s"))
    readiness.spellings = examination.spellings
    readiness.requests = len(session.notes)
    readiness.seconds = time.monotonic() - started
    return readiness


def _wait(session: ManualSession, seconds: float) -> float:
    """Wait for a target whose gateway answers for it; how long that took, in seconds."""
    if seconds <= 0:
        return 0.0
    started = time.monotonic()
    try:
        with session.time_limit(_LONGEST_SIGN_IN_SECONDS):
            starting = session.tokens.token(AUTHOR).gateway
    except EnvironmentFault:
        return 0.0  # the examination says so
    if not starting:
        return 0.0
    wait_for_start(session.target, seconds)
    return time.monotonic() - started


class _Examination:
    def __init__(self, session: ManualSession) -> None:
        self._session = session
        self._target = session.target
        self._judge = Judge(session.redactor.knows)
        self._signed_in: list[str] = []
        self._refusing: set[str] = set()
        #: Whether no list of drafts was refused for want of a token that is known.
        self._token_known = True
        self._rights_of = Rights(session)
        self._document_realms = set(self._target.realms) & set(DOCUMENT_REALMS)
        self.spellings: dict[str, str] = {}

    def reads(self) -> Iterator[Diagnosis]:
        """Everything that reading shows; stops where the author cannot sign in."""
        accounts = list(self._accounts())
        yield from self._address()
        yield from accounts
        if AUTHOR not in self._signed_in:
            return
        for realm in self._target.realms:
            yield from self._realm(realm)
        if self._refusing and self._refusing.issuperset(self._document_realms):
            text = "every realm that can be read refuses to list drafts"
            refuses_all = self._refusing == self.spellings.keys()
            advice = ", but under a spelling of its own: put sent_as into the settings, as above"
            other = "" if self._token_known else f", and takes no token: {SCHEME_ADVICE}"
            yield Diagnosis(
                "realms",
                State.SETTINGS if refuses_all else State.ENVIRONMENT,
                text + (advice if refuses_all else other),
            )
        yield from self._rights()
        yield from self._traffic()

    # The address and its clock, by what signing in showed.

    def _address(self) -> Iterator[Diagnosis]:
        url = self._target.base_url
        faults = [exchange.fault for exchange in self._session.notes if exchange.fault]
        if not any(exchange.response for exchange in self._session.notes):
            why = faults[0] if faults else "no answer"
            yield Diagnosis(
                "address", State.ENVIRONMENT, f"{url} cannot be reached: {why}{_other_scheme(url, why)}"
            )
            return
        safe = url.startswith("https:")
        secured = "certificate checked" if safe else "no TLS, so passwords and tokens travel in the clear"
        local = url.startswith(("http://127.", "http://localhost", "http://[::1]"))
        state = State.OK if safe or local else State.NOTE
        yield Diagnosis("address", state, f"{url} answers; {'on this machine' if local else secured}")

    def _traffic(self) -> Iterator[Diagnosis]:
        """Latency, the clock and rate limits, by everything that was answered."""
        answered = [exchange for exchange in self._session.notes if exchange.response and not exchange.fault]
        seconds = [exchange.seconds for exchange in answered if exchange.seconds is not None]
        if seconds:
            middle, most = statistics.median(seconds) * 1000, max(seconds) * 1000
            shown = (
                f"{middle:.0f} ms in the middle of {many(len(seconds), 'response')}, {most:.0f} ms at most"
            )
            yield Diagnosis("latency", State.OK, shown)
        yield _clock(answered)
        repeated = [exchange for exchange in self._session.notes if exchange.retries or exchange.fault]
        if repeated:
            faults = sorted({exchange.fault for exchange in repeated if exchange.fault})
            shown = (
                f"{many(len(repeated), 'request')} of {len(self._session.notes)} had to be repeated or failed"
            )
            yield Diagnosis("disturbances", State.NOTE, f"{shown}{': ' if faults else ''}{'; '.join(faults)}")
        limits = {
            name
            for exchange in answered
            for name in (exchange.response.headers if exchange.response else ())
            if _RATE_LIMIT.fullmatch(name)
        }
        if limits:
            pace = self._target.pace.requests_per_second
            yield Diagnosis(
                "rate limits",
                State.NOTE,
                f"responses carry {', '.join(sorted(limits))}; "
                f"[pace] allows {pace or 'any number of'} requests a second",
            )

    # Accounts

    def _accounts(self) -> Iterator[Diagnosis]:
        for role in ACCOUNT_ROLES:
            missing = self._target.missing(f"account.{role}")
            if not missing and (AUTHOR in self._signed_in or role == AUTHOR):
                yield self._sign_in(role)
            else:
                yield Diagnosis(
                    role, State.UNKNOWN, missing or "was not tried, since the author cannot sign in"
                )

    def _sign_in(self, role: str) -> Diagnosis:
        try:
            with self._session.time_limit(_LONGEST_SIGN_IN_SECONDS):
                token = self._session.tokens.token(role)
        except EnvironmentFault as fault:
            return Diagnosis(role, State.ENVIRONMENT, str(fault))
        if not token.value:
            refused = token.status is not None and 400 <= token.status < 500
            if not (refused or token.environment):
                for contradiction in self._broken_sign_in(role):
                    return Diagnosis(role, State.SERVICE, f"gets no token: {contradiction.text}")
            state = State.SETTINGS if refused else State.ENVIRONMENT
            advice = (
                "; are its variables right, and is the account one of this environment?" if refused else ""
            )
            return Diagnosis(role, state, f"gets no token: {token.refusal}{advice}")
        self._signed_in.append(role)
        end, issued = read_timestamp(token.expires), read_timestamp(token.issued)
        if end is None or issued is None:
            return Diagnosis(role, State.NOTE, "signs in; the token's expiration cannot be read")
        seconds = (end - issued).total_seconds() - token.ahead
        lifetime = f"{seconds / 60:.0f} minutes" if seconds >= _SHORT_LIFE_SECONDS else f"{seconds:.0f} s"
        return Diagnosis(role, State.OK, f"signs in; its token is good for {lifetime}")

    def _broken_sign_in(self, role: str) -> Iterator[Diagnosis]:
        """What of the interface an answer breaks that is neither a refusal nor a page in its place."""
        answered = next(each for each in reversed(list(self._session.notes)) if each.role == role)
        if not answered.answer.hollow_page:
            yield from self._contradictions(ANY_REALM, answered, right=True)

    def _rights(self) -> Iterator[Diagnosis]:
        """What the other accounts may read, in the first realm that has drafts."""
        realm = next((realm for realm in self._target.realms if realm in DOCUMENT_REALMS), None)
        for role in self._signed_in:
            if realm is not None and role != AUTHOR:
                exchange = self._send("listDrafts", role, realm, query={"$top": "1"})
                allowed = _succeeded(exchange)
                seen = "may list drafts" if allowed else f"may not list drafts ({_seen(exchange)})"
                yield Diagnosis(role, State.OK if allowed else State.NOTE, f"{seen} in {realm}")

    # Realms

    def _realm(self, realm: str) -> Iterator[Diagnosis]:
        if realm not in DOCUMENT_REALMS:
            yield Diagnosis(realm, State.UNKNOWN, "has the workflow endpoint only, which cannot be read")
            return
        first = self._send("listDrafts", AUTHOR, realm, query={"$top": "1"})
        if not _succeeded(first):
            self._refusing.add(realm)
            self._token_known = self._token_known and first.status != _UNAUTHENTICATED
            yield Diagnosis(realm, State.NOTE, f"listDrafts: {_seen(first)}{self._spelling(realm)}")
            return
        yield Diagnosis(realm, State.OK, f"answers; {self._list_shape(realm)}")
        yield from self._contradictions(realm, first)
        yield from self._collections(realm)
        yield from self._named_records(realm)

    def _spelling(self, realm: str) -> str:
        """Whether the realm is known in capitals."""
        as_capitals = {"Realm": realm.upper()}
        capitals = self._send("listDrafts", AUTHOR, realm, query={"$top": "1"}, headers=as_capitals)
        if not _succeeded(capitals):
            return ""
        self.spellings[realm] = realm.upper()
        advice = f"{sent_as_line(realm)} lets a run judge the rest"
        return (
            f"; it answers to '{realm.upper()}', which the interface document writes as '{realm}': {advice}"
        )

    def _list_shape(self, realm: str) -> str:
        exchange = self._send("listDrafts", AUTHOR, realm, query={"$top": str(_MANY_DRAFTS)})
        if not _succeeded(exchange):
            return f"$top={_MANY_DRAFTS} is refused ({_seen(exchange)})"
        try:
            listed = records(exchange.answer)
        except Ambiguous as unclear:
            return f"the list of drafts cannot be read: {unclear}"
        if listed is None:
            return "the list of drafts holds no array of records"
        form = "an array" if isinstance(exchange.answer.json, list) else "an object around the array"
        return f"lists {many(len(listed), 'draft')} for $top={_MANY_DRAFTS}, as {form}"

    def _collections(self, realm: str) -> Iterator[Diagnosis]:
        for collection in ("my", "mydrafts"):
            exchange = self._send("listDrafts", AUTHOR, realm, query={"collection": collection, "$top": "1"})
            if not _succeeded(exchange):
                yield Diagnosis(realm, State.NOTE, f"collection={collection}: {_seen(exchange)}")

    def _named_records(self, realm: str) -> Iterator[Diagnosis]:
        """What reading shows of the records that the settings name; one that exists need not have a draft."""
        settings = self._target.realm_settings(realm)
        for setting in _NAMED_RECORDS:
            named = _named(settings, setting)[:_MOST_RECORDS]
            if not named:
                continue
            read = [self._send("getDraft", AUTHOR, realm, path={"uid": identifier}) for identifier in named]
            with_draft = sum(map(_succeeded, read))
            expected = setting != "published_identifier" or with_draft == len(named)
            text = f"{setting}: {with_draft} of {many(len(named), 'record')} looked at with a draft to read"
            yield Diagnosis(realm, State.OK if expected else State.SETTINGS, text)
            for exchange in read:
                yield from self._contradictions(realm, exchange)
        for identifier in _named(settings, "existing_identifier")[:1]:
            exchange = self._send("listAttachments", AUTHOR, realm, path={"uid": identifier})
            if not _succeeded(exchange):
                shown = f"listAttachments of '{plain_line(identifier)}': {_seen(exchange)}"
                yield Diagnosis(realm, State.NOTE, shown)

    # Writing

    def lacking_rights(self) -> Iterator[Diagnosis]:
        """Say which accounts may not do what their role needs, in each realm that has drafts."""
        for role in (name for name in WRITERS if name in self._signed_in):
            for realm in (name for name in self._target.realms if name in self._document_realms):
                if refused := self._rights_of.first_write(role, realm).lacks_rights:
                    state = State.SETTINGS if role == AUTHOR else State.NOTE
                    yield Diagnosis(role, state, f"may not write in {realm}: {refused}")

    def calls(self, operations: tuple[str, ...]) -> Iterator[Diagnosis]:
        """Call operations, each on what is arranged for it, in every realm that has them."""
        described = load_description().operations
        for realm in self._target.realms:
            succeeded: list[str] = []
            for name in operations:
                if realm in described[name].realms:
                    yield from self._call(described[name], realm, succeeded)
                if name == _SAVING and not succeeded:
                    break  # without a draft nothing of its life can be told
            if succeeded:
                yield Diagnosis(realm, State.OK, f"succeeded: {', '.join(succeeded)}")

    def _call(self, operation: Operation, realm: str, succeeded: list[str]) -> Iterator[Diagnosis]:
        """Call one operation; its name and status are added to `succeeded` where it does."""
        subject = f"{operation.id} in {realm}"
        try:
            calls = call(self._session, operation, AUTHOR, realm, RequestOptions(), 1, live=True)
        except (Blocked, EnvironmentFault) as obstacle:
            yield Diagnosis(subject, State.NOTE, f"cannot be tried: {obstacle}")
            return
        result = calls.results[0]
        if _succeeded(result.recorded):
            succeeded.append(f"{operation.id} {result.recorded.status}")
        else:
            lacking = f" ({'; '.join(calls.notes)})" if calls.notes else ""
            instead = self._setting_instead(operation, realm, result.recorded)
            yield Diagnosis(subject, State.NOTE, f"{_seen(result.recorded)}{lacking}{instead}")
        # What is refused for want of rights may be the account's fault, and is told as it is.
        if result.recorded.status != _FORBIDDEN:
            yield from self._contradicted(subject, result.judged.findings)

    def _setting_instead(self, operation: Operation, realm: str, refused: Exchange) -> str:
        """Which setting names what a realm takes that refused an ordinary draft or file for what it is, in words."""
        setting = _INSTEAD.get(operation.id)
        given = setting and getattr(self._target.realm_settings(realm), setting)
        refusal = refused.response is not None and refused.response.refusal and refused.status != _FORBIDDEN
        if setting is None or given or not refusal:
            return ""
        return f"; realm.{realm}.{setting} can name what it takes"

    # What all have in common

    def _send(self, operation: str, role: str, realm: str, **parts: Any) -> Exchange:
        return self._session.actor(role, realm).send(operation, **parts)

    def _contradictions(self, realm: str, exchange: Exchange, *, right: bool = False) -> Iterator[Diagnosis]:
        findings = self._judge.judge(exchange, right=right).findings
        yield from self._contradicted(f"{exchange.operation} in {realm}", findings)

    def _contradicted(self, subject: str, findings: Iterable[Result]) -> Iterator[Diagnosis]:
        for finding in findings:
            if load_catalogue().clause(finding.clause).level is Level.MUST:
                text = f"contradicts {finding.clause}: expected {finding.expected}; seen: {finding.seen}"
                yield Diagnosis(subject, State.NOTE, text)


def _other_scheme(url: str, why: str) -> str:
    """What may be wrong with the scheme of an address, by what became of the connection."""
    if url.startswith("https:") and "TLS" in why:
        return "; does it want http, or its authority as ca_bundle in [tls]?"
    return "; does it want https?" if url.startswith("http:") and ("reset" in why or "closed" in why) else ""


def _succeeded(exchange: Exchange) -> bool:
    return exchange.fault is None and exchange.response is not None and exchange.response.success


def _named(settings: RealmSettings, setting: str) -> tuple[str, ...]:
    value = getattr(settings, setting)
    return (value,) if isinstance(value, str) else tuple(value or ())


def _clock(answered: Iterable[Exchange]) -> Diagnosis:
    """How far the service's clock is from ours, by the Date of its responses."""
    read = (
        seconds_ahead(exchange.response, exchange.ended)
        for exchange in answered
        if exchange.response is not None and exchange.ended is not None
    )
    apart = [seconds for seconds in read if seconds is not None]
    if not apart:
        return Diagnosis("clock", State.UNKNOWN, "no response carries a Date that can be read")
    ahead = statistics.median(apart)
    if abs(ahead) <= CLOCKS_AGREE_SECONDS:
        return Diagnosis("clock", State.OK, f"agrees with ours within {CLOCKS_AGREE_SECONDS:.0f} s")
    direction = "ahead of" if ahead > 0 else "behind"
    return Diagnosis(
        "clock", State.NOTE, f"{abs(ahead):.0f} s {direction} ours; a run takes that into account"
    )


def _seen(exchange: Exchange) -> str:
    if exchange.response is None or exchange.fault:
        return f"no answer: {exchange.fault}"
    return plain_line(exchange.response.quote(), _QUOTED_CHARACTERS)
