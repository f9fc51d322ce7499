"""Options of the list of drafts that Hypothesis draws, compared with a model over the suite's own drafts.

Which functions and fields a service takes is not shown, so an expression that it refuses is not judged; one that it
takes has to pick and order what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases import lists
from contracts.cases.arrangement import Arrangement, require
from contracts.cases.list_pages import Page, drafts_of, equals, quoted
from contracts.checks.claims import Claims
from contracts.checks.outcomes import usable
from contracts.session.actor import Actor

CLAUSES: Final = (
    "list-filter",
    "list-filter-with-top",
    "list-orderby",
    "list-orderby-falling",
    "list-orderby-with-page",
)
_COMPARISONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "eq": eq,
    "ne": ne,
    "gt": gt,
    "ge": ge,
    "lt": lt,
    "le": le,
}
_FUNCTIONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "startswith": lambda value, other: value.startswith(other),
    "endswith": lambda value, other: value.endswith(other),
    "contains": lambda value, other: other in value,
}


@dataclass(frozen=True)
class Condition:
    """A condition of a filter on one field of the suite's own drafts.

    Attributes:
        operator: A comparison, a function, `not`, `and` or `or`.
        number: Which of the own values it compares with.
        parts: What `not`, `and` and `or` apply to.
    """

    operator: str
    number: int = 0
    parts: tuple[Condition, ...] = ()

    def text(self, path: str, own: tuple[str, ...]) -> str:
        """Write it in OData."""
        inner = [part.text(path, own) for part in self.parts]
        literal = quoted(own[self.number])
        if self.operator == "not":
            return f"not ({inner[0]})"
        if self.operator in ("and", "or"):
            return f"({f' {self.operator} '.join(inner)})"
        return (
            f"{self.operator}({path},{literal})"
            if self.operator in _FUNCTIONS
            else (f"{path} {self.operator} {literal}")
        )

    def holds(self, value: str, own: tuple[str, ...]) -> bool:
        """Whether it holds of a value."""
        inner = [part.holds(value, own) for part in self.parts]
        if self.operator == "not":
            return not inner[0]
        if self.operator in ("and", "or"):
            return all(inner) if self.operator == "and" else any(inner)
        return (_COMPARISONS | _FUNCTIONS)[self.operator](value, own[self.number])


@dataclass(frozen=True)
class Question:
    """What a list is asked for.

    Attributes:
        falling: The order by the field; None for none.
        top, skip: None where they are left out.
    """

    condition: Condition
    falling: bool | None = None
    top: int | None = None
    skip: int | None = None
    collection: str | None = "mydrafts"


def _conditions() -> SearchStrategy[Condition]:
    simple = st.builds(
        Condition, st.sampled_from((*_COMPARISONS, *_FUNCTIONS)), st.integers(0, len(lists.SCRAMBLED) - 1)
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            inner.map(lambda one: Condition("not", parts=(one,))),
            st.tuples(inner, inner).map(lambda two: Condition("and", parts=two)),
            st.tuples(inner, inner).map(lambda two: Condition("or", parts=two)),
        ),
        max_leaves=4,
    )


def questions() -> SearchStrategy[Question]:
    """Any combination of the options."""
    numbers = st.one_of(st.none(), st.integers(0, 7))
    return st.builds(
        Question,
        _conditions(),
        st.sampled_from((None, False, True)),
        st.one_of(st.none(), st.integers(1, 7)),
        numbers,
        st.sampled_from((None, "my", "mydrafts")),
    )


_EQ, _OTHER = Condition("eq", 1), Condition("eq", 4)
#: Each operator by itself, and options beside each other.
FIRST: Final = (
    *(Question(Condition(operator, 2)) for operator in ("ne", "gt", "ge", "lt", "le")),
    *(Question(Condition(function, 3)) for function in ("startswith", "contains")),
    Question(Condition("not", parts=(_EQ,))),
    Question(
        Condition("and", parts=(Condition("or", parts=(_EQ, _OTHER)), Condition("ne", 4))), collection=None
    ),
    Question(Condition("ne", 0), top=2),
    Question(Condition("ne", 0), falling=False, skip=1),
    Question(Condition("ne", 0), falling=True, top=3, skip=1, collection="my"),
)


class DrawnLists:
    """Asks for lists of the actor's own kept drafts and compares them with what these drafts are.

    Raises:
        Blocked: they are not all there, or the list cannot be narrowed to them.
    """

    def __init__(self, actor: Actor, arrange: Arrangement, claim: Claims) -> None:
        self._actor = actor
        self._claim = claim
        self._field = lists.draft_field(arrange, actor)
        drafts = drafts_of(actor, "mydrafts")
        lists.relies_on_filter(drafts, self._field)
        narrowed = drafts.page(filter=equals(self._field.filter_path, *self._field.own))
        there = len(narrowed.order_of(self._field.own)) == len(self._field.own)
        require(there, "listDrafts", "does not show the suite's own drafts any more")

    def is_answered(self, question: Question) -> None:
        """Claim that a list which was given holds what was asked for, and in that order.

        Raises:
            Contradiction: a must was contradicted.
        """
        page = self._ask(question)
        if usable(page.exchange).refusal or page.size < 0:
            return
        whole, wanted = self._model(question)
        seen = page.order_of(wanted)
        right = seen == wanted if question.falling is not None else set(seen) == set(wanted)
        if question.falling is None and (question.top is not None or question.skip):
            # In which order the list comes is not shown, so the window may hold any of those that match.
            seen = page.order_of(whole)
            right = len(seen) == len(wanted)
        self._claim(_clause(question)).holds(
            right and page.size == len(seen),
            page.exchange,
            expected=", ".join(wanted) or "nothing",
            seen=page.told,
        )

    def _ask(self, question: Question) -> Page:
        field, own = self._field, self._field.own
        condition = question.condition.text(field.filter_path, own)
        options: dict[str, str | int] = {"filter": f"({equals(field.filter_path, *own)}) and {condition}"}
        if question.falling is not None:
            options["orderby"] = field.order_path + (" desc" if question.falling else "")
        numbers = {"top": question.top, "skip": question.skip}
        options |= {name: number for name, number in numbers.items() if number is not None}
        return drafts_of(self._actor, question.collection).page(**options)

    def _model(self, question: Question) -> tuple[list[str], list[str]]:
        """The values that match, in the order asked for, and the window of them."""
        own = self._field.own
        whole = sorted(uid for uid in own if question.condition.holds(uid, own))
        whole = whole[::-1] if question.falling else whole
        start = question.skip or 0
        return whole, whole[start : start + (question.top if question.top is not None else len(whole))]


def _clause(question: Question) -> str:
    """The clause that a question is about."""
    if question.falling is None:
        return "list-filter" if question.top is None else "list-filter-with-top"
    if question.top is not None or question.skip:
        return "list-orderby-with-page"
    return "list-orderby-falling" if question.falling else "list-orderby"
