"""Questions to a list are written in OData and understood the same way by the model."""

import re
from typing import Any

import pytest

from contracts.cases.known_lists import Field, learn
from contracts.cases.list_pages import Lister
from contracts.cases.list_questions import Condition, Question
from tests.meta.messages import FakeActor, answer, exchange

VALUES = ("x", "it's")
EQ, NE = Condition("eq", 1), Condition("ne", 1)


@pytest.mark.parametrize(
    ("condition", "text", "holds_of"),
    [
        (EQ, "id eq 'it''s'", ["it's"]),
        (Condition("startswith", 1, start=2), "startswith(id,'''s')", []),
        (
            Condition("or-and", parts=(EQ, NE, EQ)),
            "(id eq 'it''s' or id ne 'it''s' and id eq 'it''s')",
            ["it's"],
        ),
        (Condition("not", parts=(EQ,)), "not (id eq 'it''s')", ["x"]),
        (Condition("shorter", 0), "(id eq 'x' and length(id) lt 1)", []),
        (Condition("toupper", 0), "(id eq 'x' and toupper(id) eq 'X')", ["x"]),
    ],
)
def test_a_condition_is_written_in_odata_and_read_alike(
    condition: Condition, text: str, holds_of: list[str]
) -> None:
    assert condition.text("id", VALUES) == text
    assert [value for value in VALUES if condition.holds(value, VALUES)] == holds_of


def test_the_answer_to_a_question_is_a_window_of_what_matches_in_the_order_asked_for() -> None:
    question = Question(Condition("ne", 0), falling=True, top=1, skip=1)
    assert question.answer(("c", "a", "d", "b")) == (["d", "b", "a"], ["b"])


def test_the_field_of_known_values_is_learnt_from_whichever_page_holds_one() -> None:
    held = ["another", "a stranger's", "third", "second", "first"]

    def answered(_: str, *, query: dict[str, str], **__: Any) -> Any:
        wanted = re.findall(r"'(\w+)'", query.get("$filter", ""))
        found = [{"uid": value} for value in held if not wanted or value in wanted]
        at = int(query.get("$skip", 0))
        return exchange(answer(found[at : at + 2] if "$filter" not in query else found), "listDrafts")

    author: Any = FakeActor(answered, role="author")
    lister = Lister(author, "listDrafts", "$", fixed={"collection": "mydrafts"})
    assert learn(lister, ["first", "second", "third"]) == Field("uid", "uid", filters=True)
