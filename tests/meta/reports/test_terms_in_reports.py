"""Every report tells deviations, waivers and what was not counted apart from what fails the run."""

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from contracts.evidence.terms import Terms
from contracts.reports import allure, build_server, finding_files, html, summary, verdict_json
from tests.meta.evidence.sample_records import Story, consumer, deviation, waiver


@pytest.fixture
def folder(story: Story, tmp_path: Path) -> Path:
    """The reports of a run with an accepted contradiction, one outside the consumer, a waiver, a stale entry."""
    story.holds("draft-save-creates", "workflow-locked-record")
    story.contradicts("draft-get-content", "abs-dev")
    story.contradicts("draft-get-content", "bch-dev")
    story.contradicts("workflow-locked-record", "abs-dev")
    story.case("uid-too-short", "abs-dev", "inconclusive", held=0, reason="no answer")
    used = consumer(
        "getDraft",
        "saveDraft",
        methods={"client.drafts.get": ("getDraft",)},
        waivers=(waiver("uid-too-short"),),
    )
    entries = deviation(), deviation("draft-save-creates", line=17)
    terms = Terms(used, entries, "deviations/dev.toml")
    record, verdict = story.record(terms), story.verdict(terms)
    for each in (verdict_json, build_server, allure, summary, html, finding_files):
        each.write(record, verdict, tmp_path)
    return tmp_path


def test_the_machines_answer_fits_its_schema_and_names_everything(folder: Path) -> None:
    content: dict[str, Any] = json.loads((folder / "verdict.json").read_text("utf-8"))
    assert content["exit_code"] == 1
    assert [(each["course"], each["fails"]) for each in content["deviations"]] == [
        ("happens", False),
        ("gone", True),
    ]
    assert content["deviations"][1]["line"] == 17
    assert content["waived"] == {"uid-too-short": "the SDK never sends it"}
    assert content["waivers"][0]["realms"] == ["abs-dev"]
    assert content["consumer"]["methods"] == {"client.drafts.get": ["getDraft"]}
    told = {(each["realm"], each["standing"], each["counted"]) for each in content["findings"]}
    assert told == {
        ("abs-dev", "deviation", True),
        ("bch-dev", "deviation", True),
        ("abs-dev", "fail", False),
    }
    assert content["counts"]["deviation"] == 2


def test_junit_skips_what_is_accepted_or_outside_and_fails_the_stale_entry(folder: Path) -> None:
    suites = {suite.name: list(suite) for suite in JUnitXml.fromfile(str(folder / "junit.xml"))}
    kinds = {case.result[0].type for case in suites["abs-dev"] if case.result}
    assert kinds == {"deviation", "outside", "inconclusive"}
    accepted = next(case.result[0] for case in suites["bch-dev"] if case.result)
    assert "accepted until 2027-01-01" in accepted.message
    assert "https://tracker.example.test/17" in accepted.message
    stale = [case.result[0] for case in suites["deviations"] if case.result]
    assert [(each.type, "deviations/dev.toml:17" in each.message) for each in stale] == [("gone", True)]


def test_allure_marks_what_is_known_and_links_its_issue(folder: Path) -> None:
    results = [json.loads(path.read_text("utf-8")) for path in (folder / "allure").glob("*-result.json")]
    known = [each for each in results if each.get("statusDetails", {}).get("known")]
    assert {each["status"] for each in known} == {"skipped"}
    assert {(link["type"], link["url"]) for each in known for link in each["links"]} == {
        ("issue", "https://tracker.example.test/17")
    }
    assert not [each for each in results if each["status"] == "failed"]


def test_the_summary_and_the_page_show_them_apart(folder: Path) -> None:
    page, text = (folder / "index.html").read_text("utf-8"), (folder / "summary.md").read_text("utf-8")
    for shown in (page, text):
        assert "no longer happens in abs-dev, bch-dev: take the entry out" in shown
        assert "deviations/dev.toml:17" in shown.replace("\\", "")
    assert 'id="deviations"' in page
    assert "client.drafts.get" in page
    assert "### 2 accepted deviations" in text
    assert "### Waived" in text


def test_a_findings_own_page_says_that_it_is_accepted(folder: Path) -> None:
    pages = [path.read_text("utf-8") for path in (folder / "findings").glob("*.md")]
    assert sum("| Accepted | Old records lose a member." in page for page in pages) == 1
    assert sum("no: outside what the consumer uses" in page for page in pages) == 1
