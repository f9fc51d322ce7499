"""Calls of one and of two accounts that overlap: what is promised of one holds while others are under way."""

from contracts.cases import Actor, Claims, Namespace, Samples, contract, overlapping

DRAFTS = ("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft")


@contract(*overlapping.CLAUSES, operations=DRAFTS, requests=30)
def test_overlapping_calls_on_drafts_keep_their_promises(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """Drafts that are saved, read and deleted at the same time are saved, read and deleted, each its own."""
    drafts = overlapping.OverlappingDrafts([author, author], samples, fresh, claim)
    drafts.keep_their_contents()
    drafts.are_deleted_alone()


@contract(*overlapping.CLAUSES, operations=DRAFTS, profile="nightly", requests=30)
def test_overlapping_calls_of_two_accounts_keep_their_promises(
    author: Actor, other: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """So are those of two accounts."""
    drafts = overlapping.OverlappingDrafts([author, other], samples, fresh, claim)
    drafts.keep_their_contents()
    drafts.are_deleted_alone()
