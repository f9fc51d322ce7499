"""Contact records in the sandbox: the table of fields, the seven codes, and who may write what."""

from typing import Any

import pytest

PATH = "/api/v2013/documents"
QUERY = "?schema=contact"

FULL = {
    "header": {"schema": "contact", "languages": ["en", "fr"]},
    "prefix": {"en": "Dr"},
    "firstName": "Ada",
    "middleName": "N.",
    "lastName": "Njoroge",
    "gender": {"identifier": "female"},
    "designation": {"en": "Head", "fr": "Cheffe"},
    "organization": {"en": "Office"},
    "organizationAcronym": {"en": "O"},
    "department": {"en": "Permits"},
    "organizationType": {"identifier": "public"},
    "address": {"en": "1 Road"},
    "city": {"en": "Nairobi"},
    "state": {"en": "Nairobi"},
    "postalCode": {"en": "00100"},
    "country": {"identifier": "ke", "title": {"en": "Kenya"}},
    "phones": ["+254 20 555 0100", "+254 20 555 0101"],
    "faxes": [],
    "emails": ["ada@office.example"],
    "websites": [{"url": "https://office.example", "name": "Office"}],
    "addressType": "postal",
    "relevantInformation": {"zh-Hans": "…"},
    "relevantDocuments": [{"url": "https://office.example/a.pdf"}],
    "type": "person",
    "government": {"identifier": "anywhere"},
    "contactOrganization": {"identifier": "organization-abs-dev"},
}
MANDATORY = ["firstName", "lastName", "organization", "country", "emails", "type", "contactOrganization"]


def errors(answer: Any) -> set[tuple[str, str]]:
    assert 400 <= answer.status_code < 500
    return {(error["code"], error["property"]) for error in answer.json()["errors"]}


def test_a_contact_with_the_mandatory_fields_is_created(caller: Any, contact: dict[str, Any]) -> None:
    answer = caller().post(PATH + QUERY, json=contact)
    assert answer.status_code == 201
    assert len(answer.json()["identifier"]) >= 11


def test_a_contact_with_all_fields_is_created_and_updated(caller: Any, uid: str) -> None:
    assert len(FULL) == 26
    header: Any = FULL["header"]
    full = {**FULL, "header": {**header, "identifier": uid}}
    answer = caller().post(PATH + QUERY, json=full)
    assert (answer.status_code, answer.json()["identifier"]) == (201, uid)
    assert caller().put(f"{PATH}/{uid}{QUERY}", json=full).status_code == 200


@pytest.mark.parametrize("field", MANDATORY)
@pytest.mark.parametrize("null", [False, True])
def test_a_missing_mandatory_field_is_named(
    caller: Any, contact: dict[str, Any], field: str, null: bool
) -> None:
    del contact[field]
    if null:
        contact[field] = None
    assert errors(caller().post(PATH + QUERY, json=contact)) == {("Error.Mandatory", field)}


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
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
        ("firstName", 1, "Error.InvalidType"),
        ("middleName", None, "Error.InvalidType"),
        ("organization", "Office", "Error.InvalidType"),
        ("organization", [], "Error.InvalidType"),
        ("city", {"en": 1}, "Error.InvalidType"),
        ("country", "ke", "Error.InvalidType"),
        ("country", {"identifier": 1}, "Error.InvalidType"),
        ("emails", "ada@office.example", "Error.InvalidType"),
        ("emails", {}, "Error.InvalidType"),
        ("emails", ["ada@office.example", 1], "Error.InvalidType"),
        ("websites", ["https://office.example"], "Error.InvalidType"),
        ("header", [], "Error.InvalidType"),
        ("header", {"identifier": 1}, "Error.InvalidType"),
        ("header", {"languages": "en"}, "Error.InvalidType"),
        ("header", {"languages": [1]}, "Error.InvalidType"),
        ("type", True, "Error.InvalidType"),
    ],
)
def test_a_faulty_value_has_its_code(
    caller: Any, contact: dict[str, Any], field: str, value: Any, code: str
) -> None:
    contact[field] = value
    assert errors(caller().post(PATH + QUERY, json=contact)) == {(code, field)}


def test_every_fault_is_reported_at_once(caller: Any) -> None:
    faulty = {
        "firstName": 1,
        "organization": {"?": "x"},
        "country": {"identifier": "atlantis"},
        "emails": [],
        "type": "person",
        "contactOrganization": {"identifier": "nobody-knows-this"},
        "nickname": "x",
    }
    assert errors(caller().post(PATH + QUERY, json=faulty)) == {
        ("Error.InvalidType", "firstName"),
        ("Error.Mandatory", "lastName"),
        ("Error.UnspecifiedLocale", "organization"),
        ("Error.UnexpectedTerm", "country"),
        ("Error.MandatoryAnyOf", "emails"),
        ("Error.InvalidValue", "contactOrganization"),
        ("Error.InvalidProperty", "nickname"),
    }


def test_a_refused_contact_is_not_stored(caller: Any, contact: dict[str, Any], uid: str) -> None:
    contact["header"] = {"identifier": uid}
    faulty = {**contact, "firstName": 1}
    assert caller().post(PATH + QUERY, json=faulty).status_code == 400
    assert caller().put(f"{PATH}/{uid}{QUERY}", json=contact).status_code == 404
    assert caller().post(PATH + QUERY, json=contact).status_code == 201


def test_an_identifier_in_use_is_refused(caller: Any, contact: dict[str, Any], uid: str) -> None:
    contact["header"] = {"identifier": uid}
    assert caller().post(PATH + QUERY, json=contact).status_code == 201
    assert caller().post(PATH + QUERY, json=contact).status_code == 409
    contact["contactOrganization"] = {"identifier": "organization-bch-dev"}
    assert caller(realm="bch-dev").post(PATH + QUERY, json=contact).status_code == 201


def test_a_contact_may_name_another_contact_as_its_organization(
    caller: Any, contact: dict[str, Any], uid: str
) -> None:
    caller().post(PATH + QUERY, json={**contact, "header": {"identifier": uid}})
    contact["contactOrganization"] = {"identifier": uid}
    assert caller().post(PATH + QUERY, json=contact).status_code == 201


def test_an_update_must_agree_with_its_path(caller: Any, contact: dict[str, Any], uid: str) -> None:
    contact["header"] = {"identifier": uid}
    caller().post(PATH + QUERY, json=contact)
    contact["header"] = {"identifier": uid + "x"}
    answer = caller().put(f"{PATH}/{uid}{QUERY}", json=contact)
    assert errors(answer) == {("Error.InvalidValue", "header")}


def test_an_unknown_contact_is_not_updated(caller: Any, contact: dict[str, Any], uid: str) -> None:
    assert caller().put(f"{PATH}/{uid}{QUERY}", json=contact).status_code == 404
    caller().put(f"{PATH}/{uid}/versions/draft?schema=contact", json=contact)
    assert caller().put(f"{PATH}/{uid}{QUERY}", json=contact).status_code == 404


def test_a_document_of_another_schema_is_no_contact(caller: Any, contact: dict[str, Any]) -> None:
    answer = caller().put(f"{PATH}/sandbox-existing-abs-dev{QUERY}", json=contact)
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("role", "status"), [("other", 403), ("nau", 403), ("restricted", 403), ("author", 200)]
)
def test_only_its_author_updates_a_contact(
    caller: Any, contact: dict[str, Any], role: str, status: int
) -> None:
    uid = caller("author").post(PATH + QUERY, json=contact).json()["identifier"]
    assert caller(role).put(f"{PATH}/{uid}{QUERY}", json=contact).status_code == status


@pytest.mark.parametrize(("role", "status"), [("other", 201), ("nau", 201), ("restricted", 403)])
def test_who_may_create_contacts(caller: Any, contact: dict[str, Any], role: str, status: int) -> None:
    assert caller(role).post(PATH + QUERY, json=contact).status_code == status


@pytest.mark.parametrize(
    "query", ["", "?schema=", "?schema=absPermit", "?schema=nothing", "?schema=contact&schema=contact"]
)
def test_the_schema_must_be_the_contacts(caller: Any, contact: dict[str, Any], query: str) -> None:
    assert caller().post(PATH + query, json=contact).status_code == 400


@pytest.mark.parametrize("realm", [None, "nowhere", "abs", "ort-dev"])
def test_contacts_need_a_document_realm(caller: Any, contact: dict[str, Any], realm: str | None) -> None:
    assert caller(realm=realm).post(PATH + QUERY, json=contact).status_code == 400
