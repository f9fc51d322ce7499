"""The life of a draft under one uid: a control that it works at all, and the claim that it does under a special one."""

from __future__ import annotations

from contracts.generation.arrangement import Arrangement, done
from contracts.generation.samples import Samples
from contracts.judging import readers, refusals
from contracts.judging.claims import Claims
from contracts.judging.outcomes import Blocked
from contracts.session.actor import Actor

READS = ("draftExists", "getDraft", "getDraftInfo")


def lives_anywhere(actor: Actor, arrange: Arrangement, uid: str | None = None) -> None:
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


def lives(actor: Actor, samples: Samples, claim: Claims, clause: str, uid: str) -> None:
    """Claim that a draft can be saved, seen, read and deleted under a uid."""
    path, document = {"uid": uid}, samples.draft(uid)
    query = {"schema": samples.draft_schema}
    claim(clause, "saveDraft").accepted(actor.send("saveDraft", path=path, query=query, json=document))
    claim(clause, "draftExists").accepted(actor.send("draftExists", path=path))
    claim(clause, "getDraft").shows(actor.send("getDraft", path=path), document)
    deleted = actor.send("deleteDraft", path=path)
    claim(clause, "deleteDraft").accepted(deleted)
    refusals.no_draft_under(claim(clause, "deleteDraft"), actor, [uid], deleted)
