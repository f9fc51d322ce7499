"""The record: gives each exchange its number, hands it to its case, and writes it down without secrets."""

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
from registry_contracts.session.layers import Layer, Request
from registry_contracts.session.transport import WITHOUT_CONTENT

#: Takes what is written down, one event at a time: its kind, and what it declares.
Events = Callable[[str, Any], None]


class FaultEvent(OpenFormat, frozen=True):
    """A fault of the environment that the run met."""

    fault: str
    realm: str = ANY_REALM
    operation: str | None = None
    case: str = ""
    exchange: str = ""


@dataclass(eq=False, repr=False)
class FaultLog:
    """Counts and writes down, in a few words each, what stood in the way of exchanges."""

    events: Events | None
    counts: Counter[str] = field(default_factory=Counter)

    def tell(self, exchange: Exchange, fault: str) -> None:
        """Take note of what an exchange has met."""
        self.counts[fault] += 1
        if self.events is not None:
            where = (exchange.realm, exchange.operation, exchange.case, exchange.id)
            self.events("fault", FaultEvent(fault, *where))


@dataclass(eq=False, repr=False)
class Record:
    """Keeps what was sent and answered, redacted, once for each request however often it was tried.

    The name of the session begins its exchanges' ids.
    """

    below: Layer
    name: str
    redactor: Redactor
    events: Events | None
    faults: FaultLog
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def send(self, request: Request) -> Exchange:
        """Send a request, and keep the exchange."""
        number = next(self._numbers)
        exchange = self.below.send(request)
        response = exchange.response
        exchange.id = f"{self.name}-{number}"
        for fault in exchange.met:
            self.faults.tell(exchange, fault)
        if response is not None and response.charset:
            why = f"JSON in {response.charset}, where JSON is in UTF-8 (RFC 8259): read all the same"
            self.faults.tell(exchange, why)
        if response is not None and response.content and exchange.method == "HEAD":
            self.faults.tell(exchange, "content behind the answer to HEAD, which has none (RFC 9110)")
        elif response is not None and response.content and response.status in WITHOUT_CONTENT:
            # Of HEAD alone a clause speaks.
            self.faults.tell(exchange, f"content behind a {response.status}, which has none (RFC 9110)")
            exchange.response = replace(response, body=NO_BODY)
        if self.events is not None:
            learn_tokens(exchange, self.redactor)
            self.events("exchange", exchange_entry(redacted(exchange, self.redactor)))
        if request.gathered is not None:
            request.gathered.append(exchange)
        return exchange
