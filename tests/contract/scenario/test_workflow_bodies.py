"""The document of a submission: it is required, and validated by its schema.

A refusal must have no effect: the identifier stays free, or the record stays open for updates.
"""

from functools import partial

from registry_contracts.cases import (
    Expect,
    Observer,
    WorkflowRecords,
    World,
    claim_each_refused,
    contract,
    errors_array,
    factors,
    smoke,
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


@smoke("updateWorkflowRecord")
@contract("workflow-document-validated", "workflow-document-empty", "workflow-document-content")
@contract(*submissions.ERROR_CLAUSES, "workflow-errors-with-identifier", "errors-status")
@contract(operations=factors.WORKFLOW, requests=3.7)
def test_a_document_that_breaks_its_schema_is_refused_with_errors(
    world: World, records: WorkflowRecords, expect: Expect, observe: Observer, operation: str
) -> None:
    """A document with wrong types, without members, or with a missing field is refused, with well-formed errors."""
    faulty, clause = records.faulty(operation), expect("workflow-document-validated", operation)
    identifier = faulty.notes["identifier"]
    clause.turned_down(faulty)
    records.claim_nothing_came_of(clause, identifier, faulty)
    for document in world.samples.submitted_contacts_without_a_field(identifier):
        clause.turned_down(world.submit(operation, identifier, {"document": document}))
    empty = world.submit(operation, identifier, {"document": {}})
    expect("workflow-document-empty", operation).turned_down(empty)
    submissions.claim_errors_told(expect, faulty, *records.lacking(operation))
    submissions.claim_own_identifier(partial(expect, "workflow-errors-with-identifier"), faulty)
    seen = {"wrong kinds": errors_array.outcome(faulty), "nothing": errors_array.outcome(empty)}
    observe("workflow-document-content", operation, seen)
    observe("errors-status", operation, errors_array.outcome(faulty))
