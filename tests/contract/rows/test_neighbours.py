"""A change of one draft or file leaves a similar one as it was: rows of action, relation and caller."""

import pytest

from registry_contracts.cases import Elsewhere, Expect, World, contract, factors, neighbours, table

#: A gate of one realm leaves out what others contain, or what takes another realm.
ROWS = [
    pytest.param(
        each,
        id=str(each),
        marks=contract(
            each.clause, several=each.deed == "save" or each.relation in ("unrelated", "other_realm")
        ),
    )
    for each in table.touches()
]
FILES = [
    pytest.param(each, marks=contract(several=each in ("same_name", "same_content")))
    for each in factors.FILE_RELATIONS
]


@pytest.mark.parametrize("touch", ROWS)
@contract(operations=("saveDraft", "deleteDraft"), requests=2.9, turns=True)
def test_a_neighbour_stays(
    request: pytest.FixtureRequest, world: World, elsewhere: Elsewhere, expect: Expect, touch: table.Touch
) -> None:
    """A draft stays as it was saved after a similar one was saved, saved again or deleted, or an absent one deleted."""
    neighbours.claim_stays(expect, world, touch, request.getfixturevalue, elsewhere)


@pytest.mark.parametrize("relation", FILES)
@contract(
    "attachment-create-listed", "attachment-download-same", "attachment-several", requests=8.4, turns=True
)
def test_a_file_stays(world: World, expect: Expect, relation: str) -> None:
    """A file is listed and returned after another document got a similar one, and after that one is gone."""
    neighbours.claim_file_stays(expect, world, relation)
