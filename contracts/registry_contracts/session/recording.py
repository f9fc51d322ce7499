"""Recording: numbers each exchange, adds it to its case, and writes it to the journal without secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from registry_contracts.exchanges.exchange import NO_BODY, Exchange, exchange_entry
from registry_contracts.exchanges.redaction import Redactor, learn_tokens, redacted
from registry_contracts.file_formats import OpenFormat
from registry_contracts.interface.operations import ANY_REALM
from registry_contracts.session.pipeline import Request, Stage
from registry_contracts.session.transport import WITHOUT_CONTENT

#: Writes an event, given its kind and its content.
Events = Callable[[str, Any], None]


class FaultEvent(OpenFormat, frozen=True):
    """A fault of the environment that the run met."""

    fault: str
    realm: str = ANY_REALM
    operation: str | None = None
    case: str = ""
    exchange: str = ""


@dataclass(eq=False, repr=False)
class Record:
    """Records exchanges, redacted; one for each request, however often it was tried.

    `name` is the session's, and begins the exchanges' ids; `faults` counts the faults of exchanges.
    """

    below: Stage
    name: str
    redactor: Redactor
    events: Events | None
    faults: Counter[str] = field(default_factory=Counter)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def note_fault(self, exchange: Exchange, fault: str) -> None:
        """Note a fault of an exchange."""
        self.faults[fault] += 1
        if self.events is not None:
            where = (exchange.realm, exchange.operation, exchange.case, exchange.id)
            self.events("fault", FaultEvent(fault, *where))

    def send(self, request: Request) -> Exchange:
        """Send a request, and record the exchange."""
        number = next(self._numbers)
        exchange = self.below.send(request)
        response = exchange.response
        exchange.id = f"{self.name}-{number}"
        for fault in exchange.met:
            self.note_fault(exchange, fault)
        if response is not None and response.charset:
            why = f"JSON in {response.charset} instead of UTF-8 (RFC 8259): read anyway"
            self.note_fault(exchange, why)
        if response is not None and response.content and exchange.method == "HEAD":
            self.note_fault(exchange, "content after the answer to HEAD, which must have none (RFC 9110)")
        elif response is not None and response.content and response.status in WITHOUT_CONTENT:
            # A clause forbids content for HEAD only, so it is dropped here.
            self.note_fault(exchange, f"content after a {response.status}, which must have none (RFC 9110)")
            exchange.response = replace(response, body=NO_BODY)
        if self.events is not None:
            learn_tokens(exchange, self.redactor)
            self.events("exchange", exchange_entry(redacted(exchange, self.redactor)))
        if request.gathered is not None:
            request.gathered.append(exchange)
        return exchange
