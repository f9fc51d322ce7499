"""The order in which the steps of a submission are looked at: identifier and lock, rights, validation, save.

A request with two faults is refused for the one that is looked at first. Where a row is not even given for its own
fault alone, nothing can be said about an order; the row's own clause holds that finding.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from contracts.cases import (
    CREATE_NAMED,
    UPDATE,
    Actor,
    Expect,
    Row,
    WorkflowRecords,
    World,
    contract,
    requests,
    submissions,
    usable,
)


class First(NamedTuple):
    """What the first step refuses a submission for: its row, the operation, and where the identifier is from."""

    row: Row
    operation: str
    identifier_of: Callable[[WorkflowRecords], str]


FIRST = {
    "an identifier in use": ("taken", First(Row.TAKEN, CREATE_NAMED, WorkflowRecords.standing)),
    "an unknown identifier": ("unknown", First(Row.UNKNOWN, UPDATE, WorkflowRecords.unused)),
    "a lock": ("locked", First(Row.LOCKED, UPDATE, WorkflowRecords.locked)),
}


def first_step(before: str) -> pytest.MarkDecorator:
    """One case for each refusal of the first step, with the clause that speaks of it."""
    clauses = {fault: f"workflow-order-{name}-{before}" for fault, (name, _) in FIRST.items()}
    params = [
        pytest.param(clause, FIRST[fault][1], id=fault, marks=contract(clause))
        for fault, clause in clauses.items()
    ]
    return pytest.mark.parametrize(("clause", "first"), params)


@first_step("before-validation")
@contract(operations=[CREATE_NAMED, UPDATE], requests=2.1, unrest=True)
def test_the_identifier_and_the_lock_count_before_the_content(
    world: World, records: WorkflowRecords, expect: Expect, clause: str, first: First
) -> None:
    """A faulty document under such an identifier is refused for the identifier or the lock, in a batch too."""
    identifier = first.identifier_of(records)
    records.need_row(first.row, first.operation, world.author, identifier)
    faulty = world.samples.faulty_submission(identifier) | {"batchId": records.batch()}
    expect(clause).has_message(world.submit(first.operation, identifier, faulty))


@first_step("before-rights")
@contract(operations=[CREATE_NAMED, UPDATE], requests=1)
def test_the_identifier_and_the_lock_count_before_the_rights(
    world: World, restricted: Actor, records: WorkflowRecords, expect: Expect, clause: str, first: First
) -> None:
    """An account without rights learns first what is wrong with the identifier, or that the record is locked."""
    identifier = first.identifier_of(records)
    records.need_row(first.row, first.operation, world.author, identifier)
    expect(clause).has_message(world.submit(first.operation, identifier, by=restricted))


@first_step("before-validation")
@contract(operations=[CREATE_NAMED, UPDATE], requests=1)
def test_the_identifier_and_the_lock_count_before_rights_and_content_together(
    world: World, restricted: Actor, records: WorkflowRecords, expect: Expect, clause: str, first: First
) -> None:
    """An account without rights that sends a faulty document learns first of the identifier, or of the lock."""
    identifier = first.identifier_of(records)
    records.need_row(first.row, first.operation, world.author, identifier)
    faulty = world.samples.faulty_submission(identifier)
    expect(clause).has_message(world.submit(first.operation, identifier, faulty, by=restricted))


@contract("workflow-order-rights-before-validation", requests=2, unrest=True)
def test_the_rights_count_before_the_content(
    restricted: Actor, records: WorkflowRecords, world: World, expect: Expect, operation: str
) -> None:
    """An account without rights is refused with 403 whatever it sends."""
    identifier = records.subject(operation)
    row = {UPDATE: Row.MAY_NOT_UPDATE}.get(operation, Row.MAY_NOT_CREATE)
    records.need_row(row, operation, restricted)
    sent = world.submit(operation, identifier, world.samples.faulty_submission(identifier), by=restricted)
    expect("workflow-order-rights-before-validation", operation).holds(
        usable(sent).status == 403, sent, expected="403, for the rights", seen=usable(sent).quote()
    )


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


@contract("workflow-order-schema-before-document", requests=1, unrest=True)
def test_the_schema_counts_before_the_content(
    world: World, records: WorkflowRecords, expect: Expect, operation: str, realm: str
) -> None:
    """Without its schema a document cannot be validated, so an unknown schema is reported first."""
    identifier, unknown = records.subject(operation), submissions.UNKNOWN_SCHEMA
    records.need_row(Row.SCHEMA_UNKNOWN, operation, world.author, named=realm, schema=unknown)
    faulty = world.samples.faulty_submission(identifier)
    sent = world.submit(operation, identifier, faulty, schema=unknown)
    expect("workflow-order-schema-before-document", operation).has_message(sent, realm)
