"""The nine rows of the workflow table: each condition alone leads to its status and its message, word for word.

Every row except those on the realm has two cases: with the realm in the header, and with the realm in the query.
"""

import pytest

from registry_contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Deal,
    Expect,
    Observer,
    Row,
    WorkflowRecords,
    World,
    contract,
    requests,
    shape,
    sign_in,
    smoke,
    submissions,
    workflow_records,
)

in_both_ways = pytest.mark.parametrize("way", workflow_records.WAYS)


@smoke("createWorkflowRecordWithIdentifier")
@contract("workflow-realm-missing", requests=1)
def test_a_submission_without_a_realm_is_told_so(
    records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """No realm in header or query: 400, and the message that the realm is missing."""
    expect("workflow-realm-missing", operation).has_message(records.send(operation, realm=None))


@contract("workflow-realm-unknown", requests=2)
def test_a_submission_under_an_unknown_realm_is_told_so(
    records: WorkflowRecords, expect: Expect, operation: str, realm: str
) -> None:
    """An unknown realm, even if it begins like a known one: 400, and the message that it is not configured."""
    for unknown in (requests.UNKNOWN_REALM, f"{realm}-none"):
        expect("workflow-realm-unknown", operation).has_message(records.send(operation, realm=unknown))


@contract("workflow-schema-unknown", requests=1.2)
@in_both_ways
def test_a_submission_under_an_unknown_schema_is_told_so(
    records: WorkflowRecords, expect: Expect, operation: str, realm: str, way: str
) -> None:
    """A schema unknown in its realm: 400, and a message that names the realm."""
    for parts in records.parts_of(way):
        sent = records.send(operation, schema=submissions.UNKNOWN_SCHEMA, **parts)
        expect("workflow-schema-unknown", operation).has_message(sent, realm)


@contract("workflow-identifier-taken", "workflow-message-place", requests=1)
@in_both_ways
def test_creating_under_an_identifier_in_use_is_told_so(
    world: World, records: WorkflowRecords, expect: Expect, observe: Observer, way: str
) -> None:
    """An identifier in use: 400, and the message that asks for a different one."""
    identifier = records.standing()
    for parts in records.parts_of(way):
        sent = world.submit(CREATE_NAMED, identifier, **parts)
        expect("workflow-identifier-taken").has_message(sent)
        observe("workflow-message-place", CREATE_NAMED, shape(sent))


@contract("workflow-identifier-taken", requests=2, turns=True)
def test_the_identifier_of_a_published_record_is_in_use(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """A published record that can be updated: a create under its identifier gets the message that it is in use."""
    expect("workflow-identifier-taken").has_message(world.try_creating(records.published()))


@smoke("header")
@contract("workflow-identifier-unknown", requests=1)
@in_both_ways
def test_updating_under_an_unknown_identifier_is_told_so(
    world: World, records: WorkflowRecords, expect: Expect, way: str
) -> None:
    """An unused identifier: 400, and the message that asks for a correct one."""
    for parts in records.parts_of(way):
        identifier = world.uid()
        submission = world.samples.submission(identifier, batchId=identifier)
        sent = world.submit(UPDATE, identifier, submission, **parts)
        expect("workflow-identifier-unknown").has_message(sent)


@contract("workflow-locked-record", requests=1)
@in_both_ways
def test_updating_a_locked_record_is_told_so(
    world: World, records: WorkflowRecords, expect: Expect, way: str
) -> None:
    """A record locked for workflow: 400, and the message for a locked record."""
    identifier = records.locked()
    for parts in records.parts_of(way):
        expect("workflow-locked-record").has_message(world.submit(UPDATE, identifier, **parts))


@smoke("query")
@contract("workflow-update-rights", requests=1.6)
@in_both_ways
def test_updating_without_the_right_is_told_so(
    restricted: Actor, records: WorkflowRecords, world: World, expect: Expect, way: str
) -> None:
    """An account that may not update the draft: 403, and the message for it."""
    identifier = records.standing()
    for parts in records.parts_of(way):
        expect("workflow-update-rights").has_message(world.submit(UPDATE, identifier, by=restricted, **parts))


@smoke("createWorkflowRecord-header", every_realm=True)
@smoke("createWorkflowRecordWithIdentifier-query")
@contract("workflow-create-rights", requests=1)
@in_both_ways
def test_creating_without_the_right_is_told_so(
    restricted: Actor,
    records: WorkflowRecords,
    world: World,
    expect: Expect,
    operation: str,
    way: str,
) -> None:
    """An account that may not create the draft: 403, and the message for it."""
    for parts in records.parts_of(way):
        sent = world.submit(operation, world.uid(), by=restricted, **parts)
        expect("workflow-create-rights", operation).has_message(sent)


@smoke(
    "createWorkflowRecord-query", "updateWorkflowRecord-query", "createWorkflowRecordWithIdentifier-header"
)
@contract("workflow-anonymous", *submissions.NEEDS_TOKEN.values(), requests=1)
@in_both_ways
def test_an_anonymous_submission_is_told_so(
    anonymous: Actor, records: WorkflowRecords, expect: Expect, operation: str, way: str
) -> None:
    """No token: 403, and the message that the user is anonymous."""
    for parts in records.parts_of(way):
        refused = records.send(operation, anonymous, **parts)
        expect(submissions.NEEDS_TOKEN[operation], operation).refused(refused)
        expect("workflow-anonymous", operation).has_message(refused)


@contract(
    "token-invalid-refused",
    "workflow-invalid-token",
    operations=requests.family("workflow"),
    requests=1,
    dealt=4,
)
def test_a_token_that_was_never_issued_is_no_identity(
    world: World,
    anonymous: Actor,
    records: WorkflowRecords,
    expect: Expect,
    operation: str,
    deal: Deal,
) -> None:
    """A made-up token, half of a real one, or a header without one: 403, and the message for an anonymous user."""
    records.need_row(Row.ANONYMOUS, operation, anonymous)
    for value in deal(sign_in.never_issued(world), len(operation)).values():
        sent = records.send(operation, anonymous, headers={"Authorization": value})
        expect("token-invalid-refused", operation).refused(sent)
        expect("workflow-invalid-token", operation).has_message(sent)
