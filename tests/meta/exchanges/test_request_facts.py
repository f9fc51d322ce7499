"""Addresses that are no operation of the interface."""

import pytest

from registry_contracts.exchanges.request_facts import below_root, match_request

BASE = "https://registry.example.test/some/prefix"
UID = "abcdefghijk"


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
def test_no_operation_is_told_from_another_address(method: str, url: str, below: str | None) -> None:
    assert match_request(method, url) is None
    assert below_root(url) == below
