"""The look at a target before the first case: where no case could get anywhere, one cause is told at once."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.meta.renamed_service import Renamed

pytestmark = pytest.mark.usefixtures("nothing_left")
REALMS = ("abs-dev", "bch-dev", "chm-dev")
PAGE = (200, [(b"content-type", b"text/html")], b"<!doctype html><title>Sign in</title>")


def lists(answer: tuple[int, list[tuple[bytes, bytes]], bytes]) -> Callable[[str, str, int], Any]:
    """Answer so to each list of drafts."""
    return lambda _method, path, _before: answer if path.endswith("/document-drafts") else None


def test_realms_in_other_words_are_one_finding_that_names_them(
    run: Any, serve_app: Callable[[Any], str]
) -> None:
    from registry_contracts.sandbox.app import create_app  # noqa: PLC0415
    from registry_contracts.sandbox.habits import Settings  # noqa: PLC0415 - not every test serves

    service = Renamed(create_app(Settings()), values={realm: realm.upper() for realm in REALMS})
    ended = run(f"--target={run.aim(serve_app(service))}")
    assert ended.code == 1, ended.output
    findings = ended.verdict["findings"]
    assert {(each["clause"], each["realm"], each["confirmed"]) for each in findings} == {
        ("realm-document-realms", realm, True) for realm in REALMS
    }
    assert "'ABS-DEV' is taken" in findings[0]["seen"]
    assert "'ABS-DEV' is taken in the place of 'abs-dev'" in ended.output
    assert 'sent_as = "ABS-DEV" in [realm.abs-dev]' in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["requests"] <= 12
    assert "refuses every realm" in ended.verdict["environment"]["breaker"]


def test_what_stands_behind_names_of_its_own_is_judged(run: Any, serve_app: Callable[[Any], str]) -> None:
    from registry_contracts.sandbox.app import create_app  # noqa: PLC0415
    from registry_contracts.sandbox.habits import Settings  # noqa: PLC0415 - as above

    query = {"$top": "limit", "Realm": "application"}
    service = Renamed(
        create_app(Settings()),
        values={"abs-dev": "OTHER", "my": "mine"},
        query=query,
        scheme="Token",
        realm_header="X-Application",
    )
    target = run.aim(serve_app(service))
    known = target.read_text("utf-8").replace("[realm.abs-dev]", '[realm.abs-dev]\nsent_as = "OTHER"')
    names = """[names]\nscheme = "Token"\nrealm_header = "X-Application"
        query = { "$top" = "limit", Realm = "application" }\ncollections = { my = "mine" }\n"""
    target.write_text(known + names, "utf-8")
    chosen = "top_bounds or the_realm_may_stand or collection_my or test_save or schema_unknown"
    ended = run(f"--target={target}", "--realm=abs-dev", "-k", chosen)
    assert {each["clause"] for each in ended.verdict["findings"]} == {
        "list-top",
        "realm-query",
        "list-my-answers",
        "realm-document-realms",
        "token-opens-protected",
    }
    assert " passed" in ended.output
    assert " failed" not in ended.output
    asked = [each for each in ended.journal("exchange") if each["case"].startswith(("[preflight", "[rights"))]
    assert len(asked) <= 12 + 3 * 6


def test_a_wrong_path_is_a_matter_of_the_address_and_one_line_says_so(
    run: Any, faulty: Callable[..., Any]
) -> None:
    service = faulty(lambda *_: (404, [(b"content-type", b"application/json")], b"{}"))
    ended = run(f"--target={service.target}", program=True)
    assert ended.code == 6, ended.output
    assert "/api/v2013/authentication/token is answered with status 404: check the path" in ended.output
    assert not re.search("password|not judged|Exit|drift", ended.output), ended.output


@pytest.mark.parametrize(
    ("rule", "pattern", "put", "told"),
    [
        (lists((404, *PAGE[1:])), "", "", "is a proxy or a login page in between?"),
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
