"""The life of a draft: saved, read, checked, saved again, deleted, saved anew."""

import itertools

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Namespace,
    Observer,
    Samples,
    comparison,
    contact_requests,
    contract,
    done,
    drafts,
    readers,
    shape,
    smoke,
)


@contract("draft-save-creates", "draft-save-answer", requests=3)
def test_a_draft_can_be_saved(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """Save creates the draft of a document that has none yet."""
    uid = fresh.uid()
    saved = drafts.save(author, samples, uid, samples.draft(uid))
    contact_requests.claim_accepted(claim("draft-save-creates"), saved, samples)
    there = drafts.is_there(author, uid)
    claim("draft-save-creates").holds(there, saved, expected="the saved draft is there", seen="no draft")
    observe("draft-save-answer", "saveDraft", shape(saved))


@smoke()
@contract("draft-get-content", "draft-header-kept", "draft-get-answer", requests=3)
def test_a_saved_draft_is_returned_in_full(
    author: Actor, arrange: Arrangement, claim: Claims, observe: Observer
) -> None:
    """Get returns the full draft content, with every member of a record that has all fields."""
    draft = arrange.draft(author)
    answer = author.send("getDraft", path={"uid": draft.uid})
    claim("draft-get-content").shows(answer, draft.document)
    lost = readers.header_missing(answer.answer, draft.document)
    claim("draft-header-kept").holds(
        not lost, answer, expected="the header that was saved", seen=f"no {lost}"
    )
    observe("draft-get-answer", "getDraft", comparison.place_of(answer.answer, draft.document))


@contract("draft-exists-present", requests=3)
def test_a_saved_draft_exists(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """The exists check succeeds for a draft that was saved."""
    draft = arrange.draft(author)
    claim("draft-exists-present").accepted(author.send("draftExists", path={"uid": draft.uid}))


@smoke()
@contract("draft-info-present", "draft-info-names-document", "draft-info-answer", requests=3)
def test_a_saved_draft_has_info(
    author: Actor, arrange: Arrangement, claim: Claims, observe: Observer
) -> None:
    """The info of a draft is metadata that names the document; an empty answer is none."""
    draft = arrange.draft(author)
    info = author.send("getDraftInfo", path={"uid": draft.uid})
    claim("draft-info-present").accepted(info)
    claim("draft-info-present").meets("metadata", info)
    claim("draft-info-names-document").carries(info, draft.uid)
    observe("draft-info-answer", "getDraftInfo", shape(info))


@contract("draft-info-own", requests=6)
def test_the_info_of_a_draft_is_not_that_of_another(
    author: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """Of two drafts each has info of its own; none names the other alone."""
    for draft, other in itertools.permutations((arrange.draft(author), arrange.draft(author))):
        info = author.send("getDraftInfo", path={"uid": draft.uid})
        done(info)
        claim("draft-info-own").holds(
            readers.names(info.answer.json, draft.uid) or not readers.names(info.answer.json, other.uid),
            info,
            expected=f"info of {draft.uid}, and not of {other.uid}",
            seen=info.answer.quote(),
        )


@contract("draft-delete-removes", "draft-delete-answer", requests=4)
def test_a_deleted_draft_is_gone(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """After a draft is deleted, the exists check no longer finds it."""
    drafts.require_exists_check(author, fresh.uid())
    draft = arrange.draft(author)
    gone = author.send("deleteDraft", path={"uid": draft.uid})
    claim("draft-delete-removes", "deleteDraft").accepted(gone)
    drafts.removed(claim, author, draft.uid, gone)
    observe("draft-delete-answer", "deleteDraft", shape(gone))


@contract("draft-exists-absent", requests=1)
def test_a_draft_that_nobody_saved_does_not_exist(author: Actor, fresh: Namespace, claim: Claims) -> None:
    """The exists check does not succeed for a uid under which nothing was saved."""
    claim("draft-exists-absent").refused(author.send("draftExists", path={"uid": fresh.uid()}))


@contract("draft-save-updates", "draft-save-replaces", requests=6)
def test_a_later_save_replaces_the_content(
    author: Actor, arrange: Arrangement, samples: Samples, claim: Claims
) -> None:
    """A later save updates the draft: new values are read back, and members left out are gone."""
    draft = arrange.draft(author)
    drafts.read_as_saved(author, draft)
    later = samples.short_draft(draft.uid, firstName="Rachel", phones=["+1 555 0100"])
    done(drafts.save(author, samples, draft.uid, samples.draft(draft.uid, middleName="Louise")))
    claim("draft-save-updates", "saveDraft").accepted(drafts.save(author, samples, draft.uid, later))
    read = author.send("getDraft", path={"uid": draft.uid})
    claim("draft-save-updates", "getDraft").shows(read, later)
    drafts.replaced(claim("draft-save-replaces", "saveDraft"), read, draft.document, later)


@contract("draft-save-creates", requests=3)
def test_a_second_account_saves_drafts(
    other: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """Save creates drafts for every account that may write, not for one alone."""
    uid = fresh.uid()
    saved = drafts.save(other, samples, uid, samples.draft(uid))
    contact_requests.claim_accepted(claim("draft-save-creates"), saved, samples)
    drafts.stored(claim("draft-save-creates"), other, uid, saved)


@contract(
    "draft-delete-content-gone", "draft-info-absent", operations=["getDraft", "getDraftInfo"], requests=6
)
def test_a_deleted_draft_is_not_read_any_more(author: Actor, arrange: Arrangement, claim: Claims) -> None:
    """After a draft is deleted, reading it no longer gives its content, and it has no info."""
    draft = arrange.draft(author)
    drafts.read_as_saved(author, draft)
    gone = drafts.deleted(author, draft.uid)
    drafts.nothing_of(claim("draft-delete-content-gone", "getDraft"), author, draft, gone)
    claim("draft-info-absent").refused(author.send("getDraftInfo", path={"uid": draft.uid}))


@contract(
    "draft-get-absent",
    "draft-info-absent",
    "draft-failure-status",
    operations=["getDraft", "getDraftInfo"],
    requests=2,
)
def test_a_draft_that_nobody_saved_cannot_be_read(
    author: Actor, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """Reading a draft that does not exist, or its info, is refused."""
    uid = fresh.uid()
    read, info = (author.send(operation, path={"uid": uid}) for operation in ("getDraft", "getDraftInfo"))
    claim("draft-get-absent").refused(read)
    claim("draft-info-absent").refused(info)
    observe("draft-failure-status", "getDraft", shape(read))
    observe("draft-failure-status", "getDraftInfo", shape(info))


@contract("draft-save-after-delete", "draft-delete-content-gone", requests=6)
def test_a_deleted_draft_can_be_saved_anew(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """A draft can be saved again under a uid whose draft was deleted, and only the new content is there."""
    uid = fresh.uid()
    draft = arrange.draft(author, uid, samples.draft(uid, middleName=f"deleted {uid}"))
    deleted = drafts.deleted(author, uid)
    anew = samples.short_draft(uid, firstName="Rachel")
    claim("draft-save-after-delete", "saveDraft").accepted(drafts.save(author, samples, uid, anew))
    read = author.send("getDraft", path={"uid": uid})
    claim("draft-save-after-delete", "saveDraft").shows(read, anew)
    gone = claim("draft-delete-content-gone", "getDraft")
    drafts.nothing_shown_of(gone, f"deleted {uid}", draft, deleted, read)
