"""Odd, deep and long input: answered in time and by no error of the service's own making, whatever it is worth.

That no answer is a server error and that no secret is echoed is judged on every exchange of every case.
"""

from functools import partial
from itertools import chain

from contracts.generation import hostile
from contracts.generation.ordinary import Ordinary, send, with_body
from contracts.generation.shares import share
from contracts.generation.signing_in import Credentials
from contracts.judging import closed, robust
from contracts.judging.claims import Claims, Observer
from contracts.plugin.marks import contract
from contracts.session.actor import Actor

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


@contract(*UNIVERSAL, operations=("createToken",), requests=30)
def test_odd_credentials_are_answered(author: Actor, credentials: Credentials, claim: Claims) -> None:
    """JSON at its edges does not break signing in; it names no account that is there."""
    bodies = hostile.at_the_edges({"email": "nobody@example.test", "password": "a wrong password"})
    asked = (author.send("createToken", body=body) for body in bodies.values())
    plain = partial(author.send, "createToken", json=credentials.of("author"))
    robust.answered_in_time(claim("answers-in-time", "createToken"), asked, plain)


@contract(*UNIVERSAL, operations=BODIES, requests=10)
def test_odd_records_are_answered(
    author: Actor, ordinary: Ordinary, realm: str, claim: Claims, operation: str
) -> None:
    """JSON at its edges, or under another label, does not break an operation; its records are faulty, or drafts."""
    request = ordinary.faulty(operation)
    bodies = hostile.in_turn(request.body, realm, operation)
    labelled = (send(request, author, label) for label in hostile.labels_in_turn(realm, operation))
    asked = chain(labelled, (with_body(request, author, body) for body in bodies))
    robust.answered_in_time(claim("answers-in-time", operation), asked, partial(send, request, author))


@contract(*UNIVERSAL, operations=BODIES, profile="nightly", requests=30)
def test_all_odd_records_are_answered(
    author: Actor, ordinary: Ordinary, claim: Claims, operation: str
) -> None:
    """As above, with every odd body in every realm."""
    request = ordinary.faulty(operation)
    bodies = hostile.at_the_edges(request.body)
    asked = (with_body(request, author, body) for body in bodies.values())
    robust.answered_in_time(claim("answers-in-time", operation), asked, partial(send, request, author))


@contract(*UNIVERSAL, operations=ADDRESSED, requests=10)
def test_odd_addresses_are_answered(
    author: Actor, ordinary: Ordinary, realm: str, claim: Claims, operation: str
) -> None:
    """Odd and long texts in the address do not break an operation; none of them is a valid uid."""
    request = ordinary.request(operation)
    asked = (send(changed, author) for changed in hostile.odd_addresses(request, realm))
    robust.answered_in_time(claim("answers-in-time", operation), asked, partial(send, request, author))


@contract(*UNIVERSAL, operations=LISTS, requests=10)
def test_odd_queries_are_answered(
    author: Actor, ordinary: Ordinary, realm: str, claim: Claims, operation: str
) -> None:
    """Odd and long texts in the query do not break a list."""
    request = ordinary.request(operation)
    asked = (send(request, author, query=query) for query in hostile.odd_queries(realm, operation))
    robust.answered_in_time(claim("answers-in-time", operation), asked, partial(send, request, author))


@contract("content-type-missing", "content-type-other", operations=BODIES, profile="nightly")
def test_other_content_types_are_observed(
    author: Actor, ordinary: Ordinary, realm: str, observe: Observer, operation: str
) -> None:
    """What a JSON body without its label, or under another one, leads to is not shown."""
    request = ordinary.faulty(operation)
    observe("content-type-missing", operation, send(request, author, {"Content-Type": None}).answer.status)
    asked = {
        name: send(request, author, {"Content-Type": value})
        for name, value in share(hostile.OTHER_CONTENT_TYPES, realm, 4).items()
    }
    observe("content-type-other", operation, dict(closed.observed(asked)))


@contract("content-type-missing", "content-type-other", operations=("createToken",))
def test_other_content_types_of_credentials_are_observed(author: Actor, observe: Observer) -> None:
    """What credentials without the label of JSON, or under another one, lead to is not shown."""
    body = {"email": "nobody@example.test", "password": "a wrong password"}
    missing = author.send("createToken", json=body, headers={"Content-Type": None})
    observe("content-type-missing", "createToken", missing.answer.status)
    asked = {
        name: author.send("createToken", json=body, headers={"Content-Type": value})
        for name, value in hostile.OTHER_CONTENT_TYPES.items()
    }
    observe("content-type-other", "createToken", dict(closed.observed(asked)))


@contract("accept-missing", "accept-other", "query-unknown", "version-other", operations=LISTS)
def test_odd_requests_for_a_list_are_observed(
    author: Actor, ordinary: Ordinary, observe: Observer, operation: str
) -> None:
    """What Accept, an unlisted parameter or the other version's prefix leads to is not shown."""
    request = ordinary.request(operation)
    observe("accept-missing", operation, send(request, author, {"Accept": None}).answer.status)
    observe("accept-other", operation, send(request, author, {"Accept": "image/png"}).answer.status)
    observe("query-unknown", operation, send(request, author, query={"unlisted": "1"}).answer.status)
    other = author.send(
        operation, path=request.path, address=lambda address: address.replace("/v2013/", "/v2023/")
    )
    observe("version-other", operation, other.answer.status)
