"""Access to drafts: none without a token; the document does not say more."""

from registry_contracts.cases import Actor, Expect, Observer, World, contract, drafts, smoke, status

READS = ("getDraft", "getDraftInfo", "draftExists")


@smoke()
@contract("draft-save-needs-token", requests=2)
def test_creating_a_draft_needs_a_token(world: World, anonymous: Actor, expect: Expect) -> None:
    """Without a token no draft is created."""
    uid = world.uid()
    saved = world.save(uid, world.samples.draft(uid), by=anonymous)
    expect("draft-save-needs-token").refused(saved)
    drafts.claim_no_draft(expect("draft-save-needs-token"), world, [uid], saved)


@contract("draft-of-another", profile="nightly", requests=7)
def test_the_draft_of_another_account_is_observed(world: World, other: Actor, observe: Observer) -> None:
    """The document does not say what an account may do with another account's draft."""
    uid = world.draft().uid
    for operation in READS:
        observe("draft-of-another", operation, status(other.send(operation, path={"uid": uid})))
    observe("draft-of-another", "saveDraft", status(world.save(uid, world.samples.draft(uid), by=other)))
    observe("draft-of-another", "deleteDraft", status(other.delete_draft(uid)))


@contract("draft-by-restricted", profile="nightly", requests=8)
def test_an_account_without_rights_is_observed(world: World, restricted: Actor, observe: Observer) -> None:
    """The document does not say how draft operations answer an account without rights."""
    uid, own = world.draft().uid, world.uid()
    for operation in READS:
        observe("draft-by-restricted", operation, status(restricted.send(operation, path={"uid": uid})))
    saved = world.save(own, world.samples.draft(own), by=restricted)
    observe("draft-by-restricted", "saveDraft", status(saved))
    observe("draft-by-restricted", "deleteDraft", status(restricted.delete_draft(uid)))


@contract("draft-of-locked-record", requests=3)
def test_the_draft_of_a_locked_record_is_observed(world: World, observe: Observer) -> None:
    """The document does not say whether the draft of a record that is locked for workflow can still be read."""
    locked = str(world.samples.setting("locked_identifier"))
    for operation in READS:
        read = world.author.send(operation, path={"uid": locked})
        observe("draft-of-locked-record", operation, status(read))
