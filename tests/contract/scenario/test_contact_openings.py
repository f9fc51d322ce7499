"""Contacts where the interface document is silent: observed, never claimed.

A record that might be accepted updates the reused contact, or has another fault, so these observations leave nothing
behind.
"""

from typing import Any

from registry_contracts.cases import (
    UID_LONGEST,
    UID_SHORTEST,
    Actor,
    ContactRequests,
    Deal,
    Observer,
    World,
    contract,
    errors_array,
    sample_records,
)

Table = dict[str, dict[str, Any]]
UNKNOWN, NO_FORM = {"identifier": sample_records.UNKNOWN_TERM}, "neither here nor there"
#: Fields with undocumented rules, by clause and by what is undocumented.
OPEN: dict[str, Table] = {
    "contact-mandatory-empty": {
        "firstName": {"firstName": ""},
        "organization": {"organization": {}},
        "organization text": {"organization": {"en": ""}},
        "country": {"country": {"identifier": ""}},
        "emails": {"emails": []},
        "contactOrganization": {"contactOrganization": {"identifier": ""}},
    },
    "contact-language-key-unknown": {"organization": {"organization": {"qq": "Nairobi"}}},
    "contact-type-values": {"type": {"type": sample_records.UNKNOWN_TERM}},
    "contact-address-type-values": {"addressType": {"addressType": sample_records.UNKNOWN_TERM}},
    "contact-gender-values": {"gender": {"gender": UNKNOWN}},
    "contact-optional-term-values": {
        "organizationType": {"organizationType": UNKNOWN},
        "government": {"government": UNKNOWN},
    },
    "contact-organization-unknown": {"none": {"contactOrganization": UNKNOWN}},
    "contact-text-forms": {
        "emails": {"emails": [NO_FORM]},
        "phones": {"phones": [NO_FORM]},
        "websites": {"websites": [{"url": NO_FORM}]},
    },
}


@contract(*OPEN, "contact-further-members", "contact-header-members")
@contract(operations=["updateContact"], requests=0, dealt=21)
def test_values_that_may_be_taken_or_refused(
    contacts: ContactRequests, observe: Observer, deal: Deal
) -> None:
    """The document gives no status for updates with empty values, unlisted terms, odd forms or further members."""
    record = contacts.record()
    header, country = record["header"], record["country"]
    further: dict[str, Table] = {
        "contact-further-members": {
            "country": {"country": country | {"name": "Kenya"}},
            "websites": {"websites": [{"url": "https://example.test/", "name": "Home"}]},
        },
        "contact-header-members": {name: {"header": sample_records.without(header, name)} for name in header},
    }
    for clause, table in deal(OPEN | further).items():
        seen = {what: errors_array.outcome(contacts.send(record | new)) for what, new in table.items()}
        observe(clause, "updateContact", seen)


@contract("contact-header-disagrees", requests=2)
def test_a_header_that_disagrees(
    contacts: ContactRequests, world: World, observe: Observer, operation: str
) -> None:
    """The document does not say whether errors name a header with another uid or schema than the request's."""
    faulty = sample_records.without(contacts.record(), "lastName")
    odd = {"identifier": world.uid(), "schema": sample_records.UNKNOWN_TERM}
    seen = {}
    for name, value in odd.items():
        sent = contacts.send(faulty | {"header": faulty["header"] | {name: value}})
        seen[name] = errors_array.reports(sent.answer, "header")
    observe("contact-header-disagrees", operation, seen)


@contract("contact-header-identifier-rule", operations=["createContact"], requests=3)
def test_an_identifier_in_the_header_outside_the_rule(
    contacts: ContactRequests, world: World, observe: Observer
) -> None:
    """The document does not say whether the identifier of a new contact must obey the identifier rule."""
    odd = {
        "short": world.uid(UID_SHORTEST - 1),
        "long": world.uid(UID_LONGEST + 1),
        "characters": world.uid() + "~",
    }
    seen = {}
    for name, uid in odd.items():
        sent = contacts.send(sample_records.without(contacts.record(uid), "lastName"))
        seen[name] = errors_array.reports(sent.answer, "header")
    observe("contact-header-identifier-rule", "createContact", seen)


@contract("contact-update-unknown", operations=["updateContact"], requests=1)
def test_an_update_of_no_contact(world: World, observe: Observer) -> None:
    """The document does not say whether an unknown uid is reported before a fault in the record."""
    uid = world.uid()
    record = sample_records.without(world.samples.contact(uid), "lastName")
    query = {"schema": world.samples.contact_schema}
    sent = world.author.send("updateContact", path={"uid": uid}, query=query, json=record)
    observe("contact-update-unknown", "updateContact", errors_array.outcome(sent))


@contract("contact-update-by-another", operations=["updateContact"], requests=1.7)
def test_an_update_by_another_account(contacts: ContactRequests, other: Actor, observe: Observer) -> None:
    """The document does not say why a faulty update by another account is refused: for its content or its sender."""
    sent = contacts.send(sample_records.without(contacts.record(), "lastName"), actor=other)
    observe("contact-update-by-another", "updateContact", errors_array.outcome(sent))


@contract("contact-by-restricted", requests=1)
def test_a_contact_by_an_account_without_rights(
    contacts: ContactRequests, restricted: Actor, observe: Observer, operation: str
) -> None:
    """The document does not say why a faulty record by an account without rights is refused: content or sender."""
    sent = contacts.send(sample_records.without(contacts.record(), "lastName"), actor=restricted)
    observe("contact-by-restricted", operation, errors_array.outcome(sent))


@contract("contact-read-back", operations=["updateContact"], requests=1)
def test_reading_a_contact_back(contacts: ContactRequests, world: World, observe: Observer) -> None:
    """The document does not say whether the draft operations show a contact."""
    sent = world.author.get_draft(contacts.uid)
    observe("contact-read-back", "updateContact", errors_array.outcome(sent))


@contract("contact-identifier-taken", operations=["createContact"], profile="nightly", requests=1, records=1)
def test_creating_under_an_identifier_in_use(
    contacts: ContactRequests, world: World, observe: Observer
) -> None:
    """The document does not say how a new contact is answered if its header names an existing contact."""
    sent = contacts.send(contacts.record(world.contact()))
    observe("contact-identifier-taken", "createContact", errors_array.outcome(sent))


@contract("errors-code-invalid-value", requests=1)
def test_what_counts_as_an_invalid_value_is_observed(
    contacts: ContactRequests, world: World, observe: Observer, operation: str
) -> None:
    """The document does not say which values are invalid; a reference to a missing record is one candidate."""
    nowhere = {"contactOrganization": {"identifier": world.uid()}}
    sent = contacts.send(sample_records.without(contacts.record(), "lastName") | nowhere)
    errors = errors_array.elements(sent.answer)
    codes = {code for code, path in errors if not errors_array.names_field(path, "lastName")}
    observe("errors-code-invalid-value", operation, sorted(codes))
