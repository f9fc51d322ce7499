"""Contacts and drafts in the sandbox: what it does where the document is silent, and that nothing is kept of a refusal.

That it keeps the clauses is shown by a run of the contract tests over it, which `prove` makes on every change.
"""

from typing import Any

import pytest

from contracts.sandbox.record_types import CONTACT, Kind
from tests.meta.samples import DOCUMENTS, contact, draft_path
from tests.meta.sandbox_client import SandboxClient

CONTENT = (
    '{"z": 1, "a": {"nested": [null, true, -0.0, 1.10, 1E+2, 123456789012345678901234567890]}, '
    '"é 漢字 😀": "\\u0000 \\/ \\u00e9", "": [], "b": ""}'
)
JSON = {"Content-Type": "application/json"}
EXISTING = "sandbox-existing-abs-dev"


def save_text(client: SandboxClient, uid: str, text: str, schema: str = "contact") -> Any:
    return client.put(draft_path(uid), params={"schema": schema}, data=text.encode(), headers=JSON)


def test_a_draft_comes_back_exactly_as_it_was_saved(faithful: SandboxClient, uid: str) -> None:
    assert save_text(faithful, uid, CONTENT).status_code == 201
    response = faithful.get(draft_path(uid))
    assert response.content.decode() == CONTENT
    head = faithful.head(draft_path(uid))
    assert int(head.headers["Content-Length"]) == len(CONTENT.encode())


def test_saving_again_replaces_the_draft_and_keeps_when_it_was_created(
    faithful: SandboxClient, uid: str
) -> None:
    created = save_text(faithful, uid, '{"a": 1}').json()
    assert save_text(faithful, uid, '{"b": "é"}', "absPermit").status_code == 200
    info = faithful.get(draft_path(uid, "/info"), role="other").json()
    assert info.keys() == {"identifier", "schema", "realm", "owner", "createdOn", "updatedOn", "size"}
    assert info["updatedOn"] >= created["updatedOn"]
    assert info | {"updatedOn": ""} == {
        "identifier": uid,
        "schema": "absPermit",
        "realm": "abs-dev",
        "owner": "author",
        "createdOn": created["createdOn"],
        "updatedOn": "",
        "size": len('{"b": "é"}'.encode()),
    }


def test_a_deleted_draft_may_be_saved_again_and_not_deleted_twice(faithful: SandboxClient, uid: str) -> None:
    faithful.save(uid)
    deletions = [faithful.delete(draft_path(uid)) for _ in range(2)]
    assert [response.status_code for response in deletions] == [204, 404]
    assert faithful.save(uid).status_code == 201


def test_deleting_the_draft_leaves_the_published_version(faithful: SandboxClient) -> None:
    uid = faithful.post_contact(contact()).json()["identifier"]
    faithful.save(uid)
    assert faithful.delete(draft_path(uid)).status_code == 204
    assert faithful.put_contact(uid, contact()).status_code == 200


@pytest.mark.parametrize("role", ["other", "nau", "restricted"])
def test_another_accounts_draft_is_read_but_not_changed(faithful: SandboxClient, uid: str, role: str) -> None:
    faithful.save(uid, {"a": 1})
    assert faithful.get(draft_path(uid), role=role).json() == {"a": 1}
    assert faithful.save(uid, {"a": 2}, role=role).status_code == 403
    assert faithful.request("DELETE", draft_path(uid), role=role).status_code == 403
    assert faithful.get(draft_path(uid)).json() == {"a": 1}


def test_a_draft_of_another_accounts_published_record_is_not_taken(faithful: SandboxClient) -> None:
    assert faithful.save(EXISTING, role="other").status_code == 403
    assert faithful.get(draft_path(EXISTING)).status_code == 404


def test_a_locked_record_still_takes_a_draft(faithful: SandboxClient) -> None:
    assert faithful.save("sandbox-locked-abs-dev").status_code == 200


@pytest.mark.parametrize(
    "query",
    ["", "?schema=", "?schema=bchDecision", "?schema=Contact", "?Schema=contact", "?schema=x&Realm=abs-dev"],
)
def test_save_needs_a_schema_of_the_realm(faithful: SandboxClient, uid: str, query: str) -> None:
    assert faithful.put(draft_path(uid, query), json={}).status_code == 400
    assert faithful.get(draft_path(uid)).status_code == 404


@pytest.mark.parametrize(
    ("realm", "draft", "created"),
    # A header's outer white space is not part of its value.
    [
        ("abs-dev ", 201, 201),
        *((realm, 400, 400) for realm in (None, "", "abs", "ABS-DEV", "ort-dev", "abs-dev, bch-dev")),
    ],
)
def test_documents_need_a_document_realm(
    faithful: SandboxClient, uid: str, realm: str | None, draft: int, created: int
) -> None:
    headers = {} if realm is None else {"Realm": realm.strip() + " " * realm.endswith(" ")}
    assert faithful.save(uid, {}, realm=None, headers=headers).status_code == draft
    assert faithful.post_contact(contact(), realm=None, headers=headers).status_code == created


VALUES: dict[Kind, Any] = {
    Kind.STRING: "text",
    Kind.LSTRING: {"en": "Text", "zh-Hans": "…"},
    Kind.TERM: {"identifier": "ke", "title": {"en": "Kenya"}},
    Kind.LINK: {"url": "https://office.example", "name": "Office"},
    Kind.REFERENCE: {"identifier": "organization-abs-dev"},
}


def errors(response: Any) -> set[tuple[str, str]]:
    assert response.status_code == 400
    return {(error["code"], error["property"]) for error in response.json()["errors"]}


def test_a_contact_with_all_fields_is_created_and_updated(faithful: SandboxClient, uid: str) -> None:
    full: dict[str, Any] = {
        field.name: [VALUES[field.kind]] * 2 if field.many else VALUES[field.kind]
        for field in CONTACT.fields
        if field.kind in VALUES
    }
    response = faithful.post_contact(contact(uid=uid, **full))
    assert (response.status_code, response.json()["identifier"]) == (201, uid)
    assert faithful.put_contact(uid, contact(uid=uid, **full)).status_code == 200


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("type", None, "Error.Mandatory"),
        ("country", {}, "Error.Mandatory"),
        ("contactOrganization", {"identifier": None}, "Error.Mandatory"),
        ("websites", [{"name": "x"}], "Error.Mandatory"),
        ("organization", {}, "Error.MandatoryAnyOf"),
        ("emails", [], "Error.MandatoryAnyOf"),
        ("contactOrganization", {"identifier": "nobody-knows-this"}, "Error.InvalidValue"),
        ("header", {"identifier": "short"}, "Error.InvalidValue"),
        ("header", {"identifier": "good-identifier\n"}, "Error.InvalidValue"),
        ("header", {"schema": "absPermit"}, "Error.InvalidValue"),
        ("nickname", "x", "Error.InvalidProperty"),
        ("FirstName", "x", "Error.InvalidProperty"),
        ("", "x", "Error.InvalidProperty"),
        ("city", {"": "x"}, "Error.UnspecifiedLocale"),
        ("city", {"english": "x"}, "Error.UnspecifiedLocale"),
        ("city", {"en_GB": "x"}, "Error.UnspecifiedLocale"),
        ("header", {"languages": ["en", "??"]}, "Error.UnspecifiedLocale"),
        ("country", {"identifier": "atlantis"}, "Error.UnexpectedTerm"),
        ("country", {"identifier": "KE"}, "Error.UnexpectedTerm"),
        ("middleName", None, "Error.InvalidType"),
        ("organization", [], "Error.InvalidType"),
        ("city", {"en": 1}, "Error.InvalidType"),
        ("country", {"identifier": 1}, "Error.InvalidType"),
        ("emails", {}, "Error.InvalidType"),
        ("emails", ["ada@office.example", 1], "Error.InvalidType"),
        ("websites", ["https://office.example"], "Error.InvalidType"),
        ("header", {"identifier": 1}, "Error.InvalidType"),
        ("header", {"languages": "en"}, "Error.InvalidType"),
        ("header", {"languages": [1]}, "Error.InvalidType"),
        ("type", True, "Error.InvalidType"),
    ],
)
def test_a_faulty_value_has_its_code(faithful: SandboxClient, field: str, value: Any, code: str) -> None:
    assert errors(faithful.post_contact(contact(**{field: value}))) == {(code, field)}


def test_every_fault_is_reported_at_once_and_nothing_is_stored(faithful: SandboxClient, uid: str) -> None:
    faulty = {
        "header": {"identifier": uid},
        "firstName": 1,
        "organization": {"?": "x"},
        "country": {"identifier": "atlantis"},
        "emails": [],
        "type": "person",
        "contactOrganization": {"identifier": "nobody-knows-this"},
        "nickname": "x",
    }
    assert errors(faithful.post_contact(faulty)) == {
        ("Error.InvalidType", "firstName"),
        ("Error.Mandatory", "lastName"),
        ("Error.UnspecifiedLocale", "organization"),
        ("Error.UnexpectedTerm", "country"),
        ("Error.MandatoryAnyOf", "emails"),
        ("Error.InvalidValue", "contactOrganization"),
        ("Error.InvalidProperty", "nickname"),
    }
    assert faithful.put_contact(uid, contact()).status_code == 404
    assert faithful.post_contact(contact(uid=uid)).status_code == 201


def test_an_identifier_in_use_is_refused_in_its_realm_alone(faithful: SandboxClient, uid: str) -> None:
    assert [faithful.post_contact(contact(uid=uid)).status_code for _ in range(2)] == [201, 409]
    assert faithful.post_contact(contact("bch-dev", uid=uid), realm="bch-dev").status_code == 201


def test_a_contact_may_be_the_organization_of_another(faithful: SandboxClient, uid: str) -> None:
    faithful.post_contact(contact(uid=uid))
    assert faithful.post_contact(contact(contactOrganization={"identifier": uid})).status_code == 201


def test_an_update_must_agree_with_its_path(faithful: SandboxClient, uid: str) -> None:
    faithful.post_contact(contact(uid=uid))
    response = faithful.put_contact(uid, contact(header={"identifier": uid + "x"}))
    assert errors(response) == {("Error.InvalidValue", "header")}


def test_only_a_published_contact_is_updated(faithful: SandboxClient, uid: str) -> None:
    faithful.save(uid)
    assert faithful.put_contact(uid, contact()).status_code == 404
    assert faithful.put_contact(EXISTING, contact()).status_code == 404


@pytest.mark.parametrize(
    ("role", "created", "updated"),
    [("author", 201, 200), ("other", 201, 403), ("nau", 201, 403), ("restricted", 403, 403)],
)
def test_who_may_create_contacts_and_update_those_of_the_author(
    faithful: SandboxClient, role: str, created: int, updated: int
) -> None:
    uid = faithful.post_contact(contact()).json()["identifier"]
    assert faithful.post_contact(contact(), role=role).status_code == created
    assert faithful.put_contact(uid, contact(), role=role).status_code == updated


@pytest.mark.parametrize("schema", [None, "", "absPermit", "nothing", ["contact", "contact"]])
def test_the_schema_must_be_the_contacts(faithful: SandboxClient, schema: Any) -> None:
    assert faithful.post(DOCUMENTS, params={"schema": schema}, json=contact()).status_code == 400
