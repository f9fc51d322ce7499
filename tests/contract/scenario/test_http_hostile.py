"""Odd, deep and long input: answered in time and by no error of the service's own making, whatever it is worth.

That no answer is a server error and that no secret is echoed is judged on every exchange of every case.
"""

from functools import partial
from itertools import chain

from contracts.cases import (
    Credentials,
    Expect,
    Observer,
    OrdinaryRequests,
    World,
    answered_in_time,
    contract,
    hostile_input,
    requests,
)

BODIES = (
    "createContact",
    "updateContact",
    "saveDraft",
    "createWorkflowRecord",
    "createWorkflowRecordWithIdentifier",
    "updateWorkflowRecord",
)
ADDRESSED = (
    "getDraft",
    "getDraftInfo",
    "draftExists",
    "deleteDraft",
    "listAttachments",
    "attachmentExists",
    "getAttachment",
    "getAttachmentThumbnail",
)
LISTS = ("listDrafts", "listAttachments")
UNIVERSAL = ("answers-in-time", "no-server-error", "no-secret-echoed")


@contract(*UNIVERSAL, operations=("createToken",), requests=21)
def test_odd_credentials_are_answered(world: World, credentials: Credentials, expect: Expect) -> None:
    """JSON at its edges does not break signing in; it names no account that is there."""
    bodies = hostile_input.at_the_edges({"email": "nobody@example.test", "password": "a wrong password"})
    asked = (world.author.create_token(body=body) for body in bodies.values())
    plain = partial(world.author.send, "createToken", json=credentials.of("author"))
    answered_in_time(expect("answers-in-time", "createToken"), asked, plain)


@contract(*UNIVERSAL, operations=BODIES, requests=4)
def test_odd_records_are_answered(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """JSON at its edges, or under another label, does not break an operation; its records are faulty, or drafts."""
    request = ordinary.faulty(operation)
    bodies = hostile_input.in_turn(request.body, realm, operation)
    labelled = (
        requests.send(request, world.author, label)
        for label in hostile_input.labels_in_turn(realm, operation)
    )
    asked = chain(labelled, (requests.with_body(request, world.author, body) for body in bodies))
    answered_in_time(
        expect("answers-in-time", operation), asked, partial(requests.send, request, world.author)
    )


@contract(*UNIVERSAL, operations=BODIES, profile="nightly", requests=21)
def test_all_odd_records_are_answered(
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """As above, with every odd body in every realm."""
    request = ordinary.faulty(operation)
    bodies = hostile_input.at_the_edges(request.body)
    asked = (requests.with_body(request, world.author, body) for body in bodies.values())
    answered_in_time(
        expect("answers-in-time", operation), asked, partial(requests.send, request, world.author)
    )


@contract(*UNIVERSAL, operations=ADDRESSED, requests=2.2)
def test_odd_addresses_are_answered(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """Odd and long texts in the address do not break an operation; none of them is a valid uid."""
    request = ordinary.request(operation)
    asked = (requests.send(changed, world.author) for changed in hostile_input.odd_addresses(request, realm))
    answered_in_time(
        expect("answers-in-time", operation), asked, partial(requests.send, request, world.author)
    )


@contract(*UNIVERSAL, operations=LISTS, requests=4)
def test_odd_queries_are_answered(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """Odd and long texts in the query do not break a list."""
    request = ordinary.request(operation)
    asked = (
        requests.send(request, world.author, query=query)
        for query in hostile_input.odd_queries(realm, operation)
    )
    answered_in_time(
        expect("answers-in-time", operation), asked, partial(requests.send, request, world.author)
    )


@contract("content-type-missing", operations=BODIES, profile="nightly", requests=1.1)
def test_a_body_without_a_content_type_is_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer, operation: str
) -> None:
    """What a JSON body without its label leads to is not shown."""
    request = ordinary.faulty(operation)
    observe(
        "content-type-missing",
        operation,
        requests.send(request, world.author, {"Content-Type": None}).answer.status,
    )


@contract("content-type-missing", operations=("createToken",), requests=1)
def test_credentials_without_a_content_type_are_observed(world: World, observe: Observer) -> None:
    """What credentials without the label of JSON lead to is not shown."""
    body = {"email": "nobody@example.test", "password": "a wrong password"}
    missing = world.author.create_token(json=body, headers={"Content-Type": None})
    observe("content-type-missing", "createToken", missing.answer.status)


@contract("accept-missing", "accept-other", "version-other", operations=LISTS, requests=3)
def test_odd_requests_for_a_list_are_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer, operation: str
) -> None:
    """What Accept or the other version's prefix leads to is not shown."""
    request = ordinary.request(operation)
    observe("accept-missing", operation, requests.send(request, world.author, {"Accept": None}).answer.status)
    observe(
        "accept-other", operation, requests.send(request, world.author, {"Accept": "image/png"}).answer.status
    )
    other = world.author.send(
        operation, path=request.path, address=lambda address: address.replace("/v2013/", "/v2023/")
    )
    observe("version-other", operation, other.answer.status)
