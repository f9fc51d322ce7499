"""Looks whether a write happened whose answer was lost, where the interface gives a means to look (design 4.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from contracts.session.exchange import Answer

#: Writes whose record can be read at the address they were sent to.
_READABLE: Final = frozenset({"saveDraft", "deleteDraft"})
_ABSENT: Final = (404, 410)
#: The operation that looks.
LOOKING: Final = "getDraft"
_OF_A_BODY: Final = frozenset({"content-type", "content-length", "transfer-encoding"})


class Outcome(StrEnum):
    """What became of a write whose answer was lost."""

    UNDONE = "it did not happen"
    #: Saying the same thing again about the same draft does no harm.
    MAYBE_DONE = "it may have happened, and may be sent again"
    DONE = "it happened"
    UNKNOWN = "it cannot be told"


@dataclass(frozen=True)
class Look:
    """The request that looks: GET at this address with these headers."""

    url: str
    headers: Mapping[str, str]


def look_for(operation: str | None, url: str, headers: Mapping[str, str]) -> Look | None:
    """How to look whether a write happened; None where its record cannot be read through the interface."""
    if operation not in _READABLE:
        return None
    plain = urlunsplit(urlsplit(url)._replace(query=""))
    kept = {name: value for name, value in headers.items() if name.lower() not in _OF_A_BODY}
    return Look(plain, kept)


def outcome_of(operation: str | None, seen: Answer | None) -> Outcome:
    """What became of a write, by what stands at its address now.

    Args:
        seen: The answer to the look; None when there was none.
    """
    if seen is None or seen.page or not (seen.success or seen.status in _ABSENT):
        return Outcome.UNKNOWN
    if operation == "saveDraft":
        return Outcome.MAYBE_DONE if seen.success else Outcome.UNDONE
    # A deletion that would be sent again finds nothing to delete, so its answer is lost for good.
    return Outcome.UNDONE if seen.success else Outcome.DONE
