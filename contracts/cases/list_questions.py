"""Questions to a list as data: an OData condition, an order and a window, with the answer that the own items give.

A table of them and Hypothesis ask the same questions. Which functions and fields a service takes is not shown, so what
it refuses is not judged. What it takes means what OData says, where the field is known by what `eq` picks and by both
orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from contracts.cases.hostile_input import Deal
from contracts.cases.known_lists import SCRAMBLED, KnownList
from contracts.cases.list_pages import Lister, Names, Page, Record, equals, leaves, quoted, text_paths
from contracts.cases.properties import Properties
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Blocked, Untested, require, usable
from contracts.exchanges.exchange import Exchange
from contracts.session.namespace import SUITE_PREFIX

#: What stands in a filter for a word, by `path` and forms of the value that it is about, and whether it holds.
_Word = tuple[str, Callable[[str, str], bool]]
_COMPARED: Final[Mapping[str, _Word]] = MappingProxyType(
    {test.__name__: (f"{{path}} {test.__name__} {{text}}", test) for test in (eq, ne, gt, ge, lt, le)}
)
_FOUND: Final[Mapping[str, _Word]] = MappingProxyType(
    {
        "startswith": ("startswith({path},{text})", str.startswith),
        "endswith": ("endswith({path},{text})", str.endswith),
        "contains": ("contains({path},{text})", str.__contains__),
    }
)
#: Those that a service may pass over, as it does not know them; beside `eq`, which it knows.
_FURTHER: Final[Mapping[str, _Word]] = MappingProxyType(
    {
        "tolower": ("({path} eq {text} and tolower({path}) eq {lower})", eq),
        "toupper": ("({path} eq {text} and toupper({path}) eq {upper})", eq),
        "length": ("({path} eq {text} and length({path}) eq {size})", eq),
        "shorter": ("({path} eq {text} and length({path}) lt {size})", lambda *_: False),
        "indexof": ("({path} eq {text} and indexof({path},{end}) eq 5)", eq),
        "substring": ("({path} eq {text} and substring({path},5) eq {end})", eq),
        "ends-with-start": ("({path} eq {text} and endswith({path},{start}))", lambda *_: False),
        "eq-in-other-case": ("({path} eq {text} and {path} eq {other_case})", lambda *_: False),
    }
)
_WORDS: Final = {**_COMPARED, **_FOUND, **_FURTHER}
#: How conditions are joined; `or-and` and `and-and` without parentheses.
_JOINED: Final[Mapping[str, tuple[str, Callable[..., bool]]]] = MappingProxyType(
    {
        "not": ("not ({})", lambda one: not one),
        "and": ("({} and {})", lambda one, two: one and two),
        "or": ("({} or {})", lambda one, two: one or two),
        "or-and": ("({} or {} and {})", lambda one, two, three: one or (two and three)),
        "and-and": ("{} and {} and {}", lambda *parts: all(parts)),
    }
)


@dataclass(frozen=True)
class Condition:
    """A condition of a filter on the field of the suite's own items.

    Attributes:
        operator: A word of the tables above.
        number: Which of the own values it compares with.
        start: From which character on; functions find parts of a text.
        parts: What is joined.
    """

    operator: str
    number: int = 0
    start: int = 0
    parts: tuple[Condition, ...] = ()

    def text(self, path: str, own: tuple[str, ...]) -> str:
        """Write it in OData."""
        if self.operator in _JOINED:
            return _JOINED[self.operator][0].format(*(part.text(path, own) for part in self.parts))
        value = own[self.number][self.start :]
        forms = {"text": value, "start": value[:-5], "end": value[5:], "other_case": value.swapcase()}
        forms |= {"lower": value.lower(), "upper": value.upper()}
        literals = {name: quoted(form) for name, form in forms.items()}
        template, _ = _WORDS[self.operator]
        return template.format(path=path, size=len(value), **literals)

    def holds(self, value: str, own: tuple[str, ...]) -> bool:
        """Whether it holds of a value."""
        if self.operator in _JOINED:
            return _JOINED[self.operator][1](*(part.holds(value, own) for part in self.parts))
        return _WORDS[self.operator][1](value, own[self.number][self.start :])


@dataclass(frozen=True)
class Question:
    """What a list is asked for.

    Attributes:
        falling: The order by the field; None for none.
        top, skip: None where they are left out.
        collection: For lists that have collections.
    """

    condition: Condition
    falling: bool | None = None
    top: int | None = None
    skip: int | None = None
    collection: str | None = "mydrafts"

    def options(self, known: KnownList) -> dict[str, str | int]:
        """The options that ask a list for it, narrowed to the own items."""
        narrow, own = equals(known.filter_path, *known.own), known.own
        options: dict[str, str | int] = {
            "filter": f"({narrow}) and {self.condition.text(known.filter_path, own)}"
        }
        if self.falling is not None:
            # A rising order may be asked for with a word or without.
            rising = "" if self.top is None else " asc"
            options["orderby"] = known.order_path + (" desc" if self.falling else rising)
        numbers = {"top": self.top, "skip": self.skip}
        return options | {name: number for name, number in numbers.items() if number is not None}

    def answer(self, own: tuple[str, ...]) -> tuple[list[str], list[str]]:
        """The values that match, in the order asked for, and the window of them."""
        whole = sorted(
            (value for value in own if self.condition.holds(value, own)), reverse=bool(self.falling)
        )
        start = self.skip or 0
        return whole, whole[start : start + (self.top if self.top is not None else len(whole))]


def _conditions() -> SearchStrategy[Condition]:
    numbers = st.integers(0, len(SCRAMBLED) - 1)
    # Texts from the middle are not compared: which of two comes first may differ there between ways to compare them.
    compared = st.builds(Condition, st.sampled_from(tuple(_COMPARED)), numbers)
    found = st.builds(Condition, st.sampled_from(tuple(_FOUND)), numbers, st.integers(0, 5))
    simple = st.one_of(compared, found)

    def joined(inner: SearchStrategy[Condition]) -> SearchStrategy[Condition]:
        def by(word: str, *parts: SearchStrategy[Condition]) -> SearchStrategy[Condition]:
            return st.builds(Condition, st.just(word), parts=st.tuples(*parts))

        pairs = (by(word, inner, inner) for word in ("and", "or"))
        return st.one_of(by("not", inner), *pairs, by("or-and", simple, simple, simple))

    return st.recursive(simple, joined, max_leaves=4)


def questions() -> SearchStrategy[Question]:
    """Any combination of the options."""
    return st.builds(
        Question,
        _conditions(),
        st.sampled_from((None, False, True)),
        st.one_of(st.none(), st.integers(1, 7)),
        st.one_of(st.none(), st.integers(0, 7)),
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
OF_DRAFTS: Final = (
    *_FIRST,
    *(Question(Condition(word, 2)) for word in _FURTHER),
    Question(Condition("and-and", parts=(_ALL, Condition("ne", 3), _EQ))),
    Question(
        Condition("and", parts=(Condition("or", parts=(_EQ, _OTHER)), Condition("ne", 4))), collection=None
    ),
    Question(_ALL, falling=True, top=3, skip=1, collection="my"),
)
OF_FILES: Final = (
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
        self._of_files = self._known.clauses != "list"
        self._window = "pages-cover" if self._of_files else "top-and-skip"
        # Which drafts are in other collections is not shown; attachments have none.
        self._holding = {self._known.lister.label: True}

    def _judging(self, what: str) -> Claim:
        return self._claim(f"{self._known.clauses}-{what}")

    def _claim_narrowed(self) -> None:
        """Claim that a filter by several values gives just those which filters by each of them give, each once."""
        path, own, lister = self._known.field.by_filter, self._own, self._known.lister
        if path is None or self._known.field.filters:
            return

        def alone(value: str) -> Page:
            return lister.page(filter=equals(path, value))

        single, several, plain = alone(own[0]), lister.page(filter=equals(path, *own)), lister.page()
        shown = several.order_of(own)
        # As many items as the list gives anyway may be all that fit on a page.
        narrower, surplus = 0 < several.size < plain.size, several.size > len(shown)
        wrong = any(several.count(value) > plain.count(value) > 0 for value in own)
        if single.holds_just(own[:1]):
            missing = [value for value in own if narrower and value not in shown]
            wrong = wrong or surplus or any(alone(value).names(value) for value in missing)
        elif narrower and not surplus:
            # What a filter by several values shows is shown by a filter by its own value, too.
            single = alone(shown[0])
            wrong = wrong or (single.size >= 0 and not single.names(shown[0]))
        elif not wrong:
            return
        expected, seen = f"{', '.join(own)}, and no other item", several.seen_beside(own)
        exchanges = [page.exchange for page in (plain, single, several)]
        self._judging("filter-meaning").holds(not wrong, *exchanges, expected=expected, seen=seen)

    def claim_all_options(self) -> None:
        """Claim that a list with every option at once is the part that was asked for, in its order.

        One request judges what many others judge one by one.

        Raises:
            Untested: the list is not seen to come in order, or the service refuses such filters.
        """
        if not self._known.is_ordered:
            raise Untested(
                "which fields orders take is not shown, and by none that is known does the list come in order"
            )
        for condition in _but_for_one(self._own):
            if self.claim_answer(Question(condition, falling=True, top=2, skip=1)):
                return
        raise Untested("which operators filters take is not shown, and those that are usual are refused")

    def claim_answers(self, properties: Properties, deal: Deal, table: Sequence[Question]) -> None:
        """Claim that questions are answered: this realm's share of a table, and two that are drawn."""
        first = list(deal({str(question): question for question in table}).values())
        properties.hold(questions(), self._answered, requests=len(first) + 2, each=1, first=first)

    def _answered(self, question: Question) -> None:
        self.claim_answer(question)

    def claim_answer(self, question: Question) -> bool:
        """Claim that a list holds what was asked for, and in that order; whether it was given at all.

        Where it is answered wrongly, the list is asked for again without some of the options, so that the finding is
        about the one that is at fault.
        """
        ordered = question.falling is not None
        if (ordered and not self._known.is_ordered) or not self._holds_own(question.collection):
            return False
        page = self._ask(question)
        passed_over = question.condition.operator in _FURTHER and page.size > 1
        if usable(page.exchange).refusal or page.size < 0 or passed_over:
            return False
        whole, wanted = question.answer(self._own)
        seen = page.order_of(whole)
        # In which order the list comes without one is not shown: the window may hold any of those that match.
        right = page.size == len(wanted) == len(seen) and (seen == wanted or not ordered)
        bounded = not ordered and question.top is not None and not self._of_files
        clauses = ["filter-with-top" if bounded else "filter-meaning"]
        if ordered:
            clauses += ["orderby-meaning"] + [self._window] * (question.top is not None)
        for clause in clauses if right else [self._at_fault(question, page, clauses)]:
            wording = {"expected": ", ".join(wanted) or "nothing", "seen": page.seen_beside(wanted)}
            self._judging(clause).holds(right, page.exchange, **wording)
        return True

    def _at_fault(self, question: Question, page: Page, clauses: Sequence[str]) -> str:
        """The clause of the option without which a list is answered rightly that is answered wrongly with it."""
        whole, wanted = question.answer(self._own)
        seen = page.order_of(whole)
        if len(clauses) == 1 or page.size > len(seen):
            return clauses[
                0
            ]  # items are there that do not match, or there is nothing else that could be at fault
        unpaged = self._ask(replace(question, top=None, skip=None))
        if unpaged.order_of(whole) == whole and unpaged.size == len(whole) and self._window in clauses:
            parts = [whole[start : start + len(wanted)] for start in range(len(whole))]
            moved = len(seen) != len(wanted) or seen in [*parts, wanted[::-1]]
            return self._window if moved else "orderby-meaning"
        # Where the list without the order holds what was asked for, it is the order that changes that.
        plain = self._ask(replace(question, falling=None))
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

    def _ask(self, question: Question) -> Page:
        return self._list_of(question.collection).lister.page(**question.options(self._known))


#: Fields of a kind that are tried before a list counts as one that heeds none, and items that show it.
_MOST_FIELDS = 6
_FEW = 2
_NO_VALUE = f"{SUITE_PREFIX}no-item-has-this"
#: What a claim says of an option that is known to work by the field that was learnt: it is not asked for again.
_KNOWN: Final = MappingProxyType({"expected": "an effect", "seen": "the one that was asked for"})


def claim_picked(claim: Claim, lister: Lister, expression: str, wanted: Sequence[str]) -> None:
    """Claim that a filter gives exactly the items that carry these values."""
    page = lister.page(filter=expression)
    expected = f"{' and '.join(wanted) or 'nothing'} for {expression}"
    claim.holds(page.holds_just(wanted), page.exchange, expected=expected, seen=page.seen_beside(wanted))


def claim_ordered(claim: Claim, known: KnownList, *, falling: bool = False) -> None:
    """Claim that the suite's own items come in the order asked for."""
    order = f"{known.order_path} desc" if falling else known.order_path
    page = known.lister.page(orderby=order)
    if page.size >= 0 and len(page.order_of(known.own)) < len(known.own):
        narrowed = known.narrowed
        if narrowed is None:
            raise Blocked(known.lister.operation, "the suite's own items are not all on the first page")
        page = narrowed.page(orderby=order)
    wanted = sorted(known.own, reverse=falling)
    expected, seen = f"in the order {', '.join(wanted)}", page.seen_beside(wanted, others=True)
    claim.holds(page.order_of(known.own) == wanted, page.exchange, expected=expected, seen=seen)


def claim_filters_heeded(claim: Claim, known: KnownList) -> None:
    """Claim that not every filter is passed over: by some field, one for a value that nothing has gives no item.

    Nor may the opposite filter by each such field give no item either, since there are items of other values. A
    field that filters do not take may be passed over, or make the service refuse.

    Raises:
        Untested: the service takes a filter by none of them, or passes over some and finds nothing by others.
    """
    if known.proven_path is not None:
        claim.holds(True, **_KNOWN)
        return
    lister, passed, emptied = known.lister, list[Page](), list[Page]()
    fields = _text_fields(lister.needed(_FEW), known.usual)
    for field in fields:
        filtered = lister.page(filter=equals(field, _NO_VALUE))
        if filtered.size > 0:
            passed.append(filtered)
        elif filtered.size == 0:
            others = lister.page(filter=f"{field} ne {quoted(_NO_VALUE)}")
            if others.size != 0 or others.not_found:
                claim.holds(True, filtered.exchange, expected="no item", seen=filtered.seen)
                return
            emptied.append(others)
    if bool(passed) == bool(emptied):
        raise Untested("which fields filters take is not shown, and none of those known is plainly taken")
    pages = passed or emptied
    due = "no item for a value that none has" if passed else "items for any value but one that none has"
    expected, exchanges = f"{due}, by one of {', '.join(fields)}", [page.exchange for page in pages]
    claim.holds(False, *exchanges, expected=expected, seen=f"for each: {pages[0].seen}")


def claim_orders_heeded(claim: Claim, known: KnownList) -> None:
    """Claim that not every order is passed over: by some field, the falling one differs from the rising one.

    Nor may every order empty the list, since an order leaves out nothing.

    Raises:
        Untested: by no field that differs between the items does the service take both.
    """
    if known.is_ordered:
        claim.holds(True, **_KNOWN)
        return
    lister, passed = known.lister, list[Exchange]()
    records = lister.needed(_FEW)
    fields = [
        name for name in _text_fields(records, known.usual) if name in known.usual or _differs(records, name)
    ]
    # An envelope around each item need be no part of a field's name.
    fields = list(dict.fromkeys(each for name in fields for each in (name, name.rpartition("/")[2])))
    for name in fields:
        both = [lister.page(orderby=f"{name}{word}") for word in ("", " desc")]
        if min(page.size for page in both) < 0:
            continue
        named = Names(*(page.records or () for page in both))
        names = [named.of(page.records) for page in both]
        common = set(names[0]) & set(names[1])
        rising, falling = ([item for item in part if item in common] for part in names)
        # Pages that have hardly an item in common are the two ends of an ordered list.
        same = len(common) >= _FEW and rising == falling
        if not same and all(names):
            claim.holds(True, both[-1].exchange, expected="an order", seen=both[-1].seen)
            return
        passed += [page.exchange for page in both]
    if not passed:
        raise Untested(
            "which fields orders take is not shown, and none was seen that differs between the items"
        )
    expected = f"a falling order unlike the rising one, by one of {', '.join(fields)}"
    seen = f"the same order for each, or no item: {passed[0].answer.quote()}"
    claim.holds(False, *passed, expected=expected, seen=seen)


def _text_fields(records: Sequence[Record], usual: Sequence[str]) -> list[str]:
    """Paths of fields that hold texts: those that tell the items apart, the usual ones, then others; not many."""
    texts = text_paths(records[0])
    telling = [path for path in texts if _differs(records, path)]
    return list(dict.fromkeys([*telling[:_MOST_FIELDS], *usual, *texts[:_MOST_FIELDS]]))


def _differs(records: Sequence[Record], path: str) -> bool:
    """Whether each of these records has a value of its own in a field."""
    return len({str(dict(leaves(record)).get(path)) for record in records}) == len(records)
