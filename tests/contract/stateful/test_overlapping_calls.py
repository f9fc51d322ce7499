"""Calls of one and of two accounts that overlap: what is promised of one holds while others are under way."""

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    ContactRequests,
    Namespace,
    Samples,
    contract,
    overlapping,
)

DRAFTS = ("saveDraft", "getDraft", "draftExists", "getDraftInfo", "deleteDraft")


@contract(*overlapping.CLAUSES, operations=DRAFTS, requests=28)
def test_overlapping_calls_on_drafts_keep_their_promises(
    author: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """Drafts that are saved, read and deleted at the same time are saved, read and deleted, each its own."""
    drafts = overlapping.OverlappingDrafts([author, author], samples, fresh, claim)
    drafts.keep_their_contents()
    drafts.are_deleted_alone()


@contract(*overlapping.CLAUSES, operations=DRAFTS, profile="nightly", requests=28)
def test_overlapping_calls_of_two_accounts_keep_their_promises(
    author: Actor, other: Actor, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """So are those of two accounts."""
    drafts = overlapping.OverlappingDrafts([author, other], samples, fresh, claim)
    drafts.keep_their_contents()
    drafts.are_deleted_alone()


@contract("attachment-download-same", operations=["createAttachment", "getAttachment"], requests=6)
def test_overlapping_uploads_keep_their_bytes(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims
) -> None:
    """Two files that are sent at the same time come back each as it was sent."""
    overlapping.files_are_kept_apart(author, arrange, fresh, claim)


@contract(
    "contact-mandatory-first-name", "contact-mandatory-last-name", operations=["updateContact"], requests=2
)
def test_overlapping_refusals_name_their_own_fields(
    contacts: ContactRequests, claim: Claims, operation: str
) -> None:
    """Of two records that are sent at the same time each is refused for the field that it lacks itself."""
    clauses = {
        "firstName": claim("contact-mandatory-first-name", operation),
        "lastName": claim("contact-mandatory-last-name", operation),
    }
    overlapping.refusals_are_kept_apart(contacts, clauses)
