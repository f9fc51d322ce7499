"""Observations become flat facts, each with a name; shapes of answers are the same for the same service."""

import itertools
import json
from typing import Any

import jsonschema_rs
import pytest

from contracts.evidence.observations import Sent, form_of, infer, normal, signature
from contracts.history.observed_facts import Place, facts_of


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
    flat = made.facts(
        seen, answers=[made.answer("draft-save-answer", "saveDraft", 201, made.record, "abs-dev")]
    )
    assert flat[place] == {
        "201 body": "object",
        "201 body.createdOn": "string date-time",
        "201 body.identifier": "string",
        "201 type": "application/json",
    }
    assert made.facts(seen)[place]["201 body"] == "object of createdOn, identifier"


def test_the_status_of_a_refusal_stays_beside_its_shape(made: Any) -> None:
    words = {"status": 404, "type": "application/json", "body": "object of message"}
    seen = made.observation("draft-failure-status", "getDraft", words, "abs-dev")
    flat = made.facts(
        seen, answers=[made.answer("draft-failure-status", "getDraft", 404, made.record, "abs-dev")]
    )
    assert flat[Place("draft-failure-status", "getDraft", "abs-dev")]["status"] == "404"


def test_statuses_of_success_are_noted_where_no_case_notes_them(made: Any) -> None:
    answers = [made.answer("workflow-answer", "updateWorkflowRecord", 200, made.record, "abs-dev")]
    place = Place("workflow-success-status", "updateWorkflowRecord", "abs-dev")
    assert made.facts(answers=answers)[place] == {"status": "200"}
    noted = made.observation("workflow-success-status", "updateWorkflowRecord", 200, "abs-dev")
    assert made.facts(noted, answers=answers)[place] == {"seen": "200"}


OWN = frozenset({"rc-own-000001"})
SENT = Sent(frozenset({"header", "firstName"}), OWN, OWN)
SAMPLES = [
    {"id": 1, "on": "2026-11-21T12:00:00.5Z", "tags": []},
    {"id": 2.5, "on": None, "tags": [{"name": "a"}], "note": "x"},
    {"id": 3, "on": "2026-11-21T12:00:00.5Z", "tags": [{"name": None}]},
]


def test_the_order_of_samples_leaves_no_trace() -> None:
    schemas = {json.dumps(infer(order)) for order in itertools.permutations(SAMPLES)}
    assert len(schemas) == 1


def test_every_sample_fits_the_schema_and_no_value_is_in_it() -> None:
    schema = infer(SAMPLES)
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    assert all(validator.is_valid(sample) for sample in SAMPLES)
    assert "2026" not in json.dumps(schema)


def test_a_shape_is_told_member_by_member() -> None:
    flat = facts_of({"200": {"types": ["application/json"], "bodies": [], "schema": infer(SAMPLES)}})
    assert flat == {
        "200 type": "application/json",
        "200 body": "object",
        "200 body.id": "number",
        "200 body.note": "string, optional",
        "200 body.on": "null | string date-time",
        "200 body.tags": "array",
        "200 body.tags[]": "object",
        "200 body.tags[].name": "null | string",
    }


def test_bodies_that_are_no_json_are_told_by_a_word() -> None:
    flat = facts_of(
        {"204": {"types": [], "bodies": ["empty"]}, "404": {"types": ["text/plain"], "bodies": ["text"]}}
    )
    assert flat == {"204 body": "empty", "404 type": "text/plain", "404 body": "text"}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2026-11-21T12:00:00Z", "date-time"),
        ("2026-11-21T12:00:00.123456+00:00", "date-time"),
        ("2026-11-21", "date"),
        ("a3bb189e-8bf9-3888-9912-ace4e6543002", "uuid"),
        ("A3BB189E-8BF9-3888-9912-ACE4E6543002", "uuid"),
        ("author@sandbox.test", "email"),
        ("https://example.test/a?b=c", "uri"),
        ("sandbox:author", None),
        ("2026", None),
        ("", None),
    ],
)
def test_forms_of_texts_are_told_apart(text: str, form: str | None) -> None:
    assert form_of(text) == form


def test_a_document_that_comes_back_loses_what_was_sent_and_keeps_what_was_added() -> None:
    document = {"header": {"identifier": "rc-own-000001"}, "firstName": "Ana", "_revision": 3}
    assert normal("getDraft", document, SENT) == {"_revision": 3}
    assert normal("getDraft", {"body": document, "owner": "x"}, SENT) == {
        "body": {"_revision": 3},
        "owner": "x",
    }


def test_a_draft_without_a_header_says_nothing_of_the_service() -> None:
    assert normal("getDraft", {"firstName": 17}, SENT) is None


def test_a_list_of_drafts_keeps_the_runs_own() -> None:
    own, foreign = {"id": "rc-own-000001", "size": 1}, {"id": "somebody-elses", "size": 1, "legacy": True}
    assert normal("listDrafts", {"items": [foreign, own], "links": []}, SENT) == {"items": [own], "links": []}
    assert normal("listDrafts", [foreign], SENT) == []


def test_keys_that_are_values_are_put_together() -> None:
    assert normal("saveDraft", {"versions": {"17": {"on": "x"}}}, SENT) == {"versions": {"*": {"on": "x"}}}


def test_equal_shapes_have_one_signature() -> None:
    same = [signature({"a": 1, "b": ["x"]}), signature({"b": ["y", "z"], "a": 2})]
    assert same[0] == same[1] != signature({"a": "1", "b": ["x"]})
    assert signature([{"a": 1}]) != signature([{"a": 1}, {"b": 1}])
