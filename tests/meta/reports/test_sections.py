"""What the page, the summary and a build server show of the terms of a run, its past, and evidence with gaps."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from junitparser import JUnitXml

from contracts.evidence.run_folder import collect
from contracts.evidence.terms import Terms
from contracts.evidence.verdicts import judge
from contracts.reports import build_server, finding_files, html, summary, verdict_json
from contracts.reports.writers import write_all
from tests.meta.evidence.sample_records import Story, consumer, deviation, waiver
from tests.meta.reports.sample_runs import CATALOGUE


def test_an_issue_is_a_link_only_where_it_is_an_address_of_the_web(rich: Path) -> None:
    record = collect(rich)
    entries = record.run.terms.deviations
    bad = tuple(replace(each, issue=f"javascript:alert({each.line})") for each in entries)
    run = replace(record.run, terms=replace(record.run.terms, deviations=bad))
    page = html.render(swapped := replace(record, run=run), judge(swapped, CATALOGUE))
    assert "<code>javascript:alert(3)</code>" in page
    assert 'href="javascript' not in page


def test_a_report_without_its_closing_record_is_shown_as_invalid(
    folder: Path, made_up: SimpleNamespace
) -> None:
    facts = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**facts, "finished": None}))
    write_all(folder, catalogue=made_up.catalogue)
    page = (folder / "index.html").read_text("utf-8")
    assert "<title>INVALID REPORT, fail" in page
    assert re.search(r"<h1>.*Invalid report</h1>", page)
    assert "This report is invalid" in (folder / "summary.md").read_text("utf-8")


@pytest.fixture
def held_to_terms(story: Story, tmp_path: Path) -> Path:
    """The reports of a run with an accepted contradiction, one outside the consumer, a waiver, a stale entry."""
    story.holds("draft-save-creates", "workflow-locked-record")
    story.contradicts("draft-get-content", "abs-dev")
    story.contradicts("draft-get-content", "bch-dev")
    story.contradicts("workflow-locked-record", "abs-dev")
    story.case("uid-too-short", "abs-dev", "inconclusive", held=0, reason="no answer")
    methods = {"client.drafts.get": ("getDraft",)}
    used = consumer("getDraft", "saveDraft", methods=methods, waivers=(waiver("uid-too-short"),))
    terms = Terms(used, (deviation(), deviation("draft-save-creates", line=17)), "deviations/dev.toml")
    record, verdict = story.record(terms), story.verdict(terms)
    for each in (verdict_json, build_server, summary, html, finding_files):
        each.write(record, verdict, tmp_path)
    return tmp_path


def test_the_machines_answer_names_every_term(held_to_terms: Path) -> None:
    content = json.loads((held_to_terms / "verdict.json").read_text("utf-8"))
    courses = [(each["course"], each["fails"], each["line"]) for each in content["deviations"]]
    assert (content["exit_code"], courses) == (1, [("happens", False, 7), ("gone", True, 17)])
    assert content["waived"] == {"uid-too-short": "the SDK never sends it"}
    assert content["waivers"][0]["realms"] == ["abs-dev"]
    assert content["consumer"]["methods"] == {"client.drafts.get": ["getDraft"]}
    assert {(each["realm"], each["standing"], each["counted"]) for each in content["findings"]} == {
        ("abs-dev", "deviation", True),
        ("bch-dev", "deviation", True),
        ("abs-dev", "fail", False),
    }


def test_junit_skips_what_is_accepted_or_outside_and_fails_the_stale_entry(held_to_terms: Path) -> None:
    suites = {suite.name: list(suite) for suite in JUnitXml.fromfile(str(held_to_terms / "junit.xml"))}
    kinds = {case.result[0].type for case in suites["abs-dev"] if case.result}
    assert kinds == {"deviation", "outside", "inconclusive"}
    accepted = next(case.result[0] for case in suites["bch-dev"] if case.result)
    assert "accepted until 2027-01-01" in accepted.message
    assert "https://tracker.example.test/17" in accepted.message
    stale = [case.result[0] for case in suites["deviations"] if case.result]
    assert [(each.type, "deviations/dev.toml:17" in each.message) for each in stale] == [("gone", True)]


def test_the_summary_the_page_and_a_ticket_show_them_apart(held_to_terms: Path) -> None:
    page, text = ((held_to_terms / name).read_text("utf-8") for name in ("index.html", "summary.md"))
    for shown in (page, text):
        assert "no longer happens in abs-dev, bch-dev: take the entry out" in shown
        assert "deviations/dev.toml:17" in shown.replace("\\", "")
    assert "client.drafts.get" in page
    assert "### Waived" in text
    tickets = [path.read_text("utf-8") for path in (held_to_terms / "findings").glob("*.md")]
    assert sum("| Accepted | Old records lose a member." in ticket for ticket in tickets) == 1
    assert sum("no: outside what the consumer uses" in ticket for ticket in tickets) == 1
