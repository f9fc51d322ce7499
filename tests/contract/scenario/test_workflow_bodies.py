"""The body of a submission: a document, and two optional texts with their limits.

A refusal must have no effect: the identifier stays free, or the record stays open for updates.
"""

from registry_contracts.cases import (
    Expect,
    Observer,
    WorkflowRecords,
    World,
    claim_each_refused,
    contract,
    errors_array,
    submissions,
)


@contract("workflow-document-missing", requests=2, turns=True)
def test_a_bare_document_is_no_submission(
    world: World, records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """The member document is required: a body that is itself a document is refused."""
    identifier, clause = records.subject(operation), expect("workflow-document-missing", operation)
    sent = world.submit(operation, identifier, world.samples.document(identifier))
    claim_each_refused(clause, [sent])
    records.claim_nothing_came_of(clause, identifier, sent)


@contract("workflow-document-validated", "workflow-document-empty", "workflow-document-content", requests=3)
def test_a_document_that_breaks_its_schema_is_refused(
    world: World, records: WorkflowRecords, expect: Expect, observe: Observer, operation: str
) -> None:
    """A document with wrong types, without members, or with a missing field is refused by its schema."""
    faulty, clause = records.faulty(operation), expect("workflow-document-validated", operation)
    identifier = faulty.notes["identifier"]
    clause.turned_down(faulty)
    records.claim_nothing_came_of(clause, identifier, faulty)
    for document in world.samples.submitted_contacts_without_a_field(identifier):
        clause.turned_down(world.submit(operation, identifier, {"document": document}))
    empty = world.submit(operation, identifier, {"document": {}})
    expect("workflow-document-empty", operation).turned_down(empty)
    seen = {"wrong kinds": errors_array.outcome(faulty), "nothing": errors_array.outcome(empty)}
    observe("workflow-document-content", operation, seen)


@contract("workflow-batch-too-long", requests=2.8, turns=True)
def test_a_batch_identifier_that_is_too_long_is_refused(
    world: World, records: WorkflowRecords, expect: Expect, operation: str
) -> None:
    """A batchId of 101 characters, or a far longer one, is refused."""
    identifier, clause = records.subject(operation), expect("workflow-batch-too-long", operation)
    sent = [
        world.submit(operation, identifier, world.samples.submission(identifier, batchId=text))
        for text in submissions.too_long(submissions.LONGEST_BATCH, operation)
    ]
    claim_each_refused(clause, sent)
    records.claim_nothing_came_of(clause, identifier, *sent)
    records.claim_identifier_free(clause, identifier, *sent)
