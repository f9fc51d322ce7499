"""Uids that keep the rule in unusual ways: hyphens, underscores, digits alone, letter case, percent-encoding."""

import string

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
    long_lists,
    smoke,
)

DRAFT = ("saveDraft", "getDraft", "draftExists", "deleteDraft")


@smoke()
@contract("uid-hyphen", operations=DRAFT, requests=5.5)
def test_hyphens_are_accepted(
    author: Actor,
    arrange: Arrangement,
    settings: RealmSettings,
    fresh: Namespace,
    claim: Claims,
) -> None:
    """A hyphen is an allowed character, at the end and doubled too."""
    identifiers.hyphens_name_a_draft(author, arrange, settings, fresh, claim)


@contract("uid-digits-only", operations=DRAFT, requests=5)
def test_digits_alone_are_enough(
    author: Actor, arrange: Arrangement, fresh: Namespace, claim: Claims
) -> None:
    """A uid may consist of digits alone."""
    drafts.works_for_ordinary_uid(author, arrange)
    uid = fresh.without_prefix(string.digits)
    drafts.completes_lifecycle_under(author, arrange, claim, "uid-digits-only", uid)


@contract("uid-hyphens-only", operations=DRAFT, requests=5)
def test_hyphens_alone_are_enough(
    author: Actor,
    arrange: Arrangement,
    settings: RealmSettings,
    realm: str,
    claim: Claims,
) -> None:
    """A uid may consist of hyphens alone."""
    uid = identifiers.spare(settings, realm, "-+")
    drafts.works_for_ordinary_uid(author, arrange)
    drafts.completes_lifecycle_under(author, arrange, claim, "uid-hyphens-only", uid)


@contract("uid-hyphens-only", operations=DRAFT, requests=7)
def test_underscores_alone_are_enough(
    author: Actor,
    arrange: Arrangement,
    settings: RealmSettings,
    fresh: Namespace,
    realm: str,
    claim: Claims,
) -> None:
    """A uid may consist of underscores alone, where they are taken at all."""
    uid = identifiers.spare(settings, realm, "_+")
    drafts.works_for_ordinary_uid(author, arrange)
    arrange.draft(author, fresh.uid(20) + "_a")
    drafts.completes_lifecycle_under(author, arrange, claim, "uid-hyphens-only", uid)


@contract(
    "uid-any-kind", "uid-hyphen", "uid-underscore", "uid-digits-only", operations=DRAFT[:3], requests=16
)
def test_identifiers_of_every_kind_name_drafts(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """Letters alone, digits alone, a hyphen or an underscore first, and any length: each names a draft."""
    drafts.works_for_ordinary_uid(author, arrange)
    long_lists.claim_every_kind(arrange, author, samples, fresh, claim)


@smoke()
@contract(*identifiers.EVERY_SIGN_CLAUSES, operations=(*DRAFT, "getDraftInfo"), requests=7)
def test_one_uid_of_every_sign_names_a_draft(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """A uid of 128 signs of every sort names a draft, and one that is a hyphen shorter does not name it."""
    identifiers.every_sign_names_a_draft(author, arrange, samples, fresh, claim)


@contract("uid-percent-encoding", operations=("saveDraft", "getDraft", "draftExists"), requests=7)
def test_percent_encoding_makes_no_difference(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, claim: Claims
) -> None:
    """A uid written with every character percent-encoded is the same uid."""
    drafts.works_for_ordinary_uid(author, arrange)
    uid, other = fresh.uid(), fresh.uid()
    draft = arrange.draft(author, uid)
    encoded = identifiers.percent_encoding(uid)
    read = author.send("getDraft", path={"uid": uid}, address=encoded)
    claim("uid-percent-encoding", "getDraft").shows(read, draft.document)
    found = author.send("draftExists", path={"uid": uid}, address=encoded)
    claim("uid-percent-encoding", "draftExists").accepted(found)
    query, encoded = {"schema": samples.draft_schema}, identifiers.percent_encoding(other)
    path, document = {"uid": other}, samples.draft(other)
    saved = author.send("saveDraft", path=path, query=query, json=document, address=encoded)
    claim("uid-percent-encoding", "saveDraft").accepted(saved)
    drafts.draft_still_there(claim("uid-percent-encoding", "saveDraft"), author, arrange, other, saved)
