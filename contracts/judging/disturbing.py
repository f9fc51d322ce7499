"""Which workflow records may not be as they were after an attempt at a case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from contracts.judging import content
from contracts.judging.attempts import Attempt

#: Operations whose path ends with the identifier of the record.
_NAMING: Final = ("createWorkflowRecordWithIdentifier", "updateWorkflowRecord")


def mark_of(realm: str, identifier: str) -> str:
    """The mark that a record of a realm was disturbed."""
    return f"disturbed {realm} {identifier}"


def disturbed(attempt: Attempt) -> Iterator[str]:
    """Marks of the records that took a submission, or that an attempt with contradictions had to do with.

    A refused submission leaves its record as it was; where the service just broke a promise, nothing is taken for
    granted.
    """
    for exchange in attempt.exchanges:
        if exchange.operation not in _NAMING:
            continue
        answer = exchange.response
        if attempt.keys or answer is None or exchange.fault or not content.turned_down(answer):
            identifier = unquote(urlsplit(exchange.url).path.rsplit("/", 1)[-1])
            yield mark_of(exchange.realm, identifier)
