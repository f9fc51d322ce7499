from registry_contracts.cases import Expect, World, contract


@contract("draft-get-content", requests=3)
def test_a_draft_is_returned_in_full(world: World, expect: Expect) -> None:
    """A draft comes back as it was saved."""
    draft = world.draft()
    expect("draft-get-content").shows(world.author.get_draft(draft.uid), draft.document)
