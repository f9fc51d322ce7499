"""The errors array that contacts and the workflow share: it is there, and each element has its shape."""

from functools import partial

from contracts.cases import (
    CREATE,
    CREATE_NAMED,
    UPDATE,
    ContactRequests,
    Expect,
    Observer,
    WorkflowRecords,
    contact_requests,
    contract,
    errors_array,
    sample_records,
    smoke,
    submissions,
)

CLAUSES = ("errors-array", "errors-element-shape", "errors-code-known", "errors-status")
A_CONTACT = ("contact_schema", "contact_organization", "country_terms")


@contract(*CLAUSES, operations=["createContact", "updateContact"], needs=A_CONTACT, requests=2)
def test_a_faulty_contact_is_answered_with_well_formed_errors(
    contacts: ContactRequests, expect: Expect, observe: Observer, operation: str
) -> None:
    """Whatever is wrong with a contact, the errors array says so in objects of code and property."""
    record = contacts.record()
    certain = {"empty": {}, "without emails and type": sample_records.without(record, "emails", "type")}
    certain["another lastName"] = sample_records.of_another_kind(record, "lastName")
    certain["language of city"] = sample_records.unknown_language(record, "city")
    # One after the other: where one is taken, no other need stay for good.
    reporting, clause = contacts.reporting(), expect("errors-array", operation)
    sent = [reporting.refused_before(clause, contacts.lacking("firstName"))]
    sent += [errors_array.refused_before(contacts.faulty(*pair)) for pair in certain.items()]
    contact_requests.claim_errors_arrays(clause, sent)
    # Whether either is refused is for cases of their own.
    further = {
        "unknown field": contacts.faulty("unknown field", sample_records.unknown_field(record)),
        "unknown country": contacts.faulty("unknown country", sample_records.unknown_country(record)),
    }
    sent += further.values()
    seen = {name: errors_array.outcome(exchange) for name, exchange in further.items()}
    observe(
        "errors-status", operation, {"seen": sorted({errors_array.outcome(each) for each in sent})} | seen
    )
    contact_requests.each_array_of_elements(expect("errors-element-shape", operation), sent)
    contact_requests.claim_known_codes(expect("errors-code-known", operation), sent)


@smoke(every_realm=True, requests=2)
@contract(*CLAUSES[:3], operations=["createContact", "updateContact"], needs=A_CONTACT, requests=0.7)
def test_a_contact_that_lacks_a_field_is_answered_with_well_formed_errors(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """One missing field is enough for an errors array, in objects of a code that is listed and a property."""
    sent = [errors_array.refused_before(contacts.lacking("firstName"))]
    contact_requests.claim_errors_arrays(expect("errors-array", operation), sent)
    contact_requests.each_array_of_elements(expect("errors-element-shape", operation), sent)
    contact_requests.claim_known_codes(expect("errors-code-known", operation), sent)


@smoke(every_realm=True)
@contract(
    *CLAUSES, "workflow-errors-with-identifier", operations=[CREATE, CREATE_NAMED, UPDATE], requests=1.7
)
def test_a_faulty_document_is_answered_with_well_formed_errors(
    records: WorkflowRecords, expect: Expect, observe: Observer, operation: str
) -> None:
    """A document that breaks its schema is answered with objects of code and property, and with its identifier."""
    faulty = errors_array.refused_before(records.faulty(operation))
    contact_requests.claim_errors_arrays(expect("errors-array", operation), [faulty])
    refused = [faulty, *records.lacking(operation)]
    contact_requests.each_array_of_elements(expect("errors-element-shape", operation), refused)
    contact_requests.claim_known_codes(expect("errors-code-known", operation), refused)
    observe("errors-status", operation, [errors_array.outcome(faulty)])
    submissions.claim_named(partial(expect, "workflow-errors-with-identifier"), faulty)
