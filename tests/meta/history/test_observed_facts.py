"""What cases noted becomes flat facts; of the body of an answer, kinds by paths."""

from typing import Any

import pytest

from registry_contracts.evidence.observations import facts_of
from registry_contracts.evidence.record import Observation
from registry_contracts.history.observed_facts import shape_of

OBJECT = {"body": "object"}
DATED = OBJECT | {"body.createdOn": "string date-time"}


def noted(*seen: Any) -> dict[str, Any]:
    """The facts of notes at one place."""
    notes = [Observation("draft-save-answer", "abs-dev", "saveDraft", "case", each) for each in seen]
    return next(iter(facts_of(notes).values()), {})


def answer(body: Any, status: int = 201) -> dict[str, Any]:
    return {"status": status, "type": "application/json", "body": body}


TYPE = {"201 type": "application/json", "status": "201"}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([{"create": 201, "update": 200}], {"create": "201", "update": "200"}),
        ([{"fault": "body:missing", "status": 400}], {"fault body:missing": "400"}),
        ([["b", "a", "b"]], {"seen": ("a", "b")}),
        (
            [answer(DATED), answer(OBJECT | {"body.createdOn": "null"}), answer(OBJECT)],
            TYPE | {"201 body": "object", "201 body.createdOn": "null | string date-time, optional"},
        ),
    ]
)  # fmt: skip
def test_what_cases_noted_is_named(seen: list[Any], expected: dict[str, Any]) -> None:
    assert noted(*seen) == expected


def test_a_body_is_told_member_by_member_and_without_its_values() -> None:
    body: dict[str, Any] = {"createdOn": "2026-11-21T12:00:00Z", "n": [1, 2.5], "a.b": None}
    body |= {"tags": [{"a": 1}, {"b": "https://a.test"}], "rc-abcd-list-0001": 1}
    assert shape_of(body) == {
        "body": "object",
        "body.*": "integer",
        "body.a·b": "null",
        "body.createdOn": "string date-time",
        "body.n": "array",
        "body.n[]": "number",
        "body.tags": "array",
        "body.tags[]": "object",
        "body.tags[].a": "integer, optional",
        "body.tags[].b": "string uri, optional",
    }
    deep: Any = "deepest"
    for _ in range(100):
        deep = [deep]
    assert len(shape_of(deep)) < 30
