"""Shapes of answers: inferred as JSON Schema, the same for the same service, without anything that was sent."""

import itertools
import json

import jsonschema_rs
import pytest

from contracts.evidence.observations import Sent, form_of, infer, normal, signature
from contracts.history.observed_facts import facts_of

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
    told = facts_of({"200": {"types": ["application/json"], "bodies": [], "schema": infer(SAMPLES)}})
    assert told == {
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
    told = facts_of(
        {"204": {"types": [], "bodies": ["empty"]}, "404": {"types": ["text/plain"], "bodies": ["text"]}}
    )
    assert told == {"204 body": "empty", "404 type": "text/plain", "404 body": "text"}


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
