"""What was written before the exchanges of a finding, on which they rely."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from registry_contracts.evidence.record import RunRecord
from registry_contracts.exchanges.exchange import Body, Exchange
from registry_contracts.exchanges.subjects import subject_of
from registry_contracts.exchanges.transcript import json_of
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.session.namespace import SUITE_PREFIX

#: Identifiers of documents and temporary files as they stand in paths and bodies; longer than words and schema names.
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_NUMBER: Final = re.compile(r"/attachments/(\d+)(?:/|$)")
_WRITES: Final = frozenset({"POST", "PUT", "DELETE"})
#: A shared record may have been written to by hundreds of cases.
_MOST: Final = 12
#: Enough to tell one page of a list from the next.
_IN_A_LIST: Final = 5
_ATTACHMENT: Final = "attachment "
#: Segments of the interface's own paths.
_WORDS: Final = frozenset({"authentication", "attachments", "persist-temporary", "document-drafts"})


def earlier_writes(record: RunRecord, shown: Sequence[Exchange], told: str = "") -> tuple[Exchange, ...]:
    """Return the earlier writes that exchanges rely on, in the order they were sent, and one request like theirs.

    Args:
        told: what was expected and seen, which may name further records.

    Returns:
        Writes in the same realm that were accepted and name one of the records that the exchanges, or a write that is
        needed for them, speak of; of another case only what made the record. Before a list, what may stand in it. At
        most a dozen, the latest.
    """
    if not shown:
        return ()
    taken = {exchange.id for exchange in shown}
    wanted = {name for exchange in shown for name in _named(exchange) | _listed_documents(exchange)}
    wanted |= {*_IDENTIFIER.findall(told)}
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
        # Of what cases wrote in place of each other, the last stands: others would hide what made the record.
        place, own = (exchange.method, urlsplit(exchange.url).path), _of_the_attempt(exchange, shown)
        if place in replaced and not own:
            continue
        if exchange.method == "DELETE" and not own:
            # What another case saved and deleted is as if it had never been; a record of the settings may lack it.
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
    """Whether a request wrote something, by its answer."""
    response = exchange.response
    writes = exchange.method in _WRITES and exchange.operation not in (None, "createToken")
    # One that was taken without a right token is a finding itself, and prepares nothing on a service without it.
    proper = exchange.authorization in (None, "Bearer $TOKEN")
    return writes and proper and response is not None and response.status < 400


def _was_asked_before(exchange: Exchange, shown: Sequence[Exchange]) -> bool:
    """Whether the same was asked of the same document, and answered: a fault may show from the second time on."""
    asked = {(other.operation, subject_of(other.url)) for other in shown}
    answered = exchange.response is not None and exchange.response.success
    return (
        answered
        and _of_the_attempt(exchange, shown)
        and (exchange.operation, subject_of(exchange.url)) in asked
    )


def _is_needed(exchange: Exchange, wanted: set[str], shown: Sequence[Exchange]) -> bool:
    """Whether a write made, or changed in the same attempt, something that is wanted."""
    if exchange.operation in operations_with(stores="attachment"):
        return bool(wanted & {name for name in _answered(exchange) if name.startswith(_ATTACHMENT)})
    lasting = operations_with(permanent=True, takes_record=True)
    makes = exchange.method in ("PUT", "DELETE") or exchange.operation in lasting
    return (makes or _of_the_attempt(exchange, shown)) and bool(
        wanted & (_named(exchange) | _answered(exchange))
    )


def _fills(exchange: Exchange, name: str, wanted: set[str], shown: Sequence[Exchange]) -> bool:
    """Whether a write put something into a list that is shown: a draft of the same role's, a document's attachment."""
    if exchange.operation not in _writes_listed_by(name) or not exchange.request_body.whole:
        return False
    if name == "listDrafts":
        return exchange.role in {other.role for other in shown}
    # The attachments of a document that cases share were created by another of them.
    return bool(wanted & _named(exchange))


def _writes_listed_by(name: str) -> list[str]:
    """Operations that put something into what an operation lists."""
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
    header = _header(exchange.request_body)
    return names | ({header} if header else set())


def _answered(exchange: Exchange) -> set[str]:
    """Identifiers and numbers that an answer to a write gives."""
    values = set(_scalars(json_of(exchange.response.body))) if exchange.response else set()
    return {value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value)} | {
        f"{_ATTACHMENT}{value}" for value in values if isinstance(value, int) or str(value).isdigit()
    }


def _listed_documents(exchange: Exchange) -> set[str]:
    """Documents whose attachments an answer lists; one that lists another document's relies on that, too."""
    listing = exchange.operation == "listAttachments" and exchange.response is not None
    values = _scalars(json_of(exchange.response.body)) if listing and exchange.response else ()
    return {value for value in values if isinstance(value, str) and _IDENTIFIER.fullmatch(value)}


def _header(body: Body) -> str | None:
    value = json_of(body)
    record = value.get("document", value) if isinstance(value, dict) else None
    header = record.get("header") if isinstance(record, dict) else None
    name = header.get("identifier") if isinstance(header, dict) else None
    return name if isinstance(name, str) else None


def _scalars(value: Any) -> Iterator[str | int]:
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _scalars(member)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield value
