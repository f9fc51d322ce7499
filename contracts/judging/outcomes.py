"""How a case can end other than by holding; each is raised from a case and turned into a verdict by the plugin."""

from __future__ import annotations

from dataclasses import dataclass


class Blocked(Exception):
    """A precondition failed, so nothing can be said about the claim (design 4.5): inconclusive.

    Args:
        operation: The operation that stood in the way.
        cause: What it did, in a few words.
    """

    def __init__(self, operation: str, cause: str) -> None:
        super().__init__(f"{operation}: {cause}")
        self.operation = operation
        self.cause = cause

    def __reduce__(self) -> tuple[type[Blocked], tuple[str, str]]:
        return Blocked, (self.operation, self.cause)


class Untested(Exception):
    """A setting or an account is missing, so the case cannot be tried; the text names it."""


@dataclass(frozen=True)
class Evidence:
    """What contradicts a clause, before it is confirmed.

    Attributes:
        expected, seen: Both sides of the contradiction, in words that a reader understands without the code.
        exchanges: Ids of the exchanges that show it, in their order.
    """

    clause: str
    operation: str
    expected: str
    seen: str
    exchanges: tuple[str, ...] = ()
    role: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two pieces of evidence the same finding within one realm."""
        return self.clause, self.operation


class Contradiction(AssertionError):
    """A must clause is contradicted; ends the case."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__(
            f"{evidence.clause} ({evidence.operation}): expected {evidence.expected}; seen: {evidence.seen}"
        )
        self.evidence = evidence
