"""Writes exchanges to the journal, with secrets taken out first."""

from __future__ import annotations

from typing import Any, Protocol

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import Redactor, learn_tokens, redacted


class Events(Protocol):
    """Takes what is written down; a run's journal is one."""

    def write(self, kind: str, **fields: Any) -> None:
        """Append one event."""


class JournalRecorder:
    """The session's recorder: one journal event an exchange."""

    def __init__(self, journal: Events, redactor: Redactor) -> None:
        self._journal = journal
        self._redactor = redactor

    def exchange(self, exchange: Exchange) -> None:
        """Write one exchange down, redacted."""
        learn_tokens(exchange, self._redactor)
        self._journal.write("exchange", **redacted(exchange, self._redactor).to_record())

    def fault(self, fault: str, exchange: Exchange) -> None:
        """Write down a fault of the environment that an exchange met."""
        self._journal.write("fault", fault=fault, case=exchange.case, realm=exchange.realm)
