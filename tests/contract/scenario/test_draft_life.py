"""The life of a draft: saved, read, checked, saved again, deleted (also beside a published version), saved anew."""

from registry_contracts.cases import (
    Expect,
    Observer,
    Row,
    World,
    comparison,
    contact_requests,
    contract,
    done,
    drafts,
    ended_in,
    readers,
    require,
    shape,
    smoke,
)


@contract("draft-save-creates", "draft-save-answer", requests=3)
def test_a_draft_can_be_saved(world: World, expect: Expect, observe: Observer) -> None:
    """A save creates the draft of a document that has none yet."""
    uid = world.uid()
    saved = world.save(uid, world.samples.draft(uid))
    contact_requests.claim_accepted(expect("draft-save-creates"), saved, world.samples)
    there = drafts.is_there(world.author, uid)
    expect("draft-save-creates").holds(there, saved, expected="the saved draft is there", seen="no draft")
    observe("draft-save-answer", "saveDraft", shape(saved))


@smoke()
@contract("draft-get-content", "draft-header-kept", "draft-get-answer", requests=1)
def test_a_saved_draft_is_returned_in_full(world: World, expect: Expect, observe: Observer) -> None:
    """A read returns the full content of a draft, with every member of a record that has all fields."""
    draft = world.shared_draft()
    answer = world.author.get_draft(draft.uid)
    expect("draft-get-content").shows(answer, draft.document)
    lost = readers.header_missing(answer.answer, draft.document)
    expected, seen = "the header that was saved", f"no {lost}"
    expect("draft-header-kept").holds(not lost, answer, expected=expected, seen=seen)
    observe("draft-get-answer", "getDraft", comparison.shape(answer))


@smoke()
@contract("draft-exists-present", requests=1)
def test_a_saved_draft_exists(world: World, expect: Expect) -> None:
    """The exists check succeeds for a saved draft."""
    draft = world.shared_draft()
    expect("draft-exists-present").accepted(world.author.draft_exists(draft.uid))


@smoke()
@contract("draft-info-present", "draft-info-answer", requests=1)
def test_a_saved_draft_has_info(world: World, expect: Expect, observe: Observer) -> None:
    """The info of a draft is answered with a success that holds metadata: JSON that is not empty."""
    draft = world.shared_draft()
    info = world.author.get_draft_info(draft.uid)
    expect("draft-info-present").accepted(info)
    expect("draft-info-present").meets("metadata", info)
    observe("draft-info-answer", "getDraftInfo", shape(info))


@smoke()
@contract("draft-delete-removes", "draft-delete-answer", relies_on=["draft-exists-absent"], requests=3)
def test_a_deleted_draft_is_gone(world: World, expect: Expect, observe: Observer) -> None:
    """A deleted draft is not found by the exists check; if a read refuses it, a check that finds it is to blame."""
    draft = world.draft()
    gone = world.author.delete_draft(draft.uid)
    expect("draft-delete-removes", "deleteDraft").accepted(gone)
    drafts.claim_removed(expect, world, draft.uid, gone)
    observe("draft-delete-answer", "deleteDraft", shape(gone))


@smoke()
@contract("draft-exists-absent", requests=1)
def test_a_draft_that_nobody_saved_does_not_exist(world: World, expect: Expect) -> None:
    """The exists check does not succeed for a uid without a saved draft."""
    expect("draft-exists-absent").refused(world.author.draft_exists(world.uid()))


@smoke()
@contract("draft-save-updates", "draft-save-replaces", relies_on=["draft-get-content"], requests=5)
def test_a_later_save_replaces_the_content(world: World, expect: Expect) -> None:
    """The last of three saves counts: a read returns its values, and what it leaves out of the first is gone."""
    draft = world.draft()
    later = world.samples.short_draft(draft.uid, firstName="Rachel", phones=["+1 555 0100"])
    done(world.save(draft.uid, world.samples.draft(draft.uid, middleName="Louise")))
    expect("draft-save-updates", "saveDraft").accepted(world.save(draft.uid, later))
    read = world.author.get_draft(draft.uid)
    expect("draft-save-updates", "getDraft").shows(read, later)
    drafts.claim_replaced(expect("draft-save-replaces", "saveDraft"), read, draft.document, later)


@contract("draft-get-absent", "draft-info-absent", "draft-failure-status")
@contract(operations=["getDraft", "getDraftInfo"], requests=2)
def test_a_draft_that_nobody_saved_cannot_be_read(world: World, expect: Expect, observe: Observer) -> None:
    """Reading a draft that does not exist, or its info, is refused."""
    uid = world.uid()
    read, info = world.author.get_draft(uid), world.author.get_draft_info(uid)
    expect("draft-get-absent").refused(read)
    expect("draft-info-absent").refused(info)
    observe("draft-failure-status", "getDraft", shape(read))
    observe("draft-failure-status", "getDraftInfo", shape(info))


@contract("draft-save-after-delete", "draft-delete-content-gone", "draft-delete-removes", requests=7)
@contract(relies_on=["draft-get-content", "draft-exists-absent"])
def test_a_deleted_draft_can_be_saved_anew(world: World, expect: Expect) -> None:
    """After a deletion a draft can be saved again; only its new content is there, and it can be deleted again."""
    uid = world.uid()
    draft = world.draft(uid, world.samples.draft(uid, middleName=f"deleted {uid}"))
    deleted = world.author.delete_draft(uid)
    done(deleted)
    anew = world.samples.short_draft(uid, firstName="Rachel")
    expect("draft-save-after-delete", "saveDraft").accepted(world.save(uid, anew))
    read = world.author.get_draft(uid)
    expect("draft-save-after-delete", "saveDraft").shows(read, anew)
    claim, nothing = expect("draft-delete-content-gone", "getDraft"), f"deleted {uid}" not in read.answer.text
    claim.holds(nothing, draft.exchange, deleted, read, expected="nothing of the deleted draft")
    again = world.author.delete_draft(uid)
    expect("draft-delete-removes", "deleteDraft").accepted(again)
    drafts.claim_removed(expect, world, uid, again)


@contract("draft-delete-keeps-published", "draft-delete-removes", "draft-get-content")
@contract(operations=["deleteDraft", "draftExists", "getDraft"], requests=7)
def test_deleting_the_draft_leaves_the_published_version(world: World, expect: Expect) -> None:
    """A published document has a separate draft; after that is deleted, the document's identifier is still in use."""
    identifier = drafts.published(world)
    drafts.claim_draft_beside_published(expect("draft-get-content"), world, identifier)
    before = world.try_creating(identifier)
    why = "does not say that a published identifier is in use"
    require(ended_in(before, Row.TAKEN), before.operation or "", why)
    gone = world.author.delete_draft(identifier)
    done(gone)
    tried = world.try_creating(identifier)
    kept, expected = ended_in(tried, Row.TAKEN), f"{identifier} still in use"
    expect("draft-delete-keeps-published").holds(kept, gone, tried, expected=expected)
    drafts.claim_no_draft(expect("draft-delete-removes", "draftExists"), world, [identifier], gone)
