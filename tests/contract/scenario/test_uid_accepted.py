"""Uids that keep the rule in unusual ways: hyphens, underscores, digits alone, letter case, percent-encoding."""

from collections.abc import Callable

import pytest

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Namespace,
    RealmSettings,
    Samples,
    contract,
    drafts,
    identifiers,
)

DRAFT = ("saveDraft", "getDraft", "draftExists", "deleteDraft")


@contract("uid-hyphen", operations=DRAFT)
def test_hyphens_are_accepted(
    author: Actor,
    arrange: Arrangement,
    samples: Samples,
    settings: RealmSettings,
    fresh: Namespace,
    claim: Claims,
) -> None:
    """A hyphen is an allowed character, at the end and doubled too."""
    for uid in identifiers.without_hyphen(settings):
        drafts.works_for_ordinary_uid(author, arrange, uid)
    drafts.completes_lifecycle_under(author, samples, claim, "uid-hyphen", fresh.uid(20) + "--a-")


@pytest.mark.parametrize(
    ("clause", "pattern"),
    [
        pytest.param("uid-digits-only", "[0-9]+", id="digits", marks=contract("uid-digits-only")),
        pytest.param("uid-hyphens-only", "-+", id="hyphens", marks=contract("uid-hyphens-only")),
    ],
)
@contract(operations=DRAFT)
def test_one_kind_of_character_is_enough(
    author: Actor,
    arrange: Arrangement,
    samples: Samples,
    settings: RealmSettings,
    realm: str,
    claim: Claims,
    clause: str,
    pattern: str,
) -> None:
    """A uid may consist of digits or of hyphens alone."""
    uid = identifiers.spare(settings, realm, pattern)
    drafts.works_for_ordinary_uid(author, arrange)
    drafts.completes_lifecycle_under(author, samples, claim, clause, uid)


@contract("uid-hyphens-only", operations=DRAFT)
def test_underscores_alone_are_enough(
    author: Actor,
    arrange: Arrangement,
    samples: Samples,
    settings: RealmSettings,
    fresh: Namespace,
    realm: str,
    claim: Claims,
) -> None:
    """A uid may consist of underscores alone, where they are taken at all."""
    uid = identifiers.spare(settings, realm, "_+")
    drafts.works_for_ordinary_uid(author, arrange)
    arrange.draft(author, fresh.uid(20) + "_a")
    drafts.completes_lifecycle_under(author, samples, claim, "uid-hyphens-only", uid)


@contract("uid-percent-encoding", operations=("saveDraft", "getDraft", "draftExists"))
def test_percent_encoding_makes_no_difference(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """A uid written with every character percent-encoded is the same uid."""
    drafts.works_for_ordinary_uid(author, arrange)
    uid, other = fresh.uid(), fresh.uid()
    draft = arrange.draft(author, uid)

    def encoded(plain: str) -> Callable[[str], str]:
        return lambda address: address.replace(plain, identifiers.percent_encoded(plain))

    read = author.send("getDraft", path={"uid": uid}, address=encoded(uid))
    claim("uid-percent-encoding", "getDraft").shows(read, draft.document)
    found = author.send("draftExists", path={"uid": uid}, address=encoded(uid))
    claim("uid-percent-encoding", "draftExists").accepted(found)
    query = {"schema": samples.draft_schema}
    saved = author.send(
        "saveDraft", path={"uid": other}, query=query, json=samples.draft(other), address=encoded(other)
    )
    claim("uid-percent-encoding", "saveDraft").accepted(saved)
    drafts.draft_still_there(claim("uid-percent-encoding", "saveDraft"), author, arrange, other, saved)
