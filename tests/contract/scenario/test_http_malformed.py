"""Bodies that are labelled as JSON but are not JSON are refused and have no effect."""

from dataclasses import replace

from registry_contracts.cases import (
    Credentials,
    Deal,
    Expect,
    OrdinaryRequests,
    WorkflowRecords,
    World,
    contract,
    drafts,
    hostile_input,
    requests,
    sign_in,
    smoke,
)

RECORDS = (*requests.family("contact"), "saveDraft")


@contract("malformed-json-refused", "json-dialect-refused", operations=("createToken",), requests=9)
def test_malformed_credentials_sign_nobody_in(world: World, credentials: Credentials, expect: Expect) -> None:
    """Correct e-mail and password in a body that is not JSON, or only a dialect of it, yield no token."""
    right = credentials.of("author")
    for clause, bodies in (
        ("malformed-json-refused", hostile_input.malformed(right)),
        ("json-dialect-refused", hostile_input.dialects(right)),
    ):
        asked = [world.author.create_token(body=body) for body in bodies.values()]
        sign_in.claim_no_token(expect(clause, "createToken"), asked)
    sign_in.token_of(world.author, right)


@smoke("createContact", "updateContact")
@contract("malformed-json-refused", operations=RECORDS, requests=2.3, turns=True)
def test_a_malformed_record_is_refused(
    world: World, ordinary: OrdinaryRequests, deal: Deal, expect: Expect, operation: str
) -> None:
    """A valid record in a body that is not JSON is refused, and no draft is saved."""
    request, clause = ordinary.request(operation), expect("malformed-json-refused", operation)
    bodies = deal.whole(hostile_input.malformed(request.body).values())
    asked = [replace(request, body=body).send(world.author) for body in bodies]
    drafts.claim_each_refused(clause, asked)
    drafts.claim_no_draft(clause, world, requests.new_names(request), *asked[:1])


@smoke("createWorkflowRecord")
@contract("malformed-json-refused", operations=requests.family("workflow"), requests=2)
def test_a_malformed_submission_is_refused(
    world: World,
    ordinary: OrdinaryRequests,
    records: WorkflowRecords,
    deal: Deal,
    expect: Expect,
    operation: str,
) -> None:
    """A valid submission in a body that is not JSON is refused, and no draft is saved."""
    request = ordinary.submitting(operation, records.subject(operation))
    clause = expect("malformed-json-refused", operation)
    bodies = deal(hostile_input.malformed(request.body)).values()
    asked = [replace(request, body=body).send(world.author) for body in bodies]
    drafts.claim_each_refused(clause, asked)
    drafts.claim_no_draft(clause, world, requests.new_names(request), *asked[:1])


@contract("json-dialect-refused", operations=("updateContact", "saveDraft"), requests=0, dealt=6)
def test_a_record_in_a_dialect_is_refused(
    world: World, ordinary: OrdinaryRequests, deal: Deal, expect: Expect, operation: str
) -> None:
    """A valid record in a dialect of JSON is refused by operations whose effect can be undone."""
    request = ordinary.request(operation)
    bodies = deal(hostile_input.dialects(request.body)).values()
    asked = [replace(request, body=body).send(world.author) for body in bodies]
    drafts.claim_each_refused(expect("json-dialect-refused", operation), asked)
