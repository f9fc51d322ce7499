"""Conditions of a filter are written in OData and understood the same way by the model."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from contracts.cases.drawn_lists import FIRST_OF_DRAFTS, Condition, DrawnLists
from contracts.cases.list_fields import learn
from contracts.cases.list_pages import drafts_of
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Contradiction, Untested

OWN = ("dd-1", "bb-1", "ff-1")
EQ = Condition("eq", 1)


def test_a_quote_in_a_value_is_doubled() -> None:
    assert EQ.text("id", ("x", "it's")) == "id eq 'it''s'"


def test_every_operator_is_met_in_every_run() -> None:
    met = {
        part.operator
        for question in FIRST_OF_DRAFTS
        for part in (question.condition, *question.condition.parts)
    }
    assert {"eq", "ne", "gt", "ge", "lt", "le", "not", "and", "or", "or-and", "startswith", "contains"} <= met


KEPT = ("rc-draft-dd-1", "rc-draft-bb-1", "rc-draft-ff-1")
LISTED = [*KEPT, "rc-draft-of-another-run"]


@pytest.fixture
def drawn(scripted: Any, run: Any, must: Claim) -> Callable[..., DrawnLists]:
    """Draws lists of a service that answers a filter by some uids with what a function makes of those that match."""

    def make(answered: Callable[[list[str]], list[str]]) -> DrawnLists:
        def rule(_: str, parts: dict[str, Any]) -> tuple[int, Any]:
            wanted = re.findall("'([^']*)'", parts["query"].get("$filter", ""))
            uids = answered([uid for uid in LISTED if uid in wanted]) if wanted else LISTED
            return 200, [{"identifier": uid} for uid in uids]

        drafts = partial(drafts_of, scripted(rule))
        claims: Any = lambda _: must  # noqa: E731
        return DrawnLists("list", run, drafts, lambda: learn(drafts("mydrafts"), KEPT), claims)

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
def test_a_filter_that_loses_doubles_or_adds_an_item_contradicts(drawn: Any, answered: Any) -> None:
    with pytest.raises(Contradiction):
        drawn(answered)


@pytest.mark.parametrize(
    "answered", [lambda _: LISTED, lambda _: []], ids=["filters are passed over", "the field is unknown"]
)
def test_a_field_that_filters_do_not_take_is_not_judged(drawn: Any, answered: Any) -> None:
    with pytest.raises(Untested):
        drawn(answered)
