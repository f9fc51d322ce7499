"""Observations become flat facts, each with a name, and none of them twice."""

from typing import Any

import pytest

from contracts.history.observed_facts import Place


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (201, {"seen": "201"}),
        (True, {"seen": "true"}),
        (3600.0, {"seen": "3600"}),
        ("400 errors", {"seen": "400 errors"}),
        ({"create": 201, "update": 200}, {"create": "201", "update": "200"}),
        ({"empty": {"top": 400}}, {"empty.top": "400"}),
        ({"fault": "body:missing", "status": 400}, {"fault body:missing": "400"}),
        (["b", "a", "b"], {"seen": ("a", "b")}),
        ("this | that", {"seen": "this / that"}),
    ],
)
def test_what_a_case_noted_is_named(made: Any, seen: Any, expected: dict[str, Any]) -> None:
    (found,) = made.facts(made.observation("some-clause", "saveDraft", seen, "abs-dev")).values()
    assert found == expected


def test_what_could_not_be_told_is_no_fact(made: Any) -> None:
    found = made.facts(
        made.observation("some-clause", "listDrafts", {"order": None, "items": "10"}, "abs-dev")
    )
    assert list(found.values()) == [{"items": "10"}]
    assert made.facts(made.observation("some-clause", "listDrafts", None)) == {}


def test_several_notes_at_one_point_are_alternatives(made: Any) -> None:
    both = made.observation("some-clause", "listDrafts", 401, "abs-dev") + made.observation(
        "some-clause", "listDrafts", 400, "abs-dev"
    )
    assert made.facts(both) == {Place("some-clause", "listDrafts", "abs-dev"): {"seen": "400 | 401"}}


def test_a_body_in_words_gives_way_to_its_inferred_shape(made: Any) -> None:
    words = {"status": 201, "type": "application/json", "body": "object of createdOn, identifier"}
    seen = made.observation("draft-save-answer", "saveDraft", words, "abs-dev")
    place = Place("draft-save-answer", "saveDraft", "abs-dev")
    told = made.facts(
        seen, answers=[made.answer("draft-save-answer", "saveDraft", 201, made.record, "abs-dev")]
    )
    assert told[place] == {
        "201 body": "object",
        "201 body.createdOn": "string date-time",
        "201 body.identifier": "string",
        "201 type": "application/json",
    }
    assert made.facts(seen)[place]["201 body"] == "object of createdOn, identifier"


def test_the_status_of_a_refusal_stays_beside_its_shape(made: Any) -> None:
    words = {"status": 404, "type": "application/json", "body": "object of message"}
    seen = made.observation("draft-failure-status", "getDraft", words, "abs-dev")
    told = made.facts(
        seen, answers=[made.answer("draft-failure-status", "getDraft", 404, made.record, "abs-dev")]
    )
    assert told[Place("draft-failure-status", "getDraft", "abs-dev")]["status"] == "404"


def test_statuses_of_success_are_noted_where_no_case_notes_them(made: Any) -> None:
    answers = [made.answer("workflow-answer", "updateWorkflowRecord", 200, made.record, "abs-dev")]
    place = Place("workflow-success-status", "updateWorkflowRecord", "abs-dev")
    assert made.facts(answers=answers)[place] == {"status": "200"}
    noted = made.observation("workflow-success-status", "updateWorkflowRecord", 200, "abs-dev")
    assert made.facts(noted, answers=answers)[place] == {"seen": "200"}
