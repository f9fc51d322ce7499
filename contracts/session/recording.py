"""The record: gives each exchange its number, hands it to its case, and writes it down without secrets."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from typing import Any, Protocol

from contracts.exchanges.exchange import NO_BODY, Exchange
from contracts.exchanges.redaction import Redactor, learn_tokens, redacted
from contracts.session.layers import Layer, Request


class Events(Protocol):
    """Takes what is written down; a run's journal is one."""

    def write(self, kind: str, **fields: Any) -> None:
        """Append one event."""


class Record:
    """Keeps what was sent and answered, once for each request however often it was tried.

    Args:
        name: Of the session; the beginning of its exchanges' ids.
        events: Takes each exchange and fault, redacted; None records nothing.
    """

    def __init__(self, below: Layer, name: str, redactor: Redactor, events: Events | None) -> None:
        self._below = below
        self._name = name
        self._redactor = redactor
        self._events = events
        self._lock = threading.Lock()
        self._number = 0
        self.faults: Counter[str] = Counter()

    def send(self, request: Request) -> Exchange:
        """Send a request, and keep the exchange."""
        with self._lock:
            self._number += 1
            number = self._number
        exchange = self._below.send(request)
        self._tell_of_odd_content(exchange)
        exchange.id = f"{self._name}-{number}"
        self.exchange(exchange)
        if request.gathered is not None:
            request.gathered.append(exchange)
        return exchange

    def _tell_of_odd_content(self, exchange: Exchange) -> None:
        """Tell of JSON in another charset, and of content behind an answer without; of HEAD alone a clause speaks."""
        response = exchange.response
        if response is None or not response.content:
            return
        if response.charset:
            self.tell(
                exchange, f"JSON in {response.charset}, where JSON is in UTF-8 (RFC 8259): read all the same"
            )
        if exchange.method == "HEAD":
            self.tell(exchange, "content behind the answer to HEAD, which has none (RFC 9110)")
        elif response.status in (204, 304):
            self.tell(exchange, f"content behind a {response.status}, which has none (RFC 9110)")
            exchange.response = replace(response, body=NO_BODY)

    def exchange(self, exchange: Exchange) -> None:
        """Write one exchange down, redacted."""
        if self._events is not None:
            learn_tokens(exchange, self._redactor)
            self._events.write("exchange", **redacted(exchange, self._redactor).to_record())

    def fault(self, exchange: Exchange) -> None:
        """Count and write down a fault of the environment that a try has met."""
        self.tell(exchange, exchange.fault or "")

    def tell(self, exchange: Exchange, fault: str) -> None:
        """Count and write down what stood in the way of an exchange, in a few words."""
        self.faults[fault] += 1
        if self._events is not None:
            self._events.write(
                "fault", fault=fault, case=exchange.case, realm=exchange.realm, operation=exchange.operation
            )
