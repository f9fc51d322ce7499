"""List queries as data: an OData condition, an order and a window, with the answer expected from the known items.

A table and Hypothesis supply the queries. The document does not say which functions and fields a service supports, so
a refused query is not judged. An accepted one must mean what OData says, if `eq` and both orders are known to work
for the field.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import and_, eq, ge, gt, invert, le, lt, ne, or_
from types import MappingProxyType
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from registry_contracts.cases.hostile_input import Deal
from registry_contracts.cases.known_lists import KnownList, known_drafts, paired
from registry_contracts.cases.list_pages import Page, equals, leaves, quoted
from registry_contracts.cases.properties import Properties
from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Blocked, Untested, require, usable
from registry_contracts.exchanges import readers

#: The collection of the caller's own drafts; attachments have none, and need none.
_MINE: Final = "mydrafts"
_Tests = Mapping[str, Callable[[str, str], bool]]
_COMPARED: Final[_Tests] = MappingProxyType({test.__name__: test for test in (eq, ne, gt, ge, lt, le)})
_FOUND: Final[_Tests] = MappingProxyType(
    {"startswith": str.startswith, "endswith": str.endswith, "contains": str.__contains__}
)


@dataclass(frozen=True)
class Condition:
    """A filter condition, and the names of the known items that meet it; `and` binds before `or`, as in Python.

    Attributes:
        text: In OData; empty for none.
        among: The names of all known items, to which every query limits the list.
        unsure: A service may ignore it, since it need not know the function.
    """

    text: str
    matching: frozenset[str]
    among: tuple[str, ...]
    unsure: bool = False

    def __invert__(self) -> Condition:
        return Condition(f"not ({self.text})", frozenset(self.among) - self.matching, self.among)

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.text} and {other.text}", self.matching & other.matching, self.among)

    def __or__(self, other: Condition) -> Condition:
        return Condition(f"({self.text} or {other.text})", self.matching | other.matching, self.among)


@dataclass(frozen=True)
class Items:
    """Known items: the text of one field by the item's name (its uid or file name)."""

    path: str
    texts: Mapping[str, str]

    def condition(self, text: str, holds: Callable[[str], bool], *, unsure: bool = False) -> Condition:
        """A condition with this filter text; it matches the items whose text passes `holds`."""
        matching = frozenset(name for name, own in self.texts.items() if holds(own))
        return Condition(text, matching, tuple(self.texts), unsure)

    def where(self, word: str, text: str) -> Condition:
        """A condition that compares the field with a text or searches it for the text."""
        path, literal, test = self.path, quoted(text), {**_COMPARED, **_FOUND}[word]
        asked = f"{word}({path},{literal})" if word in _FOUND else f"{path} {word} {literal}"
        return self.condition(asked, lambda own: test(own, text))

    def by_functions(self, text: str) -> list[Condition]:
        """Conditions with functions that a service may not know, each joined with `eq`, which it knows."""
        equal, start, end = self.where("eq", text).text, quoted(text[:-5]), quoted(text[5:])
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
            self.condition(f"{equal} and {asked}", text.__eq__ if on else lambda _: False, unsure=True)
            for asked, on in functions.items()
        ]


@dataclass(frozen=True)
class Question:
    """One list query.

    Attributes:
        order: The sort fields in order of priority, each with True for descending.
        top, skip: None leaves them out.
        collection: For lists that have collections.
    """

    condition: Condition
    order: tuple[tuple[Items, bool], ...] = ()
    top: int | None = None
    skip: int | None = None
    collection: str | None = _MINE

    def ask(self, known: KnownList) -> Page:
        """Send the query, limited to the known items."""
        narrow, text = equals(known.filter_path, *self.condition.among), self.condition.text
        # `asc` may be written or left out.
        rising = "" if self.top is None else " asc"
        keys = [items.path + (" desc" if falling else rising) for items, falling in self.order]
        return known.lister.page(
            filter=f"({narrow}) and {text}" if text else narrow,
            orderby=",".join(keys) or None,
            top=self.top,
            skip=self.skip,
        )

    def answer(self) -> tuple[list[str], list[str]]:
        """The names of all matching items in the requested order, and those in the window."""
        whole = sorted(self.condition.matching)
        for items, falling in reversed(self.order):
            whole.sort(key=items.texts.__getitem__, reverse=falling)
        return whole, whole[self.skip or 0 :][: self.top]


def _conditions(items: Items) -> SearchStrategy[Condition]:
    texts = st.sampled_from(list(items.texts.values()))
    # Only whole texts are compared: parts of them may sort differently in different collations.
    compared = st.builds(items.where, st.sampled_from(tuple(_COMPARED)), texts)
    parts = st.builds(lambda text, start: text[start:], texts, st.integers(0, 5))
    simple = st.one_of(compared, st.builds(items.where, st.sampled_from(tuple(_FOUND)), parts))

    def joined(inner: SearchStrategy[Condition]) -> SearchStrategy[Condition]:
        pairs = (st.builds(by, inner, inner) for by in (and_, or_))
        return st.one_of(st.builds(invert, inner), *pairs)

    return st.recursive(simple, joined, max_leaves=4)


def _table(items: Items, ordered: Items, *, of_files: bool) -> list[Question]:
    """Single operators and functions, operators in a row, and combined options.

    Attachments get fewer queries, so two comparisons share one.
    """
    own = list(items.texts)
    rising, falling = ((ordered, False),), ((ordered, True),)

    def at(word: str, number: int, start: int = 0) -> Condition:
        return items.where(word, own[number][start:])

    one, other, most = at("eq", 1), at("eq", 4), at("ne", 0)
    parts = at("startswith", 3, 2), at("contains", 3, 2), ~one, one | other & other
    if of_files:
        return [
            *map(Question, (at("ge", 1) & at("le", 2), at("gt", 1) & at("lt", 4), *parts)),
            *(Question(most, rising, top=4), Question(most, falling, top=3, skip=1)),
        ]
    compared = [at(word, 2) for word in _COMPARED if word != "eq"]
    return [
        *map(
            Question,
            (*compared, at("startswith", 3), *parts, *items.by_functions(own[2]), most & at("ne", 3) & one),
        ),
        *(Question(most, top=2), Question(most, rising, top=4, skip=1)),
        Question((one | other) & at("ne", 4), collection=None),
        Question(most, falling, top=3, skip=1, collection="my"),
    ]


def _but_for_one(items: Items) -> tuple[Condition, ...]:
    """Conditions that exclude the last item but one: with every operator, and a simple one in case that is refused."""
    least, *_, other, _ = sorted(items.texts)
    where = items.where
    plain = where("ne", other)
    differing = plain & (where("gt", other) | where("lt", other))
    every = where("ge", least) | where("le", least) & where("contains", least)
    return ~where("startswith", other) & differing & every, plain


class Questions:
    """Sends queries to a list of known items and claims that each answer is right.

    Raises:
        Untested: the document names no fields for filters, and no known field selects the suite's items.
    """

    def __init__(self, make: Callable[[], KnownList], expect: Expect) -> None:
        self._expect = expect
        try:
            self._known = known = make()
            self._lists: dict[str | None, KnownList] = {_MINE: known}
            self._claim_either()
            known.need_filter()
            require(known.shows_own, known.lister.operation, "no longer shows the suite's own items")
        except Blocked as obstacle:
            raise Untested(str(obstacle)) from None
        self._items = Items(known.filter_path, {name: name for name in known.own})
        # If no order works, orders are not judged.
        self._ordered = replace(self._items, path=known.field.by_order or self._items.path)
        self._window = "pages-cover" if known.of_files else "top-and-skip"

    def _list_of(self, collection: str | None) -> KnownList:
        """The list with another collection; attachments have none."""
        if collection not in self._lists:
            self._lists[collection] = known_drafts(self._known.world, collection)
        return self._lists[collection]

    def _judging(self, what: str) -> Claim:
        return self._expect(f"{'attachment-' * self._known.of_files}list-{what}")

    def _claim_either(self) -> None:
        """Claim that a filter by either of two values returns both items, if the filter by each returns just one."""
        path, lister, two = self._known.field.by_filter, self._known.lister, self._known.own[:2]
        if path is None or self._known.field.proven:
            return
        alone = {value: lister.page(filter=equals(path, value)) for value in two}
        both = lister.page(filter=equals(path, *two))
        if (
            usable(both.exchange).success
            and both.size > 0
            and all(page.holds_just([value]) for value, page in alone.items())
        ):
            both.claim(self._judging("filter-meaning"), both.holds_just(two), two, "", *alone.values())

    def claim_answers(self, properties: Properties, deal: Deal) -> None:
        """Claim that queries are answered correctly: three fixed ones, this realm's part of the table, two drawn."""
        for condition in _but_for_one(self._items):
            orders = ((self._ordered, True),), ((self._ordered, False),)
            falling, rising = (Question(condition, order, top=2, skip=1) for order in orders)
            if self.claim_answer(falling):
                self.claim_answer(rising)
                self.claim_answer(Question(condition, top=2))
                break
        table = _table(self._items, self._ordered, of_files=self._known.of_files)
        first = list(deal({str(question): question for question in table}).values())
        drawn = st.builds(
            Question,
            _conditions(self._items),
            st.sampled_from(((), ((self._ordered, False),), ((self._ordered, True),))),
            st.one_of(st.none(), st.integers(1, 7)),
            st.one_of(st.none(), st.integers(0, 7)),
            st.sampled_from((_MINE,) if self._known.of_files else (None, "my", _MINE)),
        )
        properties.hold(drawn, self._answered, requests=len(first) + 2, each=1, first=first)

    def _answered(self, question: Question) -> None:
        self.claim_answer(question)

    def claim_answer(self, question: Question) -> bool:
        """Claim that a query returns the right items in the right order; return whether the answer was judged."""
        known = self._list_of(question.collection)
        # The document does not say which drafts other collections hold.
        if (question.order and not self._known.is_ordered) or not known.shows_own:
            return False
        page = question.ask(known)
        passed_over = question.condition.unsure and page.size > 1
        if usable(page.exchange).refusal or page.size < 0 or passed_over:
            return False
        whole, wanted = question.answer()
        seen = page.order_of(whole)
        # Without an order, the window may hold any of the matching items.
        right = page.size == len(wanted) == len(seen) and (seen == wanted or not question.order)
        bounded = not question.order and question.top is not None and not known.of_files
        if bounded:  # a page may be shorter
            right = page.size == len(seen) <= len(wanted) and (page.size > 0 or not wanted)
        clauses = ["filter-with-top" if bounded else "filter-meaning"]
        if question.order:
            clauses += ["orderby-meaning"] + [self._window] * (question.top is not None)
        for clause in clauses if right else [self._at_fault(question, page, clauses)]:
            page.claim(self._judging(clause), right, wanted)
        return True

    def _at_fault(self, question: Question, page: Page, clauses: Sequence[str]) -> str:
        """The clause of the option that the wrong items or their order speak against."""
        whole, wanted = question.answer()
        seen = page.order_of(whole)
        others = page.size > len(seen) or (question.top is None and sorted(seen) != sorted(wanted))
        if len(clauses) == 1 or others:
            return clauses[0]
        plain = replace(question, order=(), top=None, skip=None).ask(self._list_of(question.collection))
        if not len(plain.order_of(whole)) == len(whole) == plain.size:
            return clauses[0]
        # Items in order, but other ones than asked for: the window is wrong.
        shifted = seen in [whole[start : start + len(seen)] for start in range(len(whole))]
        return self._window if shifted and self._window in clauses else "orderby-meaning"

    def claim_pairs(self) -> None:
        """Claim that a doubled quote in a literal works, and that a second sort key orders items equal in the first.

        Both need items that are equal in a field.
        """
        uids = paired(self._known.world)
        narrowed = self._known.lister.with_fixed(filter=equals(self._known.filter_path, *uids))
        fields = list(_fields_in_pairs(narrowed.page(), uids))
        for items in fields:
            # Texts without a quote come first.
            plain, *_, special = sorted(set(items.texts.values()), key=lambda text: "'" in text)
            picked = Question(items.where("eq", plain))
            if "'" not in plain and "'" in special and picked.ask(self._known).holds_just(picked.answer()[0]):
                self.claim_answer(Question(items.where("eq", special)))
                break
        for items in fields if self._known.is_ordered else ():
            pages = [narrowed.page(orderby=f"{items.path}{word}") for word in ("", " desc")]
            named = [[items.texts[uid] for uid in page.order_of(list(items.texts))] for page in pages]
            rising, falling = ([text for text, _ in itertools.groupby(texts)] for texts in named)
            in_order = len(rising) == len(set(items.texts.values())) and falling == rising[::-1]
            if in_order and len(items.texts) == len(uids):
                ranks = {uid: str(rising.index(text)) for uid, text in items.texts.items()}
                first, second = (
                    replace(items, texts=ranks),
                    replace(self._ordered, texts={uid: uid for uid in uids}),
                )
                for falls in (False, True):
                    order = (first, False), (second, falls)
                    self.claim_answer(Question(items.condition("", lambda _: True), order))
                break


def _fields_in_pairs(page: Page, uids: Sequence[str]) -> Iterator[Items]:
    """The fields in which some of the drafts are equal and some differ, with their texts."""
    shown = {
        uid: {path: value for path, value in leaves(record) if isinstance(value, str)}
        for record in page.records or ()
        for uid in uids
        if readers.names(record, uid)
    }
    for path in dict.fromkeys(path for texts in shown.values() for path in texts):
        texts = {uid: own[path] for uid, own in shown.items() if path in own}
        # A text with a digit may be a time, which the service may sort by with more precision than it shows.
        worded = not any(character.isdigit() for text in texts.values() for character in text)
        if worded and 1 < len(set(texts.values())) < len(texts):
            yield Items(path, texts)
