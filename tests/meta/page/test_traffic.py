"""What is sent by hand stands beside what passes; recordings that are opened; sequences whose requests need answers."""

import json
import queue
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contracts.evidence.record import Journal
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import TrafficRedactor
from contracts.manual.check import coverage_lines
from contracts.manual.traffic_findings import Side, Standing
from contracts.manual.traffic_watch import Watch
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target
from tests.meta.page.conftest import Page, page_of
from tests.meta.reports.sample_runs import CATALOGUE, body, build_run, case, exchange, first_worker

NAME = "20261122-101500-sandbox-made"


def passing(journal: Journal) -> None:
    """A case that passes, with two exchanges."""
    passed = case(journal, CATALOGUE[0], "bch-dev", "pass", held=2)
    for answer in (b'{"a": 1}', b'{"a": 2}'):
        exchange(journal, passed, "bch-dev", 200, answer=body(answer))


@pytest.fixture
def reading(tmp_path: Path) -> Iterator[Page]:
    """The page beside a reports folder with one run; nothing answers at its target."""
    build_run(tmp_path / "reports" / NAME, {"gw0": first_worker, "gw1": passing})
    target = sandbox_target("http://127.0.0.1:9", DEFAULT_SIZE_LIMIT)
    with page_of(target, disposable=True, reports=tmp_path / "reports") as page:
        yield page


@pytest.fixture
def by_hand(sandbox_url: str) -> Iterator[tuple[Page, "queue.SimpleQueue[Exchange]"]]:
    """The page of a faithful sandbox, and what it hands over to be judged."""
    handed: queue.SimpleQueue[Exchange] = queue.SimpleQueue()
    target = sandbox_target(sandbox_url, DEFAULT_SIZE_LIMIT)
    with page_of(target, disposable=True, hand_over=handed.put) as page:
        yield page, handed


def test_what_is_sent_by_hand_is_judged_beside_what_passes(by_hand: Any) -> None:
    page, handed = by_hand
    page.tried("getDraft", "abs-dev", fault="path.uid:too-short")
    watch = Watch(TrafficRedactor())
    seen = [watch.take(replace(handed.get(timeout=60), number=number)) for number in (1, 2)]
    assert [each.exchange.operation for each in seen] == ["saveDraft", "getDraft"]
    assert all(each.by_hand for each in seen)
    # A fault that a person puts in is no mistake of a client.
    (finding,) = seen[1].findings
    assert (finding.side, finding.standing) == (Side.REQUEST, Standing.REMARK)
    assert watch.tally.by_hand == 2
    assert any(line.startswith("by hand      2 exchanges") for line in coverage_lines(watch.tally, 0))


def test_any_case_or_finding_of_a_run_is_opened_and_stepped_through(reading: Page) -> None:
    assert reading.get("/api/runs").json() == {"runs": [NAME]}
    held = reading.done("/api/open-run", run=NAME)
    outcomes = {each["outcome"]: each for each in held["cases"]}
    assert outcomes["pass"]["exchanges"] == 2
    opened = reading.done("/api/open-exchanges", run=NAME, case=outcomes["pass"]["id"])
    assert [row["number"] for row in opened["rows"]] == [1, 2]
    assert not any(row["findings"] for row in opened["rows"])
    shown = [reading.get(f"/api/recorded/{opened['opened']}/{number}").json() for number in (1, 2)]
    assert ['"a": 1' in shown[0]["response"], '"a": 2' in shown[1]["response"]] == [True, True]
    finding = reading.done("/api/open-exchanges", run=NAME, finding=held["findings"][0]["id"])
    assert finding["opened"] == opened["opened"] + 1
    assert len(finding["rows"]) == 3
    assert {each["side"] for row in finding["rows"] for each in row["findings"]} == {"answer"}
    assert "no run" in reading.refused("/api/open-run", run=f"../{NAME}")
    assert "holds no exchange" in reading.refused("/api/open-exchanges", run=NAME, case="no such")


def test_a_har_is_opened_and_its_exchanges_are_judged(broken_page: Page, har: Callable[..., str]) -> None:
    opened = broken_page.done("/api/open-har", name="app.har", text=har())
    (row,) = opened["rows"]
    assert (opened["title"], row["operation"], row["by_hand"]) == ("app.har", "saveDraft", False)
    assert [each["name"] for each in row["findings"] if each["side"] == "request"] == ["path.uid:too-short"]
    reply = broken_page.done("/api/reopen", number=1, opened=opened["opened"], live=False)
    assert (reply["operation"], len(reply["form"]["path"]["uid"])) == ("saveDraft", 10)
    assert "was cut short" in broken_page.refused("/api/open-har", name="a.har", text='{"log": {"entries": [')
    assert "not open any more" in broken_page.refused("/api/reopen", number=1, opened=99, live=False)


@pytest.fixture
def har(broken_url: str) -> Callable[..., str]:
    """Make the text of a HAR with one draft that is saved under a uid of ten characters."""

    def make() -> str:
        headers = {"Realm": "bch-dev", "Authorization": "Bearer x", "Content-Type": "application/json"}
        request = {
            "method": "PUT",
            "url": f"{broken_url}/api/v2013/documents/short-one1/versions/draft?schema=contact",
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
            "postData": {"mimeType": "application/json", "text": "{}"},
        }
        answer = {"status": 200, "headers": [], "content": {"size": 2, "text": "{}"}}
        entry = {"startedDateTime": "2026-04-02T10:00:00Z", "time": 4, "request": request, "response": answer}
        return json.dumps({"log": {"version": "1.2", "entries": [entry]}})

    return make


def test_an_answer_gives_what_the_next_request_needs_and_both_become_a_file(by_hand: Any) -> None:
    page, _ = by_hand
    asked = {"operation": "getDraft", "role": "author", "realm": "abs-dev"}
    saved = page.tried("saveDraft", "abs-dev")
    assert {"path": "identifier", "value": saved["values"][0]["value"]} == saved["values"][0]
    filled = page.done("/api/prepare", **asked, live=False)
    form = {**filled["form"], "path": {"uid": f"{{{saved['form_number']}.identifier}}"}}
    read = page.done("/api/send", **asked, form_number=filled["form_number"], form=form)
    assert read["status"] == 200
    steps = page.done("/api/sequence")["steps"]
    assert [(each["operation"], each["status"]) for each in steps] == [("saveDraft", 201), ("getDraft", 200)]
    made = page.done("/api/hurl", steps=[each["form_number"] for each in steps])
    text = made["text"]
    first, second = re.split(r"^# 2\. ", text, flags=re.MULTILINE)
    assert "PUT {{base_url}}/api/v2013/documents/{{uid_1}}/versions/draft" in first
    assert re.search(r"\[Options\]\nvariable: uid_1=rc-[a-z0-9]+\n\{", first)
    assert "[Captures]\nidentifier_1: jsonpath \"$['identifier']\"" in first
    assert "GET {{base_url}}/api/v2013/documents/{{identifier_1}}/versions/draft" in second
    assert text.count("Authorization: Bearer {{token}}") == 2
    assert text.count("[Asserts]\nstatus >= 200\nstatus < 400") == 2
    alone = page.refused("/api/hurl", steps=[steps[1]["form_number"]])
    assert alone == "getDraft uses the answer of a request that is no step before it"
    missing = {**form, "path": {"uid": f"{{{saved['form_number']}.nothing.there}}"}}
    assert "no text or number at nothing.there" in page.refused(
        "/api/send", **asked, form_number=filled["form_number"], form=missing
    )
