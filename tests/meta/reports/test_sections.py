"""Sections of the page and of the summary: deviations, drift, since when, trends, consumer, silent points, validity."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from junitparser import JUnitXml

from contracts.errors import UsageError
from contracts.evidence.run_folder import collect
from contracts.evidence.terms import Terms
from contracts.evidence.verdicts import judge
from contracts.history.runs import Past, PastRun
from contracts.reports import build_server, finding_files, html, summary, verdict_json
from contracts.reports.html_sections import trends
from contracts.reports.writers import write_all
from tests.meta.evidence.sample_records import Story, consumer, deviation, waiver
from tests.meta.reports.sample_runs import CATALOGUE, past_runs


def section(page: str, name: str) -> str:
    """Return the text of one section of the page, its tags taken out."""
    inside = page.partition(f'<h2 id="{name}">')[2].partition("<h2 ")[0]
    flowing = re.sub("</?(?:a|b|code|span)\\b[^>]*>", "", inside)
    return " ".join(re.sub("<[^>]*>", " ", flowing).split())


@pytest.fixture
def page(rendered: Path) -> str:
    return (rendered / "index.html").read_text("utf-8")


def test_deviations_stand_apart_by_their_course(page: str) -> None:
    shown = section(page, "deviations")
    courses = [shown.index(f"{course} draft-get-content") for course in ("expired", "no longer happens")]
    assert courses == sorted(courses)
    assert (
        courses[-1]
        < shown.index("accepted not counted errors-code")
        < shown.index("not judged draft-delete-removes")
    )
    assert "deviations/x.toml:3" in shown


def test_an_issue_is_a_link_only_where_it_is_an_address_of_the_web(rich: Path) -> None:
    record = collect(rich)
    entries = record.run.terms.deviations
    bad = tuple(replace(each, issue=f"javascript:alert({each.line})") for each in entries)
    run = replace(record.run, terms=replace(record.run.terms, deviations=bad))
    page = html.render(swapped := replace(record, run=run), judge(swapped, CATALOGUE))
    assert "<code>javascript:alert(3)</code>" in page
    assert "href=&#34;javascript" not in page
    assert 'href="javascript' not in page


def test_drift_names_the_baseline_and_shows_realms_beside_a_change(page: str) -> None:
    shown = section(page, "drift")
    assert "baselines/x.yaml: 1 breaking for clients, 0 additive; 1 fact not in it yet" in shown
    assert "Breaking drift fails this run." in shown
    assert "changed outside the consumer draft-info-shape getDraftInfo · abs-dev body 201 →" in shown
    assert "bch-dev: other" in shown


def test_a_finding_says_since_when_and_the_summary_does_too(page: str, rendered: Path) -> None:
    since = "red since 2026-01-05 10:00, last green 2026-01-03 10:00; changed 3 times lately"
    assert f"Since when: {since}." in section(page, "findings")
    summary = (rendered / "summary.md").read_text("utf-8")
    assert since in summary
    assert "### Drift" in summary
    assert "changed, outside the consumer" in summary
    assert "questions.md" in summary


def test_trends_compare_runs_of_one_profile_and_list_what_comes_and_goes(page: str) -> None:
    shown = section(page, "trends")
    assert "after 5 earlier runs of the profile gate" in shown
    assert "fail now; 1 of 5 before it passed" in shown
    assert "draft-get-content in abs-dev (3 times)" in shown
    assert page.count("<rect") > 10


def test_runs_of_another_profile_are_listed_and_not_drawn(rich: Path) -> None:
    record = collect(rich)
    other = PastRun("r9", "2026-01-09T10:00:00+00:00", "nightly", "pass", 9, 9.0, {"pass": 1})
    past = past_runs("draft-get-content")
    seen = trends(record, judge(record, CATALOGUE), Past((*past.runs, other), past.cells), "now")
    assert seen is not None
    assert (seen.compared, len(seen.runs)) == (5, 7)
    contradicted = next(strip for strip in seen.strips if strip.name == "Contradicted")
    assert contradicted.says == "2 now; 0 to 2 before"
    assert max(bar.x for bar in contradicted.bars) > 15
    assert all(0 <= bar.y <= bar.y + bar.height <= 100.01 for strip in seen.strips for bar in strip.bars)


@pytest.mark.usefixtures("verdict")
def test_a_first_run_has_no_trends_and_says_nothing_of_the_past(folder: Path) -> None:
    page = (folder / "index.html").read_text("utf-8")
    assert 'id="trends"' not in page
    assert "Since when" not in page + (folder / "summary.md").read_text("utf-8")


def test_a_past_that_was_altered_is_named(rich: Path, made_up: SimpleNamespace) -> None:
    (rich / "past.json").write_text('{"runs": 1}')
    with pytest.raises(UsageError, match=r"past\.json: runs: "):
        write_all(rich, ["html"], catalogue=made_up.catalogue)


def test_the_consumers_methods_are_listed_with_what_touches_them(page: str) -> None:
    shown = section(page, "consumer")
    assert "3 of 6 clauses" in shown
    assert "not counted: 1 finding" in shown
    assert "getDraft fail finding" in shown
    assert "Session.open createToken pass nothing was found" in shown
    assert "deleteDraft deleteDraft inconclusive" in shown
    assert "sdk.toml:9" in shown


def test_silent_points_show_where_realms_differ(page: str) -> None:
    for name in ("differences", "observations"):
        shown = section(page, name)
        assert "getDraftInfo body" in shown
        assert "abs-dev: &lt;script&gt;" in shown
        assert "bch-dev: other &lt;script&gt;" in shown


def test_a_report_without_its_closing_record_is_shown_as_invalid(
    folder: Path, made_up: SimpleNamespace
) -> None:
    facts = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**facts, "finished": None}))
    write_all(folder, catalogue=made_up.catalogue)
    page = (folder / "index.html").read_text("utf-8")
    assert "<title>INVALID REPORT, fail" in page
    assert "This report is invalid and must not be relied on" in page
    assert re.search(r"<h1>.*Invalid report</h1>", page)
    assert "This report is invalid" in (folder / "summary.md").read_text("utf-8")
    assert "not whole" in (folder / "questions.md").read_text("utf-8")


def test_junit_fails_on_drift_that_blocks_and_on_no_other(rich: Path, made_up: SimpleNamespace) -> None:
    def failures() -> list[bool]:
        write_all(rich, ["junit"], catalogue=made_up.catalogue)
        suites = {suite.name: suite for suite in JUnitXml.fromfile(str(rich / "junit.xml"))}
        return [bool(case.result) for case in suites["drift"]]

    assert failures() == [False]
    facts = json.loads((rich / "run.json").read_text())
    facts["terms"]["consumer"] = None
    (rich / "run.json").write_text(json.dumps(facts))
    assert failures() == [True]


def test_what_the_run_may_do_and_what_stays_is_told(page: str) -> None:
    assert "Requests per second at most 20.0" in section(page, "environment")
    assert "Concurrency" not in section(page, "environment")
    assert "Permanent records (contacts and submissions) that this run created: 3 in abs-dev." in section(
        page, "left"
    )


def test_hostile_texts_are_inert_in_every_section(page: str) -> None:
    assert "<script>alert" not in page
    assert "<img" not in page
    assert not [sign for sign in "\x00\x1b\u202e" if sign in page]


@pytest.fixture
def held_to_terms(story: Story, tmp_path: Path) -> Path:
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
    for each in (verdict_json, build_server, summary, html, finding_files):
        each.write(record, verdict, tmp_path)
    return tmp_path


def test_the_machines_answer_fits_its_schema_and_names_everything(held_to_terms: Path) -> None:
    content: dict[str, Any] = json.loads((held_to_terms / "verdict.json").read_text("utf-8"))
    assert content["exit_code"] == 1
    assert [(each["course"], each["fails"]) for each in content["deviations"]] == [
        ("happens", False),
        ("gone", True),
    ]
    assert content["deviations"][1]["line"] == 17
    assert content["waived"] == {"uid-too-short": "the SDK never sends it"}
    assert content["waivers"][0]["realms"] == ["abs-dev"]
    assert content["consumer"]["methods"] == {"client.drafts.get": ["getDraft"]}
    findings = {(each["realm"], each["standing"], each["counted"]) for each in content["findings"]}
    assert findings == {
        ("abs-dev", "deviation", True),
        ("bch-dev", "deviation", True),
        ("abs-dev", "fail", False),
    }
    assert content["counts"]["deviation"] == 2


def test_junit_skips_what_is_accepted_or_outside_and_fails_the_stale_entry(held_to_terms: Path) -> None:
    suites = {suite.name: list(suite) for suite in JUnitXml.fromfile(str(held_to_terms / "junit.xml"))}
    kinds = {case.result[0].type for case in suites["abs-dev"] if case.result}
    assert kinds == {"deviation", "outside", "inconclusive"}
    accepted = next(case.result[0] for case in suites["bch-dev"] if case.result)
    assert "accepted until 2027-01-01" in accepted.message
    assert "https://tracker.example.test/17" in accepted.message
    stale = [case.result[0] for case in suites["deviations"] if case.result]
    assert [(each.type, "deviations/dev.toml:17" in each.message) for each in stale] == [("gone", True)]


def test_the_summary_and_the_page_show_them_apart(held_to_terms: Path) -> None:
    page, text = (
        (held_to_terms / "index.html").read_text("utf-8"),
        (held_to_terms / "summary.md").read_text("utf-8"),
    )
    for shown in (page, text):
        assert "no longer happens in abs-dev, bch-dev: take the entry out" in shown
        assert "deviations/dev.toml:17" in shown.replace("\\", "")
    assert 'id="deviations"' in page
    assert "client.drafts.get" in page
    assert "### 2 accepted deviations" in text
    assert "### Waived" in text


def test_a_findings_own_page_says_that_it_is_accepted(held_to_terms: Path) -> None:
    pages = [path.read_text("utf-8") for path in (held_to_terms / "findings").glob("*.md")]
    assert sum("| Accepted | Old records lose a member." in page for page in pages) == 1
    assert sum("no: outside what the consumer uses" in page for page in pages) == 1
