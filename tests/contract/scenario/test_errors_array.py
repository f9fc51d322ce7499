"""The errors array of contacts: it exists, and each element has the documented shape."""

from registry_contracts.cases import (
    ContactRequests,
    Expect,
    Observer,
    contract,
    errors_array,
    smoke,
    submissions,
)

MISSING = {"contact-mandatory-first-name": "firstName", "contact-mandatory-emails": "emails"}
A_CONTACT = ("contact_schema", "contact_organization", "country_terms")


@smoke(requests=2)
@contract(
    *submissions.ERROR_CLAUSES,
    *MISSING,
    *("errors-status", "errors-code-mandatory"),
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
