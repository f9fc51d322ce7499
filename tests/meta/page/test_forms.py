"""Forms and requests by hand: what the page fills in, sends and finds, and one line for every trouble."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.manual.manual_session import Leftovers
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target
from contracts.settings.target import Target
from tests.meta.page.conftest import Listening, Page, page_of

OPERATIONS = load_description().operations


def clauses(reply: dict[str, Any]) -> list[str]:
    return [each["clause"] for each in reply["findings"]]


def held(reply: dict[str, Any]) -> set[str]:
    return {each["id"] for each in reply["clauses"] if each["state"] == "held"}


def test_every_operation_has_a_form_of_what_the_description_lists(faithful_page: Page) -> None:
    reply = faithful_page.get("/api/start").json()
    forms = {each["id"]: each for each in reply["operations"]}
    assert list(forms) == list(OPERATIONS)
    for name, operation in OPERATIONS.items():
        fields = {(each["place"], each["name"]) for each in forms[name]["parameters"]}
        assert {each for place, each in fields if place == "path"} == set(operation.path_parameters)
        assert {each for place, each in fields if place == "query"} == set(operation.query_parameters)
    contact = {each["name"]: each for each in forms["createContact"]["body"]["members"]}
    assert len(contact) == 26
    assert [name for name, each in contact.items() if each["required"]] == [
        "firstName", "lastName", "organization", "country", "emails", "type", "contactOrganization",
    ]  # fmt: skip
    assert [each["name"] for each in forms["createWorkflowRecord"]["body"]["members"]] == [
        "document", "additionalInfo", "batchId",
    ]  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS)
def test_valid_values_are_taken_and_nothing_is_found(faithful_page: Page, operation: str) -> None:
    reply = faithful_page.tried(operation)
    assert reply["status"] < 300
    assert (reply["findings"], reply["request_faults"], reply["obstacles"]) == ([], [], [])
    assert "no-server-error" in held(reply)
    assert reply["curl"].startswith("curl ")


def test_filling_a_form_sends_nothing_unless_it_may(broken_page: Page, listening: Listening) -> None:
    before = set(listening.tokens)
    reply = broken_page.done("/api/prepare", operation="getDraft", role="nau", realm="chm-dev", live=False)
    assert reply["form"]["path"]["uid"].startswith("rc-")
    assert reply["notes"] == ["made up; 'Valid values' first arranges what the request is about"]
    assert listening.tokens == before


def test_one_fault_is_refused_by_a_good_service_and_found_on_a_bad_one(
    faithful_page: Page, broken_page: Page
) -> None:
    fault = {"fault": "path.uid:too-short"}
    good, bad = faithful_page.tried("saveDraft", **fault), broken_page.tried("saveDraft", **fault)
    assert good["status"] == 400
    assert "uid-too-short" in held(good)
    assert (bad["status"], clauses(bad)) == (201, ["uid-too-short"])
    (finding,) = bad["findings"]
    assert (finding["level"], finding["side"]) == ("must", "answer")
    assert finding["wording"] == load_catalogue().clause("uid-too-short").wording


def test_a_form_is_sent_as_it_was_changed(faithful_page: Page) -> None:
    asked = {"operation": "saveDraft", "role": "author", "realm": "bch-dev"}
    filled = faithful_page.done("/api/prepare", **asked, live=False)
    form = filled["form"]
    body = json.loads(form["body"]["text"]) | {"firstName": "Ada"}
    form["body"]["text"] = json.dumps({**body, "header": {**body["header"], "identifier": "{uid}"}})
    form["path"]["uid"], form["headers"] = "{uid}", {"X-Note": "by hand", "Accept": None}
    reply = faithful_page.done("/api/send", **asked, form_number=filled["form_number"], form=form)
    sent = reply["request"]
    assert reply["status"] == 201
    assert '"firstName": "Ada"' in sent
    assert "X-Note: by hand" in sent
    assert "Accept: application/json" not in sent
    assert "Realm: bch-dev" in sent
    assert "{uid}" not in sent


def test_only_what_is_known_to_be_right_has_to_be_accepted(broken_page: Page) -> None:
    asked = {"operation": "createContact", "role": "restricted", "realm": ""}
    filled = broken_page.done("/api/prepare", **asked, live=True)
    reply = broken_page.done("/api/send", **asked, form_number=filled["form_number"], form=filled["form"])
    assert (reply["status"], reply["findings"]) == (403, [])


def test_somebody_without_rights_is_no_case_of_faulty_content(faithful_page: Page) -> None:
    reply = faithful_page.tried("createContact", role="restricted", fault="body.firstName:missing")
    assert (reply["status"], reply["findings"]) == (403, [])
    assert reply["request_faults"] == ["firstName is missing"]


def test_a_file_is_sent_byte_for_byte(faithful_page: Page) -> None:
    asked = {"operation": "createAttachment", "role": "author", "realm": ""}
    filled = faithful_page.done("/api/prepare", **asked, live=True)
    filled["form"]["body"] = {"kind": "base64", "text": "AP8Q"}
    reply = faithful_page.done("/api/send", **asked, form_number=filled["form_number"], form=filled["form"])
    assert reply["status"] == 201
    assert "3 bytes of binary content" in reply["request"]


@pytest.mark.parametrize("operation", ["createContact", "listDrafts", "createToken"])
def test_faults_are_listed_with_their_clauses(faithful_page: Page, operation: str) -> None:
    listed = faithful_page.get(f"/api/faults?operation={operation}&realm=").json()["faults"]
    catalogue = load_catalogue()
    assert listed
    for each in listed:
        clause = catalogue.for_fault(operation, each["key"])
        assert each["clause"] == (clause.id if clause else None)


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"operation": "saveDrft"}, "did you mean 'saveDraft'?"),
        ({"role": "king"}, "unknown role 'king'"),
        ({"realm": "abs"}, "'abs' is a production realm"),
        ({"realm": "ort-dev"}, "saveDraft is not in realm 'ort-dev'"),
        ({"fault": "body.firstName:odd"}, "saveDraft has no such fault"),
    ],
)
def test_what_there_is_not_cannot_fill_a_form(faithful_page: Page, wish: dict[str, str], why: str) -> None:
    asked: dict[str, Any] = {"operation": "saveDraft", "role": "author", "realm": "", "live": False} | wish
    assert why in faithful_page.refused("/api/prepare", **asked)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"path": {"uid": "somebodys-record"}}, "which is none of the suite's"),
        ({"path": {"uid": ""}}, "path parameter uid is empty"),
        ({"path": {"uid": "{uid}", "id": "1"}}, "has no path parameter id"),
        ({"path": "x"}, "path must be names with texts"),
        ({"headers": {"Realm": 1}}, "headers must be names with texts"),
        ({"headers": {"X-Note": "a\r\nb: c"}}, "X-Note holds a line break"),
        ({"headers": {"Realm": "bch"}}, "selects a production realm"),
        ({"body": {"kind": "json", "text": '{"a":'}}, "the body: is not JSON at line 1, column 6"),
        ({"body": {"kind": "json", "text": "[" * 100_000}}, "the body: nests too deep"),
        ({"body": {"kind": "odd", "text": ""}}, "must have a kind"),
        ({"body": {"kind": "base64", "text": "%"}}, "did not arrive whole"),
    ],
)
def test_a_form_that_cannot_be_sent_is_told_in_one_line(
    faithful_page: Page, change: dict[str, Any], why: str
) -> None:
    asked: dict[str, Any] = {"operation": "saveDraft", "role": "author", "realm": ""}
    filled = faithful_page.done("/api/prepare", **asked, live=False)
    form = filled["form"] | change
    assert why in faithful_page.refused("/api/send", **asked, form_number=filled["form_number"], form=form)


def test_requests_that_no_page_sends_are_told_in_one_line(faithful_page: Page) -> None:
    asked: dict[str, Any] = {"operation": "listDrafts", "role": "author", "realm": ""}
    assert "not known any more" in faithful_page.refused("/api/send", **asked, form_number=10**6, form={})
    assert "not filled in yet" in faithful_page.refused("/api/send", **asked, form={})
    other = faithful_page.done("/api/prepare", **asked | {"operation": "createToken"}, live=False)
    assert "another operation" in faithful_page.refused(
        "/api/send", **asked, form_number=other["form_number"], form={}
    )
    assert "send the request first" in faithful_page.refused(
        "/api/scenario", form_number=other["form_number"]
    )
    assert faithful_page.post("/api/send", b"{").json()["error"].startswith("the page sent no JSON;")
    assert faithful_page.post("/api/send", b"[]").json()["error"].startswith("the page sent no JSON obj")
    assert (
        faithful_page.post("/api/send", b" " * 17 * 1024**2).json()["error"].startswith("the request is la")
    )


def test_a_target_that_is_down_is_one_line() -> None:
    target = sandbox_target("http://127.0.0.1:9", DEFAULT_SIZE_LIMIT)
    with page_of(target, disposable=True) as page:
        asked = {"operation": "listDrafts", "role": "author", "realm": ""}
        assert "gives the author no token" in page.refused("/api/prepare", 503, **asked, live=True)
        assert page.done("/api/prepare", **asked, live=False)["form"]["query"] == {}


def test_a_target_without_accounts_still_shows_what_passes() -> None:
    with page_of(Target(name="environment", base_url="http://127.0.0.1:9")) as page:
        start = page.get("/api/start").json()
        assert {each["id"] for each in start["roles"] if not each["missing"]} <= {"anonymous", "author"}
        asked: dict[str, Any] = {"operation": "listDrafts", "role": "author", "realm": "", "live": False}
        assert "cannot be used as author" in page.refused("/api/prepare", **asked)


def test_drafts_made_by_hand_are_deleted_when_the_page_ends(
    sandbox_url: str, caller: Callable[..., Any], tmp_path: Path
) -> None:
    target = replace(sandbox_target(sandbox_url, DEFAULT_SIZE_LIMIT), name="lasting")
    left: list[Leftovers] = []
    with page_of(target, reports=tmp_path, on_close=left.append) as page:
        reply = page.tried("saveDraft")
        page.tried("createContact")
        path = reply["request"].partition(" HTTP")[0].partition(sandbox_url)[2].partition("?")[0]
        assert caller().get(path).status_code == 200
    assert caller().get(path).status_code == 404
    (swept,) = left
    assert swept.drafts == []
    assert [each.what for each in swept.residue] == ["contact"]
