"""The record: gives each exchange its number, hands it to its case, and writes it down without secrets."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count
from typing import Any, Protocol

from contracts.exchanges.exchange import NO_BODY, Exchange, exchange_entry
from contracts.exchanges.redaction import Redactor, learn_tokens, redacted
from contracts.file_formats import OpenFormat
from contracts.interface.operations import ANY_REALM
from contracts.session.layers import Layer, Request
from contracts.session.transport import WITHOUT_CONTENT


class Events(Protocol):
    """Takes what is written down; a run's journal is one."""

    def write(self, kind: str, event: Any) -> None:
        """Append one event."""


class FaultEvent(OpenFormat, frozen=True):
    """A fault of the environment that the run met; earlier versions named no exchange."""

    fault: str
    realm: str = ANY_REALM
    operation: str | None = None
    case: str = ""
    exchange: str = ""


class FaultLog:
    """Counts and writes down, in a few words each, what stood in the way of exchanges."""

    def __init__(self, events: Events | None) -> None:
        self._events = events
        self.counts: Counter[str] = Counter()

    def tell(self, exchange: Exchange, fault: str) -> None:
        """Take note of what an exchange has met."""
        self.counts[fault] += 1
        if self._events is not None:
            event = FaultEvent(fault, exchange.realm, exchange.operation, exchange.case, exchange.id)
            self._events.write("fault", event)


class Record:
    """Keeps what was sent and answered, redacted, once for each request however often it was tried.

    The name of the session begins its exchanges' ids.
    """

    def __init__(
        self, below: Layer, name: str, redactor: Redactor, events: Events | None, faults: FaultLog
    ) -> None:
        self._below = below
        self._name = name
        self._redactor = redactor
        self._events = events
        self._faults = faults
        self._numbers = count(1)

    def send(self, request: Request) -> Exchange:
        """Send a request, and keep the exchange."""
        number = next(self._numbers)
        exchange = self._below.send(request)
        response = exchange.response
        exchange.id = f"{self._name}-{number}"
        for fault in exchange.met:
            self._faults.tell(exchange, fault)
        if response is not None and response.charset:
            why = f"JSON in {response.charset}, where JSON is in UTF-8 (RFC 8259): read all the same"
            self._faults.tell(exchange, why)
        if response is not None and response.content and exchange.method == "HEAD":
            self._faults.tell(exchange, "content behind the answer to HEAD, which has none (RFC 9110)")
        elif response is not None and response.content and response.status in WITHOUT_CONTENT:
            # Of HEAD alone a clause speaks.
            self._faults.tell(exchange, f"content behind a {response.status}, which has none (RFC 9110)")
            exchange.response = replace(response, body=NO_BODY)
        if self._events is not None:
            learn_tokens(exchange, self._redactor)
            self._events.write("exchange", exchange_entry(redacted(exchange, self._redactor)))
        if request.gathered is not None:
            request.gathered.append(exchange)
        return exchange
