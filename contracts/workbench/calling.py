"""One operation called by hand, once or some times, and judged each time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from contracts.checking.single import Judge, Judgement
from contracts.errors import UsageError
from contracts.evidence.plain import json_text
from contracts.evidence.record import RecordedExchange
from contracts.interface.description import Operation
from contracts.judging.reproduction import curl
from contracts.session.actor import Actor
from contracts.session.door import UNSENT
from contracts.workbench.bench import Bench
from contracts.workbench.finding_files import SAVED
from contracts.workbench.preparing import Prepared, Preparer
from contracts.workbench.wishes import Wishes

_FORMAT: Final = 1
_NAME: Final = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Called:
    """One call: what was recorded, what it shows, and a line to send it without the suite."""

    recorded: RecordedExchange
    judged: Judgement
    curl: str

    @property
    def sent(self) -> bool:
        """Whether it left; a rehearsal does not."""
        return self.recorded.fault != UNSENT

    @property
    def spoilt(self) -> bool:
        """Whether the environment stood in the way."""
        return self.sent and self.recorded.fault is not None


@dataclass
class Calls:
    """Some calls of the same operation.

    Attributes:
        before: What was sent to arrange them.
        notes: What the person may want to know, each once.
    """

    called: list[Called] = field(default_factory=list)
    before: list[RecordedExchange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def clauses(self) -> Counter[str]:
        """In how many calls each clause was contradicted."""
        return Counter(
            clause for each in self.called for clause in {found.clause for found in each.judged.findings}
        )

    @property
    def spoilt(self) -> bool:
        """Whether the environment stood in the way of a call."""
        return any(each.spoilt for each in self.called)


def call(
    bench: Bench, operation: Operation, role: str, realm: str, wishes: Wishes, times: int, *, live: bool
) -> Calls:
    """Call an operation.

    Args:
        times: Each on fresh data.
        live: Whether what the request is about may be arranged first.

    Raises:
        UsageError: a wish names what the operation does not have, or the request must not be sent.
        Blocked, EnvironmentFault: what it is about cannot be arranged.
    """
    calls, judge = Calls(), Judge(bench.redactor.knows)
    actor = bench.actor(role, realm)
    for _ in range(times):
        prepared = Preparer(bench, operation, role, realm, live=live).prepare(wishes)
        calls.notes += [note for note in prepared.notes if note not in calls.notes]
        refuse_foreign(bench, operation, prepared.request.path)
        start = len(bench.exchanges)
        calls.before += [bench.notes.of(each) for each in bench.exchanges[_counted(calls) : start]]
        calls.called.append(send(bench, actor, prepared, judge))
    return calls


def send(bench: Bench, actor: Actor, prepared: Prepared, judge: Judge) -> Called:
    """Send one prepared request, and judge the exchange.

    Raises:
        GuardViolation: the request must not be sent.
    """
    exchange = prepared.send(actor)
    judged = judge.judge(exchange, right=prepared.right)
    return Called(bench.notes.of(exchange), judged, curl(exchange, bench.redactor))


def _counted(calls: Calls) -> int:
    return len(calls.before) + len(calls.called)


def refuse_foreign(bench: Bench, operation: Operation, path: dict[str, str]) -> None:
    """Say what is wrong with a write to somebody else's record before the door does.

    Raises:
        UsageError: it is none of the suite's.
    """
    named = [path[name] for name in ("uid", "identifier") if path.get(name)]
    foreign = [name for name in named if not bench.namespace.owns(name)]
    if foreign and not operation.safe:
        raise UsageError(
            f"{operation.id} would write to '{foreign[0]}', which is none of the suite's; write {{uid}} for a fresh "
            "identifier, {prefix}-… for one of your own making, or name the record under spare_identifiers "
            "in the settings"
        )


def save(
    name: str, calls: Iterable[Called], before: list[RecordedExchange], bench: Bench, reports: Path
) -> Path:
    """Keep calls for `replay`.

    Args:
        name: A path that ends in .json, or a name in the folder of saved calls.

    Raises:
        UsageError: it cannot be written.
    """
    called = [each.recorded for each in calls]
    path = Path(name) if name.endswith(".json") else reports / SAVED / f"{name}.json"
    if not name.endswith(".json") and not _NAME.fullmatch(name):
        raise UsageError(
            f"--save '{name}' is no name: use letters, digits, - _ . or a path that ends in .json"
        )
    realm = called[0].realm
    content: dict[str, Any] = {
        "format": _FORMAT,
        "saved": datetime.now(UTC).isoformat(),
        "target": {"name": bench.target.name, "kind": bench.target.kind, "base_url": bench.target.base_url},
        "realm": realm,
        "settings": _settings(bench, realm),
        "arranged": [asdict(each) for each in before],
        "sequence": [asdict(each) for each in called],
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json_text(content, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot save to '{path}': {error.strerror}") from None
    return path


def _settings(bench: Bench, realm: str) -> dict[str, Any]:
    known = asdict(bench.target.realm_settings(realm))
    return {name: value for name, value in known.items() if value}
