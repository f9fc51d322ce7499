"""Contacts that are accepted: minimal and full, in several languages, with several items.

The interface cannot remove a contact: each run creates two in each realm, and all updates go to one contact that runs
reuse.
"""

from registry_contracts.cases import (
    ContactRequests,
    Deal,
    Expect,
    Observer,
    World,
    contact_requests,
    contract,
    drafts,
    sample_records,
    shape,
    smoke,
    submissions,
)

CREATE, UPDATE = contact_requests.CREATE, contact_requests.UPDATE


@smoke("createContact")
@contract("contact-create-accepted", "errors-absent-on-success", "contact-create-answer")
@contract("contact-success-status", "draft-get-content", operations=[CREATE], requests=3, records=1)
def test_a_contact_with_its_mandatory_fields_is_created(
    contacts: ContactRequests, world: World, expect: Expect, observe: Observer
) -> None:
    """A contact with only the seven mandatory fields, and without a header, is created; a draft beside it stays."""
    beside = drafts.saved_beside(world)
    sent = contacts.send(world.samples.contact())
    submissions.claim_without_errors(expect("errors-absent-on-success", CREATE), sent)
    contact_requests.claim_accepted(expect("contact-create-accepted"), sent, world.samples)
    observe("contact-create-answer", CREATE, shape(sent))
    observe("contact-success-status", CREATE, sent.answer.status)
    drafts.claim_left_alone(expect("draft-get-content", "getDraft"), world, beside, sent)


@smoke("createContact")
@contract("contact-create-full", "contact-several-languages", "contact-several-items")
@contract("contact-names-in-scripts", "contact-any-fields", "contact-refused-frees-identifier")
@contract("contact-identifier-origin", "contact-mandatory-last-name", *contact_requests.TOLD_CLAUSES)
@contract(operations=[CREATE], requests=2, records=1)
def test_a_contact_with_everything_is_created_where_a_faulty_one_was_refused(
    contacts: ContactRequests, world: World, expect: Expect, observe: Observer
) -> None:
    """A full contact in several languages is created under the identifier of a refused one, or else a fresh one."""
    faulty = contacts.send(sample_records.without(contacts.record(contacts.uid), "lastName"))
    contacts.reporting().claim_told(
        expect, "contact-mandatory-last-name", faulty, "lastName", "body.lastName:missing"
    )
    sent = contact_requests.claim_everything_created(expect, contacts, world.samples, world.uid)
    observe("contact-identifier-origin", CREATE, submissions.origin(sent, sent.request_body.json))


@smoke(requests=4)
@contract("contact-update-accepted", "errors-absent-on-success", "contact-update-answer")
@contract("contact-success-status", operations=[UPDATE], requests=2)
def test_a_contact_is_updated_with_its_mandatory_fields(
    world: World, expect: Expect, observe: Observer
) -> None:
    """A contact is updated under its uid with only the seven mandatory fields."""
    contacts = contact_requests.claim_updatable(expect("contact-update-accepted"), world)
    sent = contacts.send(world.samples.contact())
    submissions.claim_without_errors(expect("errors-absent-on-success", UPDATE), sent)
    contact_requests.claim_accepted(expect("contact-update-accepted"), sent, world.samples)
    observe("contact-update-answer", UPDATE, shape(sent))
    observe("contact-success-status", UPDATE, sent.answer.status)


@smoke("updateContact", requests=5)
@contract("contact-update-full", "contact-several-languages", "contact-several-items")
@contract("contact-names-in-scripts", operations=[UPDATE], requests=5)
def test_a_contact_is_updated_with_everything(
    contacts: ContactRequests, world: World, expect: Expect
) -> None:
    """An update accepts all 26 fields, several languages, another language, several items, and names in any script."""
    full = world.samples.full_contact(contacts.uid)
    contact_requests.claim_accepted(expect("contact-update-full"), contacts.send(full), world.samples)
    languages, items = sample_records.in_languages(full), sample_records.several_items(full)
    named, french = sample_records.named_in_scripts(full), sample_records.in_languages(full, "fr")
    for clause, before, record in (
        ("contact-several-languages", full, languages),
        ("contact-several-languages", languages, french),
        ("contact-several-items", french, items),
        ("contact-names-in-scripts", items, named),
    ):
        sent = contacts.send(record)
        contact_requests.claim_accepted(expect(clause, UPDATE), sent, world.samples)
        contact_requests.claim_shown_as_updated(expect("contact-update-full"), sent, before, record)


@contract("contact-optional-not-demanded", "contact-any-fields", operations=[UPDATE], requests=0, dealt=7)
def test_any_optional_field_may_be_left_out_whatever_others_are_there(
    contacts: ContactRequests, world: World, deal: Deal, expect: Expect
) -> None:
    """Each optional field may be left out, whichever other fields are sent."""
    mixes = deal(sample_records.optional_mixes(world.samples.full_contact(contacts.uid)))
    contact_requests.claim_any_fields(expect, contacts, world.samples, mixes.values())
