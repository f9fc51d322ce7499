"""Identifiers: every near miss of the rule is refused; every valid one names a separate document."""

import pytest

from registry_contracts.cases import (
    Deal,
    Expect,
    Observer,
    OrdinaryRequests,
    Properties,
    World,
    contract,
    identifiers,
    shape,
    smoke,
)

NearMisses = identifiers.NearMisses


@pytest.fixture
def misses(world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str) -> NearMisses:
    """Requests of the case's operation that are valid except for their identifier."""
    return NearMisses(operation, world, ordinary, expect)


@contract(*identifiers.MISS_CLAUSES, "uid-refusal-answer")
@contract(operations=identifiers.LOOKS, requests=2.6, dealt=15, nightly=48)
def test_a_near_miss_of_the_rule_finds_nothing(
    misses: NearMisses, observe: Observer, properties: Properties, deal: Deal, operation: str
) -> None:
    """A uid that slightly breaks the rule is refused, and not corrected to the uid of an existing record."""
    misses.claim_all_refused(properties, deal)
    observe("uid-refusal-answer", operation, shape(misses.refused) if misses.refused else None)


@smoke("saveDraft", values=2, requests=7)
@contract(*identifiers.MISS_CLAUSES, "uid-refusal-answer")
@contract(operations=identifiers.STORES, files=1, requests=8, dealt=25, nightly=70)
def test_a_near_miss_of_the_rule_stores_nothing(
    misses: NearMisses, observe: Observer, properties: Properties, deal: Deal, operation: str
) -> None:
    """A draft or file under a uid that slightly breaks the rule is refused, and not stored."""
    misses.claim_all_refused(properties, deal)
    misses.claim_nothing_left(deal)
    observe("uid-refusal-answer", operation, shape(misses.refused) if misses.refused else None)
