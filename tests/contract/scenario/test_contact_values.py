"""Unknown languages, terms and schemas of contacts are refused."""

from registry_contracts.cases import (
    ContactRequests,
    Expect,
    WorkflowRecords,
    World,
    claim_each_refused,
    contact_requests,
    contract,
    errors_array,
    sample_records,
    submissions,
)


@contract("contact-header-language-invalid", requests=1)
def test_a_phrase_is_no_language_of_a_header(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A header with a phrase among its language codes is refused."""
    record = contacts.record()
    record["header"]["languages"].append(sample_records.NO_LANGUAGE)
    sent = contacts.send(record)
    contacts.reporting().claim_refused(expect("contact-header-language-invalid", operation), sent, "header")


@contract("contact-country-unexpected", "errors-code-unexpected-term", requests=0.8)
def test_an_unknown_country_is_refused(contacts: ContactRequests, expect: Expect, operation: str) -> None:
    """A contact whose country is not a known term is refused, with Error.UnexpectedTerm."""
    sent = contacts.send(contacts.record() | sample_records.UNKNOWN_COUNTRY)
    contacts.reporting().claim_refused(expect("contact-country-unexpected", operation), sent, "country")
    errors_array.with_errors(sent)
    unexpected = expect("errors-code-unexpected-term", operation)
    contact_requests.claim_code(unexpected, sent, errors_array.UNEXPECTED_TERM)


@contract("contact-schema-unknown", requests=1)
def test_a_contact_needs_a_known_schema(contacts: ContactRequests, expect: Expect, operation: str) -> None:
    """The schema in the query validates a contact, so an unknown schema is refused."""
    sent = contacts.send(contacts.record(), query={"schema": submissions.UNKNOWN_SCHEMA})
    claim_each_refused(expect("contact-schema-unknown", operation), [sent])


@contract("contact-schema-validates", requests=1.5)
def test_a_contact_is_validated_by_the_schema_that_the_query_names(
    contacts: ContactRequests, records: WorkflowRecords, world: World, expect: Expect, operation: str
) -> None:
    """A contact sent with the workflow's schema is refused for that schema's mandatory fields."""
    record = records.lacking_mandatory(world.samples.contact())
    sent = contacts.send(record, query={"schema": world.samples.workflow_schema})
    claim_each_refused(expect("contact-schema-validates", operation), [sent])
