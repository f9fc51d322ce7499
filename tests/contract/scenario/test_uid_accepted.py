"""Valid but unusual uids: hyphens, underscores, digits alone, letter case, percent-encoding."""

import string

from registry_contracts.cases import Expect, RealmSettings, World, contract, drafts, identifiers, smoke

DRAFT = ("saveDraft", "getDraft", "draftExists", "deleteDraft")


@contract("uid-hyphen", operations=DRAFT, requests=5.5, turns=True)
def test_hyphens_are_accepted(world: World, expect: Expect) -> None:
    """A hyphen is an allowed character, even at the end and doubled."""
    drafts.claim_life_under(world, expect, "uid-hyphen", world.uid(20) + "--a-")


@contract("uid-digits-only", operations=DRAFT, requests=5)
def test_digits_alone_are_enough(world: World, expect: Expect) -> None:
    """A uid may consist of digits alone."""
    uid = world.fresh.without_prefix(string.digits)
    drafts.claim_life_under(world, expect, "uid-digits-only", uid)


@contract("uid-hyphens-only", operations=DRAFT, requests=5)
def test_hyphens_alone_are_enough(world: World, settings: RealmSettings, realm: str, expect: Expect) -> None:
    """A uid may consist of hyphens alone."""
    uid = identifiers.spare(settings, realm, "-+")
    drafts.claim_life_under(world, expect, "uid-hyphens-only", uid)


@contract("uid-hyphens-only", operations=DRAFT, requests=7, turns=True)
def test_underscores_alone_are_enough(
    world: World, settings: RealmSettings, realm: str, expect: Expect
) -> None:
    """A uid may consist of underscores alone, if the service accepts underscores."""
    uid = identifiers.spare(settings, realm, "_+")
    world.draft(world.uid(20) + "_a")
    drafts.claim_life_under(world, expect, "uid-hyphens-only", uid)


@contract(
    "uid-any-kind",
    "uid-hyphen",
    "uid-underscore",
    "uid-digits-only",
    operations=DRAFT[:3],
    relies_on=["draft-get-content"],
    requests=16,
    turns=True,
)
def test_identifiers_of_every_kind_name_drafts(world: World, expect: Expect) -> None:
    """A uid of letters alone, of digits alone, with a hyphen or an underscore first, or of any length names a draft."""
    identifiers.claim_every_kind(world, expect)


@smoke()
@contract(*identifiers.SIGN_CLAUSES, operations=(*DRAFT, "getDraftInfo"), requests=10)
def test_one_uid_of_every_sign_names_a_draft(world: World, expect: Expect) -> None:
    """A uid of 128 characters of every kind names a draft, and no similar uid does."""
    identifiers.claim_every_sign(world, expect)


@contract("uid-percent-encoding", operations=("saveDraft", "getDraft", "draftExists"), requests=5)
@contract(relies_on=["draft-get-content", "draft-exists-present"])
def test_percent_encoding_makes_no_difference(world: World, expect: Expect) -> None:
    """A uid with every character percent-encoded is the same uid."""
    uid, other = world.uid(), world.uid()
    draft = world.draft(uid)
    encoded = identifiers.percent_encoding(uid)
    read = world.author.get_draft(uid, address=encoded)
    expect("uid-percent-encoding", "getDraft").shows(read, draft.document)
    document = world.samples.draft(other)
    saved = world.save(other, document, address=identifiers.percent_encoding(other))
    expect("uid-percent-encoding", "saveDraft").accepted(saved)
    expect("uid-percent-encoding", "getDraft").shows(world.author.get_draft(other), document)
    found = world.author.draft_exists(uid, address=encoded)
    expect("uid-percent-encoding", "draftExists").accepted(found)
