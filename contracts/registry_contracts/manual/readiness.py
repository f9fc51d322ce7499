"""The look behind `doctor`: that of a run, told to a person. Only reads are sent, unless writing was asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.operations import DOCUMENT_REALMS
from registry_contracts.manual.manual_session import ManualSession
from registry_contracts.plugin.preflight import Diagnosis, Preflight, State
from registry_contracts.settings.target import AUTHOR

#: Settings that name records a run reads.
_NAMED_RECORDS: Final = (
    "existing_identifier",
    "others_identifier",
    "locked_identifier",
    "published_identifier",
)
#: How long a person may wait for it, in seconds.
_LONGEST_SECONDS: Final = 40.0


@dataclass
class Readiness:
    """What a look at a target showed.

    Attributes:
        requests: How many were sent.
        seconds: How long it took.
    """

    diagnoses: list[Diagnosis] = field(default_factory=list)
    requests: int = 0
    seconds: float = 0.0

    @property
    def state(self) -> State:
        """`ok` when a run can go; otherwise what stands in its way, the environment before the settings."""
        states = {diagnosis.state for diagnosis in self.diagnoses}
        return next(
            (state for state in (State.ENVIRONMENT, State.SERVICE, State.SETTINGS) if state in states),
            State.OK,
        )


def examine(session: ManualSession, *, write: bool = False, wait_seconds: float = 0.0) -> Readiness:
    """Look at a target.

    Args:
        session: A session with it, in which nothing was sent.
        write: Also try what the accounts may write; nothing of it stays.
        wait_seconds: How long to wait for a target whose gateway answers in its place.

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
        text = "were not looked at; `doctor --write` saves a draft to see whether the accounts may write"
        readiness.diagnoses.append(Diagnosis("rights", State.UNKNOWN, text))
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


def _first(named: Any) -> str | None:
    return named if isinstance(named, str) else next(iter(named or ()), None)


def _succeeded(exchange: Exchange) -> bool:
    return exchange.fault is None and exchange.response is not None and exchange.response.success
