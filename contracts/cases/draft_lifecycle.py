"""The lifecycle of a draft under one uid: saved, read, deleted; once, or many times over.

Repeated claims do not wait: an effect that was seen once is there already, and may not be missing the next time.
"""

from __future__ import annotations

from contracts.cases import refusals
from contracts.cases.arrangement import Arrangement
from contracts.cases.attachment_lookup import Attachment, lists
from contracts.cases.drafts import save, stored, without_header
from contracts.cases.list_pages import Lister
from contracts.cases.list_search import look_for
from contracts.cases.samples import Samples
from contracts.checks.claims import Claim, Claims
from contracts.checks.outcomes import Blocked, done, usable
from contracts.exchanges import readers
from contracts.session.actor import Actor

READS = ("draftExists", "getDraft", "getDraftInfo")


def works_for_ordinary_uid(actor: Actor, arrange: Arrangement, uid: str | None = None) -> None:
    """See that a draft can be saved, read and deleted under an ordinary uid; what follows is about special ones.

    Args:
        uid: The ordinary uid; a fresh one by default, and then once for all cases of a realm.

    Raises:
        Blocked: it cannot, which is a matter of the draft operations' own clauses.
    """
    if uid is None:
        arrange.once("life of an ordinary draft", lambda: _live(actor, arrange, None))
    else:
        _live(actor, arrange, uid)


def _live(actor: Actor, arrange: Arrangement, uid: str | None) -> bool:
    draft = arrange.draft(actor, uid)
    answers = {name: done(actor.send(name, path={"uid": draft.uid})) for name in READS}
    if not readers.holds_document(answers["getDraft"], draft.document):
        raise Blocked("getDraft", "does not give the document that was saved")
    done(actor.send("deleteDraft", path={"uid": draft.uid}))
    if actor.send("draftExists", path={"uid": draft.uid}).answer.success:
        raise Blocked("deleteDraft", "leaves the draft where it was")
    return True


def completes_lifecycle_under(actor: Actor, samples: Samples, claim: Claims, clause: str, uid: str) -> None:
    """Claim that a draft can be saved, seen, read and deleted under a uid."""
    path, document = {"uid": uid}, samples.draft(uid)
    query = {"schema": samples.draft_schema}
    claim(clause, "saveDraft").accepted(actor.send("saveDraft", path=path, query=query, json=document))
    claim(clause, "draftExists").accepted(actor.send("draftExists", path=path))
    claim(clause, "getDraft").shows(actor.send("getDraft", path=path), document)
    deleted = actor.send("deleteDraft", path=path)
    claim(clause, "deleteDraft").accepted(deleted)
    refusals.no_draft_under(claim(clause, "deleteDraft"), actor, [uid], deleted)


def exists_each_time(claim: Claim, actor: Actor, uid: str, times: int) -> None:
    """Claim that the exists check finds a draft every time."""
    for _ in range(times):
        claim.accepted(actor.send("draftExists", path={"uid": uid}))


def completes_lifecycle(claim: Claims, actor: Actor, samples: Samples, uid: str) -> None:
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
        result = look_for(lister, uid)
        claim.holds(
            result.found, *result.exchanges, expected=f"the draft {uid} in the list", seen=result.told
        )


def attached_each_time(claim: Claim, lister: Lister, attachment: Attachment, times: int) -> None:
    """Claim that the list of a document's attachments holds its only one every time."""
    for _ in range(times):
        page = lister.page()
        done(page.exchange)
        there = any(lists(record, attachment) for record in page.records or ())
        claim.holds(there, page.exchange, expected=f"{attachment.filename} in the list", seen=page.told)
