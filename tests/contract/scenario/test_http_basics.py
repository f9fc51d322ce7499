"""Ordinary requests of any operation: version, realm, headers, and JSON in the bodies."""

from functools import partial

from registry_contracts.cases import (
    Actor,
    Deal,
    Expect,
    OrdinaryRequests,
    World,
    comparison,
    contract,
    requests,
    smoke,
)

#: All operations except those that store a file each time.
OPERATIONS = (
    "createToken",
    *requests.family("contact"),
    *requests.family("draft"),
    *requests.family("attachment"),
)
#: Without the header that a request without a body does not need.
PLAIN = {"Content-Type": None}
CHARSET = {"Content-Type": "application/json; charset=utf-8"}


@smoke(
    "attachmentExists",
    "draftExists",
    "getAttachment",
    "getAttachmentThumbnail",
    "getDraft",
    "getDraftInfo",
    "listAttachments",
    requests=1.2,
)
@contract(
    "version-2013-paths",
    "realm-document-realms",
    "content-type-without-body",
    "content-type-charset",
    "head-without-body",
    "header-letter-case",
    "json-bodies",
    operations=OPERATIONS,
    needs=(),
    requests=1.6,
)
def test_an_ordinary_request_is_served(
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """An operation answers in JSON under its version, in every realm, with headers in any letter case."""
    again = partial(ordinary.harmless, operation)
    sent, nowhere = again({}), partial(ordinary.nowhere, operation)
    judgements = {
        "json-bodies": lambda each: each.meets("empty-or-json", sent),
        "head-without-body": lambda each: each.meets("no-content", sent),
        "version-2013-paths": lambda each: comparison.claim_served(each, sent, nowhere),
        "realm-document-realms": lambda each: comparison.claim_realm_accepted(each, sent, again),
        "content-type-without-body": lambda each: comparison.claim_accepted_for_each(
            sent, (each, partial(again, PLAIN))
        ),
        "content-type-charset": lambda each: comparison.claim_treated_alike(each, again(CHARSET), sent),
        "header-letter-case": lambda each: comparison.claim_treated_alike(
            each, again(_renamed(world.author)), sent
        ),
    }
    comparison.claim_each(expect, operation, judgements)


@smoke("createWorkflowRecord", "updateWorkflowRecord", values=3, requests=1)
@contract(
    "version-2023-paths",
    "realm-workflow-realms",
    "content-type-charset",
    "header-letter-case",
    "json-bodies",
    operations=requests.family("workflow"),
    requests=3,
)
def test_an_ordinary_submission_is_served(
    world: World, ordinary: OrdinaryRequests, deal: Deal, expect: Expect, operation: str
) -> None:
    """A submission is answered in JSON under its version, at the same base address, in every realm."""
    again = partial(ordinary.harmless, operation)
    sent, nowhere = again({}), partial(ordinary.nowhere, operation)
    judgements = {
        "json-bodies": lambda each: each.meets("empty-or-json", sent),
        "version-2023-paths": lambda each: comparison.claim_served(each, sent, nowhere),
        "realm-workflow-realms": lambda each: comparison.claim_realm_accepted(each, sent, again),
        "content-type-charset": lambda each: comparison.claim_treated_alike(each, again(CHARSET), sent),
        "header-letter-case": lambda each: comparison.claim_treated_alike(
            each, again(_renamed(world.author)), sent
        ),
    }
    comparison.claim_each(expect, operation, dict(deal.whole(judgements.items())))


def _renamed(actor: Actor) -> dict[str, str | None]:
    """Headers that replace Realm and Authorization by the same in other letter case."""
    token = f"Bearer {actor.token()}"
    return {"Realm": None, "realm": actor.realm, "Authorization": None, "AUTHORIZATION": token}
