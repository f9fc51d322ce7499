"""What holds for an ordinary request of any operation: its version, its realm, its headers, JSON in the bodies."""

from functools import partial

from contracts.cases import Actor, Expect, OrdinaryRequests, World, comparison, contract, requests, smoke

#: All but those that store a file each time.
OPERATIONS = (
    "createToken",
    *requests.family("contact"),
    *requests.family("draft"),
    *requests.family("attachment"),
)
CHARSET = {"Content-Type": "application/json; charset=utf-8"}


@smoke(requests=2.3)
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
    """An operation stands under its version, in every realm, whatever the case of its headers, and answers in JSON."""
    again = partial(ordinary.harmless, operation)
    sent = again({})
    for each in expect.on("json-bodies", operation):
        each.meets("empty-or-json", sent)
    for each in expect.on("head-without-body", operation):
        each.meets("no-content", sent)
    for each in expect.on("version-2013-paths", operation):
        comparison.claim_served(each, sent, partial(ordinary.nowhere, operation))
    for each in expect.on("realm-document-realms", operation):
        comparison.claim_realm_accepted(each, sent, again)
    for each in expect.on("content-type-without-body", operation):
        comparison.tolerated(each, sent, partial(again, {"Content-Type": None}))
    for each in expect.on("content-type-charset", operation):
        comparison.treated_alike(each, again(CHARSET), sent)
    for each in expect.on("header-letter-case", operation):
        comparison.treated_alike(each, again(_renamed(world.author)), sent)


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
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """A submission stands under its version at the same base address, in every realm, and is answered in JSON."""
    again = partial(ordinary.harmless, operation)
    sent = again({})
    expect("json-bodies", operation).meets("empty-or-json", sent)
    served = expect("version-2023-paths", operation)
    comparison.claim_served(served, sent, partial(ordinary.nowhere, operation))
    comparison.claim_realm_accepted(expect("realm-workflow-realms", operation), sent, again)
    comparison.treated_alike(expect("content-type-charset", operation), again(CHARSET), sent)
    comparison.treated_alike(expect("header-letter-case", operation), again(_renamed(world.author)), sent)


def _renamed(actor: Actor) -> dict[str, str | None]:
    """Headers that replace Realm and Authorization by the same in other letter case."""
    token = f"Bearer {actor.token()}"
    return {"Realm": None, "realm": actor.realm, "Authorization": None, "AUTHORIZATION": token}
