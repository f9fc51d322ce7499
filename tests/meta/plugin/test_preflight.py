"""The look at a target before the first case: where no case could get anywhere, one cause is told at once."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from registry_contracts.sandbox.app import create_app
from registry_contracts.sandbox.habits import Settings

pytestmark = pytest.mark.usefixtures("nothing_left")
REALMS = ("abs-dev", "bch-dev", "chm-dev")
PAGE = (404, [(b"content-type", b"text/html")], b"<!doctype html><title>Sign in</title>")


def test_realms_by_other_names_are_one_finding_with_them(run: Any, serve_app: Callable[[Any], str]) -> None:
    sandbox = create_app(Settings())
    known = {realm.upper().encode(): realm.encode() for realm in REALMS}

    async def renamed(scope: Any, receive: Any, send: Any) -> None:
        """The sandbox, which knows a realm only by its name in capitals."""
        headers = [
            (name, known.get(value, b"not-known-here") if name == b"realm" else value)
            for name, value in scope.get("headers", ())
        ]
        await sandbox({**scope, "headers": headers}, receive, send)

    ended = run(f"--target={run.aim(serve_app(renamed))}")
    assert ended.code == 1, ended.output
    findings = ended.verdict["findings"]
    assert {(each["clause"], each["realm"], each["confirmed"]) for each in findings} == {
        ("realm-document-realms", realm, True) for realm in REALMS
    }
    assert "'ABS-DEV' is accepted" in findings[0]["seen"]
    assert "'ABS-DEV' is accepted instead of 'abs-dev'" in ended.output
    assert 'sent_as = "ABS-DEV" in [realm.abs-dev]' in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["requests"] <= 12
    assert "refuses every realm" in ended.verdict["environment"]["breaker"]


def test_a_wrong_path_of_the_address_is_told_in_one_line(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(lambda *_: (404, [(b"content-type", b"application/json")], b"{}"))
    ended = run(f"--target={service.target}", program=True)
    assert ended.code == 6, ended.output
    assert "/api/v2013/authentication/token is answered with status 404: check the path" in ended.output
    assert not re.search("password|not judged|Exit|drift", ended.output), ended.output


@pytest.mark.parametrize(
    ("rule", "pattern", "put", "told"),
    [
        (
            lambda _, path, __: PAGE if path.endswith("/document-drafts") else None,
            "",
            "",
            "is a proxy or a login page in between?",
        ),
        (
            lambda *_: None,
            r'(workflow_schema = )"[^"]*"',
            r'\1"invented"',
            "realm.abs-dev.workflow_schema names a schema that is not known",
        ),
    ],
    ids=["a page", "no workflow schema"],
)
def test_where_no_case_could_get_anywhere_the_cause_is_told_within_twelve_requests(
    run: Any, faulty: Callable[..., Any], rule: Any, pattern: str, put: str, told: str
) -> None:
    service = faulty(rule)
    text = service.target.read_text("utf-8")
    service.target.write_text(re.sub(pattern, put, text) if pattern else text, "utf-8")
    ended = run(f"--target={service.target}")
    assert (ended.code, ended.verdict["findings"]) == (6, []), ended.output
    assert told in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["requests"] <= 12
