"""Rows of the workflow table that depend on the record, submissions without a token, and the order of the first steps.

Rows of the factor table judge the other conditions (realm, schema, rights), and each with the realm in the query.
"""

from collections.abc import Callable
from typing import Any

import pytest

from registry_contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Expect,
    Observer,
    WorkflowRecords,
    World,
    contract,
    factors,
    requests,
    shape,
    sign_in,
    smoke,
    submissions,
)


def state(name: str, clause: str, *facts: object) -> object:
    """A state of the record: its clause, and the clause that the content counts after it."""
    order = f"workflow-order-{name}-before-validation"
    return pytest.param(clause, order, *facts, id=name, marks=contract(clause, order))


@smoke("unknown")
@pytest.mark.parametrize(
    ("clause", "order", "operation_of", "identifier_of"),
    [
        state("taken", "workflow-identifier-taken", CREATE_NAMED, WorkflowRecords.standing),
        state("unknown", "workflow-identifier-unknown", UPDATE, WorkflowRecords.unused),
        state("locked", "workflow-locked-record", UPDATE, WorkflowRecords.locked),
    ],
)
@contract("workflow-message-place", operations=[CREATE_NAMED, UPDATE], requests=2)
def test_the_identifier_and_the_lock_count_before_the_content(
    world: World,
    records: WorkflowRecords,
    expect: Expect,
    observe: Observer,
    clause: str,
    order: str,
    operation_of: str,
    identifier_of: Callable[[WorkflowRecords], str],
) -> None:
    """A used, unknown or locked identifier: 400 and its message, for a valid document and for a faulty one."""
    identifier = identifier_of(records)
    sent = world.submit(operation_of, identifier)
    expect(clause).has_message(sent)
    observe("workflow-message-place", operation_of, shape(sent))
    faulty = world.samples.faulty_submission(identifier) | {"batchId": records.batch()}
    expect(order).has_message(world.submit(operation_of, identifier, faulty))


@contract("workflow-identifier-taken", requests=2, turns=True)
def test_the_identifier_of_a_published_record_is_in_use(
    world: World, records: WorkflowRecords, expect: Expect
) -> None:
    """A create under the identifier of a published record, which the author may update, is told that it is in use."""
    expect("workflow-identifier-taken").has_message(world.try_creating(records.published()))


@contract("workflow-update-rights", requests=1.6)
def test_updating_without_the_right_is_told_so(
    restricted: Actor, records: WorkflowRecords, world: World, expect: Expect
) -> None:
    """An account that may not update the draft: 403, and the message for it."""
    expect("workflow-update-rights").has_message(world.submit(UPDATE, records.standing(), by=restricted))


@smoke("createWorkflowRecord")
@contract("workflow-anonymous", "workflow-invalid-token", "token-invalid-refused")
@contract(*submissions.NEEDS_TOKEN.values())
@contract(operations=factors.WORKFLOW, requests=3)
def test_a_submission_without_a_valid_token_is_refused(
    world: World, anonymous: Actor, records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """No token, or a made-up one: 403, and the message that the user is anonymous. Without one nothing is stored."""
    refused, clause = records.send(operation, anonymous), submissions.NEEDS_TOKEN[operation]
    expect(clause, operation).refused(refused)
    records.claim_nothing_came_of(expect(clause, operation), refused.notes["identifier"], refused)
    invented = {"Authorization": sign_in.never_issued(world)["invented"]}
    never_issued = records.send(operation, anonymous, headers=invented)
    expect("token-invalid-refused", operation).refused(never_issued)
    expect("workflow-anonymous", operation).has_message(refused)
    expect("workflow-invalid-token", operation).has_message(never_issued)


@pytest.mark.parametrize(
    ("clause", "parts"),
    [
        pytest.param(clause, parts, id=name, marks=contract(clause))
        for name, clause, parts in (
            ("realm", "workflow-order-realm-before-schema", {"realm": requests.UNKNOWN_REALM}),
            ("schema", "workflow-order-schema-before-document", {}),
        )
    ],
)
@contract(operations=factors.WORKFLOW, requests=1)
def test_realm_and_schema_count_before_the_content(
    world: World,
    records: WorkflowRecords,
    expect: Expect,
    operation: str,
    realm: str,
    clause: str,
    parts: dict[str, Any],
) -> None:
    """A schema belongs to a realm, and validates the document: so an unknown realm is reported first, then a schema."""
    identifier = records.subject(operation)
    faulty = world.samples.faulty_submission(identifier)
    sent = world.submit(operation, identifier, faulty, schema=submissions.UNKNOWN_SCHEMA, **parts)
    expect(clause, operation).has_message(sent, realm)
