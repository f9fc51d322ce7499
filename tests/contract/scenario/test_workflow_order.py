"""The order in which the steps of a submission are looked at: identifier and lock, validation, save.

A request with two faults is refused for the one that is looked at first. Where a row is not even given for its own
fault alone, nothing can be said about an order; the row's own clause holds that finding. The rights are none of the
steps: what is claimed of their order is claimed of an account that has them.
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
    """What the first step refuses a submission for: its row, the operation, and where the identifier is from."""

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
    """A faulty document under such an identifier is refused for the identifier or the lock, in a batch too."""
    identifier = first.identifier_of(records)
    records.need_row(first.row, first.operation, world.author, identifier)
    faulty = world.samples.faulty_submission(identifier) | {"batchId": records.batch()}
    expect(clause).has_message(world.submit(first.operation, identifier, faulty))


@contract("workflow-order-realm-before-schema", requests=3)
def test_the_realm_counts_before_the_schema(
    world: World, records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """A schema belongs to a realm, so an unknown realm is reported first, whatever the document is."""
    identifier, unknown = records.subject(operation), requests.UNKNOWN_REALM
    records.need_row(Row.REALM_UNKNOWN, operation, world.author, realm=unknown)
    for document in (world.samples.submission(identifier), world.samples.faulty_submission(identifier)):
        sent = world.submit(operation, identifier, document, schema=submissions.UNKNOWN_SCHEMA, realm=unknown)
        expect("workflow-order-realm-before-schema", operation).has_message(sent)


@contract("workflow-order-schema-before-document", requests=1)
def test_the_schema_counts_before_the_content(
    world: World, records: WorkflowRecords, expect: Expect, operation: str, realm: str
) -> None:
    """Without its schema a document cannot be validated, so an unknown schema is reported first."""
    identifier, unknown = records.subject(operation), submissions.UNKNOWN_SCHEMA
    records.need_row(Row.SCHEMA_UNKNOWN, operation, world.author, named=realm, schema=unknown)
    faulty = world.samples.faulty_submission(identifier)
    sent = world.submit(operation, identifier, faulty, schema=unknown)
    expect("workflow-order-schema-before-document", operation).has_message(sent, realm)
