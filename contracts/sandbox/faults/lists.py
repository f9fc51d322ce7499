"""Faults of lists: items that are lost, doubled or stale, and options that are ignored or read wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_LISTS, OFTEN, ONCE, Range
from contracts.sandbox.faults.fault import Fault, Sized, row
from contracts.sandbox.faults.messages import Answer, Inject, Request, Where

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


def _reads(change: Read, *, filled: bool = False) -> Inject:
    """Give what other options ask for, where the service takes those that are given.

    Args:
        filled: And gives items for them.
    """
    return do.answer(
        lambda r, got: r.ask(_asked(r, change)) if got.success and (got.items or not filled) else got
    )


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


def _whole(change: Callable[[Items, Request], Items]) -> Inject:
    """Give a window of the whole list, changed."""

    async def window(request: Request, got: Answer) -> Answer:
        given = request.options
        everything = await request.ask(_asked(request, _drop("top", "skip"))) if got.success else got
        items = change(everything.items, request)[_number(given, "skip") or 0 :]
        return got.with_items(lambda _: items[: _number(given, "top")])

    return do.answer(window)


def _composed(one: tuple[str, ...], other: tuple[str, ...]) -> Inject:
    """Give the items of a list that is asked for without some options, of those in a list without others."""

    async def composed(request: Request, got: Answer) -> Answer:
        first, second = [(await request.ask(_asked(request, _drop(*names)))).items for names in (one, other)]
        return got.with_items(lambda _: [item for item in first if item in second])

    return do.answer(composed)


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


class Row(NamedTuple):
    """A row of one list or of both: its name and clause lack their beginning, its sentence the list."""

    name: str
    clause: str
    effect: Inject | Sized
    where: str | Where
    says: str
    ways: frozenset[str] = ONCE


# fmt: off
#: The rows of both lists.
_IN_BOTH_LISTS: Final[tuple[Row, ...]] = (
    Row("filter-ignored", "filter-heeded", _lost("filter"), "filter -top", "a filter has no effect"),
    Row("filter-loses-match", "filter", _page(lambda items: items[1:]), "filter -top", "a filter loses a match"),
    Row("filter-refuses-apostrophe", "filter", do.refuse_before(), "filter~''",
        "a filter is refused when it holds an apostrophe"),
    Row("order-ignored", "orderby-heeded", _lost("orderby"), "orderby -top", "an order has no effect"),
    Row("asc-falls", "orderby-meaning", _text("orderby", r" asc\s*$", " desc"), "orderby",
        "the word asc gives a falling order"),
    Row("order-after-page", "orderby-with-page", _composed(("top", "skip"), ("orderby",)), "orderby top",
        "an order applies to a page after it was chosen"),
    *(
        Row(name, "filter-meaning", _text("filter", pattern, becomes), "filter", says)
        for name, pattern, becomes, says in (
            ("ge-leaves-out-equals", r"\bge\b", "gt", "ge is read as gt"),
            ("not-ignored", r"\bnot \(", "(", "not has no effect"),
            ("or-of-the-first-two", r"^([^()]+? or [^()]+?) or .*$", r"\1", "the last of three conditions is lost"),
            ("or-binds-like-and", r"\(([^()]+ or [^()]+) and ([^()]+)\)", r"((\1) and \2)", "or binds like and"),
            ("startswith-within", r"\bstartswith\(", "contains(", "startswith finds a text in the middle too"),
        )
    ),
    Row("filter-lost-with-order", "filter-meaning", _lost("filter"), "filter orderby",
        "a filter has no effect beside an order"),
    Row("order-lost-with-top", "orderby-meaning", _lost("orderby"), "orderby top",
        "an order has no effect beside a bound"),
    Row("top-ignored", "top", _lost("top"), _BARE_TOP, "top is ignored where no other option stands"),
    Row("top-one-more", "top", _count("top", lambda n: n + 1), _BARE_TOP, "top alone gives one item more"),
    Row("top-at-least", "top", Sized(lambda n: _count("top", lambda top: max(top, n)), 5, Range(2, 5, 60)),
        _BARE_TOP, "a top alone gives up to {} items"),
    Row("skip-ignored", "skip", _count("skip", lambda _: 0, filled=True), f"skip~{_POSITIVE} {_ALONE}",
        "skip without top leaves nothing out"),
    Row("skip-beyond-last-item", "skip-beyond", do.answer(_last_item_beyond), rf"skip~{_POSITIVE} -top",
        "a skip beyond the end gives the last item"),
    Row("skip-beyond-refused", "skip-beyond-empty", _refused_if(lambda items, _: not items),
        rf"skip~{_POSITIVE} -top~^0+$", "a skip beyond the end is refused"),
    Row("edge-lost", "pages-cover", _count("skip", lambda n: n + 1), _later_page,
        "the item that follows a page is on no page", OF_LISTS),
    Row("order-turns", "pages-cover", _whole(lambda items, _: items[::-1]), _later_page,
        "from the second page on items are taken in falling order", OF_LISTS),
    Row("top-zero-is-all", "top-zero", _lost("top"), "top~^0$", "a top of zero gives all items"),
    Row("rising-falls", "orderby", _text("orderby", r"^(.*?)(asc)?\s*$", r"\1 desc"), f"orderby -{_FALLING} -top",
        "a rising order falls"),
    Row("falling-rises", "orderby-falling", _text("orderby", r" desc\s*$", ""), f"{_FALLING} -top",
        "a falling order rises"),
    Row("malformed-filter-ignored", "filter-malformed", _forgiven("filter"), "filter",
        "a filter that is no expression is ignored"),
    Row("malformed-order-ignored", "orderby-malformed", _forgiven("orderby"), "orderby",
        "an order that is no expression is ignored"),
    Row("top-no-number-ignored", "number-malformed", _forgiven("top"), r"top -top~^-?[0-9]+$",
        "a top that is no number is ignored"),
)
#: The rows of the list of drafts alone.
_OF_DRAFTS: Final[tuple[Row, ...]] = (
    Row("skip-no-number-ignored", "number-malformed", _forgiven("skip"), r"skip -skip~^-?[0-9]+$",
        "a skip that is no number is ignored"),
    Row("second-key-ignored", "orderby-meaning", _text("orderby", ",.*$", ""), "orderby",
        "the first key of an order counts"),
    Row("doubled-quote-kept", "filter-meaning", _text("filter", "'" * 2, "'" * 4), "filter",
        "a doubled quote stands for two"),
    Row("tolower-changes-nothing", "filter-meaning", _text("filter", r"tolower\(([^()]*)\)", r"\1"), "filter",
        "tolower changes nothing"),
    Row("long-filter-ignored", "filter-meaning", _lost("filter"), "filter~.{201}",
        "a filter above 200 characters has no effect"),
    Row("long-loses-one", "pages-cover",
        Sized(lambda n: _whole(lambda items, _: items[: n - 1] + items[n:]), 16, Range(2, 16, 60)), "top",
        "pages lack item {}"),
    Row("filter-ignored-without-collection", "filter-meaning", _lost("filter"), "filter -top -collection",
        "a filter counts in a collection alone"),
    Row("filter-after-page", "filter-with-top", _composed(("filter",), ("top", "skip")), "filter top -orderby -skip",
        "a bound is applied before a filter"),
    Row("skip-counts-pages", "top-and-skip", _reads(_pages_skipped), f"top~{_POSITIVE} skip~{_POSITIVE}",
        "skip counts pages beside a bound"),
    Row("collection-top-ignored", "collection-with-top", _lost("top"), "collection top",
        "a bound has no effect in a collection"),
    Row("collection-skip-ignored", "collection-with-skip", _lost("skip"), "collection skip",
        "skip has no effect in a collection"),
    Row("collection-lost-with-filter", "collection-with-filter", _lost("collection"), "collection filter",
        "a collection has no effect beside a filter"),
    Row("top-ample-refused", "top-ample", _refused_if(lambda items, given: len(items) < int(given["top"])),
        r"top~^\d+$ -collection -filter -skip", "a bound above the number of drafts is refused"),
    Row("skip-zero-is-one", "skip-zero", _count("skip", lambda _: 1), "skip~^0$ -top",
        "a skip of zero leaves out one item"),
    Row("any-collection", "collection-unknown", _forgiven("collection"), f"collection -{_MY} -{_MY_DRAFTS}",
        "any other collection is ignored"),
    Row("needs-collection", "answers", do.refuse_before(), "-collection", "a list without a collection is refused"),
    Row("my-refused", "my-answers", do.refuse_before(), _MY, "the collection my is refused as unknown"),
    *(
        Row(f"{name}-lacks-newest", f"{name}-has-mine", _whole(_lacks_newest), f"{lists} -filter",
            f"{what} lacks the newest draft of the caller", ways=OFTEN)
        for name, lists, what in (
            ("my", _MY, "the collection my"),
            ("plain", "-collection", "a list without a collection"),
            ("mydrafts", _MY_DRAFTS, "the collection mydrafts"),
        )
    ),
    Row("mydrafts-lacks-updated", "mydrafts-has-mine", _page(lambda items: [i for i in items if not _saved_again(i)]),
        _MY_DRAFTS, "the collection mydrafts lacks drafts that were saved again"),
    Row("mydrafts-with-published", "mydrafts-without-published",
        _whole(lambda items, r: [*items, *_published(items, r)]), f"{_MY_DRAFTS} -orderby -filter",
        "the collection mydrafts goes on with published records"),
    Row("with-published", "drafts-only", _whole(lambda items, r: [*_published(items, r), *items]),
        "-filter -orderby -skip", "the list begins with published records"),
    *(
        Row(f"{name}-of-everybody", f"{name}-without-others", _lost("collection"), f"collection~^{name}$",
            f"the collection {name} holds the drafts of all accounts")
        for name in ("my", "mydrafts")
    ),
    Row("updated-twice", "saved-twice", _page(lambda items: items + [i for i in items if _saved_again(i)]), _BARE,
        "a draft that was saved again is listed twice"),
    Row("collection-holds-deleted", "deleted-gone", do.answer(_deleted_stay), f"collection {_BARE}",
        "a collection still holds deleted drafts"),
)
#: The rows of the list of attachments alone, whose clauses are fewer.
_OF_ATTACHMENTS: Final[tuple[Row, ...]] = (
    Row("empty-refused", "empty", _refused_if(lambda items, _: not items), f"-collection {_BARE}",
        "a list without items is refused"),
    Row("of-all-documents", "own-only", do.answer(_of_other_documents), "",
        "one attachment of another document stands, too"),
)
_FEWER: Final = {"orderby-falling": "orderby"} | dict.fromkeys(
    ("filter-malformed", "orderby-malformed", "number-malformed"), "malformed")
#: What may happen to the items of a list on their way out, and in words.
_ITEMS: Final[tuple[tuple[str, Callable[[Items], Items], str], ...]] = (
    ("first-lost", lambda items: items[1:], "the first item is missing"),
    ("last-lost", lambda items: items[:-1], "the last item is missing"),
    ("last-doubled", lambda items: items + items[-1:], "the last item stands twice"),
    ("emptied", lambda _: [], "no item stands"),
)
#: What an altered list breaks, when something is lost, and when something is doubled.
_BROKEN: Final = {
    "list-": (
        ("list-mydrafts-has-mine", "list-pages-cover", "list-skip", "list-top-and-skip", "list-plain-has-mine"),
        ("list-pages-cover", "list-saved-twice", "list-top", "list-skip", "list-top-and-skip"),
    ),
    "attachment-list-": (
        ("attachment-list-pages-cover", "attachment-list-skip", "attachment-create-listed", "attachment-several"),
        ("attachment-list-pages-cover", "attachment-list-top", "attachment-list-skip"),
    ),
}
#: Operators and functions of a filter, as patterns of its text.
_WORDS: Final = (*(rf"\s{word}\s" for word in ("eq", "ne", "gt", "lt", "ge", "le", "and", "or")), r"not\s",
    r"contains\(", r"startswith\(")


def list_faults() -> Iterator[Fault]:
    """The two lists."""
    for prefix, operation, title, rows, clauses in (
        ("list-", "listDrafts", "drafts", (*_IN_BOTH_LISTS, *_OF_DRAFTS), dict[str, str]()),
        ("attachment-list-", "listAttachments", "attachments", (*_IN_BOTH_LISTS, *_OF_ATTACHMENTS), _FEWER),
    ):
        for name, clause, effect, where, says, ways in rows:
            yield row(prefix + name, prefix + clauses.get(clause, clause), operation, effect,
                f"In the list of {title} {says}.", where=where, ways=ways)
        for name, change, says in _ITEMS:
            yield row(prefix + name, _BROKEN[prefix]["doubled" in name], operation, _page(change),
                f"In the list of {title} {says}.", ways=OFTEN)
        for word in _WORDS:
            meaning = tuple(f"{prefix}{clause}" for clause in ("filter-meaning", "filter-heeded", "filter"))
            plain = re.sub(r"\\s|\\\(", "", word)
            yield row(f"{prefix}filter-with-{plain}-ignored", meaning, operation, _lost("filter"),
                f"In the list of {title} a filter with {plain} has no effect.", where=f"filter~{word}")
# fmt: on
