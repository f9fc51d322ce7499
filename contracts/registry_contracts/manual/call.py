"""Calls one operation by hand, and judges the exchange."""

from __future__ import annotations

from dataclasses import dataclass

from registry_contracts.checks.table import Judgement, judge
from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import Operation
from registry_contracts.manual.manual_session import ManualSession
from registry_contracts.manual.prepared_requests import RequestOptions, RequestPreparer
from registry_contracts.session.pipeline import UNSENT


@dataclass(frozen=True)
class Call:
    """One call: the recorded exchange, its judgement, and remarks on how the request was made."""

    recorded: Exchange
    judged: Judgement
    notes: tuple[str, ...]

    @property
    def sent(self) -> bool:
        """Whether the request was sent; a dry run sends none."""
        return self.recorded.fault != UNSENT


def call(
    session: ManualSession,
    operation: Operation,
    role: str,
    realm: str,
    options: RequestOptions,
    *,
    live: bool,
) -> Call:
    """Call an operation, on fresh data.

    Args:
        live: Whether the records that the request needs may be created first.

    Raises:
        UsageError: the options name a part that the operation does not have, or a foreign record.
        GuardViolation: the request must not be sent.
        Blocked, EnvironmentFault: a record that the request needs cannot be created.
    """
    prepared = RequestPreparer(session, operation, role, realm, live=live).prepare(options)
    _refuse_foreign(session, operation, prepared.request.path)
    exchange = prepared.request.send(session.actor(role, realm))
    judged = judge(exchange, session.redactor.knows, right=prepared.right)
    return Call(session.recorded[exchange.id], judged, prepared.notes)


def _refuse_foreign(session: ManualSession, operation: Operation, path: dict[str, str]) -> None:
    """Refuse a write to a foreign record, with clearer advice than the guard gives."""
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    foreign = [name for name in named if not session.namespace.owns(name)]
    if foreign and not operation.safe:
        raise UsageError(
            f"{operation.id} would write to '{foreign[0]}', which is outside this run's namespace; write {{uid}} for "
            "a fresh identifier, {prefix}-… for one of your own, or add it to spare_identifiers in the settings"
        )
