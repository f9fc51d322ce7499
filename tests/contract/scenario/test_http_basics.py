"""Ordinary requests of any operation: version, realm, headers, and JSON in the bodies."""

from collections.abc import Callable
from functools import partial

from registry_contracts.cases import (
    Actor,
    Claim,
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
    *requests.family("workflow"),
)
#: Without the header that a request without a body does not need.
PLAIN = {"Content-Type": None}
CHARSET = {"Content-Type": "application/json; charset=utf-8"}


@smoke(
    "attachmentExists",
    "createWorkflowRecord",
    "draftExists",
    "getAttachment",
    "getAttachmentThumbnail",
    "getDraft",
    "getDraftInfo",
    "listAttachments",
    "updateWorkflowRecord",
    requests=1.4,
)
@contract("version-2013-paths", "realm-document-realms", "version-2023-paths", "realm-workflow-realms")
@contract("content-type-without-body", "content-type-charset", "header-letter-case")
@contract("head-without-body", "json-bodies", operations=OPERATIONS, needs=(), requests=1.7)
def test_an_ordinary_request_is_served(
    world: World, ordinary: OrdinaryRequests, deal: Deal, expect: Expect, operation: str
) -> None:
    """An operation answers in JSON under its version, in every realm, with headers in any letter case."""
    again = partial(ordinary.harmless, operation)
    sent, nowhere = again({}), partial(ordinary.nowhere, operation)
    served = partial(comparison.claim_served, exchange=sent, nowhere=nowhere)
    known = partial(comparison.claim_realm_accepted, exchange=sent, again=again)
    judgements: dict[str, Callable[[Claim], object]] = {
        "json-bodies": lambda each: each.meets("empty-or-json", sent),
        "head-without-body": lambda each: each.meets("no-content", sent),
        **{"version-2013-paths": served, "version-2023-paths": served},
        **{"realm-document-realms": known, "realm-workflow-realms": known},
        "content-type-without-body": lambda each: comparison.claim_accepted_for_each(
            sent, (each, partial(again, PLAIN))
        ),
    }
    alike: dict[str, Callable[[Claim], object]] = {
        "content-type-charset": lambda each: comparison.claim_treated_alike(each, again(CHARSET), sent),
        "header-letter-case": lambda each: comparison.claim_treated_alike(
            each, again(_renamed(world.author)), sent
        ),
    }
    comparison.claim_each(expect, operation, judgements | deal(alike))


def _renamed(actor: Actor) -> dict[str, str | None]:
    """Headers that replace Realm and Authorization by the same in other letter case."""
    token = f"Bearer {actor.token()}"
    return {"Realm": None, "realm": actor.realm, "Authorization": None, "AUTHORIZATION": token}
