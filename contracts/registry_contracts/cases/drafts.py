"""Claims about drafts: saved, read, deleted, repeated; refused requests, and that they left nothing behind.

A faulty request must be refused and must leave nothing behind. Both are judged for a whole table of faults, so
one server error among them neither hides the rest nor counts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from registry_contracts.cases.contents import reworded
from registry_contracts.cases.sample_records import Samples
from registry_contracts.cases.world import Draft, World
from registry_contracts.checks import errors_array
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.definition import not_of_the_way
from registry_contracts.checks.outcomes import (
    OBSTACLES,
    Blocked,
    Untested,
    done,
    missing,
    require,
    taken,
    usable,
)
from registry_contracts.checks.workflow import Row, ended_in
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor
from registry_contracts.session.session import Session
from registry_contracts.settings.target import DOCUMENT_REALMS

#: How many refused uids get an exists check of their own.
_LOOKED_AT = 2


def claim_each_refused(
    claim: Claim, exchanges: Sequence[Exchange], control: Callable[[], Exchange] | None = None
) -> None:
    """Claim that every request was refused; obstacles are raised at the end.

    Args:
        control: Sent if one was not refused: the same operation on a valid uid that was never used. If that is not
            refused either, the operation refuses nothing that is absent; another clause covers that.
    """
    obstacle: Exception | None = None
    for exchange in exchanges:
        try:
            if control is not None and not usable(exchange).refusal:
                need_refusal(control())
            claim.turned_down(exchange)
        except OBSTACLES as error:
            obstacle = obstacle or error
    if obstacle is not None:
        raise obstacle


def need_refusal(absent: Exchange) -> None:
    """Require that a request for a record that does not exist was refused, for claims about invalid names."""
    cause = "does not refuse absent records, so a bad name proves nothing"
    require(usable(absent).refusal, absent.operation or "", cause)


class Elsewhere(NamedTuple):
    """Another realm than the case's own; if it is not part of the run, nothing is saved there."""

    realm: str
    in_run: bool


def claim_nothing_saved(
    claims: Callable[[str], Claim],
    world: World,
    uids: Sequence[str],
    foldings: Iterable[str],
    *causes: Exchange,
) -> None:
    """Claim that refused uids left no draft: under themselves, under similar valid uids, or in the list.

    Args:
        claims: Makes a claim of the clause for an operation.
        uids: The uids outside the rule; the list is searched for all of them, a few get an exists check.
        foldings: Valid uids that a careless service might turn them into.
        causes: The refused requests.
    """
    checks = [world.author.draft_exists(uid) for uid in uids[:_LOOKED_AT]]
    claim_no_draft(claims("saveDraft"), world, foldings, *causes[:1])
    claim_each_refused(claims("draftExists"), checks, lambda: world.author.draft_exists(never_used()))
    claim_none_listed(claims("saveDraft"), world, uids, *causes[:1])


def claim_no_draft(
    claim: Claim, world: World, uids: Iterable[str], *causes: Exchange, by: Actor | None = None
) -> None:
    """Claim that no draft exists under any of these valid uids; `by` asks, by default the author."""
    for uid in uids:
        check = (by or world.author).draft_exists(uid)
        if usable(check).success:
            need_absence(world)
        claim.holds(not check.answer.success, *causes, check, expected=f"no draft under {uid}")


def need_absence(world: World) -> bool:
    """Require that the exists check does not find a draft that was never saved."""
    absent = not usable(world.author.draft_exists(never_used())).success
    return require(absent, "draftExists", "says of a draft that was never saved that it exists")


def need_presence(world: World) -> bool:
    """Require that the exists check finds a saved draft."""
    return done(world.author.draft_exists(world.shared_draft().uid)).success


def need_exists_check(world: World) -> bool:
    """Require once in a realm that the exists check finds a saved draft, and none that was never saved."""
    return world.once("draft-exists holds", lambda: need_presence(world) and need_absence(world))


def claim_none_listed(claim: Claim, world: World, uids: Iterable[str], *causes: Exchange) -> None:
    """Claim that the first page of the author's drafts names none of these uids."""
    listed = world.author.list_drafts(query={"collection": "mydrafts"})
    answer = usable(listed)
    if not answer.success:
        raise Blocked("listDrafts", f"answered {answer.quote()}")
    for uid in uids:
        absent, expected = not readers.carries_identifier(answer, uid), f"no draft under {uid!r} in the list"
        claim.holds(absent, *causes, listed, expected=expected, seen="the list names it")


def never_used() -> str:
    """A valid uid that was never used, for reading only; constant, so that each run sends the same requests."""
    return "rc-never-used-by-anybody"


def need_as_saved(actor: Actor, draft: Draft) -> bool:
    """Require that a draft reads back as it was saved, except for its header."""
    whole = readers.holds_document(done(actor.get_draft(draft.uid)), draft.document)
    return require(whole, "getDraft", "does not give the document that was saved")


def claim_unchanged(claim: Claim, world: World, draft: Draft, *before: Exchange) -> None:
    """Claim that a draft still is as it was saved; `before` is what might have changed it.

    Raises:
        Blocked: no draft comes back as it was saved.
    """
    read, expected = world.author.get_draft(draft.uid), f"the draft {draft.uid} as it was"
    if not is_as_saved(read, draft):
        need_as_saved(world.author, world.draft())
    claim_as_saved(claim, draft, *before, read, expected=expected)


def is_as_saved(read: Exchange, draft: Draft) -> bool:
    """Whether a read shows a draft as it was saved."""
    answer = usable(read)
    return answer.success and readers.holds_document(answer, draft.document)


def claim_as_saved(claim: Claim, draft: Draft, *exchanges: Exchange, expected: str) -> None:
    """Claim that the last exchange, a read, shows a draft as it was saved."""
    answer = usable(exchanges[-1])
    seen = readers.difference(answer, draft.document) if answer.success else answer.quote()
    claim.holds(is_as_saved(exchanges[-1], draft), *exchanges, expected=expected, seen=seen)


def saved_beside(world: World) -> Draft | None:
    """A draft of the author that a write under another identifier must leave as it is; None if none can be saved."""
    if world.realm in DOCUMENT_REALMS:
        with suppress(Blocked, Untested):
            return world.draft()
    return None


def claim_left_alone(claim: Claim, world: World, draft: Draft | None, write: Exchange) -> None:
    """Claim that a write has left the draft beside it as it is, if there is one and drafts come back at all."""
    with suppress(Blocked):
        if draft:
            claim_unchanged(claim, world, draft, write)


def claim_replaced(claim: Claim, read: Exchange, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Claim that members that a later save left out are gone."""
    out = before.keys() - after.keys()
    if not out:
        raise Untested("which members may be left out of a draft of the settings is not known")
    left = readers.left_over(read.answer, after, out)
    seen = f"still there: {', '.join(sorted(left))}"
    claim.holds(not left, read, expected="nothing of the first save", seen=seen)


def is_there(account: Actor, uid: str) -> bool:
    """Whether the exists check or a read finds an account's draft; one is enough, as each has clauses of its own."""
    return usable(account.draft_exists(uid)).success or usable(account.get_draft(uid)).success


def need_removal(world: World, draft: Draft | None = None) -> bool:
    """Require that the exists check does not find a deleted draft."""
    uid = (draft or world.draft()).uid
    done(world.author.delete_draft(uid))
    gone = not usable(world.author.draft_exists(uid)).success
    return require(gone, "deleteDraft", "leaves the draft where it was, or draftExists finds it there")


def claim_kept_if_accepted(claim: Claim, saved: Exchange, read: Exchange, document: dict[str, Any]) -> str:
    """Claim that these members of a draft come back as they were saved, if the service accepted it.

    Args:
        document: The members to judge; the cases about whole drafts judge the others.

    Returns:
        `refused`, `errors` (the save reported errors) or `kept`, for the caller to observe.
    """
    if usable(saved).refusal:
        return "refused"
    if not taken(saved):
        return "errors"  # the document does not say whether that draft is kept
    claim.shows(read, document)
    return "kept"


def fate(world: World, uid: str, document: dict[str, Any]) -> str:
    """What happens to a document that may be refused: `refused …`, `kept` or `changed`."""
    saved = world.save(uid, document)
    if not taken(saved):
        return f"refused with {errors_array.outcome(saved)}"
    read = world.author.get_draft(uid).answer
    return "kept" if readers.holds_document(read, document) else "changed"


def published(world: World) -> str:
    """The first published record of the settings that still exists; an earlier attempt may have removed some."""
    identifiers: tuple[str, ...] = world.samples.setting("published_identifier")

    def first() -> str:
        for identifier in identifiers:
            if ended_in(world.try_creating(identifier), Row.TAKEN):
                return identifier
        named = f"setting realm.{world.author.realm}.published_identifier may name a record that is gone"
        raise Blocked(
            "createWorkflowRecordWithIdentifier", f"does not say that the identifier is in use: {named}"
        )

    return world.shared("published record", first)


def claim_draft_beside_published(claim: Claim, world: World, identifier: str) -> None:
    """Save a draft of a published document, with other texts if that is accepted, and claim that it comes back."""
    changed = save_reworded(world, identifier)
    if changed:
        claim.shows(world.author.get_draft(identifier), changed)
        return
    document = world.samples.document(identifier)
    saved = world.save(identifier, document, schema=world.samples.workflow_schema)
    named = f"the record that setting realm.{world.author.realm}.published_identifier names"
    require(taken(saved), "saveDraft", f"accepts no draft of {named}: {usable(saved).quote()}")


def save_reworded(world: World, identifier: str) -> dict[str, Any]:
    """Save a draft of the workflow's document with other texts.

    Returns:
        The members that differ; none if the document has no text, the draft is refused, or the realm has no drafts.
    """
    document = world.samples.document(identifier)
    changed = reworded(document)
    if not changed or world.realm not in DOCUMENT_REALMS:
        return {}
    sent = world.save(identifier, document | changed, schema=world.samples.workflow_schema)
    return changed if taken(sent) else {}


def prove(session: Session, actor: Actor, samples: Samples) -> None:
    """Check once in a run that the service accepts the stand-in record as a draft in a realm."""
    refusal = session.shared.once(f"{actor.realm} stand-in", lambda: _refusal(session, actor, samples))
    if refusal:
        instead = f"realm.{actor.realm}.draft_document may name a draft that is accepted"
        raise missing(samples.lacking, f", and a stand-in for a valid record {refusal}; {instead}")


def _refusal(session: Session, actor: Actor, samples: Samples) -> str:
    """Why the stand-in record was not accepted; empty if it was."""
    uid = session.namespace.uid()
    record = samples.stand_in(uid)
    query = {"schema": record["header"]["schema"]}
    try:
        exchange = actor.send("saveDraft", path={"uid": uid}, query=query, json=record)
        usable(exchange)
    except Blocked as obstacle:
        return obstacle.cause
    if taken(exchange):
        return ""
    not_of_the_way((exchange,))
    return f"was answered {exchange.answer.quote()}"


#: Clauses that must hold of ordinary drafts before special ones can be judged.
ORDINARY: Final = (
    *("draft-get-content", "draft-exists-present"),
    *("draft-exists-absent", "draft-delete-removes"),
)


def need_ordinary_life(world: World) -> None:
    """Require that a draft under an ordinary uid is saved, found, read and deleted at this moment."""
    draft = world.draft()
    need_as_saved(world.author, draft)
    done(world.author.draft_exists(draft.uid))
    done(world.author.get_draft_info(draft.uid))
    done(world.author.delete_draft(draft.uid))
    gone = not usable(world.author.draft_exists(draft.uid)).success
    require(gone, "deleteDraft", "leaves a draft that was saved under an ordinary uid")


def claim_life_under(world: World, expect: Expect, clause: str, uid: str) -> None:
    """Claim that a draft can be saved, found and read under a uid, and deleted, like one under an ordinary uid.

    Operations that the clause does not cover are not judged.
    """
    path, document = {"uid": uid}, world.samples.draft(uid)

    def accepted(exchange: Exchange) -> Exchange:
        if not usable(exchange).success:
            need_ordinary_life(world)
        for claim in expect.on(clause, str(exchange.operation)):
            claim.accepted(exchange)
        return exchange

    accepted(world.save(uid, document))
    read = accepted(world.author.send("getDraft", path=path))
    if not readers.holds_document(usable(read), document):
        need_ordinary_life(world)
    expect(clause, "getDraft").shows(read, document)
    for operation in ("draftExists", "getDraftInfo"):
        if [*expect.on(clause, operation)]:
            accepted(world.author.send(operation, path=path))
    for claim in expect.on(clause, "deleteDraft"):
        deleted = accepted(world.author.send("deleteDraft", path=path))
        check = world.author.send("draftExists", path=path)
        if usable(check).success:
            need_ordinary_life(world)
        claim.holds(not usable(check).success, deleted, check, expected=f"no draft under {uid}")


def claim_removed(expect: Expect, world: World, uid: str, deleted: Exchange) -> None:
    """Claim that the exists check does not find a deleted draft; if a read refuses it, the finding is on the check."""
    check, operation = world.author.draft_exists(uid), "deleteDraft"
    found = usable(check).success
    if found and usable(world.author.get_draft(uid)).refusal:
        operation = "draftExists"
    claim, expected = expect("draft-delete-removes", operation), "no draft any more"
    claim.holds(not found, deleted, check, expected=expected)
