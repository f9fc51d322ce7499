"""A change of one draft or file leaves a similar one unchanged: rows of action, relation and caller."""

import pytest

from registry_contracts.cases import Elsewhere, Expect, World, contract, factors, neighbours, table

ROWS = [pytest.param(each, id=str(each), marks=contract(each.clause)) for each in table.touches()]


@pytest.mark.parametrize("touch", ROWS)
@contract("draft-info-own", operations=("saveDraft", "deleteDraft"), requests=5.7, turns=True)
def test_a_neighbour_stays(
    request: pytest.FixtureRequest, world: World, elsewhere: Elsewhere, expect: Expect, touch: table.Touch
) -> None:
    """A draft stays, with its own info, when a similar one is saved, saved again or deleted, even if absent."""
    neighbours.claim_stays(expect, world, touch, request.getfixturevalue, elsewhere)


@pytest.mark.parametrize("relation", factors.FILE_RELATIONS)
@contract("attachment-create-listed", "attachment-download-same", "attachment-list-own-only")
@contract(requests=8.6, turns=True)
def test_a_file_stays(world: World, expect: Expect, relation: str) -> None:
    """A file is still listed and downloads after another document got a similar one, and after that one is gone."""
    neighbours.claim_file_stays(expect, world, relation)


@contract("attachment-several", operations=("createAttachment", "getAttachment"), requests=5, turns=True)
def test_files_whose_names_differ_in_letter_case_keep_their_bytes(world: World, expect: Expect) -> None:
    """Each of two listed files of a document downloads with its own bytes, even if one name is in capitals."""
    neighbours.claim_bytes_beside_name_in_capitals(expect("attachment-several", "getAttachment"), world)
