"""Sections of the page and of the summary: deviations, drift, since when, trends, consumer, silent points, validity."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from junitparser import JUnitXml

from contracts.errors import UsageError
from contracts.evidence.run_folder import collect
from contracts.evidence.verdicts import judge
from contracts.history.runs import Past, PastRun
from contracts.reports import html
from contracts.reports.html_sections import trends
from contracts.reports.writers import write_all
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
    assert (
        "behaviour changed outside the consumer draft-info-shape getDraftInfo · abs-dev body 201 →" in shown
    )
    assert "bch-dev: other" in shown


def test_a_finding_says_since_when_and_the_summary_does_too(page: str, rendered: Path) -> None:
    since = "red since 2026-01-05 10:00, last green 2026-01-03 10:00; changed 3 times lately"
    assert f"Since when: {since}." in section(page, "findings")
    summary = (rendered / "summary.md").read_text("utf-8")
    assert since in summary
    assert "### Drift" in summary
    assert "behaviour changed, outside the consumer" in summary
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
