"""Contacts with drawn fields: whatever the interface document allows, with values that are known, is taken."""

from contracts.cases import (
    Arrangement,
    Claims,
    ContactRequests,
    Properties,
    Samples,
    contract,
    drawn_contacts,
)


@contract(drawn_contacts.CLAUSE, operations=["updateContact"], profile="nightly", requests=49)
def test_any_contact_that_is_allowed_is_taken(
    contacts: ContactRequests, arrange: Arrangement, samples: Samples, claim: Claims, properties: Properties
) -> None:
    """A contact is updated with any optional fields, in any languages, with any number of items and any names."""
    drawn = drawn_contacts.DrawnContacts(
        contacts, arrange, samples, claim(drawn_contacts.CLAUSE, "updateContact")
    )
    properties.hold(drawn_contacts.some_fields(samples), drawn.is_taken, requests=6, each=1)
