"""The length of a uid is 11 to 128 characters: both ends, and their neighbours."""

import pytest

from registry_contracts.cases import Expect, World, contract, drafts

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
