"""Items that many cases list and none changes: kept drafts, and documents with attachments."""

from __future__ import annotations

from contextlib import suppress

from contracts.generation.arrangement import Arrangement
from contracts.judging.listing import drafts_of
from contracts.judging.outcomes import Blocked
from contracts.judging.sighting import look_for
from contracts.session.actor import Actor

#: Neither rising nor falling, so that no order of making is an order of names.
SCRAMBLED = "dbface"


def kept_drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    """Uids of six drafts that stay until the end of the run, in the order in which they were saved.

    Their uids differ in one letter first, so that any way of comparing texts puts them in the same order.
    """
    return arrange.once(f"drafts to list of {actor.role}", lambda: _drafts(arrange, actor))


def _drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    uids = tuple(arrange.kept_draft(actor, f"list{letter}").uid for letter in SCRAMBLED)
    drafts = drafts_of(actor, "mydrafts")
    # A list may be a moment late. Whether it holds them at all is for the cases to say.
    with suppress(Blocked):
        arrange.eventually(lambda: look_for(drafts, uids[-1]).found)
    return uids
