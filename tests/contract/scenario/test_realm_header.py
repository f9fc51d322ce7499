"""The Realm header on contact, draft and workflow operations: every development realm, and what is none."""

from functools import partial
from itertools import product

from contracts.cases import (
    Actor,
    Arrangement,
    Claims,
    Observer,
    OrdinaryRequests,
    ValidRequests,
    comparison,
    contract,
    known_drafts,
    lists,
    readers,
    requests,
    usable,
)

CONTACTS = ("createContact", "updateContact")
DRAFTS = ("saveDraft", "getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listDrafts")
UNKNOWN = {"Realm": requests.UNKNOWN_REALM}
#: Ways to give no realm.
WITHOUT = {"missing": None, "empty": ""}


def statuses_without_realm(request: requests.Request, actor: Actor) -> dict[str, int]:
    """The statuses of a request that gives no realm, by the way it does so."""
    return {
        what: requests.send(request, actor, {"Realm": value}).answer.status for what, value in WITHOUT.items()
    }


@contract("realm-empty", operations=requests.family("workflow"), requests=1)
def test_an_empty_realm_header_is_refused(
    author: Actor, ordinary: OrdinaryRequests, claim: Claims, operation: str
) -> None:
    """An empty Realm header gives no realm: 400, be it as missing or as unknown."""
    request = ordinary.faulty(operation)
    refused = requests.send(request, author, {"Realm": ""})
    comparison.has_status(claim("realm-empty", operation), refused, partial(requests.send, request, author))
    comparison.claim_no_default_realm(
        claim("realm-empty", operation), refused, partial(requests.send, request, author)
    )


@contract("realm-unknown-contact", operations=CONTACTS, requests=1)
def test_contacts_under_an_unknown_realm_are_observed(
    author: Actor, ordinary: OrdinaryRequests, observe: Observer, operation: str
) -> None:
    """What a contact meets under a realm that does not exist is not shown; the record of a creation is faulty."""
    answer = requests.send(ordinary.faulty(operation), author, UNKNOWN).answer
    observe("realm-unknown-contact", operation, answer.status)


@contract("realm-unknown-draft-save", "realm-missing-draft", operations=("saveDraft",), requests=6)
def test_saving_under_other_realms_is_observed(
    author: Actor, bases: ValidRequests, observe: Observer
) -> None:
    """What saving meets under a realm that does not exist, under none or an empty one is not shown."""
    request = bases.request("saveDraft")
    observe("realm-unknown-draft-save", "saveDraft", requests.send(request, author, UNKNOWN).answer.status)
    observe("realm-missing-draft", "saveDraft", statuses_without_realm(request, author))


@contract("realm-lists-apart", operations=("listDrafts",), requests=10)
def test_drafts_of_one_realm_are_not_listed_in_another(
    author: Actor, arrange: Arrangement, realm: str, claim: Claims
) -> None:
    """A realm is an application of its own: its list shows its drafts and not those of another realm."""
    draft = arrange.draft(author)
    for query, other in product(
        lists.queries_for(known_drafts(arrange, author), draft.uid), requests.OTHERS[realm]
    ):
        elsewhere = author.send("listDrafts", query=query, realm=other)
        lists.claim_not_listed_elsewhere(claim("realm-lists-apart"), draft, elsewhere, other)


@contract("realm-drafts-apart", operations=("getDraft", "draftExists"), requests=6)
def test_a_draft_of_one_realm_is_not_found_in_another(
    author: Actor, arrange: Arrangement, realm: str, claim: Claims
) -> None:
    """Nor is it found or given there under its uid."""
    draft = arrange.draft(author)
    for other in requests.OTHERS[realm]:
        read = author.send("getDraft", path={"uid": draft.uid}, realm=other)
        claim("realm-drafts-apart", "getDraft").holds(
            not readers.holds_document(usable(read), draft.document),
            draft.exchange,
            read,
            expected=f"nothing of a draft of {realm} in {other}",
            seen=read.answer.quote(),
        )
        found = author.send("draftExists", path={"uid": draft.uid}, realm=other)
        claim("realm-drafts-apart", "draftExists").holds(
            not usable(found).success, found, expected=f"no draft in {other}", seen=found.answer.quote()
        )


@contract(
    "realm-unknown-draft-read",
    "realm-missing-draft",
    "realm-ort-on-draft",
    "realm-query-elsewhere",
    operations=("getDraft",),
    requests=5,
)
def test_reading_drafts_under_other_realms_is_observed(
    author: Actor, bases: ValidRequests, observe: Observer, realm: str, operation: str
) -> None:
    """What reading does under an unknown, a missing, an empty or the reporting realm is not shown."""
    request = bases.request(operation)
    observe("realm-unknown-draft-read", operation, requests.send(request, author, UNKNOWN).answer.status)
    observe("realm-missing-draft", operation, statuses_without_realm(request, author))
    observe(
        "realm-ort-on-draft", operation, requests.send(request, author, {"Realm": "ort-dev"}).answer.status
    )
    asked = requests.send(request, author, {"Realm": None}, query={"Realm": realm})
    observe("realm-query-elsewhere", operation, asked.answer.status)


@contract("realm-missing-contact", "realm-ort-on-contact", operations=("createContact",), requests=3)
def test_contacts_under_other_realms_are_observed(
    author: Actor, ordinary: OrdinaryRequests, observe: Observer
) -> None:
    """What a contact does under no realm or the reporting realm is not shown; the record sent is faulty."""
    request = ordinary.faulty("createContact")
    observe("realm-missing-contact", "createContact", statuses_without_realm(request, author))
    observe(
        "realm-ort-on-contact",
        "createContact",
        requests.send(request, author, {"Realm": "ort-dev"}).answer.status,
    )
