"""The order of the steps of a submission: identifier and lock, validation, save.

A request with two faults is refused for the fault of the earlier step. If a row's message is missing even when its
fault is the only one, nothing is claimed about the order, and the row's own clause has that finding. Rights are not
one of the steps, so the account has them.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from registry_contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Expect,
    Row,
    WorkflowRecords,
    World,
    contract,
    requests,
    submissions,
)


class First(NamedTuple):
    """The first step's reason for a refusal: its row, the operation, and the origin of the identifier."""

    row: Row
    operation: str
    identifier_of: Callable[[WorkflowRecords], str]


FIRST = {
    "taken": First(Row.TAKEN, CREATE_NAMED, WorkflowRecords.standing),
    "unknown": First(Row.UNKNOWN, UPDATE, WorkflowRecords.unused),
    "locked": First(Row.LOCKED, UPDATE, WorkflowRecords.locked),
}


@pytest.mark.parametrize(
    ("clause", "first"),
    [
        pytest.param(clause, first, id=name, marks=contract(clause))
        for name, first in FIRST.items()
        for clause in [f"workflow-order-{name}-before-validation"]
    ],
)
@contract(operations=[CREATE_NAMED, UPDATE], requests=2.1)
def test_the_identifier_and_the_lock_count_before_the_content(
    world: World, records: WorkflowRecords, expect: Expect, clause: str, first: First
) -> None:
    """A faulty document under a used, unknown or locked identifier is refused for the identifier, even in a batch."""
    identifier = first.identifier_of(records)
    records.need_row(first.row, first.operation, world.author, identifier)
    faulty = world.samples.faulty_submission(identifier) | {"batchId": records.batch()}
    expect(clause).has_message(world.submit(first.operation, identifier, faulty))


@contract("workflow-order-realm-before-schema", requests=3)
def test_the_realm_counts_before_the_schema(
    world: World, records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """An unknown realm is reported before the schema, which belongs to a realm, and before the document."""
    identifier, unknown = records.subject(operation), requests.UNKNOWN_REALM
    records.need_row(Row.REALM_UNKNOWN, operation, world.author, realm=unknown)
    for document in (world.samples.submission(identifier), world.samples.faulty_submission(identifier)):
        sent = world.submit(operation, identifier, document, schema=submissions.UNKNOWN_SCHEMA, realm=unknown)
        expect("workflow-order-realm-before-schema", operation).has_message(sent)


@contract("workflow-order-schema-before-document", requests=1)
def test_the_schema_counts_before_the_content(
    world: World, records: WorkflowRecords, expect: Expect, operation: str, realm: str
) -> None:
    """A document cannot be validated without its schema, so an unknown schema is reported first."""
    identifier, unknown = records.subject(operation), submissions.UNKNOWN_SCHEMA
    records.need_row(Row.SCHEMA_UNKNOWN, operation, world.author, named=realm, schema=unknown)
    faulty = world.samples.faulty_submission(identifier)
    sent = world.submit(operation, identifier, faulty, schema=unknown)
    expect("workflow-order-schema-before-document", operation).has_message(sent, realm)
