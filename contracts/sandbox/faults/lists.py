"""Faults of lists: items that are lost, doubled or stale, and options that are ignored or read wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_LISTS, OFTEN, Range
from contracts.sandbox.faults.fault import Fault, Rows, Sized
from contracts.sandbox.faults.messages import Answer, Inject, Request

Options = dict[str, str]
Items = list[Any]
Read = Callable[[Options], Options]


def _number(given: Options, option: str) -> int | None:
    """The value of an option that is a number; None where it is absent or none."""
    value = given.get(option, "")
    return int(value) if value.isdigit() and len(value) < 10 else None


def _asked(request: Request, change: Read) -> Request:
    """The request with other options."""
    dollar = "$" if request.operation.id == "listDrafts" else ""
    changed = change(request.options).items()
    return replace(request, query=tuple((k if k == "collection" else dollar + k, v) for k, v in changed))


@do.effect
async def _reads(request: Request, change: Read, *, filled: bool = False) -> Answer | None:
    """Give what other options ask for, where the service takes those that are given, and if `filled`, gives items."""
    got = await request.ask()
    return await request.ask(_asked(request, change)) if got.success and (got.items or not filled) else got


def _drop(*names: str) -> Read:
    return lambda given: {name: value for name, value in given.items() if name not in names}


def _lost(name: str) -> Inject:
    """Take no notice of an option."""
    return _reads(_drop(name))


def _count(name: str, change: Callable[[int], int], *, filled: bool = False) -> Inject:
    """Read an option that is a number as another one, where it is one."""

    def read(given: Options) -> Options:
        number = _number(given, name)
        return given if number is None else {**given, name: str(max(0, change(number)))}

    return _reads(read, filled=filled)


def _pages_skipped(given: Options) -> Options:
    size, pages = _number(given, "top"), _number(given, "skip")
    return given if size is None or pages is None else {**given, "skip": str(pages * size)}


def _text(name: str, pattern: str, becomes: str) -> Inject:
    """Read what a pattern finds in an expression as something else."""
    return _reads(
        lambda given: given | {name: re.sub(pattern, becomes, given[name])} if name in given else given
    )


@do.effect
async def _whole(request: Request, change: Callable[[Items, Request], Items]) -> Answer | None:
    """Give a window of the whole list, changed."""
    given, got = request.options, await request.ask()
    everything = await request.ask(_asked(request, _drop("top", "skip"))) if got.success else got
    items = change(everything.items, request)[_number(given, "skip") or 0 :]
    return got.with_items(lambda _: items[: _number(given, "top")])


@do.effect
async def _composed(request: Request, one: tuple[str, ...], other: tuple[str, ...]) -> Answer | None:
    """Give the items of a list that is asked for without some options, of those in a list without others."""
    first, second = [(await request.ask(_asked(request, _drop(*names)))).items for names in (one, other)]
    return (await request.ask()).with_items(lambda _: [item for item in first if item in second])


def _page(change: Callable[[Items], Items]) -> Inject:
    """Change the items that are given."""
    return do.answer(lambda _, got: got.with_items(change))


def _refused_if(test: Callable[[Items, Options], bool]) -> Inject:
    """Refuse lists whose items and options pass a test."""
    return do.answer(lambda r, got: do.REFUSED if got.success and test(got.items, r.options) else got)


def _forgiven(name: str) -> Inject:
    """Take a list that is refused as if an option had not been given."""
    return do.mend(lambda request: _asked(request, _drop(name)))


async def _last_item_beyond(request: Request, got: Answer) -> Answer:
    everything = (await request.ask(_asked(request, _drop("skip")))).items
    return got.with_items(lambda items: items or everything[-1:])


def _deleted_stay(request: Request, got: Answer) -> Answer:
    memory = request.memory
    listed = memory.items["listDrafts"].items()
    stale = [item for text, item in listed if any(uid in text for uid in memory.deleted)]
    remembered = stale or [{"identifier": uid} for uid in memory.deleted]
    return got.with_items(lambda items: [*remembered, *items])


def _of_other_documents(request: Request, got: Answer) -> Answer:
    listed = request.memory.items["listAttachments"].values()
    return got.with_items(lambda items: items + [item for item in listed if item not in items][-1:])


def _lacks_newest(items: Items, request: Request) -> Items:
    here = (request.realm, request.role)
    own = [uid for (realm, uid), saved in request.memory.saved.items() if (realm, saved.role) == here]
    return [item for item in items if item.get("identifier") not in own[-1:]]


def _saved_again(item: Any) -> bool:
    return bool(item["createdOn"] != item["updatedOn"])


def _published(items: Items, request: Request) -> Items:
    """Published records of the author that have no draft, as items."""
    names = [f"sandbox-{kind}-{request.realm}" for kind in ("existing", "published")]
    listed = {item.get("identifier") for item in items}
    return [{**items[0], "identifier": name} for name in names if name not in listed] if items else []


def _later_page(request: Request) -> bool:
    """The second page or one after it, of several items: any other window is none of a series."""
    given = request.options
    top, skip = _number(given, "top") or 0, _number(given, "skip") or 0
    return top > 1 and skip > 0 and skip % top == 0 and "orderby" not in given


_POSITIVE: Final = r"^0*[1-9]\d*$"
_BARE, _ALONE = "-filter -orderby -top -skip", "-top -collection -filter -orderby"
_BARE_TOP: Final = f"top~{_POSITIVE} -skip -collection -filter -orderby"
_FALLING: Final = r"orderby~\sdesc\s*$"
_MY, _MY_DRAFTS = "collection~^my$", "collection~^mydrafts$"
_DRAFTS = Rows("list-", "list-", "listDrafts", "In the list of drafts {}.")
_FILES = Rows("attachment-list-", "attachment-list-", "listAttachments", "In the list of attachments {}.")


# fmt: off
#: What a list breaks that lacks an item, and one that gives an item twice.
_SHOWN: Final = {
    "list-": ("list-mydrafts-has-mine", "list-pages-cover", "list-skip", "list-top-and-skip",
        "list-plain-has-mine"),
    "attachment-list-": ("attachment-list-pages-cover", "attachment-list-skip", "attachment-create-listed",
        "attachment-several"),
}
_DOUBLED: Final = {
    "list-": ("list-pages-cover", "list-saved-twice", "list-top", "list-skip", "list-top-and-skip"),
    "attachment-list-": ("attachment-list-pages-cover", "attachment-list-top", "attachment-list-skip"),
}


def _of_both(of: Rows, falling: str, malformed: str) -> tuple[Fault, ...]:
    """The rows of either list; clauses on a falling order and on faulty options are fewer where files are listed."""
    return (
        of("filter-ignored", "filter-heeded", _lost("filter"), "a filter has no effect", "filter -top"),
        of("filter-loses-match", "filter", _page(lambda items: items[1:]), "a filter loses a match", "filter -top"),
        of("filter-refuses-apostrophe", "filter", do.refuse_before(), "a filter is refused when it holds an apostrophe",
            "filter~''"),
        of("order-ignored", "orderby-heeded", _lost("orderby"), "an order has no effect", "orderby -top"),
        of("asc-falls", "orderby-meaning", _text("orderby", r" asc\s*$", " desc"), "the word asc gives a falling order",
            "orderby"),
        of("order-after-page", "orderby-with-page", _composed(("top", "skip"), ("orderby",)),
            "an order applies to a page after it was chosen", "orderby top"),
        *(
            of(name, "filter-meaning", _text("filter", pattern, becomes), says, "filter")
            for name, pattern, becomes, says in (
                ("ge-leaves-out-equals", r"\bge\b", "gt", "ge is read as gt"),
                ("not-ignored", r"\bnot \(", "(", "not has no effect"),
                ("or-of-the-first-two", r"^([^()]+? or [^()]+?) or .*$", r"\1", "the last of three conditions is lost"),
                ("or-binds-like-and", r"\(([^()]+ or [^()]+) and ([^()]+)\)", r"((\1) and \2)", "or binds like and"),
                ("startswith-within", r"\bstartswith\(", "contains(", "startswith finds a text in the middle too"),
            )
        ),
        of("filter-lost-with-order", "filter-meaning", _lost("filter"), "a filter has no effect beside an order",
            "filter orderby"),
        of("order-lost-with-top", "orderby-meaning", _lost("orderby"), "an order has no effect beside a bound",
            "orderby top"),
        of("top-ignored", "top", _lost("top"), "top is ignored where no other option stands", _BARE_TOP),
        of("top-one-more", "top", _count("top", lambda n: n + 1), "top alone gives one item more", _BARE_TOP),
        of("top-at-least", "top", Sized(lambda n: _count("top", lambda top: max(top, n)), 5, Range(2, 5, 60)),
            "a top alone gives up to {} items", _BARE_TOP),
        of("skip-ignored", "skip", _count("skip", lambda _: 0, filled=True), "skip without top leaves nothing out",
            f"skip~{_POSITIVE} {_ALONE}"),
        of("skip-beyond-last-item", "skip-beyond", do.answer(_last_item_beyond),
            "a skip beyond the end gives the last item", rf"skip~{_POSITIVE} -top"),
        of("skip-beyond-refused", "skip-beyond-empty", _refused_if(lambda items, _: not items),
            "a skip beyond the end is refused", rf"skip~{_POSITIVE} -top~^0+$"),
        of("edge-lost", "pages-cover", _count("skip", lambda n: n + 1), "the item that follows a page is on no page",
            _later_page, ways=OF_LISTS),
        of("order-turns", "pages-cover", _whole(lambda items, _: items[::-1]),
            "from the second page on items are taken in falling order", _later_page, ways=OF_LISTS),
        of("top-zero-is-all", "top-zero", _lost("top"), "a top of zero gives all items", "top~^0$"),
        of("rising-falls", "orderby", _text("orderby", r"^(.*?)(asc)?\s*$", r"\1 desc"), "a rising order falls",
            f"orderby -{_FALLING} -top"),
        of("falling-rises", falling, _text("orderby", r" desc\s*$", ""), "a falling order rises", f"{_FALLING} -top"),
        of("malformed-filter-ignored", malformed.format("filter"), _forgiven("filter"),
            "a filter that is no expression is ignored", "filter"),
        of("malformed-order-ignored", malformed.format("orderby"), _forgiven("orderby"),
            "an order that is no expression is ignored", "orderby"),
        of("top-no-number-ignored", malformed.format("number"), _forgiven("top"), "a top that is no number is ignored",
            r"top -top~^-?[0-9]+$"),
        *(
            replace(of, clause="")(name, (_DOUBLED if "doubled" in name else _SHOWN)[of.name], _page(change), says,
                ways=OFTEN)
            for name, change, says in (
                ("first-lost", lambda items: items[1:], "the first item is missing"),
                ("last-lost", lambda items: items[:-1], "the last item is missing"),
                ("last-doubled", lambda items: items + items[-1:], "the last item stands twice"),
                ("emptied", lambda _: [], "no item stands"),
            )
        ),
        *(
            of(f"filter-with-{plain}-ignored", ("filter-meaning", "filter-heeded", "filter"), _lost("filter"),
                f"a filter with {plain} has no effect", f"filter~{pattern}")
            for plain, pattern in (
                *((word, rf"\s{word}\s") for word in ("eq", "ne", "gt", "lt", "ge", "le", "and", "or")),
                ("not", r"not\s"), ("contains", r"contains\("), ("startswith", r"startswith\("),
            )
        ),
    )


#: Items that are lost, doubled or stale, and options that are ignored or read wrongly.
LISTS: Final[tuple[Fault, ...]] = (
    *_of_both(_DRAFTS, "orderby-falling", "{}-malformed"),
    *_of_both(_FILES, "orderby", "malformed"),
    _DRAFTS("skip-no-number-ignored", "number-malformed", _forgiven("skip"),
        "a skip that is no number is ignored", r"skip -skip~^-?[0-9]+$"),
    _DRAFTS("second-key-ignored", "orderby-meaning", _text("orderby", ",.*$", ""), "the first key of an order counts",
        "orderby"),
    _DRAFTS("doubled-quote-kept", "filter-meaning", _text("filter", "'" * 2, "'" * 4), "a doubled quote stands for two",
        "filter"),
    _DRAFTS("tolower-changes-nothing", "filter-meaning", _text("filter", r"tolower\(([^()]*)\)", r"\1"),
        "tolower changes nothing", "filter"),
    _DRAFTS("long-filter-ignored", "filter-meaning", _lost("filter"), "a filter above 200 characters has no effect",
        "filter~.{201}"),
    _DRAFTS("long-loses-one", "pages-cover",
        Sized(lambda n: _whole(lambda items, _: items[: n - 1] + items[n:]), 16, Range(2, 16, 60)),
        "pages lack item {}", "top"),
    _DRAFTS("filter-ignored-without-collection", "filter-meaning", _lost("filter"),
        "a filter counts in a collection alone", "filter -top -collection"),
    _DRAFTS("filter-after-page", "filter-with-top", _composed(("filter",), ("top", "skip")),
        "a bound is applied before a filter", "filter top -orderby -skip"),
    _DRAFTS("skip-counts-pages", "top-and-skip", _reads(_pages_skipped), "skip counts pages beside a bound",
        f"top~{_POSITIVE} skip~{_POSITIVE}"),
    _DRAFTS("collection-top-ignored", "collection-with-top", _lost("top"), "a bound has no effect in a collection",
        "collection top"),
    _DRAFTS("collection-skip-ignored", "collection-with-skip", _lost("skip"), "skip has no effect in a collection",
        "collection skip"),
    _DRAFTS("collection-lost-with-filter", "collection-with-filter", _lost("collection"),
        "a collection has no effect beside a filter", "collection filter"),
    _DRAFTS("top-ample-refused", "top-ample", _refused_if(lambda items, given: len(items) < int(given["top"])),
        "a bound above the number of drafts is refused", r"top~^\d+$ -collection -filter -skip"),
    _DRAFTS("skip-zero-is-one", "skip-zero", _count("skip", lambda _: 1), "a skip of zero leaves out one item",
        "skip~^0$ -top"),
    _DRAFTS("any-collection", "collection-unknown", _forgiven("collection"), "any other collection is ignored",
        f"collection -{_MY} -{_MY_DRAFTS}"),
    _DRAFTS("needs-collection", "answers", do.refuse_before(), "a list without a collection is refused", "-collection"),
    _DRAFTS("my-refused", "my-answers", do.refuse_before(), "the collection my is refused as unknown", _MY),
    *(
        _DRAFTS(f"{name}-lacks-newest", f"{name}-has-mine", _whole(_lacks_newest),
            f"{what} lacks the newest draft of the caller", f"{lists} -filter", ways=OFTEN)
        for name, lists, what in (
            ("my", _MY, "the collection my"),
            ("plain", "-collection", "a list without a collection"),
            ("mydrafts", _MY_DRAFTS, "the collection mydrafts"),
        )
    ),
    _DRAFTS("mydrafts-lacks-updated", "mydrafts-has-mine",
        _page(lambda items: [i for i in items if not _saved_again(i)]),
        "the collection mydrafts lacks drafts that were saved again", _MY_DRAFTS),
    _DRAFTS("mydrafts-with-published", "mydrafts-without-published",
        _whole(lambda items, r: [*items, *_published(items, r)]),
        "the collection mydrafts goes on with published records", f"{_MY_DRAFTS} -orderby -filter"),
    _DRAFTS("with-published", "drafts-only", _whole(lambda items, r: [*_published(items, r), *items]),
        "the list begins with published records", "-filter -orderby -skip"),
    *(
        _DRAFTS(f"{name}-of-everybody", f"{name}-without-others", _lost("collection"),
            f"the collection {name} holds the drafts of all accounts", f"collection~^{name}$")
        for name in ("my", "mydrafts")
    ),
    _DRAFTS("updated-twice", "saved-twice", _page(lambda items: items + [i for i in items if _saved_again(i)]),
        "a draft that was saved again is listed twice", _BARE),
    _DRAFTS("collection-holds-deleted", "deleted-gone", do.answer(_deleted_stay),
        "a collection still holds deleted drafts", f"collection {_BARE}"),
    _FILES("empty-refused", "empty", _refused_if(lambda items, _: not items), "a list without items is refused",
        f"-collection {_BARE}"),
    _FILES("of-all-documents", "own-only", do.answer(_of_other_documents),
        "one attachment of another document stands, too"),
)
# fmt: on
