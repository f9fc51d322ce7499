"""Claims made of the same call many times, for what goes wrong only now and then.

Here nothing is waited for: what was seen once is there already, and may not be missing the next time.
"""

from __future__ import annotations

from contracts.generation.arrangement import Attachment, done
from contracts.generation.attaching import lists
from contracts.generation.samples import Samples
from contracts.judging import readers
from contracts.judging.claims import Claim, Claims, usable
from contracts.judging.drafts import save, stored, without_header
from contracts.judging.listing import Lister
from contracts.judging.sighting import look_for
from contracts.session.actor import Actor


def exists_each_time(claim: Claim, actor: Actor, uid: str, times: int) -> None:
    """Claim that the exists check finds a draft every time."""
    for _ in range(times):
        claim.accepted(actor.send("draftExists", path={"uid": uid}))


def lives(claim: Claims, actor: Actor, samples: Samples, uid: str) -> None:
    """Claim of one draft that it is created, updated and deleted; each by its own clause.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: a request was refused, which is a matter of the ordinary cases.
    """
    first = samples.draft(uid)
    later = first | {"firstName": "Rachel"}
    created = save(actor, samples, uid, first)
    done(created)
    stored(claim("draft-save-creates"), actor, uid, created)
    updated = save(actor, samples, uid, later)
    done(updated)
    read = actor.send("getDraft", path={"uid": uid})
    stale = readers.holds_document(usable(read), without_header(first))
    claim("draft-save-updates", "saveDraft").holds(
        not stale, updated, read, expected="the later content", seen="the content from before"
    )
    gone = actor.send("deleteDraft", path={"uid": uid})
    done(gone)
    found = actor.send("draftExists", path={"uid": uid})
    claim("draft-delete-removes", "deleteDraft").holds(
        not usable(found).success, gone, found, expected="no draft any more", seen=found.answer.quote()
    )


def listed_each_time(claim: Claim, lister: Lister, uid: str, times: int) -> None:
    """Claim that a list holds a draft every time."""
    for _ in range(times):
        sighting = look_for(lister, uid)
        claim.holds(
            sighting.found, *sighting.exchanges, expected=f"the draft {uid} in the list", seen=sighting.told
        )


def attached_each_time(claim: Claim, lister: Lister, attachment: Attachment, times: int) -> None:
    """Claim that the list of a document's attachments holds its only one every time."""
    for _ in range(times):
        page = lister.page()
        done(page.exchange)
        there = any(lists(record, attachment) for record in page.records or ())
        claim.holds(there, page.exchange, expected=f"{attachment.filename} in the list", seen=page.told)
