"""The record: gives each exchange its number, hands it to its case, and writes it down without secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from contracts.exchanges.exchange import NO_BODY, Exchange
from contracts.exchanges.redaction import Redactor, learn_tokens, redacted
from contracts.session.layers import Layer, Request
from contracts.session.transport import WITHOUT_CONTENT

#: Takes what is written down, one event at a time: its kind, and its fields by name.
Events = Callable[..., None]


@dataclass(eq=False, repr=False)
class FaultLog:
    """Counts and writes down, in a few words each, what stood in the way of exchanges."""

    events: Events | None
    counts: Counter[str] = field(default_factory=Counter)

    def tell(self, exchange: Exchange, fault: str) -> None:
        """Take note of what an exchange has met."""
        self.counts[fault] += 1
        if self.events is not None:
            self.events(
                "fault", fault=fault, case=exchange.case, realm=exchange.realm, operation=exchange.operation
            )


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
        if response is not None and response.charset:
            why = f"JSON in {response.charset}, where JSON is in UTF-8 (RFC 8259): read all the same"
            self.faults.tell(exchange, why)
        if response is not None and response.content and exchange.method == "HEAD":
            self.faults.tell(exchange, "content behind the answer to HEAD, which has none (RFC 9110)")
        elif response is not None and response.content and response.status in WITHOUT_CONTENT:
            # Of HEAD alone a clause speaks.
            self.faults.tell(exchange, f"content behind a {response.status}, which has none (RFC 9110)")
            exchange.response = replace(response, body=NO_BODY)
        exchange.id = f"{self.name}-{number}"
        if self.events is not None:
            learn_tokens(exchange, self.redactor)
            self.events("exchange", **redacted(exchange, self.redactor).to_record())
        if request.gathered is not None:
            request.gathered.append(exchange)
        return exchange
