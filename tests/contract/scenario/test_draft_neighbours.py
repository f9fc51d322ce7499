"""Changes of a draft leave everything else unchanged, above all the published version."""

from registry_contracts.cases import Expect, Row, World, contract, done, drafts, ended_in, require


@contract(
    "draft-delete-keeps-published",
    "draft-delete-removes",
    "draft-get-content",
    operations=["deleteDraft", "draftExists", "getDraft"],
    requests=7,
)
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
