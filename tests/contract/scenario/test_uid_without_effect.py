"""Uids outside the rule for lists of attachments, and uids in the creation of contacts."""

from registry_contracts.cases import (
    UID_LONGEST,
    UID_SHORTEST,
    Deal,
    Expect,
    Observer,
    OrdinaryRequests,
    World,
    attachments,
    contract,
    drafts,
    identifiers,
    requests,
    shape,
    smoke,
)


@smoke(requests=2)
@contract("uid-rule-without-effect", "uid-listing-tidied", "uid-refusal-answer")
@contract(operations=("listAttachments",), requests=8)
def test_listing_attachments_refuses_a_uid_outside_the_rule(
    world: World, ordinary: OrdinaryRequests, deal: Deal, expect: Expect, observe: Observer
) -> None:
    """Attachments are not listed under an invalid uid that a lenient service corrects to their document's uid."""
    uid = ordinary.request("attachmentExists").path["uid"]
    bad = deal.whole(_bad(world, uid))
    listed = [world.author.list_attachments(each) for each in bad]
    attachments.claim_none_listed(expect("uid-listing-tidied"), world, uid, listed)
    drafts.claim_each_refused(expect("uid-rule-without-effect", "listAttachments"), listed)
    observe("uid-refusal-answer", "listAttachments", shape(listed[0]))


def _bad(world: World, uid: str) -> list[str]:
    """One invalid uid of each kind."""
    return [
        *identifiers.within(world, uid, " /]é"),
        uid + "\n",
        world.uid(UID_LONGEST) + "x",
        world.uid(UID_SHORTEST - 1),
    ]


@contract("uid-on-contact-create", operations=("createContact",), requests=3)
def test_the_uid_parameter_of_contact_create_is_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer
) -> None:
    """The document does not say whether createContact reads a uid; faulty contacts are sent with and without one."""
    request = ordinary.faulty("createContact")
    queries = {"without": {}, "valid": {"uid": world.uid()}, "invalid": {"uid": world.uid(8)}}
    sent = {what: requests.send(request, world.author, query=query) for what, query in queries.items()}
    seen = {what: exchange.answer.status for what, exchange in sent.items()}
    observe("uid-on-contact-create", "createContact", seen)
