"""The seven mandatory fields of a contact: each is missed when it is absent, by create and by update."""

import pytest

from contracts.cases import (
    MANDATORY_FIELDS,
    Actor,
    Claims,
    ContactRequests,
    UnauthenticatedContacts,
    claim_each_turned_down,
    contact_requests,
    contract,
    errors_array,
    sample_records,
    submissions,
)

BOTH = ["createContact", "updateContact"]
CLAUSES = {
    "firstName": "contact-mandatory-first-name",
    "lastName": "contact-mandatory-last-name",
    "organization": "contact-mandatory-organization",
    "country": "contact-mandatory-country",
    "emails": "contact-mandatory-emails",
    "type": "contact-mandatory-type",
    "contactOrganization": "contact-mandatory-contact-organization",
}


@pytest.mark.parametrize(
    "field",
    [pytest.param(field, marks=contract(clause, operations=BOTH)) for field, clause in CLAUSES.items()],
)
@contract(operations=BOTH, requests=0.6)
def test_a_missing_field_is_missed(
    contacts: ContactRequests, claim: Claims, operation: str, field: str
) -> None:
    """A contact that lacks one mandatory field is refused, and Error.Mandatory names the field."""
    contacts.reporting().claim_mandatory(claim(CLAUSES[field], operation), contacts.lacking(field), field)


@contract("contact-empty-record", requests=1)
def test_an_empty_record_is_refused(contacts: ContactRequests, claim: Claims, operation: str) -> None:
    """A record without any field is refused, with Error.Mandatory among its errors."""
    sent = contacts.faulty("empty", {})
    contacts.reporting().claim_some_mandatory(claim("contact-empty-record", operation), sent)


@contract("contact-all-missing-named", requests=1)
def test_every_missing_field_is_named_at_once(
    contacts: ContactRequests, claim: Claims, operation: str
) -> None:
    """When several mandatory fields are missing, the errors array names each of them."""
    sent = errors_array.refused_before(
        contacts.send(sample_records.without(contacts.record(), *MANDATORY_FIELDS))
    )
    contact_requests.claim_fields_named(
        claim("contact-all-missing-named", operation), [(field, sent) for field in MANDATORY_FIELDS]
    )


@contract("contact-mandatory-null", requests=7)
def test_null_does_not_fill_a_mandatory_field(
    contacts: ContactRequests, claim: Claims, operation: str
) -> None:
    """A mandatory field that is present but null is refused."""
    for field in MANDATORY_FIELDS:
        sent = contacts.send(contacts.record() | {field: None})
        contacts.reporting().claim_turned_down(claim("contact-mandatory-null", operation), sent, field)


@contract("contact-body-kind", requests=6)
def test_a_body_that_is_no_object_is_refused(
    contacts: ContactRequests, claim: Claims, operation: str
) -> None:
    """A contact is a JSON object, and there has to be one."""
    sent = [contacts.send(value) for value in submissions.NO_OBJECTS.values()]
    sent += [contacts.send([contacts.record()]), contacts.send(body=b"")]
    claim_each_turned_down(claim("contact-body-kind", operation), sent)


@contract("contact-country-without-identifier", "contact-organization-without-identifier", requests=1)
@pytest.mark.parametrize(
    ("clause", "field"),
    [
        ("contact-country-without-identifier", "country"),
        ("contact-organization-without-identifier", "contactOrganization"),
    ],
    ids=["country", "contactOrganization"],
)
def test_a_mandatory_field_without_its_identifier_is_refused(
    contacts: ContactRequests, claim: Claims, operation: str, clause: str, field: str
) -> None:
    """A term or a reference without its identifier says nothing."""
    sent = contacts.send(contacts.record() | {field: {"name": "Kenya"}})
    contacts.reporting().claim_refused(claim(clause, operation), sent, field)


@contract("contact-create-needs-token", requests=1)
def test_creating_a_contact_needs_a_token(
    unauthenticated: UnauthenticatedContacts, anonymous: Actor, claim: Claims
) -> None:
    """Without a token no contact is created."""
    claim("contact-create-needs-token").refused(unauthenticated.send("createContact", anonymous))


@contract("contact-update-needs-token", requests=1)
def test_updating_a_contact_needs_a_token(
    unauthenticated: UnauthenticatedContacts, anonymous: Actor, claim: Claims
) -> None:
    """Without a token no contact is updated."""
    claim("contact-update-needs-token").refused(unauthenticated.send("updateContact", anonymous))
