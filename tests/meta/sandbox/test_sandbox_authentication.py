"""Tokens of the sandbox: what it does where the document is silent about signing in and the Authorization header."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.meta.samples import draft_path
from tests.meta.sandbox_client import SandboxClient

DRAFTS = "/api/v2013/document-drafts"


@pytest.mark.parametrize("role", ["author", "other", "restricted", "nau"])
def test_each_sign_in_gets_a_token_of_its_own(faithful: SandboxClient, role: str) -> None:
    first, second = (faithful.sign_in(role).json() for _ in range(2))
    assert first["authenticationToken"] != second["authenticationToken"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", first["expiration"])


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        *((text, 401) for text in (None, "Bearer", "Bearer wrong", "Basic YTpi", "{token}", "Token {token}")),
        *((text, 200) for text in ("bearer {token}", "Bearer {token}")),
    ],
)
def test_protected_operations_need_a_valid_token(
    faithful: SandboxClient, authorization: str | None, status: int
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.format(token=faithful.token)}
    for path in (DRAFTS, draft_path("sandbox-published-abs-dev")):
        response = faithful.get(path, role=None, headers=headers)
        assert response.status_code == status
        assert ("WWW-Authenticate" in response.headers) == (status == 401)


def test_an_expired_token_is_refused(start_sandbox: Callable[..., Any], caller: Any) -> None:
    url = start_sandbox("--token-lifetime", "0.000001").url
    assert caller("author", url=url).get(DRAFTS).status_code == 401
