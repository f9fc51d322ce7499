"""Finds the earlier writes that the exchanges of a finding rely on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from registry_contracts.evidence.record import RunRecord
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import subject_of
from registry_contracts.exchanges.transcript import json_of
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.session.namespace import SUITE_PREFIX

#: Identifiers of documents and temporary files in paths and bodies; longer than most words and schema names.
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_NUMBER: Final = re.compile(r"/attachments/(\d+)(?:/|$)")
_WRITES: Final = frozenset({"POST", "PUT", "DELETE"})
#: Most writes that are shown: hundreds of cases may have written to a shared record.
_MOST: Final = 12
#: Most writes for a list of drafts: enough for two pages.
_IN_A_LIST: Final = 5
_ATTACHMENT: Final = "attachment "
#: Segments of the interface's own paths.
_WORDS: Final = frozenset({"authentication", "attachments", "persist-temporary", "document-drafts"})


def earlier_writes(record: RunRecord, shown: Sequence[Exchange], texts: str = "") -> tuple[Exchange, ...]:
    """Return the earlier writes that exchanges rely on, in the order they were sent, and one request like theirs.

    Args:
        texts: those of the finding (expected and seen), which may name further records.

    Returns:
        Accepted writes in the same realm that name a record of the exchanges, or of a write that these need. Of other
        cases only those that made the record; for a list also writes that may have added to it. The latest, at most a
        dozen.
    """
    if not shown:
        return ()
    taken = {exchange.id for exchange in shown}
    wanted = {name for exchange in shown for name in _named(exchange) | _listed_documents(exchange)}
    wanted |= {*_IDENTIFIER.findall(texts)}
    lists = {str(exchange.operation) for exchange in shown} & {*operations_with(answers="list")}
    writes, replaced = list[Exchange](), set[tuple[str, str]]()
    asked = False
    for exchange in reversed(_before(record, shown)):
        if exchange.id in taken or len(writes) == _MOST:
            continue
        if not _was_done(exchange):
            if not asked and _was_asked_before(exchange, shown):
                asked, wanted = True, wanted | _named(exchange)
                writes.append(exchange)
            continue
        # Of writes that replace each other, only the last counts: others would hide the one that made the record.
        place, own = (exchange.method, urlsplit(exchange.url).path), _of_the_attempt(exchange, shown)
        if place in replaced and not own:
            continue
        if exchange.method == "DELETE" and not own:
            # A record that another case saved and deleted is gone; only one that the settings name may be needed.
            replaced |= {("PUT", place[1])}
            if any(name.startswith(SUITE_PREFIX) for name in _named(exchange)):
                continue
        room = len(writes) < (_IN_A_LIST if "listDrafts" in lists else _MOST)
        fills = room and any(_fills(exchange, name, wanted, shown) for name in lists)
        if fills or _is_needed(exchange, wanted, shown):
            wanted |= _named(exchange)
            writes.append(exchange)
            replaced |= {place} if exchange.method == "PUT" else set()
    return tuple(reversed(writes))


def _before(record: RunRecord, shown: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges of the realm that were sent before the last one shown."""
    ids = {exchange.id for exchange in shown}
    everything = [exchange for exchange in record.exchanges.values() if exchange.realm == shown[0].realm]
    last = max((place for place, exchange in enumerate(everything) if exchange.id in ids), default=0)
    return everything[:last]


def _was_done(exchange: Exchange) -> bool:
    """Whether a write was accepted."""
    response = exchange.response
    writes = exchange.method in _WRITES and exchange.operation not in (None, "createToken")
    # A write that was accepted with a wrong token is a finding itself; a correct service would refuse it.
    proper = exchange.authorization in (None, "Bearer $TOKEN")
    return writes and proper and response is not None and response.status < 400


def _was_asked_before(exchange: Exchange, shown: Sequence[Exchange]) -> bool:
    """Whether the attempt already sent this request to the same document: a fault may only show the second time."""
    asked = {(other.operation, subject_of(other.url)) for other in shown}
    answered = exchange.response is not None and exchange.response.success
    return (
        answered
        and _of_the_attempt(exchange, shown)
        and (exchange.operation, subject_of(exchange.url)) in asked
    )


def _is_needed(exchange: Exchange, wanted: set[str], shown: Sequence[Exchange]) -> bool:
    """Whether a write made a wanted record, or changed it in the same attempt."""
    if exchange.operation in operations_with(stores="attachment"):
        return bool(wanted & {name for name in _answered(exchange) if name.startswith(_ATTACHMENT)})
    lasting = operations_with(permanent=True, takes_record=True)
    makes = exchange.method in ("PUT", "DELETE") or exchange.operation in lasting
    return (makes or _of_the_attempt(exchange, shown)) and bool(
        wanted & (_named(exchange) | _answered(exchange))
    )


def _fills(exchange: Exchange, name: str, wanted: set[str], shown: Sequence[Exchange]) -> bool:
    """Whether a write added something to a list that is shown: a draft of the same role, or an attachment."""
    if exchange.operation not in _writes_listed_by(name) or not exchange.request_body.whole:
        return False
    if name == "listDrafts":
        return exchange.role in {other.role for other in shown}
    # Another case may have created the attachments of a shared document.
    return bool(wanted & _named(exchange))


def _writes_listed_by(name: str) -> list[str]:
    """The operations that add something to the list of an operation."""
    operations = load_description().operations
    family = operations_with(family=operations[name].family)
    return [write for write in family if operations[write].stores]


def _of_the_attempt(exchange: Exchange, shown: Sequence[Exchange]) -> bool:
    return (exchange.case, exchange.attempt) in {(other.case, other.attempt) for other in shown}


def _named(exchange: Exchange) -> set[str]:
    """Identifiers and attachment numbers that a request names."""
    parts = urlsplit(exchange.url)
    path = parts.path
    segments = {unquote(part) for part in path.split("/")} - _WORDS
    segments |= {*_IDENTIFIER.findall(unquote(parts.query))}
    names = {part for part in segments if _IDENTIFIER.fullmatch(part)}
    names |= {f"{_ATTACHMENT}{number}" for number in _NUMBER.findall(path)}
    own = readers.own_identifier(json_of(exchange.request_body))
    return names | ({own} if own else set())


def _answered(exchange: Exchange) -> set[str]:
    """Identifiers and attachment numbers in an answer."""
    body = json_of(exchange.response.body) if exchange.response else None
    values = [value for value in readers.values(body) if isinstance(value, str | int)]
    numbers = (value for value in values if str(value).isdigit())
    names = {value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value)}
    return names | {f"{_ATTACHMENT}{number}" for number in numbers}


def _listed_documents(exchange: Exchange) -> set[str]:
    """Identifiers in a list of attachments, which may include those of other documents."""
    names = _answered(exchange) if exchange.operation == "listAttachments" else set()
    return {name for name in names if not name.startswith(_ATTACHMENT)}
