"""The content of a workflow submission to the sandbox: what is faulty is named, and nothing of it is kept."""

from typing import Any

import pytest

SCHEMA = "/api/v2023/documents/schemas/absPermit"
FAULTY = {"document": {"nothing": 1}}


def errors(answer: Any) -> set[tuple[str, str]]:
    assert answer.status_code == 400
    return {(error["code"], error["property"]) for error in answer.json()["errors"]}


def draft(client: Any, uid: str) -> Any:
    return client.get(f"/api/v2013/documents/{uid}/versions/draft")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"title": None}, {("Error.Mandatory", "title")}),
        ({"title": {}}, {("Error.MandatoryAnyOf", "title")}),
        ({"issuedOn": "yesterday"}, {("Error.InvalidValue", "issuedOn")}),
        ({"issuedOn": "2026-02-30"}, {("Error.InvalidValue", "issuedOn")}),
        ({"header": {"identifier": "another-record"}}, {("Error.InvalidValue", "header")}),
        ({"header": {"schema": "contact"}}, {("Error.InvalidValue", "header")}),
        ({"nothing": 1}, {("Error.InvalidProperty", "nothing")}),
        ({"title": {"??": "x"}}, {("Error.UnspecifiedLocale", "title")}),
        ({"country": {"identifier": "xx"}}, {("Error.UnexpectedTerm", "country")}),
        ({"confidential": "no"}, {("Error.InvalidType", "confidential")}),
        (
            {"issuedOn": 20260402, "country": {}},
            {("Error.InvalidType", "issuedOn"), ("Error.Mandatory", "country")},
        ),
    ],
)
def test_faulty_content_is_refused_with_its_codes_and_nothing_is_saved(
    caller: Any, permit: dict[str, Any], uid: str, change: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    author = caller()
    answer = author.post(f"{SCHEMA}/{uid}", json={"document": {**permit, **change}})
    assert errors(answer) == expected
    assert draft(author, uid).status_code == 404
    assert author.post(f"{SCHEMA}/{uid}", json={"document": permit}).status_code == 201


def test_a_refused_update_leaves_the_draft_and_locks_nothing(
    caller: Any, permit: dict[str, Any], uid: str
) -> None:
    author = caller()
    author.put(f"/api/v2013/documents/{uid}/versions/draft?schema=absPermit", json={"old": 1})
    assert author.put(f"{SCHEMA}/{uid}", json=FAULTY).status_code == 400
    assert draft(author, uid).json() == {"old": 1}
    assert author.put(f"{SCHEMA}/{uid}", json={"document": permit}).status_code == 200


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, ("Error.Mandatory", "document")),
        ({"document": None}, ("Error.Mandatory", "document")),
        ({"document": []}, ("Error.InvalidType", "document")),
        ({"document": "{}"}, ("Error.InvalidType", "document")),
        ({"additionalInfo": "x" * 1001}, ("Error.InvalidValue", "additionalInfo")),
        ({"additionalInfo": "é" * 1001}, ("Error.InvalidValue", "additionalInfo")),
        ({"additionalInfo": 1}, ("Error.InvalidType", "additionalInfo")),
        ({"additionalInfo": None}, ("Error.InvalidType", "additionalInfo")),
        ({"batchId": "x" * 101}, ("Error.InvalidValue", "batchId")),
        ({"batchId": ["x"]}, ("Error.InvalidType", "batchId")),
        ({"batchID": "x"}, ("Error.InvalidProperty", "batchID")),
    ],
)
def test_the_members_of_the_body_keep_their_rules(
    caller: Any, permit: dict[str, Any], uid: str, body: dict[str, Any], expected: tuple[str, str]
) -> None:
    whole = body if body == {} else {"document": permit, **body}
    assert errors(caller().post(f"{SCHEMA}/{uid}", json=whole)) == {expected}
    assert draft(caller(), uid).status_code == 404


@pytest.mark.parametrize("sign", ["x", "é", "漢", "😀"])
def test_lengths_are_counted_in_characters(caller: Any, permit: dict[str, Any], sign: str) -> None:
    body = {"document": permit, "additionalInfo": sign * 1000, "batchId": sign * 100}
    assert caller("nau").post(SCHEMA, json=body).status_code == 201


@pytest.mark.parametrize("realm", ["abs-dev", "bch-dev", "chm-dev"])
def test_contacts_are_submitted_in_document_realms(caller: Any, contact: dict[str, Any], realm: str) -> None:
    contact["contactOrganization"] = {"identifier": f"organization-{realm}"}
    path = "/api/v2023/documents/schemas/contact"
    assert caller(realm=realm).post(path, json={"document": contact}).status_code == 201


def test_contacts_are_not_submitted_to_the_reporting_tool(caller: Any, contact: dict[str, Any]) -> None:
    answer = caller(realm="ort-dev").post("/api/v2023/documents/schemas/contact", json={"document": contact})
    assert answer.json()["message"] == "Schema not configured for the given realm ort-dev."


def test_every_record_type_is_open_to_submission_in_its_own_realm_only(caller: Any) -> None:
    from contracts.sandbox.record_types import REALMS  # noqa: PLC0415

    names = {realm.name: set(realm.types) - {"contact"} for realm in REALMS}
    for realm, own in names.items():
        assert len(own) >= 3
        client = caller(realm=realm)
        for schema in set().union(*names.values()):
            answer = client.post(f"/api/v2023/documents/schemas/{schema}", json={"document": {}})
            assert ("errors" in answer.json()) == (schema in own)
