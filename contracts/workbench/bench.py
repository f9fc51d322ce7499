"""Somebody at the keyboard: who they are on a target, and what they sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

from contracts.errors import EnvironmentFault, UsageError
from contracts.evidence.record import RecordedExchange
from contracts.interface.description import Description, load_description
from contracts.plugin.sharing import Sharing
from contracts.session.actor import Actor
from contracts.session.credentials import token_issuer
from contracts.session.door import Context, Door
from contracts.session.exchange import Exchange
from contracts.session.namespace import Namespace
from contracts.session.recording import JournalRecorder
from contracts.session.redaction import Redactor
from contracts.session.tokens import TokenStore
from contracts.target.model import ACCOUNT_ROLES, ANONYMOUS, AUTHOR, Target
from contracts.target.source import suggestion

ROLES: Final = (*ACCOUNT_ROLES, ANONYMOUS)
#: The case on whose behalf a person sends.
CASE: Final = "by hand"
_LONGEST_LOOK_SECONDS: Final = 10.0


class Notes:
    """What the door recorded, as plain data without secrets, by the id of the exchange."""

    def __init__(self, redactor: Redactor) -> None:
        self._recorder = JournalRecorder(self, redactor)
        self._known: dict[str, RecordedExchange] = {}

    def exchange(self, exchange: Exchange, context: Context) -> None:
        """Record an exchange."""
        self._recorder.exchange(exchange, context)

    def fault(self, fault: str, context: Context) -> None:
        """Pass over a fault: it stands in its exchange."""

    def write(self, kind: str, **fields: Any) -> None:
        """Take what the recorder made of an exchange."""
        if kind == "exchange":
            names = RecordedExchange.__dataclass_fields__
            known = RecordedExchange(**{name: fields[name] for name in names if name in fields})
            self._known[known.id] = known

    def of(self, exchange: Exchange) -> RecordedExchange:
        """An exchange as it was recorded."""
        return self._known[exchange.id]


class Bench:
    """What somebody needs to send requests to a target; `contracts.workbench.opening` makes it.

    Attributes:
        exchanges: Everything that was sent, arrangements included, in order.
        shared: Arrangements of this bench.
        namespace: The identifiers that may be written to.
        passing: Whether the target is a sandbox that goes with the bench.
    """

    def __init__(
        self,
        target: Target,
        door: Door,
        namespace: Namespace,
        private: Path,
        notes: Notes,
        redactor: Redactor,
        *,
        passing: bool,
    ) -> None:
        self.target = target
        self.passing = passing
        self.namespace = namespace
        self.redactor = redactor
        self.notes = notes
        self.door = door
        self.description: Description = load_description()
        self.exchanges: list[Exchange] = []
        self.shared = Sharing(private)
        self.tokens = TokenStore(private, token_issuer(door, target, self.description), redactor.learn)

    @property
    def settle_seconds(self) -> float:
        """How long an effect may take to show on the target."""
        return self.target.pace.settle_seconds

    @property
    def unused(self) -> bool:
        """Whether the target began with this bench, so that nobody can have used anything up."""
        return self.passing

    def keep(self, identifier: str) -> None:
        """Keep a draft until the end; on a bench nothing goes before it."""

    def actor(self, role: str, realm: str, case: str = CASE) -> Actor:
        """Somebody of a role in a realm.

        Raises:
            UsageError: there is no such role, or the target has no account for it.
        """
        known_role(role)
        missing = self.target.missing(f"account.{role}")
        if missing:
            raise UsageError(f"{self.target.name} cannot be used as {role}: {missing}")
        return Actor(
            role=role,
            realm=realm,
            door=self.door,
            description=self.description,
            tokens=self.tokens,
            target=self.target,
            case=case,
            attempt=1,
            exchanges=self.exchanges,
        )

    def sign_in(self, role: str) -> None:
        """See that the target can be reached and gives a role its token, before anything else is sent.

        Raises:
            EnvironmentFault: it cannot, or does not; one line.
        """
        with self.door.hurried(_LONGEST_LOOK_SECONDS):
            token = self.tokens.token(AUTHOR if role == ANONYMOUS else role)
        if not token.value:
            raise EnvironmentFault(
                f"{self.target.base_url} gives the {role} no token: {token.refusal}; "
                "is the service up, and are base URL and account right?"
            )


def known_role(role: str) -> str:
    """Return a role that there is.

    Raises:
        UsageError: there is none of this name.
    """
    if role not in ROLES:
        raise UsageError(f"unknown role '{role}'; {suggestion(role, ROLES)}")
    return role


def as_door(stand_in: object) -> Door:
    """Take something that stands in for a door, as the rehearsal does."""
    return cast(Door, stand_in)
