"""Error codes that no generated fault causes: for an unknown term, and for a value that may be invalid."""

from registry_contracts.cases import (
    ContactRequests,
    Expect,
    Observer,
    World,
    contact_requests,
    contract,
    errors_array,
    sample_records,
)


@contract("errors-code-unexpected-term", requests=0.2)
def test_an_unknown_country_is_reported_as_an_unexpected_term(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A country that is not a known term is refused with Error.UnexpectedTerm."""
    sent = contacts.faulty("unknown country", contacts.record() | sample_records.UNKNOWN_COUNTRY)
    errors_array.with_errors(sent)
    contact_requests.claim_code(
        expect("errors-code-unexpected-term", operation), sent, errors_array.UNEXPECTED_TERM
    )


@contract("errors-code-invalid-value", requests=1)
def test_what_counts_as_an_invalid_value_is_observed(
    contacts: ContactRequests, world: World, observe: Observer, operation: str
) -> None:
    """The document does not say which values are invalid; a reference to a missing record is one candidate."""
    nowhere = {"contactOrganization": {"identifier": world.uid()}}
    sent = contacts.send(sample_records.without(contacts.record(), "lastName") | nowhere)
    codes = sorted(
        {
            code
            for code, path in errors_array.elements(sent.answer)
            if not errors_array.names_field(path, "lastName")
        }
    )
    observe("errors-code-invalid-value", operation, codes)
