"""Observed facts: for each clause, operation and realm, named values that compare one by one, and how they change.

The shape of a response is one fact a line, `200 body.identifier: string`: a path and a set of alternatives such as
`null | string date-time`; a member that was not always there is marked `optional`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from contracts.file_formats import Format, Name

#: The name of a fact that has none of its own.
SEEN: Final = "seen"


class Severity(StrEnum):
    """What a change does to a client that relies on what was accepted."""

    BREAKING = "breaking"
    ADDITIVE = "additive"


class Kind(StrEnum):
    """What changed; the text is how people read it."""

    GONE = "gone"
    CHANGED = "changed"
    ADDED = "added"

    @property
    def severity(self) -> Severity:
        """Whether clients may break."""
        return Severity.ADDITIVE if self is Kind.ADDED else Severity.BREAKING


class Change(Format, frozen=True, kw_only=True):
    """One observation that differs from the accepted baseline, with every realm in which it differs alike.

    `was` and `now` are values in words; null for a member that was not there, or is not any more.
    """

    severity: Severity
    change: Annotated[Name, Meta(description="Its kind: gone, changed or added.")]
    clause: Name
    operation: str
    realms: Annotated[tuple[str, ...], Meta(min_length=1)]
    point: Annotated[Name, Meta(description="Name of the fact, such as '200 body.createdOn'.")]
    was: str | None
    now: str | None

    @property
    def says(self) -> str:
        """Was and now in a few words."""
        name = "" if self.point == SEEN else f"{self.point}: "
        if self.was is None:
            return f"{name}{self.now}, new"
        return f"{name}{self.was}, now {self.now or 'gone'}"


BODY: Final = "body"
#: Between alternatives in the text of a value.
OR: Final = " | "
OPTIONAL: Final = "optional"


def alternatives(value: str) -> tuple[frozenset[str], bool]:
    """Cut the text of a value into its alternatives and whether the member may be missing."""
    text = value.removesuffix(f", {OPTIONAL}")
    return frozenset(text.split(OR)), text != value


def parent_of(path: str) -> str | None:
    """Return the path of the object or array that a member stands in, or None for what is no member."""
    if path.endswith("[]"):
        return path.removesuffix("[]")
    head, dot, _ = path.rpartition(".")
    return head if dot and f" {BODY}" in head else None


def status_of(path: str) -> str | None:
    """Return the status that a fact about an answer's shape begins with, or None for any other fact."""
    status, _, rest = path.partition(" ")
    is_shape = rest == "type" or rest.startswith(BODY)
    return status if is_shape and len(status) == 3 and status.isdigit() else None


Value = str | tuple[str, ...]
"""Alternatives as text, or a closed set of texts: of these nothing may go."""

#: How the names of facts about generated faults begin.
FAULT: Final = "fault "


class Place(NamedTuple):
    """Where something was observed."""

    clause: str
    operation: str
    realm: str


Facts = dict[Place, dict[str, Value]]
