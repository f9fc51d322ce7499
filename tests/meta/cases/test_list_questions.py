"""Questions to a list are written in OData and understood the same way by the model; wrong answers contradict."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from contracts.cases.known_lists import KnownList
from contracts.cases.list_pages import drafts_of
from contracts.cases.list_questions import OF_DRAFTS, Condition, Question, Questions
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Contradiction, Untested

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


def test_every_operator_is_met_in_every_run() -> None:
    met = {part.operator for one in OF_DRAFTS for part in (one.condition, *one.condition.parts)}
    assert {"eq", "ne", "gt", "ge", "lt", "le", "not", "and", "or", "or-and", "startswith", "contains"} <= met


KEPT = ("rc-draft-dd-1", "rc-draft-bb-1", "rc-draft-ff-1")
LISTED = [*KEPT, "rc-draft-of-another-run"]


@pytest.fixture
def asked(scripted: Any, run: Any, must: Claim) -> Callable[..., Questions]:
    """Asks a service that answers a filter by some uids with what a function makes of those that match."""

    def make(answered: Callable[[list[str]], list[str]]) -> Questions:
        def rule(_: str, parts: dict[str, Any]) -> tuple[int, Any]:
            wanted = re.findall("'([^']*)'", parts["query"].get("$filter", ""))
            uids = answered([uid for uid in LISTED if uid in wanted]) if wanted else LISTED
            return 200, [{"identifier": uid} for uid in uids]

        drafts = partial(drafts_of, scripted(rule))
        claims: Any = lambda _: must  # noqa: E731
        return Questions(
            lambda name: KnownList(run, drafts(name), drafts("mydrafts"), lambda: KEPT, (), "list"), claims
        )

    return make


@pytest.mark.parametrize(
    "answered",
    [
        lambda found: found[1:],
        lambda found: found + found[-1:],
        lambda found: found + LISTED[-1:] * (len(found) > 1),
    ],
    ids=["first lost", "last doubled", "another beside several"],
)
def test_a_filter_that_loses_doubles_or_adds_an_item_contradicts(asked: Any, answered: Any) -> None:
    with pytest.raises(Contradiction):
        asked(answered)


@pytest.mark.parametrize(
    "answered", [lambda _: LISTED, lambda _: []], ids=["filters are passed over", "the field is unknown"]
)
def test_a_field_that_filters_do_not_take_is_not_judged(asked: Any, answered: Any) -> None:
    with pytest.raises(Untested):
        asked(answered)
