"""Valid but unusual uids: of any length, of hyphens, underscores or digits alone, percent-encoded."""

import string

import pytest

from registry_contracts.cases import Expect, RealmSettings, World, contract, drafts, identifiers, smoke

DRAFT = ("saveDraft", "getDraft", "draftExists", "deleteDraft")


@smoke("128", requests=11)
@pytest.mark.parametrize(
    ("clause", "length"),
    [
        pytest.param(clause, length, id=str(length), marks=contract(clause))
        for clause, length in (("uid-shortest", 11), ("uid-longest", 128))
    ],
)
@contract(operations=(*DRAFT, "getDraftInfo"), requests=6)
def test_a_uid_at_the_end_of_the_range_is_accepted(
    world: World, expect: Expect, clause: str, length: int
) -> None:
    """A uid of 11 or of 128 characters names a document in every draft operation."""
    drafts.claim_life_under(world, expect, clause, world.uid(length))


@pytest.mark.parametrize("sign", ["-", pytest.param("_", marks=contract(turns=True))])
@contract("uid-hyphens-only", operations=DRAFT, requests=5)
def test_one_sign_alone_is_enough(
    world: World, settings: RealmSettings, realm: str, expect: Expect, sign: str
) -> None:
    """A uid may consist of hyphens alone, or of underscores alone."""
    uid = identifiers.spare(settings, realm, f"{sign}+")
    drafts.claim_life_under(world, expect, "uid-hyphens-only", uid)


@contract("uid-digits-only", operations=DRAFT, requests=5, turns=True)
def test_digits_alone_are_enough(world: World, expect: Expect) -> None:
    """A uid may consist of digits alone."""
    drafts.claim_life_under(world, expect, "uid-digits-only", world.fresh.without_prefix(string.digits))


@contract("uid-any-kind", "uid-hyphen", "uid-underscore", "uid-digits-only", operations=DRAFT[:3])
@contract(relies_on=drafts.ORDINARY[:1], requests=16)
def test_identifiers_of_every_kind_name_drafts(world: World, expect: Expect) -> None:
    """A uid of letters alone, of digits alone, with a hyphen or an underscore first, or of any length names a draft."""
    identifiers.claim_every_kind(world, expect)


@contract("uid-percent-encoding", operations=DRAFT[:3], relies_on=drafts.ORDINARY[:1], requests=5)
def test_percent_encoding_makes_no_difference(world: World, expect: Expect) -> None:
    """A uid with every character percent-encoded is the same uid."""
    uid, other = world.uid(), world.uid()
    draft, encoded = world.draft(uid), identifiers.percent_encoding(uid)
    read = world.author.get_draft(uid, address=encoded)
    expect("uid-percent-encoding", "getDraft").shows(read, draft.document)
    document = world.samples.draft(other)
    saved = world.save(other, document, address=identifiers.percent_encoding(other))
    expect("uid-percent-encoding", "saveDraft").accepted(saved)
    expect("uid-percent-encoding", "getDraft").shows(world.author.get_draft(other), document)
    found = world.author.draft_exists(uid, address=encoded)
    expect("uid-percent-encoding", "draftExists").accepted(found)
