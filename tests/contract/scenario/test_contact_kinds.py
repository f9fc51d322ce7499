"""The kinds of the 26 fields of a contact: a value of a plainly other kind is refused, whole or inside.

Create meets every wrong kind of every field; update meets them too, dealt out to the realms of the run, and all of
them in each realm nightly.
"""

import pytest

from contracts.cases import CONTACT_FIELDS, Claims, ContactRequests, Deal, contract, sample_records

CLAUSES = {
    "header": "contact-kind-header",
    "prefix": "contact-kind-prefix",
    "firstName": "contact-kind-first-name",
    "middleName": "contact-kind-middle-name",
    "lastName": "contact-kind-last-name",
    "gender": "contact-kind-gender",
    "designation": "contact-kind-designation",
    "organization": "contact-kind-organization",
    "organizationAcronym": "contact-kind-organization-acronym",
    "department": "contact-kind-department",
    "organizationType": "contact-kind-organization-type",
    "address": "contact-kind-address",
    "city": "contact-kind-city",
    "state": "contact-kind-state",
    "postalCode": "contact-kind-postal-code",
    "country": "contact-kind-country",
    "phones": "contact-kind-phones",
    "faxes": "contact-kind-faxes",
    "emails": "contact-kind-emails",
    "websites": "contact-kind-websites",
    "addressType": "contact-kind-address-type",
    "relevantInformation": "contact-kind-relevant-information",
    "relevantDocuments": "contact-kind-relevant-documents",
    "type": "contact-kind-type",
    "government": "contact-kind-government",
    "contactOrganization": "contact-kind-contact-organization",
}


def fields(operation: str, profile: str = "gate") -> pytest.MarkDecorator:
    """One case for each of the 26 fields, with the clause that speaks of it."""
    params = [
        pytest.param(field, marks=contract(CLAUSES[field], operations=[operation], profile=profile))
        for field in CONTACT_FIELDS
    ]
    return pytest.mark.parametrize("field", params)


@fields("createContact")
@contract(operations=["createContact"])
def test_creating_refuses_a_field_of_another_kind(
    contacts: ContactRequests, claim: Claims, operation: str, field: str
) -> None:
    """Every value of another kind is refused with an errors array."""
    for kind, record in sample_records.wrong_kinds(contacts.record(), field).items():
        sent = contacts.faulty(f"{field} as {kind}", record)
        contacts.reporting().claim_refused(claim(CLAUSES[field], operation), sent)


@fields("updateContact")
@contract(operations=["updateContact"])
def test_updating_refuses_a_field_of_another_kind(
    contacts: ContactRequests, claim: Claims, operation: str, deal: Deal, field: str
) -> None:
    """A value of another kind is refused with an errors array; the kinds are dealt out to the realms."""
    for kind, record in deal(sample_records.wrong_kinds(contacts.record(), field), len(field)).items():
        sent = contacts.faulty(f"{field} as {kind}", record)
        contacts.reporting().claim_refused(claim(CLAUSES[field], operation), sent)


@fields("updateContact", "nightly")
@contract(operations=["updateContact"], profile="nightly")
def test_updating_refuses_every_other_kind(
    contacts: ContactRequests, claim: Claims, operation: str, field: str
) -> None:
    """Every value of another kind is refused in an update too."""
    for kind, record in sample_records.wrong_kinds(contacts.record(), field).items():
        sent = contacts.faulty(f"{field} as {kind}", record)
        contacts.reporting().claim_refused(claim(CLAUSES[field], operation), sent)
