"""The codes of the errors array that no generated fault gives: of a term, and of several faults in one record."""

from contracts.cases import (
    ContactRequests,
    Expect,
    Observer,
    contact_errors,
    contract,
    errors_array,
    sample_records,
)


@contract("errors-code-unexpected-term", requests=0.2)
def test_an_unknown_country_is_reported_as_an_unexpected_term(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A country that is no known term gives Error.UnexpectedTerm when it is refused."""
    sent = contacts.faulty("unknown country", sample_records.unknown_country(contacts.record()))
    errors_array.told_before(sent)
    contact_errors.claim_code(
        expect("errors-code-unexpected-term", operation), sent, errors_array.UNEXPECTED_TERM
    )


@contract("errors-several-faults", requests=1)
def test_several_faults_are_reported_together(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """Faults of three sorts in one record are all named by one answer."""
    record = sample_records.unknown_language(
        sample_records.without(contacts.record(), "lastName"), "city"
    ) | {"phones": {"text": "none"}}
    sent = errors_array.told_before(contacts.send(record))
    for field in ("lastName", "city", "phones"):
        contact_errors.claim_named(expect("errors-several-faults", operation), sent, field)


@contract("errors-code-invalid-value", requests=1)
def test_what_counts_as_an_invalid_value_is_observed(
    contacts: ContactRequests, observe: Observer, operation: str
) -> None:
    """Nothing says which values are invalid; a reference to no record is one candidate."""
    nowhere = {"contactOrganization": {"identifier": contacts.fresh_uid()}}
    sent = contacts.send(sample_records.without(contacts.record(), "lastName") | nowhere)
    codes = sorted(
        {
            code
            for code, path in errors_array.elements(sent.answer)
            if not errors_array.names_field(path, "lastName")
        }
    )
    observe("errors-code-invalid-value", operation, codes)
