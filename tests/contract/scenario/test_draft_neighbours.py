"""What happens to one draft leaves everything else as it was: other drafts, and the published version."""

from contracts.cases import Actor, Arrangement, Claims, Samples, contract, done, drafts, require


@contract("draft-delete-spares-others", requests=7)
def test_deleting_a_draft_spares_those_of_other_accounts(
    author: Actor, other: Actor, arrange: Arrangement, claim: Claims
) -> None:
    """The draft of another account stays when an account deletes one of its own."""
    theirs, mine = arrange.draft(other), arrange.draft(author)
    drafts.read_as_saved(other, theirs)
    gone = author.send("deleteDraft", path={"uid": mine.uid})
    done(gone)
    drafts.stays(claim("draft-delete-spares-others"), other, theirs, gone)


@contract(
    "draft-delete-keeps-published",
    "draft-delete-removes",
    "draft-get-content",
    operations=["deleteDraft", "draftExists", "getDraft"],
    requests=7,
)
def test_deleting_the_draft_leaves_the_published_version(
    author: Actor, arrange: Arrangement, samples: Samples, claim: Claims
) -> None:
    """A published document has a draft of its own; deleted, it exists no more, and the identifier stays in use."""
    identifier = drafts.published(arrange, author, samples)
    drafts.replaced_beside_published(claim("draft-get-content"), author, samples, identifier)
    before = drafts.identifier_in_use(author, samples, identifier)
    why = "does not say that a published identifier is in use"
    require(drafts.refused_as_in_use(before), before.operation or "", why)
    gone = author.send("deleteDraft", path={"uid": identifier})
    done(gone)
    tried = drafts.identifier_in_use(author, samples, identifier)
    kept, expected = drafts.refused_as_in_use(tried), f"{identifier} still in use"
    claim("draft-delete-keeps-published").holds(
        kept, gone, tried, expected=expected, seen=tried.answer.quote()
    )
    drafts.no_draft_under(claim("draft-delete-removes", "draftExists"), author, [identifier], gone)
