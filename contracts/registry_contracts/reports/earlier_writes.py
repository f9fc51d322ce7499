"""Finds the earlier writes that the exchanges of a finding rely on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from registry_contracts.evidence.findings import Finding
from registry_contracts.evidence.record import RunRecord
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import subject_of
from registry_contracts.exchanges.transcript import json_of
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.session.namespace import SUITE_PREFIX

#: Identifiers of documents and temporary files in paths and bodies; longer than most words and schema names.
IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_NUMBER: Final = re.compile(r"/attachments/(\d+)(?:/|$)")
_WRITES: Final = frozenset({"POST", "PUT", "DELETE"})
#: Most writes that are shown: hundreds of cases may have written to a shared record.
_MOST: Final = 12
#: Most writes for a list of drafts: enough for two pages.
_IN_A_LIST: Final = 5
_ATTACHMENT: Final = "attachment "
#: Segments of the interface's own paths.
_WORDS: Final = frozenset({"authentication", "attachments", "persist-temporary", "document-drafts"})


def earlier_writes(record: RunRecord, finding: Finding) -> tuple[Exchange, ...]:
    """Return the earlier writes that a finding relies on, in the order they were sent, and one request like its own.

    Returns:
        Accepted writes in the same realm that name a record of the finding's exchanges or texts, or of a write that
        these need. Of other cases only those that made the record; for a list also writes that may have added to it.
        The latest, at most a dozen.
    """
    shown = record.exchanges_of(finding)
    return _Search(record, shown, f"{finding.expected} {finding.seen}").writes() if shown else ()


class _Search:
    """Searches the realm's exchanges from the latest back; each write that is found may need earlier ones."""

    def __init__(self, record: RunRecord, shown: Sequence[Exchange], texts: str) -> None:
        everything = [exchange for exchange in record.exchanges.values() if exchange.realm == shown[0].realm]
        ids = {exchange.id for exchange in shown}
        last = max((place for place, exchange in enumerate(everything) if exchange.id in ids), default=0)
        self._before = [exchange for exchange in reversed(everything[:last]) if exchange.id not in ids]
        self._wanted = {name for exchange in shown for name in _named(exchange) | _listed_documents(exchange)}
        self._wanted |= {*IDENTIFIER.findall(texts)}
        self._attempts = {(exchange.case, exchange.attempt) for exchange in shown}
        self._asked = {(exchange.operation, subject_of(exchange.url)) for exchange in shown}
        self._roles = {exchange.role for exchange in shown}
        self._lists = {str(exchange.operation) for exchange in shown} & {*operations_with(answers="list")}

    def writes(self) -> tuple[Exchange, ...]:
        found, replaced, asked = list[Exchange](), set[tuple[str, str]](), False
        for exchange in self._before:
            if len(found) == _MOST:
                break
            own = (exchange.case, exchange.attempt) in self._attempts
            if not _was_done(exchange):
                if own and not asked and self._was_asked_before(exchange):
                    asked = True
                    self._take(exchange, found)
                continue
            # Show only the last of several writes that replace each other: the dozen must have room for the write
            # that made the record.
            place = exchange.method, urlsplit(exchange.url).path
            if place in replaced and not own:
                continue
            if exchange.method == "DELETE" and not own:
                # What another case saved and deleted is gone. Only the deletion of a record that the settings name
                # may matter.
                replaced |= {("PUT", place[1])}
                if any(name.startswith(SUITE_PREFIX) for name in _named(exchange)):
                    continue
            room = len(found) < (_IN_A_LIST if "listDrafts" in self._lists else _MOST)
            if (room and self._fills(exchange)) or self._is_needed(exchange, own=own):
                self._take(exchange, found)
                replaced |= {place} if exchange.method == "PUT" else set()
        return tuple(reversed(found))

    def _take(self, exchange: Exchange, found: list[Exchange]) -> None:
        self._wanted |= _named(exchange)
        found.append(exchange)

    def _was_asked_before(self, exchange: Exchange) -> bool:
        """Whether this request was already sent to the same document: a fault may only show the second time."""
        answered = exchange.response is not None and exchange.response.success
        return answered and (exchange.operation, subject_of(exchange.url)) in self._asked

    def _is_needed(self, exchange: Exchange, *, own: bool) -> bool:
        """Whether a write made a wanted record, or changed it in the same attempt."""
        answered = _answered(exchange)
        if exchange.operation in operations_with(stores="attachment"):
            return any(name.startswith(_ATTACHMENT) for name in self._wanted & answered)
        lasting = operations_with(permanent=True, takes_record=True)
        makes = exchange.method in ("PUT", "DELETE") or exchange.operation in lasting
        return (makes or own) and bool(self._wanted & (_named(exchange) | answered))

    def _fills(self, exchange: Exchange) -> bool:
        """Whether a write added something to a list that is shown: a draft of the same role, or an attachment."""
        operations = load_description().operations
        stored = operations.get(exchange.operation or "")
        if stored is None or not stored.stores:
            return False
        lists = {name for name in self._lists if operations[name].family == stored.family}
        if "listDrafts" in lists and exchange.role in self._roles:
            return exchange.request_body.whole
        # Another case may have created the attachments of a shared document.
        return exchange.request_body.whole and bool(
            lists - {"listDrafts"} and self._wanted & _named(exchange)
        )


def _was_done(exchange: Exchange) -> bool:
    """Whether a write was accepted."""
    response = exchange.response
    writes = exchange.method in _WRITES and exchange.operation not in (None, "createToken")
    # A write that was accepted with a wrong token is a finding itself; a correct service would refuse it.
    proper = exchange.authorization in (None, "Bearer $TOKEN")
    return writes and proper and response is not None and response.status < 400


def _named(exchange: Exchange) -> set[str]:
    """Identifiers and attachment numbers that a request names."""
    parts = urlsplit(exchange.url)
    path = parts.path
    segments = {unquote(part) for part in path.split("/")} - _WORDS
    segments |= {*IDENTIFIER.findall(unquote(parts.query))}
    names = {part for part in segments if IDENTIFIER.fullmatch(part)}
    names |= {f"{_ATTACHMENT}{number}" for number in _NUMBER.findall(path)}
    own = readers.own_identifier(json_of(exchange.request_body))
    return names | ({own} if own else set())


def _answered(exchange: Exchange) -> set[str]:
    """Identifiers and attachment numbers in an answer."""
    body = json_of(exchange.response.body) if exchange.response else None
    values = [value for value in readers.values(body) if isinstance(value, str | int)]
    numbers = (value for value in values if str(value).isdigit())
    names = {value for value in values if isinstance(value, str) and IDENTIFIER.fullmatch(value)}
    return names | {f"{_ATTACHMENT}{number}" for number in numbers}


def _listed_documents(exchange: Exchange) -> set[str]:
    """Identifiers in a list of attachments, which may include those of other documents."""
    names = _answered(exchange) if exchange.operation == "listAttachments" else set()
    return {name for name in names if not name.startswith(_ATTACHMENT)}
