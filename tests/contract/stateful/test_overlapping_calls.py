"""Calls of one and of two accounts that overlap: what is promised of one holds while others are under way."""

from contracts.cases import Actor, Expect, World, contract, drafts, overlapping

DRAFTS = ("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft")


@contract(*overlapping.CLAUSES, operations=DRAFTS, requests=30, turns=True)
def test_overlapping_calls_on_drafts_keep_their_promises(world: World, expect: Expect) -> None:
    """Drafts that are saved, read and deleted at the same time are saved, read and deleted, each its own."""
    drafts.need_as_saved(world.author, world.shared_draft())
    overlapping.OverlappingDrafts([world.author, world.author], world, expect).claim_promises_hold()


@contract(*overlapping.CLAUSES, operations=DRAFTS, profile="nightly", requests=30)
def test_overlapping_calls_of_two_accounts_keep_their_promises(
    world: World, other: Actor, expect: Expect
) -> None:
    """So are those of two accounts."""
    drafts.need_as_saved(world.author, world.shared_draft())
    overlapping.OverlappingDrafts([world.author, other], world, expect).claim_promises_hold()


@contract(
    "attachment-download-same", operations=["createAttachment", "getAttachment"], requests=6, turns=True
)
def test_overlapping_uploads_keep_their_bytes(world: World, expect: Expect) -> None:
    """Two files that are sent at the same time come back each as it was sent."""
    overlapping.claim_files_kept_apart(world, expect)
