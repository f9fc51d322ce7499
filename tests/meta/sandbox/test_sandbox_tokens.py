"""The sandbox's token operation and the protection of its operations."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from contracts.sandbox.habits import Habits

TOKEN = "/api/v2013/authentication/token"
DRAFT = "/api/v2013/documents/sandbox-published-abs-dev/versions/draft"
PROTECTED = [
    ("POST", "/api/v2013/documents?schema=contact"),
    ("PUT", "/api/v2013/documents/organization-abs-dev?schema=contact"),
    ("GET", DRAFT),
    ("HEAD", DRAFT),
    ("GET", DRAFT + "/info"),
    ("PUT", DRAFT + "?schema=contact"),
    ("DELETE", DRAFT),
    ("GET", "/api/v2013/document-drafts"),
    ("GET", "/api/v2013/documents/sandbox-published-abs-dev/attachments"),
    ("POST", "/api/v2013/documents/sandbox-published-abs-dev/attachments/a.txt"),
    ("POST", "/api/v2013/documents/sandbox-published-abs-dev/attachments/persist-temporary/x"),
]


@pytest.mark.parametrize("role", ["author", "other", "restricted", "nau"])
def test_each_account_gets_a_token_of_its_own(caller: Any, role: str) -> None:
    credentials = {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}"}
    answers = [caller(None).post(TOKEN, json=credentials).json() for _ in range(2)]
    tokens = [answer["authenticationToken"] for answer in answers]
    assert tokens[0] != tokens[1]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", answers[0]["expiration"])


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("author@sandbox.test", "sandbox-other"),
        ("AUTHOR@sandbox.test", "sandbox-author"),
        ("nobody@sandbox.test", "sandbox-author"),
        ("author@sandbox.test", ""),
        ("author@sandbox.test", "sandbox-authór"),
    ],
)
def test_wrong_credentials_get_no_token(caller: Any, email: str, password: str) -> None:
    answer = caller(None).post(TOKEN, json={"email": email, "password": password})
    assert answer.status_code == Habits().wrong_credentials_status
    assert "authenticationToken" not in answer.text


@pytest.mark.parametrize(
    "body", [{}, {"email": "author@sandbox.test"}, {"email": 1, "password": 2}, [], "x", None]
)
def test_incomplete_credentials_are_refused(caller: Any, body: Any) -> None:
    assert caller(None).post(TOKEN, json=body).status_code in {400, 415}


@pytest.mark.parametrize(("method", "path"), PROTECTED)
@pytest.mark.parametrize(
    "authorization", [None, "Bearer", "Bearer wrong", "Basic YTpi", "{token}", "Token {token}"]
)
def test_protected_operations_need_a_valid_token(
    caller: Any, method: str, path: str, authorization: str | None
) -> None:
    token = caller("author").token
    headers = {"Authorization": authorization.format(token=token)} if authorization else {}
    answer = caller(None).request(method, path, json={}, headers=headers)
    assert answer.status_code == 401
    assert "WWW-Authenticate" in answer.headers


def test_an_expired_token_is_refused(start_sandbox: Callable[..., Any], caller: Any) -> None:
    url = start_sandbox("--token-lifetime", "0.000001").url
    assert caller("author", url=url).get("/api/v2013/document-drafts").status_code == 401


def test_the_scheme_is_read_without_regard_to_case(caller: Any) -> None:
    token = caller("author").token
    headers = {"Authorization": f"bearer {token}"}
    assert caller(None).get("/api/v2013/document-drafts", headers=headers).status_code == 200
