"""Whom the page answers, what it never tells, and what it shows of what passes through the proxy."""

import json
from collections.abc import Callable

import pytest
import requests

from contracts.interface.catalogue import load_catalogue
from contracts.manual.traffic_findings import Seen, Side, Standing, TrafficFinding
from tests.meta.page.conftest import Listening, Page

Passes = Callable[..., Seen]

# Other sites, and other names for this machine


def test_only_names_of_this_machine_are_answered(faithful_page: Page) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1", "evil.example:80"):
        for path in ("/", "/api/start", "/api/live", "/static/main.js"):
            assert faithful_page.get(path, headers={"Host": host}).status_code == 403, host
    for host in ("127.0.0.1:1", "localhost", "[::1]:80"):
        assert faithful_page.get("/api/start", headers={"Host": host}).status_code == 200


def test_nothing_is_done_without_the_key_or_for_another_site(faithful_page: Page) -> None:
    wish = {"operation": "listDrafts", "role": "author", "realm": "", "live": False}
    for headers in (
        {"X-Page-Key": None},
        {"X-Page-Key": "guess"},
        {"X-Page-Key": "\xe9"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
    ):
        for path in ("/api/prepare", "/api/send", "/api/scenario", "/api/reopen"):
            assert faithful_page.post(path, wish, **headers).status_code == 403, headers
    assert faithful_page.post("/api/prepare", wish, Origin=faithful_page.url).status_code == 200


def test_every_answer_keeps_to_the_policy(faithful_page: Page) -> None:
    for path in ("/", "/static/main.js", "/static/report.css", "/api/start", "/absent", "/api/live/99"):
        answer = faithful_page.get(path)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "name", ["..%2fserving.py", "%2e%2e/serving.py", "serving.py", "main.py", "", "..\\x.js"]
)
def test_only_files_of_the_page_are_given_out(faithful_page: Page, name: str) -> None:
    answer = faithful_page.get(f"/static/{name}")
    assert answer.status_code == 404
    assert "error" in answer.json()


def test_no_secret_comes_to_the_page(broken_page: Page, listening: Listening, passes: Passes) -> None:
    for operation, fault in (("createToken", None), ("createToken", "body.password:wrong-kind")):
        reply = broken_page.tried(operation, fault=fault)
        broken_page.done("/api/scenario", form_number=reply["form_number"])
    for role in ("author", "other", "restricted", "nau"):
        filled = broken_page.done("/api/prepare", operation="createToken", role=role, realm="", live=True)
        assert '"password": "{password}"' in filled["form"]["body"]["text"]
        broken_page.tried("listDrafts", role=role)
    (token,) = [each for each in listening.tokens if each][:1]
    seen = passes(broken_page, "GET", f"/api/v2013/document-drafts?$filter={token}", "listDrafts")
    log = "\n".join(broken_page.heard)
    assert len({each for each in listening.tokens if each}) >= 4
    assert [each for each in listening.tokens if each and each in log] == []
    assert [role for role in ("author", "other", "restricted", "nau") if f"sandbox-{role}" in log] == []
    assert seen.number > 0


# What passes through the proxy

FINDING = TrafficFinding(
    Side.ANSWER,
    Standing.FAULT,
    "list-top",
    "must",
    None,
    "listDrafts",
    "bch-dev",
    "at most 1 items",
    "2 items",
    1,
)


def test_what_passes_is_told_as_it_passes(broken_page: Page, passes: Passes) -> None:
    with requests.get(f"{broken_page.url}/api/live", stream=True, timeout=60) as stream:
        assert stream.headers["Content-Type"] == "text/event-stream"
        assert "Content-Security-Policy" in stream.headers
        seen = passes(
            broken_page, "GET", "/api/v2013/document-drafts?$top=1", "listDrafts", findings=(FINDING,)
        )
        for line in stream.iter_lines(chunk_size=1, decode_unicode=True):
            if line.startswith("data:") and json.loads(line[5:])["number"] == seen.number:
                row = json.loads(line[5:])
                break
    assert (row["operation"], row["realm"], row["status"]) == ("listDrafts", "bch-dev", 200)
    (finding,) = row["findings"]
    assert (finding["name"], finding["side"], finding["standing"]) == ("list-top", "answer", "fault")
    assert finding["wording"] == load_catalogue().clause("list-top").wording


def test_a_page_that_comes_back_is_told_what_it_missed(broken_page: Page, passes: Passes) -> None:
    first = passes(broken_page, "GET", "/api/v2013/document-drafts", "listDrafts")
    second = passes(broken_page, "GET", "/favicon.ico", status=404)
    headers = {"Last-Event-ID": str(first.number)}
    with requests.get(f"{broken_page.url}/api/live", stream=True, timeout=60, headers=headers) as stream:
        lines = stream.iter_lines(chunk_size=1, decode_unicode=True)
        assert next(line for line in lines if line.startswith("id:")) == f"id: {second.number}"


def test_what_passed_is_shown_in_full(broken_page: Page, passes: Passes) -> None:
    seen = passes(broken_page, "GET", "/api/v2013/document-drafts", "listDrafts", answer='{"items": []}')
    reply = broken_page.get(f"/api/live/{seen.number}").json()
    assert "GET http" in reply["request"]
    assert "Authorization: Bearer [redacted]" in reply["request"]
    assert '"items": []' in reply["response"]
    assert broken_page.get("/api/live/100000").json() == {"error": "exchange 100000 is not kept any more"}
    assert broken_page.get("/api/live/x").status_code == 422


def test_what_passed_is_opened_with_fresh_identifiers(broken_page: Page, passes: Passes) -> None:
    body = {"header": {"identifier": "somebodys-own-1", "schema": "contact"}, "firstName": "Ada"}
    path = "/api/v2013/documents/somebodys-own-1/versions/draft?schema=contact&extra=1"
    seen = passes(broken_page, "PUT", path, "saveDraft", body, 201)
    reply = broken_page.done("/api/reopen", number=seen.number, live=True)
    form = reply["form"]
    assert (reply["operation"], reply["role"], reply["realm"]) == ("saveDraft", "author", "bch-dev")
    assert form["path"]["uid"].startswith("rc-")
    assert form["query"] == {"schema": "contact", "extra": "1"}
    assert json.loads(form["body"]["text"]) == {
        "header": {"identifier": form["path"]["uid"], "schema": "contact"}, "firstName": "Ada",
    }  # fmt: skip
    asked = {"operation": "saveDraft", "role": "author", "realm": "bch-dev"}
    sent = broken_page.done("/api/send", **asked, form_number=reply["form_number"], form=form)
    assert sent["status"] == 201
    assert sent["request_faults"] == ["the query names 'extra', which is not listed"]


def test_a_fault_of_the_identifier_stays_one(broken_page: Page, passes: Passes) -> None:
    path = "/api/v2013/documents/short-one1/versions/draft?schema=contact"
    seen = passes(broken_page, "PUT", path, "saveDraft", {"firstName": "Ada"}, 201)
    reply = broken_page.done("/api/reopen", number=seen.number, live=True)
    uid = reply["form"]["path"]["uid"]
    assert (len(uid), uid[:3]) == (10, "rc-")


def test_what_is_only_read_is_read_where_it_was(broken_page: Page, passes: Passes) -> None:
    seen = passes(broken_page, "GET", "/api/v2013/documents/somebodys-own-1/versions/draft", "getDraft")
    reply = broken_page.done("/api/reopen", number=seen.number, live=False)
    assert reply["form"]["path"] == {"uid": "somebodys-own-1"}


def test_what_is_no_operation_has_no_form(broken_page: Page, passes: Passes) -> None:
    seen = passes(broken_page, "GET", "/favicon.ico", status=404)
    for path in ("/api/reopen", "/api/scenario-of-seen"):
        assert "is no operation of the interface" in broken_page.refused(path, number=seen.number)
