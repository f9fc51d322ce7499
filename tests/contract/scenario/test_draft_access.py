"""Rights on drafts: none without a token; the rest is not shown."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Draft,
    Namespace,
    Observer,
    Samples,
    contract,
    drafts,
    readers,
    status,
)

READS = ("getDraft", "getDraftInfo", "draftExists")


@contract("draft-save-needs-token", requests=2)
def test_creating_a_draft_needs_a_token(
    author: Actor, anonymous: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """Without a token no draft is created."""
    uid = fresh.uid()
    document = samples.draft(uid)
    saved = drafts.save(anonymous, samples, uid, document)
    claim("draft-save-needs-token").refused(saved)
    drafts.nothing_of(claim("draft-save-needs-token"), author, Draft(uid, document, saved))


@contract("draft-save-needs-token", requests=5)
def test_updating_a_draft_needs_a_token(
    author: Actor, anonymous: Actor, arrange: Arrangement, samples: Samples, claim: Claims
) -> None:
    """Without a token a draft stays as it was."""
    draft = arrange.draft(author)
    drafts.read_as_saved(author, draft)
    saved = drafts.save(anonymous, samples, draft.uid, samples.draft(draft.uid, firstName="Rachel"))
    claim("draft-save-needs-token").refused(saved)
    drafts.stays(claim("draft-save-needs-token"), author, draft, saved)


@contract("draft-get-needs-token", requests=1)
def test_reading_a_draft_needs_a_token(
    author: Actor, anonymous: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """Without a token the content of a draft is not given."""
    draft = arrange.shared_draft(author)
    read = anonymous.send("getDraft", path={"uid": draft.uid})
    claim("draft-get-needs-token").refused(read)
    hidden = not readers.holds_document(read.answer, draft.document)
    claim("draft-get-needs-token").holds(hidden, read, expected="no content", seen=read.answer.quote())


@contract("draft-info-needs-token", "draft-exists-needs-token", requests=2)
def test_info_and_existence_of_a_draft_need_a_token(
    author: Actor, anonymous: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """Without a token a draft that is there has no info and is not said to exist."""
    draft = arrange.shared_draft(author)
    claim("draft-info-needs-token").refused(anonymous.send("getDraftInfo", path={"uid": draft.uid}))
    claim("draft-exists-needs-token").refused(anonymous.send("draftExists", path={"uid": draft.uid}))


@contract("draft-delete-needs-token", requests=4)
def test_deleting_a_draft_needs_a_token(
    author: Actor, anonymous: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """Without a token a draft is not deleted."""
    draft = arrange.draft(author)
    gone = anonymous.send("deleteDraft", path={"uid": draft.uid})
    claim("draft-delete-needs-token").refused(gone)
    there = drafts.is_there(author, draft.uid)
    claim("draft-delete-needs-token").holds(there, gone, expected="the draft stays", seen="no draft any more")


@contract("draft-of-another", profile="nightly", requests=7)
def test_the_draft_of_another_account_is_observed(
    author: Actor, other: Actor, arrange: Arrangement, samples: Samples, observe: Observer
) -> None:
    """What one account may do with the draft of another is not shown."""
    uid = arrange.draft(author).uid
    for operation in READS:
        observe("draft-of-another", operation, status(other.send(operation, path={"uid": uid})))
    observe("draft-of-another", "saveDraft", status(drafts.save(other, samples, uid, samples.draft(uid))))
    observe("draft-of-another", "deleteDraft", status(other.send("deleteDraft", path={"uid": uid})))


@contract("draft-by-restricted", profile="nightly", requests=8)
def test_an_account_without_rights_is_observed(
    author: Actor,
    restricted: Actor,
    arrange: Arrangement,
    samples: Samples,
    fresh: Namespace,
    observe: Observer,
) -> None:
    """What an account without rights meets on the draft operations is not shown."""
    uid, own = arrange.draft(author).uid, fresh.uid()
    for operation in READS:
        observe("draft-by-restricted", operation, status(restricted.send(operation, path={"uid": uid})))
    saved = drafts.save(restricted, samples, own, samples.draft(own))
    observe("draft-by-restricted", "saveDraft", status(saved))
    observe("draft-by-restricted", "deleteDraft", status(restricted.send("deleteDraft", path={"uid": uid})))


@contract("draft-of-locked-record", requests=3)
def test_the_draft_of_a_locked_record_is_observed(author: Actor, samples: Samples, observe: Observer) -> None:
    """Whether the draft of a record that is locked for workflow can still be read is not shown."""
    locked = str(samples.setting("locked_identifier"))
    for operation in READS:
        observe("draft-of-locked-record", operation, status(author.send(operation, path={"uid": locked})))
