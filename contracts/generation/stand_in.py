"""A draft that stands in for a valid one, where the settings do not tell what a valid record is.

The document does not say that a draft has to be valid, nor which schemas there are. So a plain record is tried once
for each realm: when the service takes it, everything about drafts can be judged by it; when not, nothing is said.
"""

from __future__ import annotations

from contracts.generation.samples import Samples
from contracts.generation.shelf import Shelf
from contracts.judging.claims import usable
from contracts.judging.outcomes import Blocked, Untested
from contracts.session.actor import Actor


def prove(shelf: Shelf, actor: Actor, samples: Samples) -> None:
    """See once in a run that the service takes the stand-in as a draft of a realm.

    Args:
        actor: Who saves it; the realm is this actor's.

    Raises:
        Untested: it does not; the text names the missing setting.
    """
    refusal = shelf.shared.once(f"{actor.realm} stand-in", lambda: _refusal(shelf, actor, samples))
    if refusal:
        raise Untested(f"{samples.lacking}, and a stand-in for a valid record {refusal}")


def _refusal(shelf: Shelf, actor: Actor, samples: Samples) -> str:
    """What became of the stand-in when it was not taken; empty when it was."""
    uid = shelf.namespace.uid()
    record = samples.stand_in(uid)
    query = {"schema": record["header"]["schema"]}
    try:
        answer = usable(actor.send("saveDraft", path={"uid": uid}, query=query, json=record))
    except Blocked as obstacle:
        return obstacle.cause
    return "" if answer.success else f"was answered {answer.quote()}"
