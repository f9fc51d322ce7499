"""Bodies that are announced as JSON and are none: refused, and nothing comes of them."""

from contracts.cases import (
    UPDATE,
    Credentials,
    Expect,
    OrdinaryRequests,
    WorkflowRecords,
    World,
    contract,
    drafts,
    hostile_input,
    requests,
    share,
    sign_in,
    submit,
)

WORKFLOW = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier")


@contract("malformed-json-refused", operations=("createToken",), requests=3)
def test_malformed_credentials_sign_nobody_in(world: World, credentials: Credentials, expect: Expect) -> None:
    """The right e-mail and password in a body that is no JSON yield no token."""
    bodies = hostile_input.malformed(credentials.of("author"))
    asked = [world.author.create_token(body=body) for body in bodies.values()]
    sign_in.no_token_from(expect("malformed-json-refused", "createToken"), asked)
    sign_in.token_of(world.author, credentials.of("author"))


@contract("malformed-json-refused", operations=("saveDraft", *WORKFLOW), requests=2.6)
def test_a_malformed_record_is_not_saved(
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """A valid record in a body that is no JSON is refused, and no draft is there afterwards."""
    request = ordinary.request(operation)
    bodies = hostile_input.malformed(request.body)
    asked = [requests.with_body(request, world.author, body) for body in bodies.values()]
    drafts.claim_each_refused(expect("malformed-json-refused", operation), asked)
    named = [request.path[name] for name in ("uid", "identifier") if name in request.path]
    drafts.no_draft_under(expect("malformed-json-refused", operation), world.author, named, *asked[:1])


@contract("malformed-json-refused", operations=("createContact", "updateContact"), requests=2)
def test_a_malformed_contact_is_refused(
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """A valid contact record in a body that is no JSON is neither created nor taken as an update."""
    request = ordinary.request(operation)
    asked = [
        requests.with_body(request, world.author, body)
        for body in hostile_input.malformed(request.body).values()
    ]
    drafts.claim_each_refused(expect("malformed-json-refused", operation), asked)


@contract(
    "malformed-json-refused", operations=("updateWorkflowRecord",), needs=["workflow_document"], requests=2
)
def test_a_malformed_submission_updates_nothing(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """A valid submission in a body that is no JSON does not update a record of the author's."""
    identifier = records.standing()
    bodies = hostile_input.malformed(world.samples.submission(identifier))
    asked = [submit(UPDATE, world.author, world.samples, identifier, body=body) for body in bodies.values()]
    drafts.claim_each_refused(expect("malformed-json-refused", UPDATE), asked)


@contract("malformed-json-refused", operations=("saveDraft", "getDraft"), requests=5)
def test_a_malformed_record_does_not_touch_the_draft_that_is_there(
    world: World, ordinary: OrdinaryRequests, expect: Expect
) -> None:
    """A refused save leaves the draft with the content it had."""
    drafts.works_for_ordinary_uid(world.author, world)
    draft = world.draft()
    changed = world.samples.draft(draft.uid, firstName="Changed")
    request = ordinary.saving(draft.uid)
    asked = [
        requests.with_body(request, world.author, body) for body in hostile_input.malformed(changed).values()
    ]
    drafts.claim_each_refused(expect("malformed-json-refused", "saveDraft"), asked)
    expect("malformed-json-refused", "saveDraft").shows(world.author.get_draft(draft.uid), draft.document)


@contract("json-dialect-refused", operations=("createToken",), requests=6)
def test_credentials_in_a_dialect_sign_nobody_in(
    world: World, credentials: Credentials, expect: Expect
) -> None:
    """The right e-mail and password in a dialect of JSON yield no token."""
    bodies = hostile_input.dialects(credentials.of("author"))
    asked = [world.author.create_token(body=body) for body in bodies.values()]
    sign_in.no_token_from(expect("json-dialect-refused", "createToken"), asked)


@contract("json-dialect-refused", operations=("updateContact", "saveDraft"), requests=2.5)
def test_a_record_in_a_dialect_is_refused(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """A valid record in a dialect of JSON is refused by operations whose effect can be undone."""
    request = ordinary.request(operation)
    bodies = share(hostile_input.dialects(request.body), realm, 3, operation)
    asked = [requests.with_body(request, world.author, body) for body in bodies.values()]
    drafts.claim_each_refused(expect("json-dialect-refused", operation), asked)
