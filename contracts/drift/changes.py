"""The kinds of change that drift is told in, and which of them break clients."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

#: The name of a fact that has none of its own.
SEEN: Final = "seen"


class Severity(StrEnum):
    """What a change does to a client that relies on what was accepted."""

    BREAKING = "breaking"
    ADDITIVE = "additive"


class Kind(StrEnum):
    """What changed; the text is how people read it."""

    MEMBER_GONE = "member gone"
    MAY_BE_MISSING = "member may be missing"
    KIND_CHANGED = "kind changed"
    FURTHER_KIND = "further kind"
    FORM_CHANGED = "form changed"
    STATUS_CHANGED = "status changed"
    NOW_REFUSED = "now refused"
    NOW_CLOSED = "anonymous read closed"
    VALUE_GONE = "value gone"
    LESS = "less than before"
    BEHAVIOUR_CHANGED = "behaviour changed"
    MEMBER_ADDED = "member added"
    NOW_ACCEPTED = "now accepted"
    NOW_OPEN = "anonymous read opened"
    VALUE_ADDED = "value added"
    MORE = "more than before"

    @property
    def severity(self) -> Severity:
        """Whether clients may break."""
        return Severity.ADDITIVE if self in _ADDITIVE else Severity.BREAKING


_ADDITIVE = frozenset({Kind.MEMBER_ADDED, Kind.NOW_ACCEPTED, Kind.NOW_OPEN, Kind.VALUE_ADDED, Kind.MORE})


@dataclass(frozen=True, slots=True)
class Change:
    """One observation that differs from the accepted baseline, with every realm in which it differs alike.

    Attributes:
        point: name of the fact within clause and operation, such as `200 body.createdOn`.
        was, now: values in words; None for a member that was not there, or is not any more.
    """

    kind: Kind
    clause: str
    operation: str
    realms: tuple[str, ...]
    point: str
    was: str | None
    now: str | None

    @property
    def severity(self) -> Severity:
        """Whether clients may break."""
        return self.kind.severity

    @property
    def says(self) -> str:
        """Was and now in a few words."""
        name = "" if self.point == SEEN else f"{self.point}: "
        if self.was is None:
            return f"{name}{self.now}, new"
        return f"{name}{self.was}, now {self.now or 'gone'}"

    def as_data(self) -> dict[str, Any]:
        """Return the change as JSON can hold it, the way `verdict.json` shows it."""
        data = asdict(self)
        kind = data.pop("kind")
        return {"severity": str(self.severity), "change": str(kind), **data, "realms": list(self.realms)}
