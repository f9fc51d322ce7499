"""The length of a uid: 11 to 128 characters, at both ends and on both sides of them."""

from functools import partial
from typing import Final

import pytest

from contracts.cases import (
    Expect,
    Observer,
    World,
    contract,
    drafts,
    identifiers,
    requests,
    shape,
)

READS = ("getDraft", "getDraftInfo", "draftExists")
_OUTSIDE: Final = {"uid-too-short": identifiers.too_short, "uid-too-long": identifiers.too_long}


@pytest.mark.parametrize(
    ("clause", "length"),
    [
        pytest.param("uid-shortest", 11, id="11", marks=contract("uid-shortest")),
        pytest.param("uid-longest", 128, id="128", marks=contract("uid-longest")),
    ],
)
@contract(operations=("saveDraft", *READS, "deleteDraft"), requests=6)
def test_a_uid_at_the_end_of_the_range_is_accepted(
    world: World,
    expect: Expect,
    clause: str,
    length: int,
) -> None:
    """A uid of 11 or of 128 characters names a document in every draft operation."""
    drafts.works_for_ordinary_uid(world.author, world)
    drafts.completes_lifecycle_under(world, expect, clause, world.uid(length), also=["getDraftInfo"])


@pytest.mark.parametrize(
    "clause",
    [
        pytest.param("uid-too-short", id="short", marks=contract("uid-too-short")),
        pytest.param("uid-too-long", id="long", marks=contract("uid-too-long")),
    ],
)
@contract("uid-refusal-answer", operations=("saveDraft", "draftExists"), requests=5.5)
def test_save_refuses_a_uid_outside_the_range(
    world: World,
    expect: Expect,
    observe: Observer,
    clause: str,
) -> None:
    """A uid of 10 or of 129 characters is refused, and no draft is stored, not under its first 128 either."""
    uids = _OUTSIDE[clause](world.fresh)
    saved = requests.save_each(world.author, world.samples, world, world.fresh, uids)
    drafts.claim_each_refused(expect(clause, "saveDraft"), saved)
    drafts.nothing_saved(partial(expect, clause), world.author, uids, identifiers.foldings(uids), *saved)
    observe("uid-refusal-answer", "saveDraft", shape(saved[0]))


@pytest.mark.parametrize(
    ("clause", "length"),
    [
        pytest.param("uid-shortest", 12, id="12", marks=contract("uid-shortest")),
        pytest.param("uid-longest", 127, id="127", marks=contract("uid-longest")),
    ],
)
@contract(operations=("saveDraft", "getDraft", "draftExists", "deleteDraft"), requests=5)
def test_a_uid_next_to_the_end_of_the_range_is_accepted(
    world: World,
    expect: Expect,
    clause: str,
    length: int,
) -> None:
    """A uid of 12 or of 127 characters names a document, which is read, found and deleted under it."""
    drafts.works_for_ordinary_uid(world.author, world)
    uid = world.uid(length)
    expect(clause, "saveDraft").accepted(
        drafts.save(world.author, world.samples, uid, world.samples.draft(uid))
    )
    expect(clause, "getDraft").accepted(world.author.get_draft(uid))
    expect(clause, "draftExists").accepted(world.author.draft_exists(uid))
    expect(clause, "deleteDraft").accepted(world.author.delete_draft(uid))
