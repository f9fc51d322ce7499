"""What of a request breaks the description, whatever the names of its members are."""

import pytest

from registry_contracts.exchanges.request_facts import below_root, match_request

BASE = "https://registry.example.test/some/prefix"
UID = "abcdefghijk"


@pytest.mark.parametrize(
    ("method", "url", "operation", "slash"),
    [
        ("POST", f"{BASE}/api/v2013/authentication/token", "createToken", False),
        ("put", f"{BASE}/api/v2013/documents/{UID}/versions/draft?schema=contact", "saveDraft", False),
        ("GET", f"{BASE}/api/v2013/document-drafts/?$top=1#list", "listDrafts", True),
        ("POST", f"{BASE}/api/v2013/documents/{UID}/attachments/a%2Fb%20%C3%A9.pdf", "createAttachment", False),
        ("POST", f"{BASE}/api/v2023/documents/schemas/contact/", "createWorkflowRecord", True),
        ("POST", f"{BASE}/api/v2023/documents/schemas/contact/{UID}", "createWorkflowRecordWithIdentifier", False),
        ("GET", f"{BASE}/api/%76%32013/document-drafts", "listDrafts", False),
        ("GET", "https://h.test/api/v2013/api/v2013/document-drafts", "listDrafts", False),
    ]
)  # fmt: skip
def test_a_request_is_matched_whatever_stands_before_and_behind_its_path(
    method: str, url: str, operation: str, slash: bool
) -> None:
    matched = match_request(method, url)
    assert matched is not None
    assert (matched.operation.id, matched.slash) == (operation, slash)
    assert url.startswith(matched.base_url)


@pytest.mark.parametrize(
    ("method", "url", "below"),
    [
        ("PATCH", f"{BASE}/api/v2013/documents/{UID}", f"/api/v2013/documents/{UID}"),
        ("GET", f"{BASE}/api/v2013/document-drafts//", "/api/v2013/document-drafts//"),
        ("GET", "https://cdn.example.test/api/v1/app.js", None),
        ("GET", "data:text/plain,x", None),
        ("GET", "http://[broken/api/v2013/document-drafts", None),
    ],
)
def test_what_is_no_operation_is_told_from_what_is_elsewhere(
    method: str, url: str, below: str | None
) -> None:
    assert match_request(method, url) is None
    assert below_root(url) == below
