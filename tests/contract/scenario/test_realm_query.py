"""The realm in the query of workflow operations, and attachment operations, which need no realm."""

from functools import partial

from registry_contracts.cases import (
    Expect,
    Observer,
    OrdinaryRequests,
    World,
    comparison,
    contract,
    factors,
    requests,
    smoke,
)

NO_HEADER = {"Realm": None}


@smoke("createWorkflowRecord")
@contract("realm-query", operations=requests.family("workflow"), requests=1)
def test_the_realm_may_stand_in_the_query(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """A realm in the query alone works like the header."""
    request = ordinary.faulty(operation)
    asked = requests.send(request, world.author, NO_HEADER, {"Realm": realm})
    usual = partial(requests.send, request, world.author)
    comparison.claim_realm_reached(expect("realm-query", operation), asked, usual)


@contract("realm-header-against-query", "realm-letter-case", operations=("createWorkflowRecord",), requests=4)
def test_odd_ways_to_give_the_realm_are_observed(
    world: World, ordinary: OrdinaryRequests, realm: str, observe: Observer
) -> None:
    """The document does not say which of two realms counts, and whether letter case matters."""
    request = ordinary.faulty("createWorkflowRecord")
    other = requests.ELSEWHERE.get(realm, "abs-dev")
    named = {"other in the query": other, "unknown in the query": requests.UNKNOWN_REALM}
    two = {
        what: requests.send(request, world.author, query={"Realm": name}).answer.status
        for what, name in named.items()
    }
    observe("realm-header-against-query", "createWorkflowRecord", two)
    capitals = requests.send(request, world.author, {"Realm": realm.upper()}).answer.status
    small_name = requests.send(request, world.author, NO_HEADER, {"realm": realm}).answer.status
    observe("realm-letter-case", "createWorkflowRecord", {"value": capitals, "name": small_name})


@smoke()
@contract("realm-attachments-without", "content-type-not-needed")
@contract(operations=("createAttachment", "listAttachments"), requests=2.7)
def test_attachments_are_kept_without_realm_and_content_type(
    ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """Attachments are created and listed without the unlisted headers Realm and Content-Type."""
    plain = ordinary.anew(operation, {})
    realmed = partial(ordinary.anew, operation, {"Realm": realm})
    typed = partial(ordinary.anew, operation, {"Content-Type": "application/octet-stream"})
    comparison.claim_accepted_for_each(
        plain,
        (expect("realm-attachments-without", operation), realmed),
        (expect("content-type-not-needed", operation), typed),
    )


@contract("realm-attachments-without", "realm-on-attachments", operations=factors.OF_FILES, requests=2)
def test_attachments_are_read_without_a_realm(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, observe: Observer, operation: str
) -> None:
    """Attachments are found, downloaded and previewed without the Realm header."""
    request = ordinary.request(operation)
    realmed = partial(requests.send, request, world.author, {"Realm": realm})
    plain = requests.send(request, world.author)
    comparison.claim_accepted_for_each(plain, (expect("realm-attachments-without", operation), realmed))
    unknown = requests.send(request, world.author, {"Realm": requests.UNKNOWN_REALM})
    observe("realm-on-attachments", operation, {"unknown realm": unknown.answer.status})
