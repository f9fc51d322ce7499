"""The look behind `doctor` and `init`: that of a run, told to a person, and on demand what a record's life shows.

Only reads are sent, unless writing was asked for.
"""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.cases.rights import Rights
from contracts.checks.outcomes import Blocked
from contracts.checks.table import Judge
from contracts.errors import EnvironmentFault
from contracts.exchanges.exchange import Exchange
from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description, operations_with
from contracts.interface.operations import DOCUMENT_REALMS, Operation
from contracts.manual.call import call
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import RequestOptions
from contracts.plugin.preflight import OF_DOCTOR, Diagnosis, Look, State, clock_in_words
from contracts.safe_text import many, plain_line
from contracts.settings.target import AUTHOR

_RATE_LIMIT: Final = re.compile(r"(x-)?rate-?limit.*|retry-after", re.IGNORECASE)
#: Settings that name records a run reads.
_NAMED_RECORDS: Final = (
    "existing_identifier",
    "others_identifier",
    "locked_identifier",
    "published_identifier",
)
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
    readiness, started = Readiness(), time.monotonic()
    look = Look(session, session.target.realms, Rights(session), OF_DOCTOR, writes=write)
    readiness.diagnoses += look.diagnoses(wait_seconds)
    try:
        if not any(diagnosis.stops for diagnosis in readiness.diagnoses):
            readiness.diagnoses += _named_records(session)
        if readiness.state is not State.ENVIRONMENT:
            for asked, operations in ((write, _DRAFT_LIFE), (permanent, _PERMANENT)):
                readiness.diagnoses += _calls(session, operations) if asked else ()
    except EnvironmentFault as fault:
        readiness.diagnoses.append(Diagnosis("address", State.ENVIRONMENT, str(fault)))
    readiness.diagnoses += (*_contradictions(session), *_traffic(session))
    if not write:
        text = "were not looked at; `doctor --write` saves a draft to see whether the accounts may write"
        readiness.diagnoses.append(Diagnosis("rights", State.UNKNOWN, text))
    readiness.spellings = look.spellings
    readiness.requests = len(session.notes)
    readiness.seconds = time.monotonic() - started
    return readiness


def _named_records(session: ManualSession) -> Iterator[Diagnosis]:
    """Whether the first record of each setting has a draft to read; one that exists need not."""
    for realm in (name for name in session.target.realms if name in DOCUMENT_REALMS):
        settings, author = session.target.realm_settings(realm), session.actor(AUTHOR, realm)
        first = {name: _first(getattr(settings, name)) for name in _NAMED_RECORDS}
        without = [
            name
            for name, uid in first.items()
            if uid and not _succeeded(author.send("getDraft", path={"uid": uid}))
        ]
        if without:
            state = State.SETTINGS if "published_identifier" in without else State.OK
            yield Diagnosis(realm, state, f"no draft to read of the first record of {', '.join(without)}")


def _contradictions(session: ManualSession) -> Iterator[Diagnosis]:
    """What contradicts a must clause in the exchanges so far; what is refused for want of rights is no sign of it."""
    judge, told = Judge(session.redactor.knows), set()
    for exchange in session.notes:
        if exchange.status == _FORBIDDEN or exchange.fault:
            continue
        for finding in judge.judge(exchange, right=exchange.operation == "createToken").findings:
            text = f"contradicts {finding.clause}: expected {finding.expected}; seen: {finding.seen}"
            subject = f"{exchange.operation} in {exchange.realm}"
            if load_catalogue().clause(finding.clause).level is Level.MUST and (subject, text) not in told:
                told.add((subject, text))
                yield Diagnosis(subject, State.NOTE, text)


def _traffic(session: ManualSession) -> Iterator[Diagnosis]:
    """Latency, the clock, disturbances and rate limits, by everything that was sent."""
    sent = list(session.notes)
    answered = [exchange for exchange in sent if exchange.response and not exchange.fault]
    seconds = [exchange.seconds for exchange in answered if exchange.seconds is not None]
    if seconds:
        middle, most = statistics.median(seconds) * 1000, max(seconds) * 1000
        shown = f"{middle:.0f} ms in the middle of {many(len(seconds), 'response')}, {most:.0f} ms at most"
        yield Diagnosis("latency", State.OK, shown)
        clock = clock_in_words(session)
        yield Diagnosis("clock", State.NOTE if clock else State.OK, clock or "agrees with ours")
    repeated = [exchange for exchange in sent if exchange.retries or exchange.fault]
    if repeated:
        faults = "; ".join(sorted({exchange.fault for exchange in repeated if exchange.fault}))
        shown = f"{many(len(repeated), 'request')} of {len(sent)} had to be repeated or failed"
        yield Diagnosis("disturbances", State.NOTE, f"{shown}{': ' if faults else ''}{faults}")
    limits = {
        name
        for exchange in answered
        for name in (exchange.response.headers if exchange.response else ())
        if _RATE_LIMIT.fullmatch(name)
    }
    if limits:
        allowed = session.target.pace.requests_per_second or "any number of"
        shown = f"responses carry {', '.join(sorted(limits))}; [pace] allows {allowed} requests a second"
        yield Diagnosis("rate limits", State.NOTE, shown)


def _calls(session: ManualSession, operations: tuple[str, ...]) -> Iterator[Diagnosis]:
    """Call operations, each on what is arranged for it, in every realm that has them."""
    described = load_description().operations
    for realm in session.target.realms:
        succeeded: list[str] = []
        for name in operations:
            if realm in described[name].realms:
                yield from _call(session, described[name], realm, succeeded)
            if name == _SAVING and not succeeded:
                break  # without a draft nothing of its life can be told
        if succeeded:
            yield Diagnosis(realm, State.OK, f"succeeded: {', '.join(succeeded)}")


def _call(
    session: ManualSession, operation: Operation, realm: str, succeeded: list[str]
) -> Iterator[Diagnosis]:
    """Call one operation; its name and status are added to `succeeded` where it does."""
    subject = f"{operation.id} in {realm}"
    try:
        calls = call(session, operation, AUTHOR, realm, RequestOptions(), 1, live=True)
    except (Blocked, EnvironmentFault) as obstacle:
        yield Diagnosis(subject, State.NOTE, f"cannot be tried: {obstacle}")
        return
    sent = calls.results[0].recorded
    if _succeeded(sent):
        succeeded.append(f"{operation.id} {sent.status}")
        return
    lacking = f" ({'; '.join(calls.notes)})" if calls.notes else ""
    yield Diagnosis(subject, State.NOTE, f"{_seen(sent)}{lacking}{_instead(session, operation, realm, sent)}")


def _instead(session: ManualSession, operation: Operation, realm: str, refused: Exchange) -> str:
    """Which setting names what a realm takes that refused an ordinary draft or file for what it is, in words."""
    setting = _INSTEAD.get(operation.id)
    given = setting and getattr(session.target.realm_settings(realm), setting)
    refusal = refused.response is not None and refused.response.refusal and refused.status != _FORBIDDEN
    return f"; realm.{realm}.{setting} can name what it takes" if setting and not given and refusal else ""


def _first(named: Any) -> str | None:
    return named if isinstance(named, str) else next(iter(named or ()), None)


def _succeeded(exchange: Exchange) -> bool:
    return exchange.fault is None and exchange.response is not None and exchange.response.success


def _seen(exchange: Exchange) -> str:
    if exchange.response is None or exchange.fault:
        return f"no answer: {exchange.fault}"
    return plain_line(exchange.response.quote(), _QUOTED_CHARACTERS)
