"""The errors array of contacts and the workflow: it exists, and each element has the documented shape."""

from functools import partial

from registry_contracts.cases import (
    CREATE,
    CREATE_NAMED,
    UPDATE,
    ContactRequests,
    Expect,
    Observer,
    WorkflowRecords,
    contract,
    errors_array,
    smoke,
    submissions,
)

CLAUSES = (*submissions.ERROR_CLAUSES, "errors-status")
MISSING = {"contact-mandatory-first-name": "firstName", "contact-mandatory-emails": "emails"}
A_CONTACT = ("contact_schema", "contact_organization", "country_terms")


@smoke("createContact", "updateContact", requests=2)
@contract(
    *CLAUSES,
    *MISSING,
    "errors-code-mandatory",
    operations=["createContact", "updateContact"],
    needs=A_CONTACT,
    requests=0.7,
)
def test_a_contact_that_lacks_a_field_is_answered_with_well_formed_errors(
    contacts: ContactRequests, expect: Expect, observe: Observer, operation: str
) -> None:
    """A missing field leads to an errors array, whose objects have a documented code and name the field."""
    for clause, field in MISSING.items():
        sent = contacts.lacking(field)
        contacts.reporting().claim_told(expect, clause, sent, field, f"body.{field}:missing")
        expect("errors-array", operation).content_refused(sent)
    observe("errors-status", operation, errors_array.outcome(sent))


@smoke("createWorkflowRecord", "updateWorkflowRecord", "createWorkflowRecordWithIdentifier")
@contract(
    *CLAUSES,
    "workflow-document-validated",
    "workflow-errors-with-identifier",
    operations=[CREATE, CREATE_NAMED, UPDATE],
    requests=1.7,
)
def test_a_faulty_document_is_answered_with_well_formed_errors(
    records: WorkflowRecords, expect: Expect, observe: Observer, operation: str
) -> None:
    """The answer to a document that breaks its schema holds objects with code and property, and its identifier."""
    faulty = records.faulty(operation)
    expect("workflow-document-validated", operation).turned_down(faulty)
    submissions.claim_errors_told(expect, faulty, *records.lacking(operation))
    observe("errors-status", operation, errors_array.outcome(faulty))
    submissions.claim_named(partial(expect, "workflow-errors-with-identifier"), faulty)
