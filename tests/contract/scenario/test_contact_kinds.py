"""The kinds of the 26 fields of a contact: a value of a plainly other kind is refused, whole or inside.

A service that names every wrong field in its errors is asked with all of them wrong at once.
"""

import pytest

from contracts.cases import CONTACT_FIELDS, Claims, ContactRequests, contract

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


FIELDS = [pytest.param(field, marks=contract(CLAUSES[field])) for field in CONTACT_FIELDS]


@pytest.mark.parametrize("field", FIELDS)
@contract(operations=["createContact", "updateContact"], requests=0.7)
def test_a_field_of_another_kind_is_refused(
    contacts: ContactRequests, claim: Claims, operation: str, field: str
) -> None:
    """Every value of another kind is refused with an errors array, whole or inside, in any item of an array."""
    for sent in contacts.of_wrong_kind(field):
        contacts.reporting().claim_refused(claim(CLAUSES[field], operation), sent, field)
