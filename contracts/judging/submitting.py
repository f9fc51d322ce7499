"""Refused submissions, judged by their effects: nothing is stored, nothing is started."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from contracts.generation.arrangement import Arrangement, require
from contracts.generation.samples import Samples
from contracts.generation.submissions import CREATE_NAMED
from contracts.judging import readers
from contracts.judging.claims import Claim, usable
from contracts.judging.outcomes import Blocked
from contracts.judging.rows import Row, claim_free, claim_not_taken, told
from contracts.session.actor import Actor
from contracts.session.exchange import Exchange


class Looking(Protocol):
    """How the state of a record is found out without changing it."""

    def look_up(self, identifier: str) -> Exchange:
        """A valid update under an identifier that should be free."""

    def try_faulty(self, identifier: str) -> Exchange:
        """A faulty update of a record."""

    def try_creating(self, identifier: str) -> Exchange:
        """A faulty document sent to create under an identifier."""


def each_turned_down(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that every submission was refused; an answer without a judgement is left to the end.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: one was answered with a server error, which is a finding of its own.
    """
    obstacle: Blocked | None = None
    for exchange in exchanges:
        try:
            usable(exchange)
        except Blocked as problem:
            obstacle = problem
            continue
        claim.turned_down(exchange)
    if obstacle is not None:
        raise obstacle


def nothing_came_of(claim: Claim, looking: Looking, identifier: str, *refused: Exchange) -> None:
    """Claim that refused submissions left a fresh identifier free, or a record that existed open for updates.

    Args:
        identifier: In the path of all of them, or for creates without one in the header.
    """
    if refused[-1].method == "POST":
        claim_free(claim, refused[-1], looking.look_up(identifier))
        return
    found = looking.try_faulty(identifier)
    claim.holds(
        not told(found, Row.LOCKED),
        *refused,
        found,
        expected="a record that a refused update did not lock",
        seen=found.answer.quote(),
    )


def identifier_free(claim: Claim, looking: Looking, identifier: str, *refused: Exchange) -> None:
    """Claim that creating under the identifier of refused creates is not refused because it is in use.

    An update may see nothing under an identifier that is taken all the same. Other operations leave nothing to claim.
    """
    if refused[-1].operation == CREATE_NAMED:
        claim_not_taken(claim, refused[-1], looking.try_creating(identifier))


def claim_same_draft(claim: Claim, before: Sequence[Exchange], refused: Exchange, after: Exchange) -> None:
    """Claim that a draft reads the same before and after a refused update, absent ones included.

    Args:
        before: Two readings one after the other; what already differs between them says nothing.
    """
    first, again, second = (usable(exchange) for exchange in (*before, after))
    same = readers.includes(second.json, readers.common(first.json, again.json))
    claim.holds(
        first.success == second.success and (not first.success or same),
        *before,
        refused,
        after,
        expected=f"the draft as it was: {first.quote()}",
        seen=second.quote(),
    )


def shows_drafts_of_locked_records(arrange: Arrangement, actor: Actor, samples: Samples) -> None:
    """See once that the draft of a record that is locked for workflow can be read, which is not shown.

    Raises:
        Blocked: it cannot, so that the drafts of submitted records cannot be looked for.
        Untested: the settings name no locked record.
    """
    locked = str(samples.setting("locked_identifier"))

    def look() -> bool:
        seen = usable(actor.send("draftExists", path={"uid": locked}))
        return require(seen.success, "draftExists", "does not show the draft of a locked record")

    arrange.once("draft of a locked record", look)
