"""The readiness check behind `doctor`: a run's preflight check, and one of the records that the settings name."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from registry_contracts.errors import EnvironmentFault
from registry_contracts.interface.operations import DOCUMENT_REALMS
from registry_contracts.manual.manual_session import ManualSession
from registry_contracts.plugin.preflight import Diagnosis, Preflight, State
from registry_contracts.session.actor import Actor
from registry_contracts.settings.target import AUTHOR

#: How many seconds all checks may take once the author has signed in, since somebody waits for the answer.
_LONGEST_SECONDS: Final = 40.0
#: Settings that name records which a run reads.
_NAMED_RECORDS: Final = (
    "existing_identifier",
    "others_identifier",
    "locked_identifier",
    "published_identifier",
)


@dataclass
class Readiness:
    """The result of a readiness check.

    Attributes:
        requests: Number of requests sent.
        seconds: Duration of the check.
    """

    diagnoses: list[Diagnosis] = field(default_factory=list)
    requests: int = 0
    seconds: float = 0.0

    @property
    def state(self) -> State:
        """`ok` if a run can start; otherwise the first obstacle: environment, service or settings."""
        states = {diagnosis.state for diagnosis in self.diagnoses}
        return next(
            (state for state in (State.ENVIRONMENT, State.SERVICE, State.SETTINGS) if state in states),
            State.OK,
        )


def examine(session: ManualSession, *, write: bool = False, wait_seconds: float = 0.0) -> Readiness:
    """Check a target; only reads are sent, unless `write` is set.

    Args:
        session: A session in which nothing was sent yet.
        write: Also save a draft, to see whether the accounts may write; it is removed.
        wait_seconds: Longest wait for a target that is starting, while its gateway answers.

    Raises:
        GuardViolation: a request must not be sent.
    """
    readiness, started = Readiness(), time.monotonic()
    check = Preflight(session, session.target.realms, write, seconds=_LONGEST_SECONDS)
    readiness.diagnoses += check.diagnoses(wait_seconds)
    try:
        if not any(diagnosis.stops for diagnosis in readiness.diagnoses):
            readiness.diagnoses += _named_records(session)
    except EnvironmentFault as fault:
        readiness.diagnoses.append(Diagnosis("address", State.ENVIRONMENT, str(fault)))
    if not write:
        text = "not checked; `doctor --write` saves a draft to see whether the accounts may write"
        readiness.diagnoses.append(Diagnosis("rights", State.UNKNOWN, text))
    readiness.requests = len(session.recorded)
    readiness.seconds = time.monotonic() - started
    return readiness


def _named_records(session: ManualSession) -> Iterator[Diagnosis]:
    """Report the settings whose first record has no readable draft; only published_identifier requires one."""
    for realm in (name for name in session.target.realms if name in DOCUMENT_REALMS):
        settings, author = session.target.realm_settings(realm), session.actor(AUTHOR, realm)
        first = {name: _first(getattr(settings, name)) for name in _NAMED_RECORDS}
        without = [name for name, uid in first.items() if uid and not _is_readable(author, uid)]
        if without:
            state = State.SETTINGS if "published_identifier" in without else State.OK
            yield Diagnosis(realm, state, f"the first record has no readable draft: {', '.join(without)}")


def _first(named: Any) -> str | None:
    return named if isinstance(named, str) else next(iter(named or ()), None)


def _is_readable(author: Actor, uid: str) -> bool:
    exchange = author.send("getDraft", path={"uid": uid})
    return exchange.answered and exchange.answer.success
