"""Drafts with generated contents: an accepted save comes back, and a later save replaces it."""

from registry_contracts.cases import (
    Deal,
    Expect,
    Observer,
    Properties,
    World,
    contract,
    drawn_contents,
    smoke,
)


@smoke(requests=7)
@contract(*drawn_contents.CLAUSES, "draft-save-body")
@contract(operations=["getDraft", "saveDraft"], requests=8, nightly=125)
def test_any_content_that_was_saved_comes_back(
    world: World, expect: Expect, observe: Observer, properties: Properties, deal: Deal
) -> None:
    """A read returns the full content of the latest save, whatever values its members have."""
    drafts = drawn_contents.DrawnDrafts(world, expect)
    properties.hold(
        drawn_contents.successions(),
        drafts.claim_come_back,
        requests=24 // deal.realms,
        each=8,
        first=[drawn_contents.EVERYTHING, *[drawn_contents.LARGEST] * (properties.share > 1)],
    )
    observe("draft-save-body", "saveDraft", {"taken": drafts.taken})
