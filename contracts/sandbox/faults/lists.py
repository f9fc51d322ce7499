"""Faults of lists: items that are lost, doubled or stale, and options that are ignored or read wrongly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import ALWAYS, OFTEN, ONCE
from contracts.sandbox.faults.fault import Fault, row, sized
from contracts.sandbox.faults.messages import (
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    kebab,
)

Options = dict[str, str]
Items = list[Any]
Read = Callable[[Options], Options]


def options(request: Request) -> Options:
    """The options of a list, without the dollar that they have in one of the two."""
    return {name.removeprefix("$"): value for name, value in request.query}


def _number(given: Options, option: str) -> int | None:
    """The value of an option that is a number; None where it is absent or none."""
    value = given.get(option, "")
    return int(value) if value.isdigit() and len(value) < 10 else None


def _asked(request: Request, changed: Options) -> Request:
    """The request with these options, and without those that are not among them."""
    dollar = "$" if request.operation.id == "listDrafts" else ""
    names = {option: option if option == "collection" else dollar + option for option in changed}
    return replace(request, query=tuple((names[option], value) for option, value in changed.items()))


def _reads(change: Read, *, filled: bool = False) -> Inject:
    """Give what other options ask for, where the service takes those that are given.

    Args:
        filled: And gives items for them.
    """

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        got = await below(request)
        if not got.success or (filled and not got.items):
            return got
        return await below(_asked(request, change(options(request))))

    return effect


def _drop(*names: str) -> Read:
    """Take no notice of some options."""
    return lambda given: {name: value for name, value in given.items() if name not in names}


def _count(name: str, change: Callable[[int], int]) -> Read:
    """Read an option that is a number as another one, where it is one."""
    return lambda given: (
        given if _number(given, name) is None else {**given, name: str(max(0, change(int(given[name]))))}
    )


def _text(name: str, pattern: str, becomes: str) -> Read:
    """Read what a pattern finds in an expression as something else."""
    return lambda given: {**given, name: re.sub(pattern, becomes, given[name])} if name in given else given


def _pages_skipped(given: Options) -> Options:
    size, pages = _number(given, "top"), _number(given, "skip")
    return given if size is None or pages is None else {**given, "skip": str(pages * max(1, size))}


def _whole(change: Callable[[Items, Request, Memory], Items]) -> Inject:
    """Give a window of the whole list, changed."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got, given = await below(request), options(request)
        if not got.success:
            return got
        everything = (await below(_asked(request, _drop("top", "skip")(given)))).items
        top, skip = _number(given, "top"), _number(given, "skip") or 0
        window = change(everything, request, memory)[skip:]
        return got.with_items(lambda _: window if top is None else window[:top])

    return effect


def page(change: Callable[[Items], Items]) -> Inject:
    """Change the items that are given."""
    return do.answer(lambda _, got: got.with_items(change))


def _refused_if(test: Callable[[Items, Options], bool]) -> Inject:
    """Refuse lists whose items and options pass a test."""
    refusal = answer_json(400, {"message": "there are not so many items"})
    return do.answer(
        lambda request, got: refusal if got.success and test(got.items, options(request)) else got
    )


def _forgiven(name: str) -> Inject:
    """Take a list that is refused as if an option had not been given."""
    return do.mend(lambda request: _asked(request, _drop(name)(options(request))))


def _composed(chosen: tuple[str, ...], kept: tuple[str, ...], *, order_of_kept: bool) -> Inject:
    """Give the items of two lists in common: each is asked for without some of the options."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        got, given = await below(request), options(request)
        first = (await below(_asked(request, _drop(*chosen)(given)))).items
        second = (await below(_asked(request, _drop(*kept)(given)))).items
        one, other = (second, first) if order_of_kept else (first, second)
        return got.with_items(lambda _: [item for item in one if item in other])

    return effect


async def _last_item_beyond(request: Request, below: Below, _: Memory) -> Answer | None:
    got = await below(request)
    if not got.success or got.items:
        return got
    everything = (await below(_asked(request, _drop("skip")(options(request))))).items
    return got.with_items(lambda _: everything[-1:])


async def deleted_stay(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Drafts that were deleted are still listed."""
    got = await below(request)
    listed = memory.items["listDrafts"].items()
    stale = [item for text, item in listed if any(uid in text for uid in memory.deleted)]
    remembered = stale or [{"identifier": uid} for uid in memory.deleted]
    return got.with_items(lambda items: [*remembered, *items])


async def _of_other_documents(request: Request, below: Below, memory: Memory) -> Answer | None:
    got = await below(request)
    texts = {json.dumps(item, sort_keys=True) for item in got.items}
    foreign = [item for text, item in memory.items["listAttachments"].items() if text not in texts]
    return got.with_items(lambda items: items + foreign[-1:])


def _lacks_newest(items: Items, request: Request, memory: Memory) -> Items:
    here = (request.realm, request.role)
    own = [uid for (realm, uid), saved in memory.saved.items() if (realm, saved.role) == here]
    return [item for item in items if item.get("identifier") not in own[-1:]]


def _saved_again(item: Any) -> bool:
    return bool(item["createdOn"] != item["updatedOn"])


def _published(*, first: bool) -> Inject:
    """List published records of the author that have no draft, before all drafts or after them."""

    def added(items: Items, request: Request, _: Memory) -> Items:
        names = [f"sandbox-{kind}-{request.realm}" for kind in ("existing", "published")]
        listed = {item.get("identifier") for item in items}
        more = [{**items[0], "identifier": name} for name in names if name not in listed] if items else []
        return [*more, *items] if first else [*items, *more]

    return _whole(added)


def has(*names: str, but: tuple[str, ...] = ()) -> Where:
    """Lists with some options and without others."""
    return lambda request, _: set(names) <= options(request).keys() and not set(but) & options(request).keys()


def _like(name: str, pattern: str) -> Where:
    """Lists with an option in which a pattern is found."""
    return lambda request, _: re.search(pattern, options(request).get(name, "")) is not None


def _windows(test: Callable[[int | None, int], bool]) -> Where:
    """Lists of which top, or None, and skip pass a test."""
    return lambda request, _: test(_number(options(request), "top"), _number(options(request), "skip") or 0)


def _all(*tests: Where) -> Where:
    return lambda request, memory: all(test(request, memory) for test in tests)


def _not(test: Where) -> Where:
    return lambda request, memory: not test(request, memory)


def _without_options(request: Request, _: Memory) -> bool:
    return not request.query


#: The second page or one after it, of several items: any other window is none of a series.
_LATER_PAGE: Final = _windows(lambda top, skip: (top or 0) > 1 and skip > 0 and skip % (top or 1) == 0)
_UNCHOSEN: Final = has(but=("collection", "filter", "orderby"))
_SKIP_ALONE: Final = _all(_UNCHOSEN, _windows(lambda top, skip: top is None and skip > 0))
_BARE_TOP: Final = _all(_UNCHOSEN, has("top", but=("skip",)), _windows(lambda top, _: bool(top)))
_BOTH: Final = _windows(lambda top, skip: bool(top) and skip > 0)
_BARE_FILTER, _BARE_ORDER = has("filter", but=("top",)), has("orderby", but=("top",))
_BOUNDED_FILTER: Final = has("filter", "top", but=("orderby", "skip"))
_FALLING: Final = _like("orderby", r" desc\s*$")
_COLLECTION: Final = has("collection")
_PLAIN, _UNFILTERED, _UNORDERED = _not(_COLLECTION), _not(has("filter")), _not(has("orderby"))
_BARE: Final = has(but=("filter", "orderby", "top", "skip"))
_MY, _MY_DRAFTS = _like("collection", "^my$"), _like("collection", "^mydrafts$")
_AMPLE: Final = _all(_UNFILTERED, _windows(lambda top, skip: top is not None and skip == 0))
_TOP_AMPLE: Final = _refused_if(lambda items, given: len(items) < int(given["top"]))
#: From how many items on a list is long.
_LONG: Final = 16


class Row(NamedTuple):
    """A row of one list or of both: its name and clause lack their beginning, its sentence the list."""

    name: str
    clause: str
    effect: Inject
    where: Where | None
    says: str
    when: str = ALWAYS
    ways: frozenset[str] = ONCE


# fmt: off
#: The rows of both lists.
_IN_BOTH_LISTS: Final[tuple[Row, ...]] = (
    Row("filter-ignored", "filter-heeded", _reads(_drop("filter")), _BARE_FILTER, "a filter has no effect"),
    Row("filter-loses-match", "filter", page(lambda items: items[1:]), _BARE_FILTER, "a filter loses its first match"),
    Row("filter-refuses-apostrophe", "filter", do.refuse_before(), _like("filter", "''"),
        "a filter is refused when it holds an apostrophe"),
    Row("order-ignored", "orderby-heeded", _reads(_drop("orderby")), _BARE_ORDER, "an order has no effect"),
    Row("asc-falls", "orderby-meaning", _reads(_text("orderby", r" asc\s*$", " desc")), has("orderby"),
        "the word asc gives a falling order"),
    Row("order-after-page", "orderby-with-page", _composed(("orderby",), ("top", "skip"), order_of_kept=True),
        has("orderby", "top"), "an order applies to a page after it was chosen"),
    *(
        Row(name, "filter-meaning", _reads(_text("filter", pattern, becomes)), has("filter"), says)
        for name, pattern, becomes, says in (
            ("ge-leaves-out-equals", r"\bge\b", "gt", "ge is read as gt"),
            ("not-ignored", r"\bnot \(", "(", "not has no effect"),
            ("or-of-the-first-two", r"^([^()]+? or [^()]+?) or .*$", r"\1",
                "of conditions joined by or only the first two count"),
            ("or-binds-like-and", r"\(([^()]+ or [^()]+) and ([^()]+)\)", r"((\1) and \2)",
                "or and and are read from the left"),
            ("startswith-within", r"\bstartswith\(", "contains(", "startswith finds a text in the middle too"),
        )
    ),
    Row("filter-lost-with-order", "filter-meaning", _reads(_drop("filter")), has("filter", "orderby"),
        "a filter has no effect beside an order"),
    Row("order-lost-with-top", "orderby-meaning", _reads(_drop("orderby")), has("orderby", "top"),
        "an order has no effect beside a bound"),
    Row("top-ignored", "top", _reads(_drop("top")), _BARE_TOP, "top is ignored where no other option stands"),
    Row("top-one-more", "top", _reads(_count("top", lambda n: n + 1)), _BARE_TOP, "top alone gives one item more"),
    Row("top-at-least-five", "top", _reads(_count("top", lambda n: max(n, 5))), _BARE_TOP,
        "a top from one to four alone gives up to five items"),
    Row("skip-ignored", "skip", _reads(_drop("skip"), filled=True), _SKIP_ALONE, "skip without top leaves nothing out"),
    Row("skip-one-less", "skip", _reads(_count("skip", lambda n: n - 1), filled=True), _SKIP_ALONE,
        "skip without top leaves out one item less"),
    Row("skip-one-more", "skip", _reads(_count("skip", lambda n: n + 1)), _SKIP_ALONE,
        "skip without top leaves out one item more"),
    Row("skip-beyond-last-item", "skip-beyond", _last_item_beyond,
        _windows(lambda top, skip: top is None and skip > 0), "a skip beyond the end gives the last item"),
    Row("skip-beyond-refused", "skip-beyond-empty",
        _refused_if(lambda items, given: not items and given.get("top") != "0"),
        _windows(lambda _, skip: skip > 0), "a skip beyond the end is refused"),
    Row("edge-repeated", "pages-cover", _reads(_count("skip", lambda n: n - 1)), _LATER_PAGE,
        "a page begins with the last item of the page before"),
    Row("edge-lost", "pages-cover", _reads(_count("skip", lambda n: n + 1)), _LATER_PAGE,
        "the item that follows a page is on no page"),
    Row("order-turns", "pages-cover", _whole(lambda items, *_: items[::-1]), _all(_LATER_PAGE, _UNORDERED),
        "from the second page on items are taken in falling order"),
    Row("top-zero-is-all", "top-zero", _reads(_drop("top")), _like("top", "^0$"), "a top of zero gives all items"),
)
_ORDERS: Final = (
    Row("rising-falls", "orderby", _reads(_text("orderby", r"^(.*?)(asc)?\s*$", r"\1 desc")),
        _all(_BARE_ORDER, _not(_FALLING)), "a rising order falls"),
    Row("falling-rises", "orderby-falling", _reads(_text("orderby", r" desc\s*$", "")),
        _all(_BARE_ORDER, _FALLING), "a falling order rises"),
)
_MALFORMED: Final = (
    Row("malformed-filter-ignored", "filter-malformed", _forgiven("filter"), has("filter"),
        "a filter that is no expression is ignored"),
    Row("malformed-order-ignored", "orderby-malformed", _forgiven("orderby"), has("orderby"),
        "an order that is no expression is ignored"),
    *(
        Row(f"{name}-no-number-ignored", "number-malformed", _forgiven(name),
            _all(has(name), _like(name, r"^(?!-?[0-9]+$)")), f"a {name} that is no number is ignored")
        for name in ("top", "skip")
    ),
)
#: The rows of the list of drafts alone.
_OF_DRAFTS: Final[tuple[Row, ...]] = (
    *_ORDERS,
    *_MALFORMED,
    Row("second-key-ignored", "orderby-meaning", _reads(_text("orderby", ",.*$", "")), has("orderby"),
        "the first key of an order counts"),
    Row("doubled-quote-kept", "filter-meaning", _reads(_text("filter", "'" * 2, "'" * 4)), has("filter"),
        "a doubled quote stands for two"),
    Row("tolower-changes-nothing", "filter-meaning", _reads(_text("filter", r"tolower\(([^()]*)\)", r"\1")),
        has("filter"), "tolower changes nothing"),
    Row("long-filter-ignored", "filter-meaning", _reads(_drop("filter")), _like("filter", ".{201}"),
        "a filter above 200 characters has no effect"),
    Row("filter-ignored-without-collection", "filter-meaning", _reads(_drop("filter")), _all(_BARE_FILTER, _PLAIN),
        "a filter counts in a collection alone"),
    Row("filter-after-page", "filter-with-top", _composed(("filter",), ("top", "skip"), order_of_kept=False),
        _BOUNDED_FILTER, "a bound is applied before a filter"),
    Row("filter-without-top", "filter-with-top", _reads(_drop("top")), _BOUNDED_FILTER,
        "a bound has no effect beside a filter"),
    Row("skip-counts-pages", "top-and-skip", _reads(_pages_skipped), _BOTH, "skip counts pages beside a bound"),
    Row("collection-top-ignored", "collection-with-top", _reads(_drop("top")), has("collection", "top"),
        "a bound has no effect in a collection"),
    Row("collection-skip-ignored", "collection-with-skip", _reads(_drop("skip")), has("collection", "skip"),
        "skip has no effect in a collection"),
    Row("collection-lost-with-filter", "collection-with-filter", _reads(_drop("collection")),
        has("collection", "filter"), "a collection has no effect beside a filter"),
    Row("top-ample-refused", "top-ample", _TOP_AMPLE, _all(_PLAIN, _AMPLE),
        "a bound above the number of drafts is refused"),
    Row("skip-zero-is-one", "skip-zero", _reads(_count("skip", lambda _: 1)),
        _all(_like("skip", "^0$"), _not(has("top"))), "a skip of zero leaves out one item"),
    Row("any-collection", "collection-unknown", _forgiven("collection"), _like("collection", "^(?!(my|mydrafts)$)"),
        "any other collection is ignored"),
    Row("needs-collection", "answers", do.refuse_before(), _PLAIN, "a list without a collection is refused"),
    Row("gives-a-count", "answers", do.edit(lambda items: {"count": len(items)}), _without_options,
        "a list without any option is just a number"),
    Row("my-refused", "my-answers", do.refuse_before(), _MY, "the collection my is refused as unknown"),
    *(
        Row(f"{name}-lacks-newest", f"{name}-has-mine", _whole(_lacks_newest), _all(meant, _UNFILTERED),
            f"{what} lacks the newest draft of the caller", ways=OFTEN)
        for name, meant, what in (
            ("my", _MY, "the collection my"),
            ("plain", _PLAIN, "a list without a collection"),
            ("mydrafts", _MY_DRAFTS, "the collection mydrafts"),
        )
    ),
    Row("mydrafts-lacks-updated", "mydrafts-has-mine",
        page(lambda items: [item for item in items if not _saved_again(item)]), _MY_DRAFTS,
        "the collection mydrafts lacks drafts that were saved again"),
    Row("mydrafts-empty", "mydrafts-has-mine", page(lambda _: []), _all(_MY_DRAFTS, _BARE),
        "the collection mydrafts is empty", "every-20"),
    Row("mydrafts-with-published", "mydrafts-without-published", _published(first=False),
        _all(_MY_DRAFTS, _UNORDERED, _UNFILTERED), "the collection mydrafts goes on with published records"),
    Row("with-published", "drafts-only", _published(first=True), _all(_UNFILTERED, _UNORDERED, _not(has("skip"))),
        "the list begins with published records"),
    *(
        Row(f"{name}-of-everybody", f"{name}-without-others", _reads(_drop("collection")), meant,
            f"the collection {name} holds the drafts of all accounts")
        for name, meant in (("my", _MY), ("mydrafts", _MY_DRAFTS))
    ),
    Row("updated-twice", "saved-twice",
        page(lambda items: items + [item for item in items if _saved_again(item)]), _BARE,
        "a draft that was saved again is listed twice"),
    *(
        Row(f"{name}-holds-deleted", "deleted-gone", deleted_stay, meant, f"{what} still holds deleted drafts")
        for name, meant, what in (
            ("collection", _all(_COLLECTION, _BARE), "a collection"),
            ("plain", _without_options, "the list without a collection"),
        )
    ),
)
#: The rows of the list of attachments alone, whose clauses are fewer.
_OF_ATTACHMENTS: Final[tuple[Row, ...]] = (
    *(row._replace(clause="orderby") for row in _ORDERS),
    *(row._replace(clause="malformed") for row in _MALFORMED[:3]),
    Row("empty-refused", "empty", _refused_if(lambda items, _: not items), _without_options,
        "a list without items is refused"),
    Row("of-all-documents", "own-only", _of_other_documents, None, "one attachment of another document stands, too"),
)
#: What may happen to the items of a list on their way out, and in words.
_ITEMS: Final[tuple[tuple[str, Callable[[Items], Items], str], ...]] = (
    ("first-lost", lambda items: items[1:], "the first item is missing"),
    ("last-lost", lambda items: items[:-1], "the last item is missing"),
    ("last-doubled", lambda items: items + items[-1:], "the last item stands twice"),
    ("emptied", lambda _: [], "no item stands"),
)
#: What an altered list breaks.
_LOST: Final = {
    "list-": ("mydrafts-has-mine", "pages-cover", "skip", "top-and-skip", "plain-has-mine"),
    "attachment-list-": ("pages-cover", "skip"),
}
_DOUBLED: Final = {
    "list-": ("pages-cover", "saved-twice", "top", "skip", "top-and-skip"),
    "attachment-list-": ("pages-cover", "top", "skip"),
}
_BESIDE: Final = {"list-": (), "attachment-list-": ("attachment-create-listed", "attachment-several")}
#: Operators and functions of a filter, as they stand in its text.
_WORDS: Final = (*(f" {word} " for word in ("eq", "ne", "gt", "lt", "ge", "le", "and", "or")), "not ", "contains(",
    "startswith(")


def list_faults() -> Iterator[Fault]:
    """The two lists."""
    for prefix, operation, title, rows in (
        ("list-", "listDrafts", "drafts", (*_IN_BOTH_LISTS, *_OF_DRAFTS)),
        ("attachment-list-", "listAttachments", "attachments", (*_IN_BOTH_LISTS, *_OF_ATTACHMENTS)),
    ):
        for name, clause, effect, where, says, when, ways in rows:
            yield row(prefix + name, prefix + clause, operation, effect, f"In the list of {title} {says}.", when,
                where=where, ways=ways)
        for name, change, says in _ITEMS:
            clauses = (_DOUBLED if "doubled" in name else _LOST)[prefix]
            beside = () if "doubled" in name else _BESIDE[prefix]
            yield row(prefix + name, (*(prefix + clause for clause in clauses), *beside), operation, page(change),
                f"In the list of {title} {says}.", ways=OFTEN)
        for word in _WORDS:
            meaning = tuple(f"{prefix}{clause}" for clause in ("filter-meaning", "filter-heeded", "filter"))
            yield row(f"{prefix}filter-with-{kebab(word.strip('( '))}-ignored", meaning, operation,
                _reads(_drop("filter")), f"In the list of {title} a filter with {word.strip('( ')} has no effect.",
                where=_like("filter", re.escape(word)))
    yield sized("list-long-loses-one", "list-pages-cover", "listDrafts",
        lambda n: _whole(lambda items, *_: items[: n - 1] + items[n:]),
        "Pages of a list of drafts lack item {}.", (_LONG, 2, _LONG), where=has("top"))
# fmt: on
