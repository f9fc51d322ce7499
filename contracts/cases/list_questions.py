"""Questions to a list as data: an OData condition, an order and a window, with the answer that the known items give.

A table of them and Hypothesis ask the same questions. Which functions and fields a service takes is not shown, so what
it refuses is not judged. What it takes means what OData says, where the field is known by what `eq` picks and by both
orders.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases.hostile_input import Deal
from contracts.cases.known_lists import KnownList, paired
from contracts.cases.list_pages import Option, Page, equals, leaves, quoted
from contracts.cases.properties import Properties
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Blocked, Untested, require, usable
from contracts.exchanges import readers

_COMPARED: Final[Mapping[str, Callable[[str, str], bool]]] = MappingProxyType(
    {test.__name__: test for test in (eq, ne, gt, ge, lt, le)}
)
_FOUND: Final[Mapping[str, Callable[[str, str], bool]]] = MappingProxyType(
    {"startswith": str.startswith, "endswith": str.endswith, "contains": str.__contains__}
)


@dataclass(frozen=True)
class Condition:
    """A condition of a filter, and the names of the known items that meet it.

    Attributes:
        text: In OData; empty for none.
        unsure: A service may pass it over, as it need not know the function.
    """

    text: str
    matching: frozenset[str]
    unsure: bool = False


@dataclass(frozen=True)
class Items:
    """Known items: the text that each of them has in a field, by the item's name, which is its uid or a file's name."""

    path: str
    texts: Mapping[str, str]

    def where(self, word: str, text: str) -> Condition:
        """The items whose text a comparison with another, or a search for it, finds."""
        asked = (
            f"{word}({self.path},{quoted(text)})" if word in _FOUND else f"{self.path} {word} {quoted(text)}"
        )
        test = {**_COMPARED, **_FOUND}[word]
        return Condition(asked, frozenset(name for name, own in self.texts.items() if test(own, text)))

    def negated(self, one: Condition) -> Condition:
        """Those that do not meet a condition."""
        return Condition(f"not ({one.text})", frozenset(self.texts) - one.matching)

    def by_functions(self, text: str) -> list[Condition]:
        """Conditions by functions that a service may not know, each beside `eq`, which it knows."""
        equal, start, end = self.where("eq", text), quoted(text[:-5]), quoted(text[5:])
        functions = {
            f"tolower({self.path}) eq {quoted(text.lower())}": True,
            f"toupper({self.path}) eq {quoted(text.upper())}": True,
            f"length({self.path}) eq {len(text)}": True,
            f"length({self.path}) lt {len(text)}": False,
            f"indexof({self.path},{end}) eq 5": True,
            f"substring({self.path},5) eq {end}": True,
            f"endswith({self.path},{start})": False,
            f"{self.path} eq {quoted(text.swapcase())}": False,
        }
        return [
            Condition(f"({equal.text} and {asked})", equal.matching if holds else frozenset(), unsure=True)
            for asked, holds in functions.items()
        ]


def both(one: Condition, two: Condition) -> Condition:
    """What meets both conditions."""
    return Condition(f"({one.text} and {two.text})", one.matching & two.matching)


def either(one: Condition, two: Condition) -> Condition:
    """What meets one of two conditions."""
    return Condition(f"({one.text} or {two.text})", one.matching | two.matching)


def unparted(one: Condition, two: Condition, three: Condition) -> Condition:
    """What meets the first condition, or else both others: `and` binds before `or`, as no parentheses say."""
    return Condition(
        f"({one.text} or {two.text} and {three.text})", one.matching | two.matching & three.matching
    )


def all_of(*conditions: Condition) -> Condition:
    """What meets each condition, without parentheses."""
    text = " and ".join(condition.text for condition in conditions)
    return Condition(text, frozenset.intersection(*(condition.matching for condition in conditions)))


@dataclass(frozen=True)
class Question:
    """What a list is asked for.

    Attributes:
        order: The fields that it is ordered by, the first one first, each with whether it is to fall.
        top, skip: None where they are left out.
        collection: For lists that have collections.
    """

    condition: Condition
    order: tuple[tuple[Items, bool], ...] = ()
    top: int | None = None
    skip: int | None = None
    collection: str | None = "mydrafts"

    def options(self, narrow: str) -> dict[str, Option]:
        """The options that ask a list for it, narrowed by a filter."""
        # A rising order may be asked for with a word or without.
        rising = "" if self.top is None else " asc"
        keys = [items.path + (" desc" if falling else rising) for items, falling in self.order]
        asked: dict[str, Option | None] = {
            "filter": f"({narrow}) and {self.condition.text}" if self.condition.text else narrow,
            "orderby": ",".join(keys) or None,
            "top": self.top,
            "skip": self.skip,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def answer(self) -> tuple[list[str], list[str]]:
        """The names of the items that match, in the order asked for, and the window of them."""
        whole = sorted(self.condition.matching)
        for items, falling in reversed(self.order):
            whole.sort(key=items.texts.__getitem__, reverse=falling)
        start = self.skip or 0
        return whole, whole[start : start + (self.top if self.top is not None else len(whole))]


def _conditions(items: Items) -> SearchStrategy[Condition]:
    texts = st.sampled_from(list(items.texts.values()))
    # Texts from the middle are not compared: which of two comes first may differ there between ways to compare them.
    compared = st.builds(items.where, st.sampled_from(tuple(_COMPARED)), texts)
    parts = st.builds(lambda text, start: text[start:], texts, st.integers(0, 5))
    simple = st.one_of(compared, st.builds(items.where, st.sampled_from(tuple(_FOUND)), parts))

    def joined(inner: SearchStrategy[Condition]) -> SearchStrategy[Condition]:
        pairs = (st.builds(by, inner, inner) for by in (both, either))
        return st.one_of(st.builds(items.negated, inner), *pairs, st.builds(unparted, simple, simple, simple))

    return st.recursive(simple, joined, max_leaves=4)


def _questions(items: Items, ordered: Items) -> SearchStrategy[Question]:
    """Any combination of the options."""
    return st.builds(
        Question,
        _conditions(items),
        st.sampled_from(((), ((ordered, False),), ((ordered, True),))),
        st.one_of(st.none(), st.integers(1, 7)),
        st.one_of(st.none(), st.integers(0, 7)),
        st.sampled_from((None, "my", "mydrafts")),
    )


def _table(items: Items, ordered: Items, *, of_files: bool) -> list[Question]:
    """Operators and functions by themselves, those that are read from the left, and options beside each other.

    Attachments get two comparisons in one question, as they get fewer of them.
    """
    own = list(items.texts)
    rising, falling = ((ordered, False),), ((ordered, True),)
    one, other, most = items.where("eq", own[1]), items.where("eq", own[4]), items.where("ne", own[0])

    def at(word: str, number: int, start: int = 0) -> Condition:
        return items.where(word, own[number][start:])

    parts = [
        *(at("startswith", 3), at("startswith", 3, 2), at("contains", 3, 2)),
        *(items.negated(one), unparted(one, other, other)),
    ]
    if of_files:
        ranges = both(at("ge", 1), at("le", 2)), both(at("gt", 1), at("lt", 4))
        return [
            *map(Question, (*ranges, *parts[1:])),
            *(Question(most, rising, top=4), Question(most, falling, top=3, skip=1)),
        ]
    further = all_of(most, at("ne", 3), one)
    return [
        *(Question(at(word, 2)) for word in _COMPARED if word != "eq"),
        *map(Question, parts),
        *(Question(most, top=2), Question(most, rising, top=4, skip=1)),
        *map(Question, (*items.by_functions(own[2]), further)),
        Question(both(either(one, other), at("ne", 4)), collection=None),
        Question(most, falling, top=3, skip=1, collection="my"),
    ]


def _but_for_one(items: Items) -> tuple[Condition, ...]:
    """What leaves out the last item but one: by every operator and function, and plainly, where that is refused."""
    least, *_, other, _ = sorted(items.texts)
    where = items.where
    every = (
        items.negated(where("startswith", other)),
        both(where("ne", other), either(where("gt", other), where("lt", other))),
        unparted(where("ge", least), where("le", least), where("contains", least)),
    )
    return all_of(*every), where("ne", other)


class Questions:
    """Asks a list of known items, and claims of each answer that it is what was asked for.

    Args:
        known: Makes the list, of a collection where it has collections.

    Raises:
        Untested: which fields filters take is not shown, and by none that the suite knows do they pick its items.
    """

    def __init__(self, known: Callable[[str | None], KnownList], expect: Expect) -> None:
        self._list_of, self._claim = known, expect
        try:
            self._known = known("mydrafts")
            self._own = self._known.own
            self._claim_narrowed()
            self._known.need_filter()
            operation = self._known.lister.operation
            require(self._shows_own(self._known), operation, "does not show the suite's own items any more")
        except Blocked as obstacle:
            raise Untested(str(obstacle)) from None
        self._items = Items(self._known.filter_path, {name: name for name in self._own})
        self._of_files = self._known.of_files
        self._window = "pages-cover" if self._of_files else "top-and-skip"
        # Which drafts are in other collections is not shown; attachments have none.
        self._holding = {self._known.lister.label: True}

    @property
    def _ordered(self) -> Items:
        """The items by the field that orders take; where they take none, orders are not judged."""
        return replace(self._items, path=self._known.field.by_order or self._items.path)

    def _judging(self, what: str) -> Claim:
        return self._claim(f"{'attachment-' * self._known.of_files}list-{what}")

    def _claim_narrowed(self) -> None:
        """Claim that a filter by several values gives just those which filters by each of them give, each once."""
        path, own, lister = self._known.field.by_filter, self._own, self._known.lister
        if path is None or self._known.field.filters:
            return
        plain, several = lister.page(), lister.page(filter=equals(path, *own))
        alone = {value: lister.page(filter=equals(path, value)) for value in own}
        shown, picks = several.order_of(own), alone[own[0]].holds_just(own[:1])
        surplus = several.size > len(shown)
        # As many items as the list gives anyway may be all that fit on a page.
        comparable = 0 < several.size < plain.size and (picks or not surplus)
        wrong = [value for value in own if several.count(value) > plain.count(value) > 0]
        wrong += own if picks and surplus else ()
        for value, page in alone.items() if comparable else ():
            wrong += [value] if page.size >= 0 and page.names(value) != (value in shown) else []
        if wrong or picks or comparable:
            exchanges = [page.exchange for page in (plain, alone[(wrong or own)[0]], several)]
            expected, seen = f"{', '.join(own)}, and no other item", several.seen_beside(own)
            self._judging("filter-meaning").holds(not wrong, *exchanges, expected=expected, seen=seen)

    def claim_all_options(self) -> None:
        """Claim that a list with every option at once is the part that was asked for, in either order.

        Two requests judge what many others judge one by one.

        Raises:
            Untested: the list is not seen to come in order, or the service refuses such filters.
        """
        for condition in _but_for_one(self._items):
            falling, rising = (
                Question(condition, ((self._ordered, down),), top=2, skip=1) for down in (True, False)
            )
            if self.claim_answer(falling):
                self.claim_answer(rising)
                return
        raise Untested(
            "which fields orders take, and operators filters, is not shown: none that is known does"
        )

    def claim_answers(self, properties: Properties, deal: Deal) -> None:
        """Claim that questions are answered: this realm's share of the table, and two that are drawn."""
        table = _table(self._items, self._ordered, of_files=self._of_files)
        first = list(deal({str(question): question for question in table}).values())
        drawn = _questions(self._items, self._ordered)
        properties.hold(drawn, self._answered, requests=len(first) + 2, each=1, first=first)

    def _answered(self, question: Question) -> None:
        self.claim_answer(question)

    def claim_answer(self, question: Question, among: Sequence[str] = ()) -> bool:
        """Claim that a list holds what was asked for, and in that order; whether it was given at all.

        Where it is answered wrongly, the list is asked for again without some of the options, so that the finding is
        about the one that is at fault.

        Args:
            among: The names that the list is narrowed to; the own ones by default.
        """
        if (question.order and not self._known.is_ordered) or not self._holds_own(question.collection):
            return False
        page = self._ask(question, among)
        passed_over = question.condition.unsure and page.size > 1
        if usable(page.exchange).refusal or page.size < 0 or passed_over:
            return False
        whole, wanted = question.answer()
        seen = page.order_of(whole)
        # In which order the list comes without one is not shown: the window may hold any of those that match.
        right = page.size == len(wanted) == len(seen) and (seen == wanted or not question.order)
        bounded = not question.order and question.top is not None and not self._of_files
        clauses = ["filter-with-top" if bounded else "filter-meaning"]
        if question.order:
            clauses += ["orderby-meaning"] + [self._window] * (question.top is not None)
        for clause in clauses if right else [self._at_fault(question, page, clauses, among)]:
            wording = {"expected": ", ".join(wanted) or "nothing", "seen": page.seen_beside(wanted)}
            self._judging(clause).holds(right, page.exchange, **wording)
        return True

    def _at_fault(self, question: Question, page: Page, clauses: Sequence[str], among: Sequence[str]) -> str:
        """The clause of the option without which a list is answered rightly that is answered wrongly with it."""
        whole, wanted = question.answer()
        seen = page.order_of(whole)
        if len(clauses) == 1 or page.size > len(seen):
            # Items are there that do not match, or there is nothing else that could be at fault.
            return clauses[0]
        unpaged = self._ask(replace(question, top=None, skip=None), among)
        if unpaged.order_of(whole) == whole and unpaged.size == len(whole) and self._window in clauses:
            parts = [whole[start : start + len(wanted)] for start in range(len(whole))]
            moved = len(seen) != len(wanted) or seen in [*parts, wanted[::-1]]
            return self._window if moved else "orderby-meaning"
        # Where the list without the order holds what was asked for, it is the order that changes that.
        plain = self._ask(replace(question, order=()), among)
        return "orderby-meaning" if len(plain.order_of(whole)) == len(wanted) == plain.size else clauses[0]

    def _holds_own(self, collection: str | None) -> bool:
        """Whether the list of a collection holds the own items."""
        known = self._list_of(collection)
        if known.lister.label not in self._holding:
            self._holding[known.lister.label] = self._shows_own(known)
        return self._holding[known.lister.label]

    def _shows_own(self, known: KnownList) -> bool:
        # Others beside them are there because the filter does not work, which is for the claims to say.
        page = known.lister.page(filter=equals(known.filter_path, *self._own))
        return len(page.order_of(self._own)) == len(self._own)

    def _ask(self, question: Question, among: Sequence[str]) -> Page:
        narrow = equals(self._known.filter_path, *(among or self._own))
        return self._list_of(question.collection).lister.page(**question.options(narrow))

    def claim_pairs(self) -> None:
        """Claim what only items show that are equal by a field: that a quote is doubled in a literal, and a second key.

        The second key orders those which are equal by the first one.
        """
        uids = paired(self._known.world)
        narrowed = self._known.lister.with_fixed(filter=equals(self._known.filter_path, *uids))
        fields = list(_fields_in_pairs(narrowed.page(), uids))
        for items in fields:
            # Those without a quote come first.
            plain, *_, special = sorted(set(items.texts.values()), key=lambda text: "'" in text)
            if "'" not in plain and "'" in special and self._picks(items, plain, uids):
                self.claim_answer(Question(items.where("eq", special)), uids)
                break
        for items in fields if self._known.is_ordered else ():
            pages = [narrowed.page(orderby=f"{items.path}{word}") for word in ("", " desc")]
            rising, falling = ([text for text, _ in itertools.groupby(_texts(items, page))] for page in pages)
            in_order = len(rising) == len(set(items.texts.values())) and falling == rising[::-1]
            if in_order and len(items.texts) == len(uids):
                ranks = Items(items.path, {uid: str(rising.index(text)) for uid, text in items.texts.items()})
                for falls in (False, True):
                    order = (ranks, False), (replace(self._ordered, texts={uid: uid for uid in uids}), falls)
                    self.claim_answer(Question(Condition("", frozenset(uids)), order), uids)
                break

    def _picks(self, items: Items, text: str, among: Sequence[str]) -> bool:
        """Whether `eq` on a field picks the items that have a text."""
        question = Question(items.where("eq", text))
        return self._ask(question, among).holds_just(question.answer()[0])


def _fields_in_pairs(page: Page, uids: Sequence[str]) -> Iterator[Items]:
    """The fields in which some of the drafts are equal and some differ, with the text that each has."""
    shown = {
        uid: {path: value for path, value in leaves(record) if isinstance(value, str)}
        for record in page.records or ()
        for uid in uids
        if readers.names(record, uid)
    }
    for path in dict.fromkeys(path for texts in shown.values() for path in texts):
        texts = {uid: own[path] for uid, own in shown.items() if path in own}
        # What holds a digit may be a time, of which less may be shown than the service goes by.
        worded = not any(character.isdigit() for text in texts.values() for character in text)
        if worded and 1 < len(set(texts.values())) < len(texts):
            yield Items(path, texts)


def _texts(items: Items, page: Page) -> list[str]:
    """The texts of a page's items, in their order."""
    return [items.texts[name] for name in page.order_of(list(items.texts))]
