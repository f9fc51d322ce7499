"""Uids outside the rule where acceptance would change and disclose nothing: deleting drafts, listing attachments."""

from contracts.cases import (
    Expect,
    Namespace,
    Observer,
    OrdinaryRequests,
    World,
    attachments,
    contract,
    drafts,
    identifiers,
    requests,
    shape,
)


@contract(
    "uid-rule-without-effect",
    "draft-delete-spares-others",
    "uid-refusal-answer",
    operations=("deleteDraft",),
    requests=13,
)
def test_deleting_refuses_a_uid_outside_the_rule(world: World, expect: Expect, observe: Observer) -> None:
    """Delete does not tidy a bad uid into the uid of a draft that is there, and refuses it."""
    uid, longest = identifiers.base(world.fresh), identifiers.longest(world.fresh)
    world.draft(uid)
    world.draft(longest)
    deleted = requests.send_to_each_uid(world.author, "deleteDraft", _bad(world.fresh, uid, longest))
    for kept in (uid, longest):
        drafts.draft_still_there(
            expect("draft-delete-spares-others", "deleteDraft"), world.author, world, kept, *deleted[:1]
        )
    drafts.claim_each_refused(expect("uid-rule-without-effect", "deleteDraft"), deleted)
    observe("uid-refusal-answer", "deleteDraft", shape(deleted[0]))


@contract(
    "uid-rule-without-effect",
    "uid-listing-tidied",
    "uid-refusal-answer",
    operations=("listAttachments",),
    requests=8,
)
def test_listing_attachments_refuses_a_uid_outside_the_rule(
    world: World, ordinary: OrdinaryRequests, expect: Expect, observe: Observer
) -> None:
    """The attachments of a document are not listed under a bad uid that is left when its own is tidied."""
    uid = ordinary.request("attachmentExists").path["uid"]
    listed = requests.send_to_each_uid(
        world.author, "listAttachments", _bad(world.fresh, uid, identifiers.longest(world.fresh))
    )
    attachments.none_listed(expect("uid-listing-tidied"), world.author, uid, listed)
    drafts.claim_each_refused(expect("uid-rule-without-effect", "listAttachments"), listed)
    observe("uid-refusal-answer", "listAttachments", shape(listed[0]))


def _bad(fresh: Namespace, uid: str, longest: str) -> list[str]:
    """One uid of each sort outside the rule."""
    characters = {"space": " ", "slash": "/", "bracket": "]", "e acute": "é"}
    return [
        *identifiers.within(fresh, uid, characters),
        *identifiers.ended(uid, {"newline": "\n"}),
        *identifiers.longer(longest)[:1],
        *identifiers.too_short(fresh)[:1],
    ]


@contract("uid-on-contact-create", operations=("createContact",), requests=3)
def test_the_uid_parameter_of_contact_create_is_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer
) -> None:
    """Whether a uid given with contact create counts is not shown: a faulty contact is sent with and without."""
    request = ordinary.faulty("createContact")
    queries = {"without": {}, "valid": {"uid": world.uid()}, "invalid": {"uid": world.uid(8)}}
    seen = {
        what: requests.send(request, world.author, query=query).answer.status
        for what, query in queries.items()
    }
    observe("uid-on-contact-create", "createContact", seen)
