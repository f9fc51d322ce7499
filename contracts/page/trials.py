"""One request on the page: how it would be valid, what was made of it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.checking.single import Judgement
from contracts.generation.grafting import Request
from contracts.workbench.preparing import Prepared


@dataclass
class Trial:
    """A request that was filled in for somebody.

    Attributes:
        base: A valid request of the same kind, which the form began with.
        given: What the form was filled with, one fault included where one was asked for.
        sent: What was sent in the end; None before.
        judged: What the exchange shows; None before.
        used: Whether `given` was sent already, so that its data is fresh no more.
    """

    operation: str
    role: str
    realm: str
    base: Prepared
    given: Prepared
    sent: Prepared | None = None
    judged: Judgement | None = None
    used: bool = False

    def is_given(self, request: Request, content: bytes | None) -> bool:
        """Whether a request is what the form was filled with."""
        return request == self.given.request and content == self.given.content
