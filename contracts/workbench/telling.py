"""A recorded sequence to be sent again: what was sent, what came back, and what was found by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from contracts.errors import UsageError
from contracts.evidence.record import RecordedExchange


@dataclass(frozen=True)
class Found:
    """The finding that a sequence shows.

    Attributes:
        rate: How often it came back when it was found: times and tries.
    """

    id: str
    clause: str
    operation: str
    expected: str
    seen: str
    rate: tuple[int, int]
    command: str = ""


@dataclass(frozen=True)
class Telling:
    """A recorded sequence.

    Attributes:
        source: Where it was read, for sentences.
        target: Name of the target it was recorded on; empty when nobody knows.
        realm: Where it was recorded; `any` for several or none.
        arranged: Exchanges that only prepare the others.
        shown: The exchanges that matter; their answers are compared.
        settings: Settings of the realm that stand in the requests.
        left_out: Requests that are no operation of the interface.
    """

    source: str
    target: str
    base_url: str
    realm: str
    shown: tuple[RecordedExchange, ...]
    arranged: tuple[RecordedExchange, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    found: Found | None = None
    left_out: int = 0

    @property
    def steps(self) -> tuple[RecordedExchange, ...]:
        """Everything that is sent, in order."""
        decisive = {exchange.id for exchange in self.shown}
        before = [exchange for exchange in self.arranged if exchange.id not in decisive]
        return (*before, *self.shown)

    @property
    def what(self) -> str:
        """The sequence in a few words."""
        if self.found is None:
            return f"{len(self.shown)} requests of {self.source}"
        return f"{self.found.clause} ({self.found.operation}) in {self.realm}"


def from_data(content: Any, source: str) -> Telling:
    """Make a telling of the content of `findings/<id>.json`, or of what `call --save` wrote.

    Raises:
        UsageError: it is none of these; one line.
    """
    try:
        target = content["target"]
        shown = tuple(_exchange(each) for each in content["sequence"])
        arranged = tuple(_exchange(each) for each in content.get("arranged", ()))
        found = _found(content) if "clause" in content else None
        telling = Telling(
            source,
            str(target["name"]),
            str(target["base_url"]),
            str(content["realm"]),
            shown,
            arranged,
            content.get("settings") or {},
            found,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UsageError(
            f"{source}: is no finding: it lacks what findings/<id>.json of a run holds"
        ) from None
    if not shown:
        raise UsageError(f"{source}: holds no exchange, so there is nothing to send again")
    return telling


def _found(content: Mapping[str, Any]) -> Found:
    times, tries = content["rate"]
    return Found(
        id=str(content["id"]),
        clause=str(content["clause"]),
        operation=str(content["operation"]),
        expected=str(content["expected"]),
        seen=str(content["seen"]),
        rate=(int(times), int(tries)),
        command=str(content.get("reproduce", {}).get("command", "")),
    )


def _exchange(fields: Mapping[str, Any]) -> RecordedExchange:
    names = RecordedExchange.__dataclass_fields__
    exchange = RecordedExchange(**{name: fields[name] for name in names if name in fields})
    _ = exchange.request["method"], exchange.request["url"], exchange.request["headers"]
    return exchange
