"""Options of lists that Hypothesis draws, compared with a model over the suite's own drafts or attachments.

Which functions and fields a service takes is not shown, so an expression that it refuses is not judged. One that it
takes means what OData says, where the field is known by what `eq` picks and by both orders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases import list_fields, lists
from contracts.cases.arrangement import Arrangement, require
from contracts.cases.hostile_input import Deal
from contracts.cases.list_pages import Lister, Page, drafts_of, equals, quoted
from contracts.cases.properties import Properties
from contracts.cases.shared_documents import shared_document_list
from contracts.checks.claims import Claim, Claims
from contracts.checks.outcomes import Blocked, Untested, usable
from contracts.session.actor import Actor

_OF_DRAFTS, _OF_FILES = "list", "attachment-list"
#: What a clause is called behind that; the list of drafts has one of its own for filters beside a bound.
_FILTER, _ORDER, _BOUNDED = "filter-meaning", "orderby-meaning", "filter-with-top"
#: The clause about the part that skip and top leave of a list.
_WINDOW: Final = {_OF_DRAFTS: "top-and-skip", _OF_FILES: "pages-cover"}
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
        operator: A comparison, a function, `not`, `and`, `or`, `or-and` for both in turn without parentheses, `and-and`
            for three in a row, or `eq-in-other-case`, which holds of nothing.
        number: Which of the own values it compares with.
        start: From which character on; functions find parts of a text.
        parts: What `not`, `and` and `or` apply to.
    """

    operator: str
    number: int = 0
    start: int = 0
    parts: tuple[Condition, ...] = ()

    def text(self, path: str, own: tuple[str, ...]) -> str:
        """Write it in OData."""
        inner = [part.text(path, own) for part in self.parts]
        literal = quoted(own[self.number][self.start :])
        if self.operator == "and-and":
            return " and ".join(inner)
        if self.operator == "eq-in-other-case":
            return f"{path} eq {quoted(own[self.number].swapcase())}"
        if self.operator == "not":
            return f"not ({inner[0]})"
        if self.operator == "or-and":
            return f"({inner[0]} or {inner[1]} and {inner[2]})"
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
        if self.operator in ("and-and", "eq-in-other-case"):
            return bool(inner) and all(inner)
        if self.operator == "not":
            return not inner[0]
        if self.operator == "or-and":
            return inner[0] or (inner[1] and inner[2])
        if self.operator in ("and", "or"):
            return all(inner) if self.operator == "and" else any(inner)
        return (_COMPARISONS | _FUNCTIONS)[self.operator](value, own[self.number][self.start :])


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
    numbers = st.integers(0, len(lists.SCRAMBLED) - 1)
    compared = st.builds(Condition, st.sampled_from(tuple(_COMPARISONS)), numbers)
    substring = st.builds(Condition, st.sampled_from(tuple(_FUNCTIONS)), numbers, st.integers(0, 5))
    simple = st.one_of(compared, substring)
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            inner.map(lambda one: Condition("not", parts=(one,))),
            st.tuples(inner, inner).map(lambda two: Condition("and", parts=two)),
            st.tuples(inner, inner).map(lambda two: Condition("or", parts=two)),
            st.tuples(simple, simple, simple).map(lambda three: Condition("or-and", parts=three)),
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


_EQ, _OTHER, _ALL = Condition("eq", 1), Condition("eq", 4), Condition("ne", 0)
#: Operators and functions by themselves, those that are read from the left, and options beside each other.
_FIRST: Final = (
    *(Question(Condition(operator, 2)) for operator in ("ne", "gt", "ge", "lt", "le")),
    Question(Condition("startswith", 3)),
    Question(Condition("startswith", 3, start=2)),
    Question(Condition("contains", 3, start=2)),
    Question(Condition("not", parts=(_EQ,))),
    Question(Condition("or-and", parts=(_EQ, _OTHER, _OTHER))),
    Question(_ALL, top=2),
    Question(_ALL, falling=False, skip=1),
)
FIRST_OF_DRAFTS: Final = (
    *_FIRST,
    Question(Condition("eq-in-other-case", 2)),
    Question(Condition("and-and", parts=(_ALL, Condition("ne", 3), _EQ))),
    Question(
        Condition("and", parts=(Condition("or", parts=(_EQ, _OTHER)), Condition("ne", 4))), collection=None
    ),
    Question(_ALL, falling=True, top=3, skip=1, collection="my"),
)
FIRST_OF_FILES: Final = (
    # Two comparisons in one question, as attachments get fewer of them.
    Question(Condition("and", parts=(Condition("ge", 1), Condition("le", 3)))),
    Question(Condition("and", parts=(Condition("gt", 1), Condition("lt", 4)))),
    *_FIRST[6:-2],
    Question(_EQ, falling=True),
    Question(_ALL, falling=True, top=3, skip=1),
)


def _but_for_one(own: tuple[str, ...]) -> tuple[Condition, ...]:
    """What leaves out the last value but one: by every operator and function, and plainly, where that is refused."""
    least, _, *_, other, _ = (own.index(value) for value in sorted(own))
    either = Condition("or", parts=(Condition("gt", other), Condition("lt", other)))
    every = (
        Condition("not", parts=(Condition("startswith", other),)),
        Condition("and", parts=(Condition("ne", other), either)),
        Condition(
            "or-and", parts=(Condition("ge", least), Condition("le", least), Condition("contains", least))
        ),
    )
    return Condition("and-and", parts=every), Condition("ne", other)


class DrawnLists:
    """Asks for lists of the actor's own kept drafts, or of one document's attachments, and compares them.

    Args:
        clauses: How the clauses begin that are judged.
        lister: The list, of a collection where it has collections.
        field: The field that tells the own items.

    Raises:
        Untested: which fields filters take is not shown, and by none that the suite knows do they pick its items.
    """

    def __init__(
        self,
        clauses: str,
        arrange: Arrangement,
        lister: Callable[[str | None], Lister],
        field: Callable[[], list_fields.Field],
        claim: Claims,
    ) -> None:
        self._clauses = clauses
        self._lister = lister
        self._claim = claim
        try:
            drafts = lister("mydrafts")
            self._field = field()
            self._claim_narrowed(drafts)
            list_fields.relies_on_filter(drafts, self._field)
            narrowed = drafts.page(filter=equals(self._field.filter_path, *self._field.own))
            there = len(narrowed.order_of(self._field.own)) == len(self._field.own)
            require(there, "listDrafts", "does not show the suite's own drafts any more")
        except Blocked as obstacle:
            raise Untested(str(obstacle)) from None
        self._orders = list_fields.orders(arrange, drafts, self._field)
        # Attachments know no collections; those of the drafts are looked into when they are asked for.
        self._of_collections: dict[str | None, bool] = (
            dict.fromkeys((None, "my", "mydrafts"), True) if clauses == _OF_FILES else {"mydrafts": True}
        )

    @classmethod
    def of_drafts(cls, arrange: Arrangement, actor: Actor, claim: Claims) -> DrawnLists:
        """The list of drafts."""
        return cls(
            _OF_DRAFTS,
            arrange,
            partial(drafts_of, actor),
            lambda: list_fields.draft_field(arrange, actor),
            claim,
        )

    @classmethod
    def of_files(cls, arrange: Arrangement, actor: Actor, claim: Claims) -> DrawnLists:
        """The list of the shared document's attachments, which knows no collections."""

        def attached(_: str | None) -> Lister:
            return shared_document_list(arrange, actor)

        return cls(_OF_FILES, arrange, attached, lambda: list_fields.file_field(arrange, actor), claim)

    def _claim_narrowed(self, lister: Lister) -> None:
        """Claim that a filter by several values gives just those which filters by each of them give, each once."""
        path, own = self._field.by_filter, self._field.own
        if path is None or self._field.filters:
            return
        single, several = (lister.page(filter=equals(path, *values)) for values in (own[:1], own))
        plain, claim = lister.page(), self._judging(_FILTER)
        wording = {"expected": f"{', '.join(own)}, and no other item", "seen": several.seen_beside(own)}
        twice = [value for value in own if several.count(value) > plain.count(value) > 0]
        if twice:
            claim.holds(False, plain.exchange, several.exchange, **wording)
        surplus = several.size - len(several.order_of(own))
        # As many items as the list gives anyway may be all that fit on a page.
        narrower = 0 < several.size < plain.size
        if single.size == 1 and single.names(own[0]):
            missing = [value for value in own if not several.names(value)] if narrower else []
            lost = [value for value in missing if lister.page(filter=equals(path, value)).names(value)]
            claim.holds(surplus <= 0 and not lost, several.exchange, **wording)
        elif narrower and surplus <= 0:
            self._claim_picked_alone(claim, lister, several)

    def _claim_picked_alone(self, claim: Claim, lister: Lister, several: Page) -> None:
        """Claim that what a filter by several values shows is shown by a filter by its own value, too."""
        value = next(value for value in self._field.own if several.names(value))
        alone = lister.page(filter=equals(self._field.filter_path, value))
        if not usable(alone.exchange).refusal or alone.not_found:
            wording = {"expected": f"the item {value}", "seen": alone.seen}
            claim.holds(alone.names(value), several.exchange, alone.exchange, **wording)

    def hold_with_every_option(self) -> None:
        """Claim that a list with every option at once is the part that was asked for, in its order.

        One request judges what many others judge one by one. Where it is answered wrongly, the list is asked for again
        without some of the options, so that the finding is about the one that is at fault.

        Raises:
            Contradiction: a must was contradicted.
            Untested: the list is not seen to come in order, or the service refuses such filters.
        """
        if not self._orders:
            raise Untested(
                "which fields orders take is not shown, and by none that is known does the list come in order"
            )
        questions = [
            Question(condition, falling=True, top=2, skip=1) for condition in _but_for_one(self._field.own)
        ]
        asked = ((question, self._ask(question)) for question in questions)
        question, page = next(((one, page) for one, page in asked if self._is_list(page)), (None, None))
        if question is None or page is None:
            raise Untested("which operators filters take is not shown, and those that are usual are refused")
        whole, wanted = self._model(question)
        right = page.order_of(whole) == wanted and page.size == len(wanted)
        clauses = (_FILTER, _ORDER, _WINDOW[self._clauses])
        for clause in clauses if right else (self._clause_at_fault(question, page),):
            self._judging(clause).holds(
                right, page.exchange, expected=", ".join(wanted), seen=page.seen_beside(wanted)
            )

    @staticmethod
    def _is_list(page: Page) -> bool:
        return not usable(page.exchange).refusal and page.size >= 0

    def _clause_at_fault(self, question: Question, page: Page) -> str:
        """The clause of the option without which a list is answered rightly that is answered wrongly with it."""
        whole, wanted = self._model(question)
        seen = page.order_of(whole)
        if page.size > len(seen):
            return _FILTER  # items are there that do not match
        unpaged = self._ask(replace(question, top=None, skip=None))
        if unpaged.order_of(whole) == whole and unpaged.size == len(whole):
            parts = [whole[start : start + len(wanted)] for start in range(len(whole))]
            return (
                _WINDOW[self._clauses]
                if len(seen) != len(wanted) or seen in [*parts, wanted[::-1]]
                else _ORDER
            )
        return _ORDER if self._picks_unordered(question) else _FILTER

    def are_answered(self, properties: Properties, deal: Deal, recorded: Sequence[Question]) -> None:
        """Claim that questions are answered: this realm's share of the known ones, and two that are drawn."""
        first = list(deal({str(question): question for question in recorded}).values())
        properties.hold(questions(), self.is_answered, requests=len(first) + 2, each=1, first=first)

    def is_answered(self, question: Question) -> None:
        """Claim that a list which was given holds what was asked for, and in that order.

        Raises:
            Contradiction: a must was contradicted.
        """
        if (question.falling is not None and not self._orders) or not self._holds_own(question.collection):
            return
        page = self._ask(question)
        if usable(page.exchange).refusal or page.size < 0:
            return
        whole, wanted = self._model(question)
        seen = page.order_of(whole)
        # In which order the list comes without one is not shown: the window may hold any of those that match.
        picked = len(seen) == len(wanted) == page.size
        wording = {"expected": ", ".join(wanted) or "nothing", "seen": page.seen_beside(wanted)}
        plain = question.falling is None and question.top is not None and self._clauses == _OF_DRAFTS
        # Fewer items, or some of them twice; where there are others the filter is passed over.
        miscounted = page.size < len(wanted) or page.size == len(seen)
        if picked or not (miscounted and question.falling is not None and self._picks_unordered(question)):
            self._judging(_BOUNDED if plain else _FILTER).holds(picked, page.exchange, **wording)
        if question.falling is not None:
            self._judging(_ORDER).holds(seen == wanted, page.exchange, **wording)

    def _picks_unordered(self, question: Question) -> bool:
        """Whether a list without the order holds what was asked for: then it is the order that changes that."""
        page, (whole, wanted) = self._ask(replace(question, falling=None)), self._model(question)
        return len(page.order_of(whole)) == len(wanted) == page.size

    def _holds_own(self, collection: str | None) -> bool:
        """Whether the list of a collection holds the own items: which drafts are in others is not shown."""
        if collection not in self._of_collections:
            page = self._lister(collection).page(filter=equals(self._field.filter_path, *self._field.own))
            # Others beside them are there because the filter does not work, which is for the claims to say.
            self._of_collections[collection] = len(page.order_of(self._field.own)) == len(self._field.own)
        return self._of_collections[collection]

    def _judging(self, what: str) -> Claim:
        return self._claim(f"{self._clauses}-{what}")

    def _ask(self, question: Question) -> Page:
        field, own = self._field, self._field.own
        condition = question.condition.text(field.filter_path, own)
        options: dict[str, str | int] = {"filter": f"({equals(field.filter_path, *own)}) and {condition}"}
        if question.falling is not None:
            # A rising order may be asked for with a word or without.
            rising = "" if question.top is None else " asc"
            options["orderby"] = field.order_path + (" desc" if question.falling else rising)
        numbers = {"top": question.top, "skip": question.skip}
        options |= {name: number for name, number in numbers.items() if number is not None}
        return self._lister(question.collection).page(**options)

    def _model(self, question: Question) -> tuple[list[str], list[str]]:
        """The values that match, in the order asked for, and the window of them."""
        own = self._field.own
        whole = sorted(uid for uid in own if question.condition.holds(uid, own))
        whole = whole[::-1] if question.falling else whole
        start = question.skip or 0
        return whole, whole[start : start + (question.top if question.top is not None else len(whole))]
