"""Workflow submission in the sandbox: realms of header and query, faulty content with its codes, record types.

That the rows of the table come in their order is shown by a run of the contract tests over it.
"""

from typing import Any

import pytest

from contracts.sandbox.record_types import REALMS
from contracts.sandbox.workflow import Row
from tests.meta.samples import SCHEMAS, contact, draft_path, record, submission_path
from tests.meta.sandbox_client import SandboxClient


def row(response: Any) -> tuple[int, str]:
    body = response.json()
    assert body["statusCode"] == response.status_code
    return response.status_code, body["message"]


def errors(response: Any) -> set[tuple[str, str]]:
    assert response.status_code == 400
    return {(error["code"], error["property"]) for error in response.json()["errors"]}


def test_the_headers_identifier_stands_in_for_the_paths(faithful: SandboxClient, uid: str) -> None:
    body = {"document": record(header={"identifier": uid, "schema": "absPermit", "languages": ["en"]})}
    assert faithful.submit("POST", body=body).json()["identifier"] == uid
    assert row(faithful.submit("POST", body=body)) == Row.IN_USE.value


@pytest.mark.parametrize("query", ["", "?Realm=", "?realm=abs-dev"])
def test_no_realm_is_the_first_row(faithful: SandboxClient, query: str) -> None:
    path = submission_path("abs-dev") + query
    assert row(faithful.post(path, json={}, realm=None)) == Row.REALM_MISSING.value


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"title": None}, {("Error.Mandatory", "title")}),
        ({"title": {}}, {("Error.MandatoryAnyOf", "title")}),
        ({"issuedOn": "yesterday"}, {("Error.InvalidValue", "issuedOn")}),
        ({"issuedOn": "2026-02-30"}, {("Error.InvalidValue", "issuedOn")}),
        ({"header": {"identifier": "another-record"}}, {("Error.InvalidValue", "header")}),
        ({"header": {"schema": "contact"}}, {("Error.InvalidValue", "header")}),
        ({"confidential": "no"}, {("Error.InvalidType", "confidential")}),
        (
            {"issuedOn": 20260402, "country": {}},
            {("Error.InvalidType", "issuedOn"), ("Error.Mandatory", "country")},
        ),
    ],
)
def test_faulty_content_is_refused_with_its_codes_and_nothing_is_saved(
    faithful: SandboxClient, uid: str, change: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    assert errors(faithful.submit("POST", uid, {"document": record(**change)})) == expected
    assert faithful.get(draft_path(uid)).status_code == 404
    assert faithful.submit("POST", uid).status_code == 201


@pytest.mark.parametrize(
    ("realm", "status"), [("abs-dev", 201), ("bch-dev", 201), ("chm-dev", 201), ("ort-dev", 400)]
)
def test_contacts_are_submitted_in_document_realms(faithful: SandboxClient, realm: str, status: int) -> None:
    response = faithful.post(f"{SCHEMAS}/contact", json={"document": contact(realm)}, realm=realm)
    assert response.status_code == status


def test_every_record_type_is_open_to_submission_in_its_own_realm_only(faithful: SandboxClient) -> None:
    names = {realm.name: set(realm.types) - {"contact"} for realm in REALMS}
    for realm, own in names.items():
        assert len(own) >= 3
        for schema in set().union(*names.values()):
            response = faithful.post(f"{SCHEMAS}/{schema}", json={"document": {}}, realm=realm)
            assert ("errors" in response.json()) == (schema in own)
