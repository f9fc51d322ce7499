"""Calls one operation by hand, and judges the exchange."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.checks.table import Judge, Judgement
from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.interface.description import Operation
from contracts.manual.manual_session import ManualSession
from contracts.manual.prepared_requests import RequestOptions, RequestPreparer
from contracts.session.layers import UNSENT


@dataclass(frozen=True)
class CallResult:
    """One call: what was recorded, and what it shows.

    Attributes:
        notes: Remarks on how the request was made.
    """

    recorded: Exchange
    judged: Judgement
    notes: tuple[str, ...]

    @property
    def sent(self) -> bool:
        """Whether the request left; in a dry run it does not."""
        return self.recorded.fault != UNSENT

    @property
    def spoilt(self) -> bool:
        """Whether the environment stood in the way."""
        return self.sent and self.recorded.fault is not None


def call(
    session: ManualSession,
    operation: Operation,
    role: str,
    realm: str,
    options: RequestOptions,
    *,
    live: bool,
) -> CallResult:
    """Call an operation.

    Args:
        live: Whether what the request is about may be arranged first.

    Raises:
        UsageError: the options name what the operation does not have, or the request must not be sent.
        Blocked, EnvironmentFault: what it is about cannot be arranged.
        GuardViolation: the request must not be sent.
    """
    prepared = RequestPreparer(session, operation, role, realm, live=live).prepare(options)
    refuse_foreign(session, operation, prepared.request.path)
    exchange = prepared.request.send(session.actor(role, realm))
    judged = Judge(session.redactor.knows).judge(exchange, right=prepared.right)
    return CallResult(session.notes.of(exchange), judged, prepared.notes)


def refuse_foreign(session: ManualSession, operation: Operation, path: dict[str, str]) -> None:
    """Refuse a write to a foreign record with a clear line, before the guard does.

    Raises:
        UsageError: it is none of the suite's.
    """
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    foreign = [name for name in named if not session.namespace.owns(name)]
    if foreign and not operation.safe:
        raise UsageError(
            f"{operation.id} would write to '{foreign[0]}', which is none of the suite's; write {{uid}} for a fresh "
            "identifier, {prefix}-… for one of your own making, or name the record under spare_identifiers "
            "in the settings"
        )
