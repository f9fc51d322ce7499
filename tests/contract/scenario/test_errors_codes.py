"""Errors arrays that no single generated fault gives: the code of a term, and several faults in one record."""

from registry_contracts.cases import (
    ContactRequests,
    Expect,
    Observer,
    Probe,
    World,
    contact_requests,
    contract,
    errors_array,
    generated_cases,
    sample_records,
    smoke,
)


@contract("errors-code-unexpected-term", requests=0.2)
def test_an_unknown_country_is_reported_as_an_unexpected_term(
    contacts: ContactRequests, expect: Expect, operation: str
) -> None:
    """A country that is not a known term is refused with Error.UnexpectedTerm."""
    sent = contacts.faulty("unknown country", contacts.record() | sample_records.UNKNOWN_COUNTRY)
    errors_array.told_before(sent)
    contact_requests.claim_code(
        expect("errors-code-unexpected-term", operation), sent, errors_array.UNEXPECTED_TERM
    )


@smoke("updateContact")
@contract(
    "errors-several-faults",
    requests=3,
    faults=True,
    operations=(contact_requests.CREATE, contact_requests.UPDATE),
    needs=("contact_schema", "contact_organization", "country_terms"),
)
def test_several_faults_are_told_together(probe: Probe, expect: Expect, operation: str) -> None:
    """One answer names every faulty field; a field that it does not name is tested again alone."""
    for faults in generated_cases.rounds():
        sent, untold = probe.judge_at_once(faults)
        errors_array.told_before(sent)
        seen = f"nothing told of {', '.join(untold)}"
        expect("errors-several-faults", operation).holds(
            not untold, sent, expected="each field named", seen=seen
        )


@contract("errors-code-invalid-value", requests=1)
def test_what_counts_as_an_invalid_value_is_observed(
    contacts: ContactRequests, world: World, observe: Observer, operation: str
) -> None:
    """The document does not show which values are invalid; a reference to a missing record is one candidate."""
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
