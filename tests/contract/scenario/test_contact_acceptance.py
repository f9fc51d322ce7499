"""Contacts that are accepted: minimal and full, in several languages, with several items.

A contact cannot be removed through the interface: two are created for each realm and run, and updates all go to one
that is reused.
"""

from contracts.cases.arrangement import Arrangement
from contracts.cases.contacts import (
    CREATE,
    UPDATE,
    ContactRequests,
    all_at_once,
    several_items,
    several_languages,
    updates,
    without,
)
from contracts.cases.marks import contract
from contracts.cases.observing import shape
from contracts.cases.samples import Samples
from contracts.cases.submissions import origin, without_errors
from contracts.checks.claims import Claims, Observer
from contracts.checks.errors_array import refused_before
from contracts.session.actor import Actor
from contracts.session.namespace import Namespace


@contract(
    "contact-create-accepted",
    "errors-absent-on-success",
    "contact-create-answer",
    "contact-success-status",
    operations=[CREATE],
    profile="smoke",
)
def test_a_contact_with_its_mandatory_fields_is_created(
    contacts: ContactRequests, claim: Claims, observe: Observer
) -> None:
    """Seven fields are enough; not even a header is needed."""
    sent = contacts.send(contacts.bare_record())
    claim("contact-create-accepted").accepted(sent)
    without_errors(claim("errors-absent-on-success", CREATE), sent)
    observe("contact-create-answer", CREATE, shape(sent))
    observe("contact-success-status", CREATE, sent.answer.status)


@contract(
    "contact-create-full",
    "contact-several-languages",
    "contact-several-items",
    "contact-refused-frees-identifier",
    "contact-identifier-origin",
    operations=[CREATE],
)
def test_a_contact_with_everything_is_created_where_a_faulty_one_was_refused(
    contacts: ContactRequests, claim: Claims, observe: Observer
) -> None:
    """All 26 fields, several languages and items are accepted, under an identifier that a refusal left free."""
    refused_before(contacts.send(without(contacts.record(), "lastName")))
    whole = several_items(several_languages(contacts.full_record()))
    sent = contacts.send(whole)
    uid = contacts.fresh_uid
    all_at_once(
        sent,
        [
            (claim("contact-create-full"), lambda: contacts.send(contacts.full_record(uid()))),
            (
                claim("contact-several-languages", CREATE),
                lambda: contacts.send(several_languages(contacts.full_record(uid()))),
            ),
            (
                claim("contact-several-items", CREATE),
                lambda: contacts.send(several_items(contacts.full_record(uid()))),
            ),
        ],
        rest=claim("contact-refused-frees-identifier"),
        plain=lambda: contacts.send(contacts.record(uid())),
    )
    observe("contact-identifier-origin", CREATE, origin(sent, whole))


@contract(
    "contact-update-accepted",
    "errors-absent-on-success",
    "contact-update-answer",
    "contact-success-status",
    operations=[UPDATE],
)
def test_a_contact_is_updated_with_its_mandatory_fields(
    author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, claim: Claims, observe: Observer
) -> None:
    """A contact is updated under its uid with no more than seven fields."""
    contacts = updates(claim("contact-update-accepted"), author, arrange, samples, fresh)
    sent = contacts.send(contacts.bare_record())
    claim("contact-update-accepted").accepted(sent)
    without_errors(claim("errors-absent-on-success", UPDATE), sent)
    observe("contact-update-answer", UPDATE, shape(sent))
    observe("contact-success-status", UPDATE, sent.answer.status)


@contract("contact-update-full", "contact-several-languages", "contact-several-items", operations=[UPDATE])
def test_a_contact_is_updated_with_everything(contacts: ContactRequests, claim: Claims) -> None:
    """All 26 fields are accepted in an update, and so are several languages and several items."""
    claim("contact-update-full").accepted(contacts.send(contacts.full_record()))
    languages = contacts.send(several_languages(contacts.full_record()))
    claim("contact-several-languages", UPDATE).accepted(languages)
    items = contacts.send(several_items(contacts.full_record()))
    claim("contact-several-items", UPDATE).accepted(items)
