"""The Realm header on contact, draft and workflow operations: development realms and other values."""

from functools import partial
from itertools import product

from registry_contracts.cases import (
    Deal,
    Expect,
    Observer,
    OrdinaryRequests,
    World,
    comparison,
    contract,
    drafts_of,
    known_drafts,
    lists,
    requests,
    smoke,
)
from registry_contracts.cases.list_pages import Page


@smoke()
@contract("realm-empty", operations=requests.family("workflow"), requests=1)
def test_an_empty_realm_header_is_refused(
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """An empty Realm header is refused with 400, like a missing or an unknown realm."""
    request = ordinary.faulty(operation)
    refused = requests.send(request, world.author, {"Realm": ""})
    usual = partial(requests.send, request, world.author)
    comparison.claim_realm_missed(expect("realm-empty", operation), refused, usual)


@contract("realm-lists-apart", operations=("listDrafts",), requests=11)
def test_drafts_of_one_realm_are_not_listed_in_another(
    world: World, realm: str, deal: Deal, expect: Expect
) -> None:
    """A realm is a separate application: its list shows only its own drafts."""
    draft = world.draft()
    listers = [drafts_of(world.author), *lists.listers_of(known_drafts(world), draft.uid)]
    for other, lister in deal.whole(product(requests.OTHERS[realm], listers)):
        elsewhere = world.author.list_drafts(query=dict(lister.fixed), realm=other)
        apart, expected = not Page(elsewhere).names(draft.uid), f"no such draft in the list of {other}"
        expect("realm-lists-apart").holds(apart, draft.exchange, elsewhere, expected=expected)


@contract("realm-ort-on-draft", "realm-query-elsewhere", operations=("getDraft",), requests=2)
def test_reading_drafts_under_other_realms_is_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer, realm: str, operation: str
) -> None:
    """The document does not say how reads in the reporting realm, or with the realm in the query, are answered."""
    request = ordinary.on_shared_data(operation)
    reporting = requests.send(request, world.author, {"Realm": "ort-dev"})
    observe("realm-ort-on-draft", operation, reporting.answer.status)
    asked = requests.send(request, world.author, {"Realm": None}, query={"Realm": realm})
    observe("realm-query-elsewhere", operation, asked.answer.status)


@contract("realm-ort-on-contact", operations=("createContact",), requests=1)
def test_contacts_under_the_reporting_realm_are_observed(
    world: World, ordinary: OrdinaryRequests, observe: Observer
) -> None:
    """The document does not say how a contact in the reporting realm is answered; the record sent is faulty."""
    sent = requests.send(ordinary.faulty("createContact"), world.author, {"Realm": "ort-dev"})
    observe("realm-ort-on-contact", "createContact", sent.answer.status)
