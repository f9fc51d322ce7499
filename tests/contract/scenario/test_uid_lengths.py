"""The length of a uid: 11 to 128 characters, at both ends and on both sides of them."""

import pytest

from contracts.cases import Expect, World, contract, drafts

READS = ("getDraft", "getDraftInfo", "draftExists")


@pytest.mark.parametrize(
    ("clause", "length"),
    [
        pytest.param("uid-shortest", 11, id="11", marks=contract("uid-shortest")),
        pytest.param("uid-longest", 128, id="128", marks=contract("uid-longest")),
    ],
)
@contract(operations=("saveDraft", *READS, "deleteDraft"), requests=6)
def test_a_uid_at_the_end_of_the_range_is_accepted(
    world: World, expect: Expect, clause: str, length: int
) -> None:
    """A uid of 11 or of 128 characters names a document in every draft operation."""
    drafts.claim_life_under(world, expect, clause, world.uid(length), also=["getDraftInfo"])


@pytest.mark.parametrize(
    ("clause", "length"),
    [
        pytest.param("uid-shortest", 12, id="12", marks=contract("uid-shortest")),
        pytest.param("uid-longest", 127, id="127", marks=contract("uid-longest")),
    ],
)
@contract(operations=("saveDraft", "getDraft", "draftExists", "deleteDraft"), requests=5, turns=True)
def test_a_uid_next_to_the_end_of_the_range_is_accepted(
    world: World, expect: Expect, clause: str, length: int
) -> None:
    """A uid of 12 or of 127 characters names a document, which is read, found and deleted under it."""
    drafts.claim_life_under(world, expect, clause, world.uid(length))
