"""Faults of lists: items that are lost, doubled or stale, and options that are ignored or read wrongly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from contracts.sandbox.faults.effects import answer, edit, instead, mend, refuse_before, send
from contracts.sandbox.faults.fault import (
    SINGLE,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    items_of,
    kebab,
    row,
    with_items,
)

_LISTS: Final = Family("lists")
_OPTIONS: Final = Family("options")

Options = dict[str, str]
Items = list[Any]


def options(request: Request) -> Options:
    """The options of a list, without the dollar that they have in one of the two."""
    return {name.removeprefix("$"): value for name, value in request.query}


def number(given: Options, option: str) -> int | None:
    """The value of an option that is a number; None where it is absent or none."""
    value = given.get(option, "")
    return int(value) if value.isdigit() and len(value) < 10 else None


def asked(request: Request, changed: Options) -> Request:
    """The request with these options, and without those that are not among them."""
    dollar = "$" if request.operation.id == "listDrafts" else ""
    names = {option: option if option == "collection" else dollar + option for option in changed}
    return replace(request, query=tuple((names[option], value) for option, value in changed.items()))


def reads(change: Callable[[Options], Options], *, filled: bool = False) -> Inject:
    """Give what other options ask for, where the service takes those that are given.

    Args:
        filled: And gives items for them.
    """

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        answer = await below(request)
        if not answer.success or (filled and not items_of(answer.json)):
            return answer
        return await below(asked(request, change(options(request))))

    return effect


def drop(*names: str) -> Callable[[Options], Options]:
    """Take no notice of some options."""
    return lambda given: {name: value for name, value in given.items() if name not in names}


def count(name: str, change: Callable[[int], int]) -> Callable[[Options], Options]:
    """Read an option that is a number as another one, where it is one."""
    return lambda given: (
        given if number(given, name) is None else {**given, name: str(change(int(given[name])))}
    )


def text(name: str, pattern: str, becomes: str) -> Callable[[Options], Options]:
    """Read what a pattern finds in an expression as something else."""
    return lambda given: {**given, name: re.sub(pattern, becomes, given[name])} if name in given else given


Alter = Callable[[Items, Request, Memory], Items]


def whole(change: Alter) -> Inject:
    """Give a window of the whole list, changed."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        answer, given = await below(request), options(request)
        if not answer.success:
            return answer
        everything = items_of((await below(asked(request, drop("top", "skip")(given)))).json) or []
        top, skip = number(given, "top"), number(given, "skip") or 0
        window = change(everything, request, memory)[skip:]
        return with_items(answer, lambda _: window if top is None else window[:top])

    return effect


def page(change: Alter) -> Inject:
    """Change the items that are given."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        answer = await below(request)
        if not answer.success:
            return answer
        return with_items(answer, lambda items: change(items, request, memory))

    return effect


def has(*names: str, but: tuple[str, ...] = ()) -> Where:
    """Lists with some options and without others."""
    return lambda request, _: set(names) <= options(request).keys() and not set(but) & options(request).keys()


def like(name: str, pattern: str) -> Where:
    """Lists with an option in which a pattern is found."""
    return lambda request, _: re.search(pattern, options(request).get(name, "")) is not None


def _windows(test: Callable[[int | None, int], bool]) -> Where:
    """Lists of which top, or None, and skip pass a test."""
    return lambda request, _: test(number(options(request), "top"), number(options(request), "skip") or 0)


def both(*tests: Where) -> Where:
    """Lists that pass all of some tests."""
    return lambda request, memory: all(test(request, memory) for test in tests)


def neither(test: Where) -> Where:
    """Lists that do not pass a test."""
    return lambda request, memory: not test(request, memory)


_unchosen: Final = has(but=("collection", "filter", "orderby"))
_skip_alone: Final = both(_unchosen, _windows(lambda top, skip: top is None and skip > 0))
#: The second page or one after it, of several items: any other window is none of a series.
_later_page: Final = _windows(lambda top, skip: (top or 0) > 1 and skip > 0 and skip % (top or 1) == 0)
_bare_top: Final = both(_unchosen, has("top", but=("skip",)), _windows(lambda top, _: bool(top)))
_bare_filter: Final = has("filter", but=("top",))
_bare_order: Final = has("orderby", but=("top",))
_BOUNDED_FILTER: Final = has("filter", "top", but=("orderby", "skip"))
_falling: Final = like("orderby", r" desc\s*$")


def _asks(change: Callable[[Options], Options]) -> Inject:
    """Ask for other options."""
    return send(lambda request: asked(request, change(options(request))))


#: What may happen to the items of a list on their way out.
LIST_OPERATORS: Final[Mapping[str, Callable[[list[Any]], list[Any]]]] = MappingProxyType(
    {
        "first-lost": lambda items: items[1:],
        "last-lost": lambda items: items[:-1],
        "second-lost": lambda items: items[:1] + items[2:],
        "first-doubled": lambda items: items[:1] + items,
        "last-doubled": lambda items: items + items[-1:],
        "reversed": lambda items: items[::-1],
        "emptied": lambda _: [],
    }
)


async def deleted_stay(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Drafts that were deleted are still listed."""
    got = await below(request)
    listed = memory.items["listDrafts"].items()
    stale = [item for text, item in listed if any(uid in text for uid in memory.deleted)]
    remembered = stale or [{"identifier": uid} for uid in memory.deleted]
    return with_items(got, lambda items: [*remembered, *items]) if got.success else got


async def of_others_listed(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Drafts that other accounts saved are listed, too."""
    got = await below(request)
    sample = (items_of(got.json) or [{}])[0] if got.success else {}
    foreign = [
        {**sample, "identifier": uid}
        for (realm, uid), saved in memory.saved.items()
        if saved.role not in ("", request.role) and realm == request.realm
    ]
    return with_items(got, lambda items: [*foreign, *items]) if got.success and request.role else got


async def of_other_documents_listed(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Attachments of other documents are listed, too."""
    got = await below(request)
    own = items_of(got.json) or []
    texts = {json.dumps(item, sort_keys=True) for item in own}
    foreign = [item for text, item in memory.items["listAttachments"].items() if text not in texts]
    return with_items(got, lambda items: items + foreign[-1:]) if got.success else got


async def answered_as_before(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The answer is the one that the same request got before."""
    key = (request.operation.id, request.uid, request.query, request.role)
    got = await below(request)
    before: Answer = memory.kept.setdefault(key, got) if got.success else got
    return before


#: What an altered list of drafts or attachments breaks, by operator.
_LIST_CLAUSES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "listDrafts": {
            "lost": (
                *("list-mydrafts-has-mine", "list-pages-cover", "list-skip"),
                *("list-top-and-skip", "list-plain-has-mine"),
            ),
            "doubled": ("list-pages-cover", "list-saved-twice", "list-top", "list-skip", "list-top-and-skip"),
            "reversed": (
                *("list-skip", "list-top-and-skip", "list-pages-cover"),
                *("list-orderby", "list-orderby-falling"),
            ),
        },
        "listAttachments": {
            "lost": (
                *("attachment-create-listed", "attachment-list-pages-cover"),
                *("attachment-several", "attachment-list-skip"),
            ),
            "doubled": ("attachment-list-pages-cover", "attachment-list-top", "attachment-list-skip"),
            "reversed": ("attachment-list-skip", "attachment-list-pages-cover", "attachment-list-orderby"),
        },
    }
)
_FILTERS: Final = ("filter-heeded", "filter-meaning", "filter")
_ORDERS: Final = ("orderby-heeded", "orderby-meaning", "orderby-with-page", "orderby")
#: What breaks where an option of a list is ignored or read wrongly.
_OF_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "listDrafts": {
            "top": ("list-top", "list-pages-cover", "list-top-and-skip", "list-collection-with-top"),
            "skip": (
                *("list-skip", "list-skip-beyond", "list-pages-cover"),
                *("list-top-and-skip", "list-collection-with-skip"),
            ),
            "filter": (
                *(f"list-{name}" for name in _FILTERS),
                *("list-filter-with-top", "list-collection-with-filter"),
            ),
            "orderby": (*(f"list-{name}" for name in _ORDERS), "list-orderby-falling"),
            "collection": (
                *("list-my-without-others", "list-mydrafts-without-others"),
                "list-collection-unknown",
            ),
        },
        "listAttachments": {
            "top": ("attachment-list-top", "attachment-list-pages-cover"),
            "skip": ("attachment-list-skip", "attachment-list-skip-beyond", "attachment-list-pages-cover"),
            "filter": tuple(f"attachment-list-{name}" for name in _FILTERS),
            "orderby": tuple(f"attachment-list-{name}" for name in _ORDERS),
        },
    }
)


def _full(change: Callable[[Items], Items]) -> Alter:
    """Change the items of a page that holds as many as it may."""
    return lambda items, request, _: change(items) if len(items) == number(options(request), "top") else items


def _any(change: Callable[[Items], Items]) -> Alter:
    return lambda items, *_: change(items)


def list_faults() -> Iterator[Fault]:
    """Items of a list, lost, doubled, or there although they must not be."""
    for operation, clauses in _LIST_CLAUSES.items():
        conditions = SINGLE if operation == "listDrafts" else SINGLE[:1]
        for operator, change in LIST_OPERATORS.items():
            kind = next((kind for kind in clauses if kind in operator), "lost")
            for option in ("filter", "orderby", "skip"):
                if operator == "reversed" and option == "filter":
                    continue  # the order of a list without an ordering expression is not shown
                broken = clauses[kind] if option == "skip" else _OF_OPTIONS[operation][option]
                name, act = f"{operator}-with-{option}", page(_any(change))
                yield from _LISTS.faults(operation, name, broken, act, conditions, where=has(option))
            if operator != "reversed":
                for end, act in (("", page(_any(change))), ("-of-full-page", page(_full(change)))):
                    yield from _LISTS.faults(operation, operator + end, clauses[kind], act, conditions)
        yield from _LISTS.faults(
            operation,
            "stale",
            (*clauses["lost"], *(["list-deleted-gone"] if operation == "listDrafts" else [])),
            answered_as_before,
            ("from-second-time", "every-third"),
        )
    others = ("list-my-without-others", "list-mydrafts-without-others")
    for end, deleted, foreign in (
        ("", None, like("collection", "^$")),
        ("-in-my", like("collection", "^my$"), like("collection", "^my$")),
        ("-in-mydrafts", like("collection", "^mydrafts$"), like("collection", "^mydrafts$")),
    ):
        gone = ("list-deleted-gone",)
        also = "" if end else "list-holds-deleted"
        yield from _LISTS.faults(
            "listDrafts", f"deleted-stay-listed{end}", gone, deleted_stay, where=deleted, also=also
        )
        yield from _LISTS.faults(
            "listDrafts", f"of-others-listed{end}", others, of_others_listed, where=foreign
        )
    yield from _LISTS.faults(
        "listAttachments",
        "of-other-documents-listed",
        ("attachment-list-own-only",),
        of_other_documents_listed,
        ("always", "every-third"),
        also="attachment-list-of-all-documents",
    )


#: Operators and functions of a filter, as they stand in its text.
_FILTER_WORDS: Final = (
    *(f" {word} " for word in ("eq", "ne", "gt", "lt", "ge", "le", "and", "or")),
    *("not ", "contains(", "startswith("),
)


def option_faults() -> Iterator[Fault]:
    """Each option of a list ignored, or read wrongly, by itself and in company."""
    for operation, table in _OF_OPTIONS.items():
        for option, clauses in table.items():
            for company in ("", *(other for other in table if other != option)):
                name = f"{option}-ignored{'-beside-' if company else ''}{company}"
                beside = has(option, *filter(None, (company,)))
                yield from _OPTIONS.faults(operation, name, clauses, _asks(drop(option)), where=beside)
        for option, name, shift in (
            *((option, f"{option}-off-by-plus-one", lambda n: n + 1) for option in ("top", "skip")),
            *((option, f"{option}-off-by-minus-one", lambda n: max(0, n - 1)) for option in ("top", "skip")),
        ):
            shifted = _asks(count(option, shift))
            yield from _OPTIONS.faults(operation, name, table[option], shifted)
        yield from _OPTIONS.faults(
            operation, "skip-counts-pages", table["skip"], _asks(_pages_skipped), where=has("top", "skip")
        )
        for word in _FILTER_WORDS:
            name, holds = f"filter-with-{kebab(word.strip('( '))}-ignored", like("filter", re.escape(word))
            yield from _OPTIONS.faults(operation, name, table["filter"], _asks(drop("filter")), where=holds)
        rises = _asks(text("orderby", " desc", ""))
        yield from _OPTIONS.faults(operation, "desc-ignored", table["orderby"], rises)


def _pages_skipped(given: Options) -> Options:
    """The number of skipped items counts pages."""
    size, pages = number(given, "top"), number(given, "skip")
    return given if size is None or pages is None else {**given, "skip": str(pages * max(1, size))}


def _refused_if(test: Callable[[Items, Options], bool]) -> Inject:
    """Refuse lists whose items and options pass a test."""
    refusal = answer_json(400, {"message": "there are not so many items"})

    def changed(request: Request, got: Answer) -> Answer:
        items = items_of(got.json) if got.success else None
        return refusal if items is not None and test(items, options(request)) else got

    return answer(changed)


async def _ordered_after_page(request: Request, below: Below, _: Memory) -> Answer | None:
    """An order applies to the items of a page after they were chosen."""
    answer, given = await below(request), options(request)
    chosen = items_of((await below(asked(request, drop("orderby")(given)))).json) or []
    ordered = items_of((await below(asked(request, drop("top", "skip")(given)))).json) or []
    return (
        with_items(answer, lambda _: [item for item in ordered if item in chosen])
        if answer.success
        else answer
    )


async def _filtered_after_page(request: Request, below: Below, _: Memory) -> Answer | None:
    """A bound is applied before a filter, so that matches beyond the page are lost."""
    answer, given = await below(request), options(request)
    chosen = items_of((await below(asked(request, drop("filter")(given)))).json) or []
    matching = items_of((await below(asked(request, drop("top", "skip")(given)))).json) or []
    return (
        with_items(answer, lambda _: [item for item in chosen if item in matching])
        if answer.success
        else answer
    )


async def _last_item_beyond(request: Request, below: Below, _: Memory) -> Answer | None:
    """A skip beyond the end gives the last item."""
    answer = await below(request)
    if not answer.success or items_of(answer.json):
        return answer
    everything = items_of((await below(asked(request, drop("skip")(options(request))))).json) or []
    return with_items(answer, lambda _: everything[-1:])


class Row(NamedTuple):
    """A row of one list or of both: its name and clause lack their beginning, its sentence the list."""

    name: str
    clause: str
    effect: Inject
    where: Where
    says: str
    when: str = "always"


#: From how many items on a list is long.
_LONG: Final = 16
# fmt: off
#: The rows of both lists.
_IN_BOTH_LISTS: Final[tuple[Row, ...]] = (
    Row("filter-ignored", "filter-heeded", reads(drop("filter")), _bare_filter, "a filter has no effect"),
    Row("filter-loses-match", "filter", page(lambda i, *_: i[1:]), _bare_filter,
        "a filter loses its first match"),
    Row("filter-refuses-apostrophe", "filter", refuse_before(), like("filter", "''"),
        "a filter is refused when it holds an apostrophe"),
    Row("filter-refuses-ampersand", "filter", refuse_before(), like("filter", "&"),
        "a filter is refused when it holds an ampersand"),
    Row("order-ignored", "orderby-heeded", reads(drop("orderby")), _bare_order, "an order has no effect"),
    Row("asc-falls", "orderby-meaning", reads(text("orderby", r" asc\s*$", " desc")), has("orderby"),
        "the word asc gives a falling order"),
    Row("order-after-page", "orderby-with-page", _ordered_after_page, has("orderby", "top"),
        "an order applies to a page after it was chosen"),
    Row("ge-leaves-out-equals", "filter-meaning", reads(text("filter", r"\bge\b", "gt")), has("filter"),
        "ge is read as gt"),
    Row("not-ignored", "filter-meaning", reads(text("filter", r"\bnot \(", "(")), has("filter"),
        "not has no effect"),
    Row("or-of-the-first-two", "filter-meaning",
        reads(text("filter", r"^([^()]+? or [^()]+?) or .*$", r"\1")), has("filter"),
        "of conditions joined by or only the first two count"),
    Row("or-binds-like-and", "filter-meaning",
        reads(text("filter", r"\(([^()]+ or [^()]+) and ([^()]+)\)", r"((\1) and \2)")), has("filter"),
        "or and and are read from the left"),
    Row("startswith-within", "filter-meaning", reads(text("filter", r"\bstartswith\(", "contains(")),
        has("filter"), "startswith finds a text in the middle too"),
    Row("filter-lost-with-order", "filter-meaning", reads(drop("filter")), has("filter", "orderby"),
        "a filter has no effect beside an order"),
    Row("order-lost-with-top", "orderby-meaning", reads(drop("orderby")), has("orderby", "top"),
        "an order has no effect beside a bound"),
    Row("top-ignored", "top", reads(drop("top")), _bare_top, "top is ignored where no other option stands"),
    Row("top-one-more", "top", reads(count("top", lambda n: n + 1)), _bare_top,
        "top alone gives one item more"),
    Row("top-at-least-five", "top", reads(count("top", lambda n: max(n, 5))), _bare_top,
        "a top from one to four alone gives up to five items"),
    Row("skip-ignored", "skip", reads(drop("skip"), filled=True), _skip_alone,
        "skip without top leaves nothing out"),
    Row("skip-one-less", "skip", reads(count("skip", lambda n: n - 1), filled=True), _skip_alone,
        "skip without top leaves out one item less"),
    Row("skip-one-more", "skip", reads(count("skip", lambda n: n + 1)), _skip_alone,
        "skip without top leaves out one item more"),
    Row("skip-beyond-last-item", "skip-beyond", _last_item_beyond,
        _windows(lambda top, skip: top is None and skip > 0), "a skip beyond the end gives the last item"),
    Row("skip-beyond-refused", "skip-beyond-empty",
        _refused_if(lambda items, given: not items and given.get("top") != "0"),
        _windows(lambda _, skip: skip > 0), "a skip beyond the end is refused"),
    Row("edge-repeated", "pages-cover", reads(count("skip", lambda n: n - 1)), _later_page,
        "a page begins with the last item of the page before"),
    Row("edge-lost", "pages-cover", reads(count("skip", lambda n: n + 1)), _later_page,
        "the item that follows a page is on no page"),
    Row("order-turns", "pages-cover", whole(lambda items, *_: items[::-1]),
        both(_later_page, neither(has("orderby"))),
        "from the second page on items are taken in falling order"),
    Row("top-zero-is-all", "top-zero", reads(drop("top")), like("top", "^0$"),
        "a top of zero gives all items"),
)
# fmt: on


def _forgiven(name: str) -> Inject:
    """Take a list that is refused as if an option had not been given."""
    return mend(lambda request: asked(request, drop(name)(options(request))))


def _without_options(request: Request, _: Memory) -> bool:
    return not request.query


def _bare(request: Request, _: Memory) -> bool:
    """Lists without an option beside a collection."""
    return not options(request).keys() - {"collection"}


_NO_NUMBER: Final = r"^(?!-?[0-9]+$)"
_COLLECTION: Final = has("collection")
_PLAIN: Final = neither(_COLLECTION)
_MY: Final = like("collection", "^my$")
_MY_DRAFTS: Final = like("collection", "^mydrafts$")
_UNFILTERED: Final = neither(has("filter"))


def _lacks_newest(items: Items, request: Request, memory: Memory) -> Items:
    own = [
        uid
        for (realm, uid), saved in memory.saved.items()
        if (realm, saved.role) == (request.realm, request.role)
    ]
    return [item for item in items if item.get("identifier") not in own[-1:]]


def _saved_again(item: Any) -> bool:
    return bool(item["createdOn"] != item["updatedOn"])


def _published(first: bool) -> Inject:
    """List published records of the author that have no draft, before all drafts or after them."""

    def added(items: Items, request: Request, _: Memory) -> Items:
        names = [f"sandbox-{kind}-{request.realm}" for kind in ("existing", "published")]
        listed = {item.get("identifier") for item in items}
        more = [{**items[0], "identifier": name} for name in names if name not in listed] if items else []
        return [*more, *items] if first else [*items, *more]

    return whole(added)


_TOP_AMPLE: Final = _refused_if(lambda items, given: len(items) < int(given["top"]))
_AMPLE: Final = both(_UNFILTERED, _windows(lambda top, skip: top is not None and skip == 0))
# fmt: off
#: The rows of the list of drafts alone.
_OF_DRAFTS: Final[tuple[Row, ...]] = (
    Row("rising-falls", "orderby", reads(text("orderby", r"^(.*?)(asc)?\s*$", r"\1 desc")),
        both(_bare_order, neither(_falling)), "a rising order falls"),
    Row("falling-rises", "orderby-falling", reads(text("orderby", r" desc\s*$", "")),
        both(_bare_order, _falling), "a falling order rises"),
    Row("second-key-ignored", "orderby-meaning", reads(text("orderby", ",.*$", "")), has("orderby"),
        "the first key of an order counts"),
    Row("doubled-quote-kept", "filter-meaning", reads(text("filter", "'" * 2, "'" * 4)), has("filter"),
        "a doubled quote stands for two"),
    Row("tolower-changes-nothing", "filter-meaning", reads(text("filter", r"tolower\(([^()]*)\)", r"\1")),
        has("filter"), "tolower changes nothing"),
    Row("long-filter-ignored", "filter-meaning", reads(drop("filter")), like("filter", ".{201}"),
        "a filter above 200 characters has no effect"),
    Row("filter-refuses-other-script", "filter", refuse_before(), like("filter", r"[^\x00-\x7f]"),
        "a filter is refused when it holds a letter beyond ASCII"),
    Row("filter-ignored-without-collection", "filter-meaning", reads(drop("filter")),
        both(_bare_filter, _PLAIN), "a filter counts in a collection alone"),
    Row("filter-after-page", "filter-with-top", _filtered_after_page, _BOUNDED_FILTER,
        "a bound is applied before a filter"),
    Row("filter-without-top", "filter-with-top", reads(drop("top")), _BOUNDED_FILTER,
        "a bound has no effect beside a filter"),
    Row("malformed-filter-ignored", "filter-malformed", _forgiven("filter"), has("filter"),
        "a filter that is no expression is ignored"),
    Row("malformed-order-ignored", "orderby-malformed", _forgiven("orderby"), has("orderby"),
        "an order that is no expression is ignored"),
    Row("top-no-number-ignored", "number-malformed", _forgiven("top"),
        both(has("top"), like("top", _NO_NUMBER)), "a top that is no number is ignored"),
    Row("skip-no-number-ignored", "number-malformed", _forgiven("skip"),
        both(has("skip"), like("skip", _NO_NUMBER)), "a skip that is no number is ignored"),
    Row("skip-far-one-more", "pages-cover", reads(count("skip", lambda n: n + 1)),
        _windows(lambda _, skip: skip >= _LONG), "a skip of sixteen and more leaves out one item more"),
    Row("long-loses-one", "pages-cover", whole(lambda items, *_: items[: _LONG - 1] + items[_LONG:]),
        has("top"), "pages of a list of sixteen and more lack the sixteenth item"),
    Row("skip-counts-pages", "top-and-skip",
        reads(_pages_skipped),
        _windows(lambda top, skip: bool(top) and skip > 0), "skip counts pages beside a bound"),
    Row("top-before-skip", "top-and-skip",
        reads(lambda given: {**given, "top": str(max(0, int(given["top"]) - int(given["skip"])))}),
        _windows(lambda top, skip: bool(top) and skip > 0), "a bound is applied before skip"),
    Row("collection-top-ignored", "collection-with-top", reads(drop("top")), has("collection", "top"),
        "a bound has no effect in a collection"),
    Row("collection-skip-ignored", "collection-with-skip", reads(drop("skip")), has("collection", "skip"),
        "skip has no effect in a collection"),
    Row("collection-after-page", "collection-with-skip", reads(count("skip", lambda n: 2 * n)),
        has("collection", "skip"), "skip leaves out twice as many items of a collection"),
    Row("collection-lost-with-filter", "collection-with-filter", reads(drop("collection")),
        has("collection", "filter"), "a collection has no effect beside a filter"),
    Row("top-ample-refused", "top-ample", _TOP_AMPLE, both(_PLAIN, _AMPLE),
        "a bound above the number of drafts is refused"),
    Row("collection-top-ample-refused", "top-ample", _TOP_AMPLE, both(_COLLECTION, _AMPLE),
        "a bound above the number of drafts of a collection is refused"),
    Row("skip-zero-is-one", "skip-zero", reads(count("skip", lambda _: 1)),
        both(like("skip", "^0$"), neither(has("top"))), "a skip of zero leaves out one item"),
    Row("any-collection", "collection-unknown", _forgiven("collection"),
        like("collection", "^(?!(my|mydrafts)$)"), "any other collection is ignored"),
    Row("needs-collection", "answers", refuse_before(), _PLAIN, "a list without a collection is refused"),
    Row("refused-without-options", "answers", refuse_before(), _without_options,
        "a list without any option is refused", "in-bch-dev"),
    Row("gives-a-count", "answers", edit(lambda items: {"count": len(items)}), _without_options,
        "a list without any option is just a number"),
    Row("my-refused", "my-answers", refuse_before(), _MY, "the collection my is refused as unknown"),
    Row("my-without-body", "my-has-mine", instead(Answer(204)), _MY,
        "the collection my is answered without a body"),
    Row("my-lacks-newest", "my-has-mine", whole(_lacks_newest), both(_MY, _UNFILTERED),
        "the collection my lacks the newest draft of the caller"),
    Row("plain-lacks-newest", "plain-has-mine", whole(_lacks_newest), both(_PLAIN, _UNFILTERED),
        "a list without a collection lacks the newest draft of the caller"),
    *(
        Row("mydrafts-lacks-newest", "mydrafts-has-mine", whole(_lacks_newest), both(_MY_DRAFTS, _UNFILTERED),
            "the collection mydrafts lacks the newest draft of the caller", when)
        for when in ("always", "in-chm-dev")
    ),
    Row("mydrafts-lacks-updated", "mydrafts-has-mine",
        page(lambda items, *_: [item for item in items if not _saved_again(item)]), _MY_DRAFTS,
        "the collection mydrafts lacks drafts that were saved again"),
    Row("mydrafts-empty", "mydrafts-has-mine", page(lambda *_: []), both(_MY_DRAFTS, _bare),
        "the collection mydrafts is empty", "one-in-twenty"),
    Row("mydrafts-with-published", "mydrafts-without-published", _published(first=False),
        both(_MY_DRAFTS, neither(has("orderby")), _UNFILTERED),
        "the collection mydrafts goes on with published records"),
    Row("with-published", "drafts-only", _published(first=True),
        both(_UNFILTERED, neither(has("orderby")), neither(has("skip"))),
        "the list begins with published records"),
    *(
        Row(f"{name}-of-everybody", f"{name}-without-others", reads(drop("collection")), meant,
            f"the collection {name} holds the drafts of all accounts", when)
        for name, meant, when in (
            ("my", _MY, "always"),
            ("my", _MY, "in-bch-dev"),
            ("mydrafts", _MY_DRAFTS, "always"),
        )
    ),
    Row("updated-twice", "saved-twice",
        page(lambda items, *_: items + [item for item in items if _saved_again(item)]), _bare,
        "a draft that was saved again is listed twice"),
    *(
        Row(f"{name}-holds-deleted", "deleted-gone", deleted_stay, meant,
            f"{what} still holds deleted drafts")
        for name, meant, what in (
            ("collection", both(_COLLECTION, _bare), "a collection"),
            ("plain", _without_options, "the list without a collection"),
        )
    ),
)
# fmt: on
#: The rows of the list of attachments alone, whose clauses are fewer.
_OF_ATTACHMENTS: Final[tuple[Row, ...]] = (
    *(row._replace(clause="orderby") for row in _OF_DRAFTS if row.name in ("rising-falls", "falling-rises")),
    *(
        row._replace(clause="malformed")
        for row in _OF_DRAFTS
        if row.name in ("malformed-filter-ignored", "malformed-order-ignored", "top-no-number-ignored")
    ),
    Row(
        "empty-refused",
        "empty",
        _refused_if(lambda items, _: not items),
        _without_options,
        "a list without items is refused",
    ),
)


def list_rows() -> Iterator[Fault]:
    """Each clause of the two lists, broken alone."""
    for prefix, operation, title, rows in (
        ("list-", "listDrafts", "drafts", (*_IN_BOTH_LISTS, *_OF_DRAFTS)),
        ("attachment-list-", "listAttachments", "attachments", (*_IN_BOTH_LISTS, *_OF_ATTACHMENTS)),
    ):
        for name, clause, effect, where, says, when in rows:
            yield row(
                prefix + name,
                prefix + clause,
                operation,
                effect,
                f"In the list of {title} {says}.",
                when,
                where=where,
            )
