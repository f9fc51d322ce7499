"""A shard: one part of a run that is dealt out to several machines, and the plan that all its parts have in common."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from contracts.errors import UsageError

#: Members of a plan that are too long to be told; of these only a digest is kept.
_DIGEST_LENGTH: Final = 16
_FINGERPRINT_LENGTH: Final = 12
#: Stands in a plan for the address of a sandbox that every shard has for itself.
EMBEDDED: Final = "embedded"


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of a run.

    `plan` holds what makes the parts of one run belong together, by the words in which people know it (`seed`,
    `profile`, `target`, …). `all_cases` counts and digests the cases of the whole plan, `cases` are the ids of this
    shard's; both are None when the run ended before it knew them.
    """

    number: int
    of: int
    plan: Mapping[str, Any] = field(default_factory=dict)
    all_cases: str | None = None
    cases: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The shard in words."""
        return f"shard {self.number} of {self.of}"

    @property
    def address(self) -> str | None:
        """Base URL of the target that all shards have in common; None for embedded sandboxes."""
        address = self.plan.get("address")
        return None if address in (None, EMBEDDED) else str(address)

    @property
    def fingerprint(self) -> str | None:
        """Twelve hexadecimal digits, the same for all shards of one plan; None when the cases are not known."""
        if self.all_cases is None:
            return None
        return digest([self.of, dict(self.plan), self.all_cases])[:_FINGERPRINT_LENGTH]

    def as_facts(self) -> dict[str, Any]:
        """Return the shard as JSON can hold it; `from_facts` reads it back."""
        return {
            "number": self.number,
            "of": self.of,
            "fingerprint": self.fingerprint,
            "plan": dict(self.plan),
            "all_cases": self.all_cases,
            "cases": None if self.cases is None else list(self.cases),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """Read what `as_facts` wrote.

        Raises:
            UsageError: it did not write this.
        """
        try:
            cases = facts["cases"]
            shard = cls(
                number=int(facts["number"]),
                of=int(facts["of"]),
                plan=dict(facts["plan"]),
                all_cases=facts["all_cases"],
                cases=None if cases is None else tuple(map(str, cases)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"run.json was altered: its shard lacks or mistakes {error}") from error
        if not 1 <= shard.number <= shard.of or facts.get("fingerprint") != shard.fingerprint:
            raise UsageError("run.json was altered: its shard does not fit its fingerprint")
        return shard


def digest(value: Any) -> str:
    """Return sixteen hexadecimal digits that tell JSON-able data from any other."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def digest_of_cases(cases: Iterable[str]) -> str:
    """Return how many cases there are, and a digest of their ids, whatever their order."""
    ids = sorted(cases)
    return f"{len(ids)} cases, {digest(ids)}"
