"""What holds for ordinary requests: versions in the path, JSON in the bodies, headers that are fine."""

from collections.abc import Callable, Mapping
from functools import partial

from contracts.cases import (
    Actor,
    Credentials,
    Exchange,
    Expect,
    OrdinaryRequests,
    World,
    comparison,
    contract,
    requests,
)

DRAFTS = requests.family("draft")
DOCUMENTS = (*DRAFTS, *requests.family("attachment"))
BODIES = ("createContact", "updateContact", "saveDraft")
WITHOUT_BODY = (
    "getDraft",
    "getDraftInfo",
    "draftExists",
    "deleteDraft",
    "listDrafts",
    "attachmentExists",
    "getAttachment",
    "getAttachmentThumbnail",
)
WITH_JSON = ("saveDraft", "getDraft", "getDraftInfo", "listDrafts", "listAttachments")
CHARSET = {"Content-Type": "application/json; charset=utf-8"}


@contract(
    "version-2013-paths",
    "realm-document-realms",
    "content-type-without-body",
    "head-without-body",
    "json-bodies",
    "header-letter-case",
    operations=DOCUMENTS,
    requests=14,
    needs=(),
)
def test_ordinary_requests_for_drafts_and_attachments_are_served(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect
) -> None:
    """Draft and attachment operations stand under /api/v2013, with the listed headers in any letter case, in JSON."""
    asked = ordinary.once_each(DOCUMENTS)
    for operation in WITH_JSON:
        expect("json-bodies", operation).meets("empty-or-json", asked[operation])
    for operation in ("draftExists", "attachmentExists"):
        expect("head-without-body", operation).meets("no-content", asked[operation])
    headers = comparison.content_type_tolerated(
        partial(expect, "content-type-without-body"), asked, ordinary, WITHOUT_BODY
    )
    realms = comparison.realms_accepted(
        partial(expect, "realm-document-realms"), asked, ordinary, DRAFTS, apart="listDrafts"
    )
    renamed = requests.send(ordinary.request("listDrafts"), world.author, _renamed(world.author, realm))
    cased = partial(
        comparison.treated_alike, expect("header-letter-case", "listDrafts"), renamed, asked["listDrafts"]
    )
    # Last, as it ends the case where one operation is not served, which says nothing about the others.
    served = _served(expect, asked, ordinary, "draft", "attachment")
    comparison.judge_each([*headers, *realms, cased, served])


@contract(
    "version-2013-paths",
    "realm-document-realms",
    "json-bodies",
    operations=requests.family("contact"),
    requests=2,
)
def test_ordinary_requests_for_contacts_are_served(ordinary: OrdinaryRequests, expect: Expect) -> None:
    """Contact operations stand under /api/v2013, in every realm that has documents, and answer in JSON."""
    asked = ordinary.once_each(requests.family("contact"))
    for operation in requests.family("contact"):
        expect("json-bodies", operation).meets("empty-or-json", asked[operation])
    realms = comparison.realms_accepted(
        partial(expect, "realm-document-realms"), asked, ordinary, asked, apart="listDrafts"
    )
    comparison.judge_each([*realms, _served(expect, asked, ordinary, "contact")])


def _served(
    expect: Expect, asked: Mapping[str, Exchange], ordinary: OrdinaryRequests, *families: str
) -> Callable[[], None]:
    return partial(
        comparison.families_served,
        partial(expect, "version-2013-paths"),
        asked,
        {family: requests.family(family) for family in families},
        ordinary.nowhere,
    )


@contract(
    "version-2023-paths",
    "realm-workflow-realms",
    "json-bodies",
    operations=requests.family("workflow"),
    requests=3,
)
def test_ordinary_submissions_are_served(ordinary: OrdinaryRequests, expect: Expect) -> None:
    """Workflow operations stand under /api/v2023 at the same base address, in every realm, and answer in JSON."""
    asked = ordinary.once_each(requests.family("workflow"))
    comparison.families_served(
        partial(expect, "version-2023-paths"),
        asked,
        {"workflow": requests.family("workflow")},
        ordinary.nowhere,
    )
    for operation in requests.family("workflow"):
        expect("json-bodies", operation).meets("empty-or-json", asked[operation])
    realms = partial(expect, "realm-workflow-realms")
    comparison.judge_each(comparison.realms_accepted(realms, asked, ordinary, asked))


@contract(
    "version-2013-paths", "json-bodies", "content-type-charset", operations=("createToken",), requests=2
)
def test_signing_in_is_served_under_2013(world: World, credentials: Credentials, expect: Expect) -> None:
    """Authentication stands under /api/v2013, answers in JSON and reads the charset of a content type."""
    signed_in = world.author.create_token(json=credentials.of("author"))
    expect("json-bodies", "createToken").meets("empty-or-json", signed_in)
    comparison.families_served(
        partial(expect, "version-2013-paths"), {"createToken": signed_in}, {"token": ("createToken",)}
    )
    charset = world.author.create_token(json=credentials.of("author"), headers=CHARSET)
    comparison.treated_alike(expect("content-type-charset", "createToken"), charset, signed_in)


@contract("content-type-charset", operations=BODIES, requests=2.7)
def test_a_charset_in_the_content_type_is_fine(
    world: World, ordinary: OrdinaryRequests, expect: Expect, operation: str
) -> None:
    """A body labelled as JSON in UTF-8 comes to the same as one labelled as JSON."""
    usual, charset = (requests.send(ordinary.faulty(operation), world.author, each) for each in ({}, CHARSET))
    comparison.treated_alike(expect("content-type-charset", operation), charset, usual)


@contract("content-type-charset", "header-letter-case", operations=requests.family("workflow"), requests=3)
def test_submissions_are_read_with_a_charset_and_other_letter_case(
    world: World, ordinary: OrdinaryRequests, realm: str, expect: Expect, operation: str
) -> None:
    """A charset beside the content type and other letter case of header names change nothing."""
    usual, charset = (requests.send(ordinary.faulty(operation), world.author, each) for each in ({}, CHARSET))
    comparison.treated_alike(expect("content-type-charset", operation), charset, usual)
    renamed = requests.send(ordinary.faulty(operation), world.author, _renamed(world.author, realm))
    comparison.treated_alike(expect("header-letter-case", operation), renamed, usual)


def _renamed(actor: Actor, realm: str) -> dict[str, str | None]:
    """Headers that replace Realm and Authorization by the same in other letter case."""
    token = f"Bearer {actor.token()}"
    return {"Realm": None, "realm": realm, "Authorization": None, "AUTHORIZATION": token}
