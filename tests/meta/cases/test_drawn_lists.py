"""Conditions of a filter are written in OData and understood the same way by the model."""

import pytest

from contracts.cases.drawn_lists import FIRST_OF_DRAFTS, Condition

OWN = ("dd-1", "bb-1", "ff-1")
EQ = Condition("eq", 1)


@pytest.mark.parametrize(
    ("condition", "text", "matching"),
    [
        (EQ, "id eq 'bb-1'", ["bb-1"]),
        (Condition("gt", 0), "id gt 'dd-1'", ["ff-1"]),
        (Condition("le", 0), "id le 'dd-1'", ["bb-1", "dd-1"]),
        (Condition("startswith", 2), "startswith(id,'ff-1')", ["ff-1"]),
        (Condition("endswith", 2, start=2), "endswith(id,'-1')", ["bb-1", "dd-1", "ff-1"]),
        (
            Condition("or-and", parts=(EQ, Condition("eq", 2), Condition("eq", 0))),
            "(id eq 'bb-1' or id eq 'ff-1' and id eq 'dd-1')",
            ["bb-1"],
        ),
        (Condition("not", parts=(EQ,)), "not (id eq 'bb-1')", ["dd-1", "ff-1"]),
        (Condition("or", parts=(EQ, Condition("eq", 2))), "(id eq 'bb-1' or id eq 'ff-1')", ["bb-1", "ff-1"]),
        (Condition("and", parts=(EQ, Condition("ne", 1))), "(id eq 'bb-1' and id ne 'bb-1')", []),
    ],
)
def test_a_condition_says_what_it_picks(condition: Condition, text: str, matching: list[str]) -> None:
    assert condition.text("id", OWN) == text
    assert sorted(value for value in OWN if condition.holds(value, OWN)) == matching


def test_a_quote_in_a_value_is_doubled() -> None:
    assert EQ.text("id", ("x", "it's")) == "id eq 'it''s'"


def test_every_operator_is_met_in_every_run() -> None:
    met = {
        part.operator
        for question in FIRST_OF_DRAFTS
        for part in (question.condition, *question.condition.parts)
    }
    assert {"eq", "ne", "gt", "ge", "lt", "le", "not", "and", "or", "or-and", "startswith", "contains"} <= met
