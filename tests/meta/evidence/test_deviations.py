"""A deviation's life: accepted while it happens, warned of near its end, red once it is over or does not happen."""

from datetime import date, timedelta
from typing import Any

import pytest

from contracts.evidence.deviations import DeviationState
from contracts.evidence.record import Environment, ExitCode, Narrowed, Verdict
from contracts.evidence.terms import Terms
from contracts.evidence.verdicts import RunVerdict
from tests.meta.evidence.sample_records import REALMS, TODAY, Story, consumer, deviation, waiver


def held_to(*entries: Any) -> Terms:
    return Terms(deviations=entries, deviations_file="deviations/dev.toml")


@pytest.fixture
def happening() -> Story:
    """Everything holds but what the deviation speaks of, in both realms."""
    told = Story()
    told.holds("draft-save-creates", "uid-too-short", "draft-get-absent", "workflow-locked-record")
    for realm in ("abs-dev", "bch-dev"):
        told.case("draft-get-content", realm)
        told.contradicts("draft-get-content", realm)
    return told


def test_an_accepted_contradiction_does_not_fail_the_run(happening: Story) -> None:
    assert happening.verdict().exit_code is ExitCode.FAIL
    verdict = happening.verdict(held_to(deviation()))
    assert verdict.exit_code is ExitCode.PASS
    assert verdict.reason.endswith("; 1 accepted deviation")
    assert {cell.verdict for cell in verdict.cells if cell.clause.id == "draft-get-content"} == {
        Verdict.DEVIATION
    }
    assert [outcome.course for outcome in verdict.deviations] == [DeviationState.HAPPENS]
    assert verdict.notes == ()


def test_another_contradiction_of_the_same_clause_is_not_accepted(happening: Story) -> None:
    happening.contradicts("uid-too-short", operation="getDraft")
    entries = deviation(), deviation("uid-too-short", operation="saveDraft", line=17)
    verdict = happening.verdict(held_to(*entries))
    assert verdict.exit_code is ExitCode.FAIL
    assert "uid-too-short (getDraft)" in verdict.reason
    assert verdict.deviations[1].course is DeviationState.GONE


def test_another_realm_is_not_accepted(happening: Story) -> None:
    verdict = happening.verdict(held_to(deviation(realms=("abs-dev",))))
    assert verdict.exit_code is ExitCode.FAIL
    assert verdict.reason == "1 finding in bch-dev: draft-get-content (getDraft)"


def test_a_should_can_be_accepted_too(whole: Story) -> None:
    whole.contradicts("draft-get-absent")
    verdict = whole.verdict(held_to(deviation("draft-get-absent", realms=("abs-dev",))))
    assert verdict.exit_code is ExitCode.PASS
    assert verdict.count(Verdict.DEVIATION) == 1
    assert verdict.count(Verdict.ADVISORY) == 0


@pytest.mark.parametrize(("days", "warned"), [(0, True), (14, True), (15, False)])
def test_a_date_within_fourteen_days_warns(happening: Story, days: int, warned: bool) -> None:
    verdict = happening.verdict(held_to(deviation(expires=TODAY + timedelta(days))))
    assert verdict.exit_code is ExitCode.PASS
    assert bool(verdict.notes) is warned
    assert all(note.startswith("deviations/dev.toml:7: the deviation on") for note in verdict.notes)


def test_a_date_that_has_passed_fails_and_names_the_line(happening: Story) -> None:
    verdict = happening.verdict(held_to(deviation(expires=TODAY - timedelta(1))))
    assert verdict.exit_code is ExitCode.FAIL
    assert "deviations/dev.toml:7" in verdict.reason
    assert "ran out on 2026-05-09, and it still happens in abs-dev, bch-dev" in verdict.reason
    assert "1 finding in abs-dev, bch-dev" in verdict.reason


def test_a_date_that_has_passed_fails_even_when_nothing_happens(whole: Story) -> None:
    verdict = whole.verdict(held_to(deviation(expires=date(2026, 1, 1))))
    assert verdict.exit_code is ExitCode.FAIL
    assert verdict.reason.endswith("it no longer happens in abs-dev, bch-dev; take the entry out")


def test_what_no_longer_happens_fails_and_names_the_line(whole: Story) -> None:
    verdict = whole.verdict(held_to(deviation()))
    assert verdict.exit_code is ExitCode.FAIL
    assert verdict.reason == (
        "deviations/dev.toml:7: the deviation on draft-get-content no longer happens in abs-dev, bch-dev: "
        "take the entry out"
    )


def test_what_happens_in_one_realm_only_says_so(whole: Story) -> None:
    whole.contradicts("draft-get-content", "bch-dev")
    verdict = whole.verdict(held_to(deviation()))
    assert verdict.exit_code is ExitCode.PASS
    assert verdict.deviations[0].course is DeviationState.PARTLY
    assert "happens in bch-dev, no longer in abs-dev: leave abs-dev out of its realms" in verdict.notes[0]


def test_what_was_seen_once_and_not_confirmed_still_happens(whole: Story) -> None:
    whole.contradicts("draft-get-content", "abs-dev", confirmed=False)
    verdict = whole.verdict(held_to(deviation(realms=("abs-dev",))))
    assert verdict.deviations[0].course is DeviationState.HAPPENS


STOPPED = {"environment": Environment(requests=1, breaker="three refusals")}


@pytest.mark.parametrize(
    "change",
    [
        {"facts": {"interrupted": True}},
        {"facts": STOPPED},
        {"facts": {"profile": "smoke"}},
        {"narrowed": (Narrowed("-k", None),)},
        {"narrowed": (Narrowed("-k", frozenset({("draft-get-content", "abs-dev")})),)},
    ],
    ids=["interrupted", "breaker", "smoke", "some cases", "cases of the clause"],
)
def test_a_run_that_has_seen_too_little_calls_nothing_gone(whole: Story, change: dict[str, Any]) -> None:
    for name, value in change.items():
        setattr(whole, name, value)
    verdict = whole.verdict(held_to(deviation(realms=("abs-dev",))))
    assert verdict.deviations[0].course is DeviationState.UNJUDGED
    assert not verdict.deviations[0].fails


def test_a_clause_that_was_not_judged_calls_nothing_gone(whole: Story) -> None:
    whole.case("draft-get-content", "abs-dev", "inconclusive", held=0, reason="no answer")
    verdict = whole.verdict(held_to(deviation(realms=("abs-dev",))))
    assert verdict.deviations[0].course is DeviationState.UNJUDGED


def test_an_operation_that_was_not_judged_calls_nothing_gone(story: Story) -> None:
    story.case("uid-too-short", operation="getDraft")
    verdict = story.verdict(held_to(deviation("uid-too-short", operation="saveDraft")))
    assert verdict.deviations[0].course is DeviationState.UNJUDGED


def test_what_only_the_nightly_shows_is_not_missed_in_a_gate(whole: Story) -> None:
    terms = held_to(deviation(profile="nightly"))
    assert whole.verdict(terms).deviations[0].course is DeviationState.UNJUDGED
    whole.facts = {"profile": "nightly"}
    assert whole.verdict(terms).deviations[0].course is DeviationState.GONE


def test_the_same_record_gives_the_same_verdict_on_any_day(happening: Story) -> None:
    terms = held_to(deviation(expires=TODAY))
    assert happening.verdict(terms) == happening.verdict(terms)
    assert happening.verdict(terms).deviations[0].days_left == 0


def test_a_deviation_lives_from_its_acceptance_to_the_day_it_is_taken_out(
    happening: Story, whole: Story
) -> None:
    entry = deviation(expires=TODAY + timedelta(30))

    def on(story: Story, days: int) -> RunVerdict:
        day = (TODAY + timedelta(days)).isoformat()
        story.facts = {"started": f"{day}T08:00:00+00:00", "finished": f"{day}T08:01:00+00:00"}
        return story.verdict(held_to(entry))

    accepted, near, last, over = (on(happening, days) for days in (0, 16, 30, 31))
    assert [each.exit_code for each in (accepted, near, last, over)] == [
        ExitCode.PASS,
        ExitCode.PASS,
        ExitCode.PASS,
        ExitCode.FAIL,
    ]
    assert accepted.notes == ()
    assert "it runs out on 2026-06-09, in 14 days" in near.notes[0]
    assert "today is its last day" in last.notes[0]
    assert "deviations/dev.toml:7: the deviation on draft-get-content ran out on 2026-06-09" in over.reason
    settled = on(whole, 10)
    assert settled.exit_code is ExitCode.FAIL
    assert "deviations/dev.toml:7" in settled.reason
    assert settled.reason.endswith("take the entry out")
    entry = deviation("draft-get-absent", operation="getDraft", profile="nightly")
    assert on(whole, 10).exit_code is ExitCode.PASS


def test_what_stands_behind_a_deviation_is_not_green_unless_it_is_waived(story: Story) -> None:
    story.holds("uid-too-short", "draft-get-absent", "workflow-locked-record")
    for realm in REALMS:
        story.contradicts("draft-save-creates", realm)
        story.case(
            "draft-get-content", realm, "inconclusive", held=0, reason="saveDraft: 500", blocked="saveDraft"
        )
    entry = deviation("draft-save-creates")
    blocked = story.verdict(held_to(entry))
    assert blocked.exit_code is ExitCode.INCONCLUSIVE
    assert blocked.unjudged_lines == [
        "draft-get-content in abs-dev, bch-dev: saveDraft: 500; behind the accepted deviation "
        "deviations/dev.toml:7: a waiver does without the judgement"
    ]
    used = consumer("saveDraft", "getDraft", waivers=(waiver("draft-get-content"),))
    waived = story.verdict(Terms(used, (entry,), "deviations/dev.toml"))
    assert waived.exit_code is ExitCode.PASS, waived.reason
    assert story.verdict(Terms(consumer("draftExists"), (entry,), "deviations/dev.toml")).unjudged == ()
