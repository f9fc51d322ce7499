"""The errors array that contacts and the workflow share: it is there, and each element has its shape."""

from contracts.cases.contacts import (
    CREATE,
    UPDATE,
    ContactRequests,
    unknown_country,
    unknown_field,
    unknown_language,
    without,
    wrong_kind_in_turn,
)
from contracts.cases.error_elements import each_array_of_elements, each_known_code, each_with_array
from contracts.cases.marks import contract
from contracts.cases.submissions import CREATE as SUBMIT
from contracts.cases.submissions import CREATE_NAMED as SUBMIT_NAMED
from contracts.cases.submissions import UPDATE as RESUBMIT
from contracts.cases.workflow_records import WorkflowRecords
from contracts.checks import errors_array
from contracts.checks.claims import Claims, Observer

CLAUSES = ("errors-array", "errors-element-shape", "errors-code-known", "errors-status")


@contract(*CLAUSES, operations=[CREATE, UPDATE])
def test_a_faulty_contact_is_answered_with_well_formed_errors(
    contacts: ContactRequests, claim: Claims, observe: Observer, operation: str
) -> None:
    """Whatever is wrong with a contact, the errors array says so in objects of code and property."""
    record = contacts.record()
    certain = {"empty": {}, "without emails and type": without(record, "emails", "type")}
    certain |= {
        f"lastName as {kind}": each for kind, each in wrong_kind_in_turn(record, "lastName", 0).items()
    }
    certain |= {"language of city": unknown_language(record, "city")}
    answers = [contacts.lacking("firstName"), *(contacts.faulty(*pair) for pair in certain.items())]
    sent = [errors_array.refused_before(answer) for answer in answers]
    each_with_array(claim("errors-array", operation), sent)
    sent += [contacts.faulty("unknown field", unknown_field(record))]
    sent += [contacts.faulty("unknown country", unknown_country(record))]
    each_array_of_elements(claim("errors-element-shape", operation), sent)
    each_known_code(claim("errors-code-known", operation), sent)
    observe("errors-status", operation, sorted({errors_array.outcome(exchange) for exchange in sent}))


@contract(*CLAUSES, operations=[SUBMIT, SUBMIT_NAMED, RESUBMIT])
def test_a_faulty_document_is_answered_with_well_formed_errors(
    records: WorkflowRecords, claim: Claims, observe: Observer, operation: str
) -> None:
    """A document that breaks its schema is answered with objects of code and property."""
    sent = [
        errors_array.refused_before(records.faulty(operation)),
        errors_array.refused_before(records.empty(operation)),
    ]
    each_with_array(claim("errors-array", operation), sent)
    each_array_of_elements(claim("errors-element-shape", operation), sent)
    each_known_code(claim("errors-code-known", operation), sent)
    observe("errors-status", operation, sorted({errors_array.outcome(exchange) for exchange in sent}))
