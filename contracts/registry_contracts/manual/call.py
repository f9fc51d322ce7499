"""Calls one operation by hand, once or several times, and judges each exchange."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from registry_contracts.checks.table import Judgement, judge
from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.transcript import curl
from registry_contracts.interface.description import Operation
from registry_contracts.manual.manual_session import ManualSession
from registry_contracts.manual.prepared_requests import RequestOptions, RequestPreparer
from registry_contracts.session.pipeline import UNSENT


@dataclass(frozen=True)
class CallResult:
    """One call: the recorded exchange, its judgement, and a curl command that sends the same request."""

    recorded: Exchange
    judged: Judgement
    curl: str

    @property
    def sent(self) -> bool:
        """Whether the request was sent; a dry run sends none."""
        return self.recorded.fault != UNSENT


@dataclass
class CallResults:
    """Several calls of the same operation.

    Attributes:
        notes: Remarks on how the requests were made, each once.
    """

    results: list[CallResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def clauses(self) -> Counter[str]:
        """The number of calls that contradicted each clause."""
        return Counter(
            clause
            for result in self.results
            for clause in {finding.clause for finding in result.judged.findings}
        )

    @property
    def spoilt(self) -> bool:
        """Whether the environment prevented the answer of a call."""
        return any(result.recorded.fault not in (None, UNSENT) for result in self.results)


def call(
    session: ManualSession,
    operation: Operation,
    role: str,
    realm: str,
    options: RequestOptions,
    times: int,
    *,
    live: bool,
) -> CallResults:
    """Call an operation.

    Args:
        times: Number of calls, each on fresh data.
        live: Whether the records that the request needs may be created first.

    Raises:
        UsageError: the options name a part that the operation does not have, or a foreign record.
        GuardViolation: the request must not be sent.
        Blocked, EnvironmentFault: a record that the request needs cannot be created.
    """
    calls = CallResults()
    actor = session.actor(role, realm)
    for _ in range(times):
        prepared = RequestPreparer(session, operation, role, realm, live=live).prepare(options)
        calls.notes += [note for note in prepared.notes if note not in calls.notes]
        _refuse_foreign(session, operation, prepared.request.path)
        exchange = prepared.request.send(actor)
        judged = judge(exchange, session.redactor.knows, right=prepared.right)
        recorded = session.recorded[exchange.id]
        calls.results.append(CallResult(recorded, judged, curl(recorded)))
    return calls


def _refuse_foreign(session: ManualSession, operation: Operation, path: dict[str, str]) -> None:
    """Refuse a write to a foreign record, with clearer advice than the guard gives."""
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    foreign = [name for name in named if not session.namespace.owns(name)]
    if foreign and not operation.safe:
        raise UsageError(
            f"{operation.id} would write to '{foreign[0]}', which is outside this run's namespace; write {{uid}} for "
            "a fresh identifier, {prefix}-… for one of your own, or add it to spare_identifiers in the settings"
        )
