"""What an answer's shape is inferred from: its body without what the run sent, and without anybody else's records."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from contracts.evidence.bodies import json_of
from contracts.evidence.observations_schema import form_of
from contracts.evidence.record import RecordedExchange

#: Keys that are values, such as identifiers and numbers, become this one.
ANY_KEY: Final = "*"
_VALUE_KEY: Final = re.compile(r"\d+|[0-9a-fA-F-]{12,}|rc-.*")
_DEEPEST: Final = 24
#: Bodies and types of these are those of files; nothing in them is the service's.
_FILES: Final = frozenset({"attachmentExists", "getAttachment", "getAttachmentThumbnail"})
#: Where a request names the record it is about.
_NAMES: Final = ("uid", "identifier")


@dataclass(frozen=True)
class Sent:
    """What the run sent: names of members of its documents, and identifiers it wrote to."""

    members: frozenset[str]
    identifiers: frozenset[str]


def what_was_sent(exchanges: Iterable[tuple[RecordedExchange, Mapping[str, str]]]) -> Sent:
    """Gather what the run sent.

    Args:
        exchanges: each with the values of its path parameters.
    """
    members: set[str] = set()
    identifiers: set[str] = set()
    for exchange, path in exchanges:
        if exchange.request["method"] not in ("POST", "PUT") or exchange.operation == "createToken":
            continue
        body = json_of(exchange.request["body"])
        if isinstance(body, dict):
            document = body.get("document")
            members |= body.keys() | (document.keys() if isinstance(document, dict) else set())
        if _status(exchange) < 400:
            identifiers |= {path[name] for name in _NAMES if path.get(name)}
    return Sent(frozenset(members), frozenset(identifiers))


def telling(exchange: RecordedExchange, path: Mapping[str, str], sent: Sent) -> bool:
    """Tell whether an answer says something of the service, and not of what happens to be stored there.

    An accepted request about a record that the run did not write shows somebody else's record; a file is its
    owner's; and a body that was cut has an unknown rest.
    """
    if _status(exchange) >= 400:
        return not (exchange.response or {}).get("body", {}).get("truncated")
    named = [path[name] for name in _NAMES if path.get(name)]
    foreign = any(name not in sent.identifiers for name in named)
    cut = bool((exchange.response or {}).get("body", {}).get("truncated"))
    return exchange.operation not in _FILES and not foreign and not cut


def normal(operation: str, value: Any, sent: Sent) -> Any:
    """Return the body of an accepted answer without what the run sent; None when nothing of it is left to tell.

    A document that comes back loses the members that were sent; what the service added stays. A list of drafts
    keeps the run's own: those of others may be of any age.
    """
    if operation == "getDraft" and not any(map(_is_document, _objects(value))):
        return None
    kept = _own_items(value, sent.identifiers) if operation == "listDrafts" else value
    return _without_sent(kept, sent, 0)


def refused(value: Any, sent: Sent) -> Any:
    """Return the body of a refusal with keys that are values put together."""
    return _without_sent(value, sent, 0)


def signature(value: Any) -> str:
    """Return a text that is equal for values of the same shape, so that each shape is looked at once."""
    return json.dumps(_outline(value), sort_keys=True)


def _outline(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _outline(member) for name, member in value.items()}
    if isinstance(value, list):
        outlines = {json.dumps(_outline(item), sort_keys=True) for item in value}
        return sorted(outlines)
    return f"{type(value).__name__} {form_of(value)}" if isinstance(value, str) else type(value).__name__


def _status(exchange: RecordedExchange) -> int:
    return int(exchange.response["status"]) if exchange.response else 599


def _is_document(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("header"), dict)


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        yield from _objects(member, depth + 1)


def _without_sent(value: Any, sent: Sent, depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        dropped: Collection[str] = sent.members if _is_document(value) else ()
        return {
            _key(name, sent): _without_sent(member, sent, depth + 1)
            for name, member in value.items()
            if name not in dropped
        }
    if isinstance(value, list):
        return [_without_sent(item, sent, depth + 1) for item in value]
    return value


def _key(name: str, sent: Sent) -> str:
    return ANY_KEY if name in sent.identifiers or _VALUE_KEY.fullmatch(name) else name


def _own_items(value: Any, own: Collection[str], depth: int = 0) -> Any:
    """Return a list's answer with the items left out that name none of the run's own identifiers."""
    if isinstance(value, dict) and depth < _DEEPEST:
        return {name: _own_items(member, own, depth + 1) for name, member in value.items()}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [item for item in value if not isinstance(item, dict) or _names_one_of(item, own)]
    return value


def _names_one_of(item: Mapping[str, Any], own: Collection[str]) -> bool:
    texts = (text for part in _objects(item) for text in part.values() if isinstance(text, str))
    return any(text in own for text in texts)
