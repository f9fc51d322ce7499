"""Claims about drafts: reading one back, whether it is there, and a stand-in where no valid record is known.

The document does not say that a draft has to be valid, nor which schemas there are. So a plain record is tried once
for each realm: when the service takes it, everything about drafts can be judged by it.
"""

from __future__ import annotations

import json
from typing import Any

from contracts.cases.arrangement import Draft
from contracts.cases.samples import Samples
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Untested, done, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, Response
from contracts.interface.catalogue import load_catalogue
from contracts.session.actor import Actor
from contracts.session.session import Session

_IN_USE = "workflow-identifier-taken"


def save(actor: Actor, samples: Samples, uid: str, document: dict[str, Any]) -> Exchange:
    """Save a contact record as the draft of `uid`."""
    return actor.send("saveDraft", path={"uid": uid}, query={"schema": samples.draft_schema}, json=document)


def shown(actor: Actor, draft: Draft) -> Exchange:
    """Read a draft that has to be there as it was saved, header aside.

    Raises:
        Blocked: it is not, so that nothing can be said about what leaves it as it was.
    """
    exchange = actor.send("getDraft", path={"uid": draft.uid})
    if not readers.holds_document(done(exchange), without_header(draft.document)):
        raise Blocked("getDraft", "a draft that was just saved is not shown as it was saved")
    return exchange


def stays(claim: Claim, actor: Actor, draft: Draft, *before: Exchange) -> None:
    """Claim that a draft still is as it was saved; `before` is what might have changed it."""
    exchange = actor.send("getDraft", path={"uid": draft.uid})
    answer = usable(exchange)
    document = without_header(draft.document)
    claim.holds(
        answer.success and readers.holds_document(answer, document),
        *before,
        exchange,
        expected=f"the draft {draft.uid} as it was",
        seen=readers.difference(answer, document) if answer.success else answer.quote(),
    )


def nothing_of(claim: Claim, actor: Actor, draft: Draft, *before: Exchange) -> None:
    """Claim that reading a draft does not give its document; `before` is what should have kept it out."""
    read = actor.send("getDraft", path={"uid": draft.uid})
    hidden = not _given(usable(read), without_header(draft.document))
    claim.holds(
        hidden, *(before or (draft.exchange,)), read, expected="nothing of it", seen=read.answer.quote()
    )


def _given(answer: Response, document: dict[str, Any]) -> bool:
    """Whether an answer gives a document away: as JSON, or as a text that holds the JSON."""
    texts = (value for value in readers.values(answer.json) if isinstance(value, str))
    return readers.holds_document(answer, document) or any(
        readers.includes(_parsed(text), document) for text in texts
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_there(actor: Actor, uid: str) -> bool:
    """Whether a draft is there by any reading: one reading that is broken is a finding of its own."""
    return any(
        usable(actor.send(operation, path={"uid": uid})).success for operation in ("draftExists", "getDraft")
    )


def stored(claim: Claim, actor: Actor, uid: str, saved: Exchange, *reads: Exchange) -> None:
    """Claim that a draft whose first save was accepted is there by some reading; a refused save says nothing.

    Args:
        claim: About what a first save does; whether the content is right is for other claims.
        reads: Looks at the draft that were made already. Only where none of them found it is it looked for again.
    """
    if usable(saved).success:
        there = any(usable(read).success for read in reads) or is_there(actor, uid)
        claim.holds(there, saved, *reads, expected="the saved draft is there", seen="no draft")


def updated(claim: Claim, actor: Actor, draft: Draft, saved: Exchange) -> None:
    """Claim that after a later save a draft is not as it was; a refused save says nothing.

    Args:
        saved: The later save, of other content. Whether this is read back right is for other claims.
    """
    if usable(saved).success:
        read = actor.send("getDraft", path={"uid": draft.uid})
        before = readers.holds_document(usable(read), without_header(draft.document))
        claim.holds(not before, saved, read, expected="the later content", seen="the content from before")


def deleted(actor: Actor, uid: str) -> Exchange:
    """Delete a draft and see by the exists check that it is gone.

    Raises:
        Blocked: it was not deleted, or the check still finds it; either is a finding of another case.
    """
    exchange = actor.send("deleteDraft", path={"uid": uid})
    done(exchange)
    if usable(actor.send("draftExists", path={"uid": uid})).success:
        raise Blocked("deleteDraft", "the exists check still finds a draft that was deleted")
    return exchange


def tells_absence(actor: Actor, uid: str) -> None:
    """See that the exists check does not find a draft that nobody saved.

    Raises:
        Blocked: it does, so that it cannot tell whether a deleted one is gone.
    """
    if usable(actor.send("draftExists", path={"uid": uid})).success:
        raise Blocked("draftExists", "the exists check finds a draft that nobody saved")


def kept_when_taken(claim: Claim, saved: Exchange, read: Exchange, document: dict[str, Any]) -> str:
    """Claim that the telling members of a document come back as they were saved, if the service took it at all.

    Args:
        document: These members; the others are for the cases about whole drafts.

    Returns:
        `refused`, or `kept`: what the document does not rule out is for the caller to observe.
    """
    if usable(saved).refusal:
        return "refused"
    claim.shows(read, document)
    return "kept"


def fate(actor: Actor, samples: Samples, uid: str, documents: dict[str, dict[str, Any]]) -> dict[str, str]:
    """What becomes of documents that need not be taken: `refused`, `kept` or `changed`, by name."""
    return {name: _fate(actor, samples, uid, document) for name, document in documents.items()}


def _fate(actor: Actor, samples: Samples, uid: str, document: dict[str, Any]) -> str:
    saved = save(actor, samples, uid, document).answer
    if not saved.success:
        return f"refused with {saved.status}"
    read = actor.send("getDraft", path={"uid": uid}).answer
    return "kept" if readers.holds_document(read, document) else "changed"


def identifier_in_use(actor: Actor, samples: Samples, identifier: str) -> Exchange:
    """Try to create a record under an identifier, with content that no service stores."""
    path = {"schema": samples.workflow_schema, "identifier": identifier}
    submission = samples.faulty_submission(identifier)
    return actor.send("createWorkflowRecordWithIdentifier", path=path, json=submission)


def tells_in_use(exchange: Exchange) -> bool:
    """Whether an attempt to create a record was refused because its identifier is in use."""
    message = load_catalogue().clause(_IN_USE).message or ""
    answer = usable(exchange)
    return answer.refusal and readers.says(answer, message)


def without_header(document: dict[str, Any]) -> dict[str, Any]:
    """A document without its header, which a service may complete or put in order."""
    return {name: value for name, value in document.items() if name != "header"}


def prove(session: Session, actor: Actor, samples: Samples) -> None:
    """See once in a run that the service takes the stand-in as a draft of a realm.

    Args:
        actor: Who saves it; the realm is this actor's.

    Raises:
        Untested: it does not; the text names the missing setting.
    """
    refusal = session.shared.once(f"{actor.realm} stand-in", lambda: _refusal(session, actor, samples))
    if refusal:
        raise Untested(f"{samples.lacking}, and a stand-in for a valid record {refusal}")


def _refusal(session: Session, actor: Actor, samples: Samples) -> str:
    """What became of the stand-in when it was not taken; empty when it was."""
    uid = session.namespace.uid()
    record = samples.stand_in(uid)
    query = {"schema": record["header"]["schema"]}
    try:
        answer = usable(actor.send("saveDraft", path={"uid": uid}, query=query, json=record))
    except Blocked as obstacle:
        return obstacle.cause
    return "" if answer.success else f"was answered {answer.quote()}"
