"""What a finding's exchanges rely on: the earlier writes that have to be sent again before they mean the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from contracts.evidence.bodies import json_of
from contracts.evidence.record import RecordedExchange, RunRecord

#: Identifiers of documents and temporary files as they stand in paths and bodies; longer than words and schema names.
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_NUMBER: Final = re.compile(r"/attachments/(\d+)(?:/|$)")
_WRITES: Final = frozenset({"POST", "PUT", "DELETE"})
#: A shared record may have been written to by hundreds of cases.
_MOST: Final = 12
#: Enough to tell one page of a list from the next.
_IN_A_LIST: Final = 5
_ATTACHING: Final = ("createAttachment", "persistTemporaryFile")
_ATTACHMENT: Final = "attachment "
#: Operations that list, with those that put something into the list.
_LISTS: Final = {"listDrafts": ("saveDraft",), "listAttachments": _ATTACHING}
#: Segments of the interface's own paths.
_WORDS: Final = frozenset({"authentication", "attachments", "persist-temporary", "document-drafts"})


def arranged(record: RunRecord, shown: Sequence[RecordedExchange]) -> tuple[RecordedExchange, ...]:
    """Return the earlier writes that exchanges rely on, in the order they were sent.

    Args:
        shown: the exchanges of a finding.

    Returns:
        Writes in the same realm that were accepted and name one of the records that the exchanges, or a write that is
        needed for them, speak of; of another case only what made the record. Before a list, what may stand in it. At
        most a dozen, the latest.
    """
    if not shown:
        return ()
    taken = {exchange.id for exchange in shown}
    wanted = {name for exchange in shown for name in _named(exchange)}
    lists = {str(exchange.operation) for exchange in shown} & _LISTS.keys()
    found: list[RecordedExchange] = []
    for exchange in reversed(_before(record, shown)):
        if exchange.id in taken or not _was_done(exchange) or len(found) == _MOST:
            continue
        fills = len(found) < _IN_A_LIST and any(_fills(exchange, name, wanted, shown) for name in lists)
        if fills or _is_needed(exchange, wanted, shown):
            wanted |= _named(exchange)
            found.append(exchange)
    return tuple(reversed(found))


def settings_in(
    settings: Mapping[str, Mapping[str, Any]], realm: str, shown: Sequence[RecordedExchange]
) -> dict[str, Any]:
    """Return the settings of the realm that exchanges use, so that another target's can take their place.

    Args:
        settings: realm to setting to value, as `run.json` holds them.
    """
    text = json.dumps([asdict(exchange)["request"] for exchange in shown], ensure_ascii=False)
    known = settings.get(realm, {})
    used = {name for name, value in known.items() if any(each in text for each in _texts(value))}
    used |= {"workflow_document"} if "workflow_schema" in used and known.get("workflow_document") else set()
    return {name: value for name, value in known.items() if name in used}


def _before(record: RunRecord, shown: Sequence[RecordedExchange]) -> list[RecordedExchange]:
    """The exchanges of the realm that were sent before the last one shown."""
    ids = {exchange.id for exchange in shown}
    everything = [each for each in record.exchanges.values() if each.realm == shown[0].realm]
    last = max((place for place, each in enumerate(everything) if each.id in ids), default=0)
    return everything[:last]


def _was_done(exchange: RecordedExchange) -> bool:
    """Whether a request wrote something, by its answer."""
    response = exchange.response
    writes = exchange.request["method"] in _WRITES and exchange.operation not in (None, "createToken")
    # One that was taken without a right token is a finding itself, and prepares nothing on a service without it.
    proper = exchange.authorization in (None, "Bearer $TOKEN")
    return writes and proper and response is not None and response["status"] < 400


def _is_needed(exchange: RecordedExchange, wanted: set[str], shown: Sequence[RecordedExchange]) -> bool:
    """Whether a write made, or changed in the same attempt, something that is wanted."""
    if exchange.operation in _ATTACHING:
        return bool(wanted & {name for name in _answered(exchange) if name.startswith(_ATTACHMENT)})
    makes = exchange.request["method"] == "PUT" or exchange.operation == "createContact"
    return (makes or _of_the_attempt(exchange, shown)) and bool(
        wanted & (_named(exchange) | _answered(exchange))
    )


def _fills(
    exchange: RecordedExchange, name: str, wanted: set[str], shown: Sequence[RecordedExchange]
) -> bool:
    """Whether a write put something into a list that is shown: a draft of the same role's, a document's attachment."""
    cut = bool((exchange.request.get("body") or {}).get("truncated"))
    if exchange.operation not in _LISTS[name] or cut:
        return False
    if name == "listDrafts":
        return exchange.role in {each.role for each in shown}
    return _of_the_attempt(exchange, shown) and bool(wanted & _named(exchange))


def _of_the_attempt(exchange: RecordedExchange, shown: Sequence[RecordedExchange]) -> bool:
    return (exchange.case, exchange.attempt) in {(each.case, each.attempt) for each in shown}


def _named(exchange: RecordedExchange) -> set[str]:
    """Identifiers and attachment numbers that a request names."""
    path = urlsplit(exchange.request["url"]).path
    segments = {unquote(part) for part in path.split("/")} - _WORDS
    names = {part for part in segments if _IDENTIFIER.fullmatch(part)}
    names |= {f"{_ATTACHMENT}{number}" for number in _NUMBER.findall(path)}
    header = _header(exchange.request.get("body"))
    return names | ({header} if header else set())


def _answered(exchange: RecordedExchange) -> set[str]:
    """Identifiers and numbers that an answer to a write gives."""
    body = (exchange.response or {}).get("body") or {}
    found = set(_scalars(json_of(body)))
    return {each for each in found if isinstance(each, str) and _IDENTIFIER.fullmatch(each)} | {
        f"{_ATTACHMENT}{each}" for each in found if isinstance(each, int) or str(each).isdigit()
    }


def _header(body: Mapping[str, Any] | None) -> str | None:
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


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []
