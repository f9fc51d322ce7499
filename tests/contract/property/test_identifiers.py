"""Identifiers: every near miss of the rule is refused; whatever keeps it names a document of its own."""

import pytest

from contracts.cases import (
    Deal,
    Expect,
    Observer,
    OrdinaryRequests,
    Properties,
    World,
    contract,
    identifiers,
    neighbours,
    shape,
    smoke,
)

LOOKS = (
    "getDraft",
    "getDraftInfo",
    "draftExists",
    "updateContact",
    "attachmentExists",
    "getAttachment",
    "getAttachmentThumbnail",
)
STORES = ("saveDraft", "createAttachment", "persistTemporaryFile")
NearMisses = identifiers.NearMisses


@pytest.fixture
def misses(world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str) -> NearMisses:
    """Requests of the case's operation that are right but for their identifier."""
    return NearMisses(operation, world, ordinary, expect)


@contract(
    *identifiers.MISS_CLAUSES, "uid-refusal-answer", operations=LOOKS, requests=1.7, dealt=15, nightly=48
)
def test_a_near_miss_of_the_rule_finds_nothing(
    misses: NearMisses, observe: Observer, properties: Properties, deal: Deal, operation: str
) -> None:
    """A uid that breaks the rule by little is refused, and not tidied into the one that something is under."""
    misses.claim_all_refused(properties, deal)
    observe("uid-refusal-answer", operation, shape(misses.refused) if misses.refused else None)


@smoke("saveDraft", values=4, requests=13)
@contract(
    *identifiers.MISS_CLAUSES,
    "uid-refusal-answer",
    operations=STORES,
    files=1,
    requests=8,
    dealt=25,
    nightly=70,
)
def test_a_near_miss_of_the_rule_stores_nothing(
    misses: NearMisses, observe: Observer, properties: Properties, deal: Deal, operation: str
) -> None:
    """A uid that breaks the rule by little is refused where drafts and files are sent, and leaves neither."""
    misses.claim_all_refused(properties, deal)
    misses.claim_nothing_left(deal)
    observe("uid-refusal-answer", operation, shape(misses.refused) if misses.refused else None)


@contract(
    *neighbours.CLAUSES,
    operations=("saveDraft", "getDraft", "draftExists", "deleteDraft"),
    requests=17,
    dealt=34,
    nightly=147,
)
def test_neighbours_have_drafts_of_their_own(
    world: World, expect: Expect, properties: Properties, deal: Deal
) -> None:
    """Identifiers that differ in letter case, hyphens, their end or far behind each name a draft of their own."""
    drafts = neighbours.Neighbourhood(world, expect)
    first = neighbours.beside_each_other(deal)
    properties.hold(
        neighbours.names(),
        drafts.claim_told_apart,
        requests=4 * len(first),
        each=14,
        first=[first],
    )
