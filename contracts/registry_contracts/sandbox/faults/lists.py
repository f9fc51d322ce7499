"""Faults of lists: missing or wrong items, and OData options that are ignored or misread."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.fault import Fault, Rows, each
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request

Options = dict[str, str]
Items = list[Any]


def _number(given: Options, option: str) -> int | None:
    """The value of an option that is a number; None if it is missing or no number."""
    value = given.get(option, "")
    return int(value) if value.isdigit() and len(value) < 10 else None


@do.effect
async def _reads(request: Request, change: Callable[[Options], Mapping[str, str | None]]) -> Answer | None:
    """Answer other options instead, if the service accepts the given ones."""
    got = await request.ask()
    return await request.ask(request.with_options(**change(request.options))) if got.success else got


def _lost(name: str) -> Inject:
    """Ignore an option."""
    return _reads(lambda _: {name: None})


def _count(name: str, change: Callable[[int, Options], int]) -> Inject:
    """Read a numeric option as another number."""

    def read(given: Options) -> Options:
        number = _number(given, name)
        return {} if number is None else {name: str(max(0, change(number, given)))}

    return _reads(read)


def _text(name: str, pattern: str, becomes: str) -> Inject:
    """Replace what a pattern finds in an expression."""
    return _reads(lambda given: {name: re.sub(pattern, becomes, given[name])} if name in given else {})


@do.effect
async def _whole(request: Request, change: Callable[[Items, Request], Items]) -> Answer | None:
    """Change the whole list, then cut the page out of it."""
    given, got = request.options, await request.ask()
    everything = await request.ask(request.with_options(top=None, skip=None)) if got.success else got
    items = change(everything.items, request)[_number(given, "skip") or 0 :]
    return got.with_items(items[: _number(given, "top")])


@do.effect
async def _composed(request: Request, one: tuple[str, ...], other: tuple[str, ...]) -> Answer | None:
    """Answer the items that are in both of two lists, each without some of the options."""
    parts = [request.with_options(**dict.fromkeys(names)) for names in (one, other)]
    first, second = [(await request.ask(part)).items for part in parts]
    return (await request.ask()).with_items([item for item in first if item in second])


def _refused_if(test: Callable[[Items, Options], bool]) -> Inject:
    """Refuse lists whose items and options pass a test."""
    return do.answer(lambda r, got: do.REFUSED if got.success and test(got.items, r.options) else got)


def _forgiven(name: str) -> Inject:
    """Answer a refused list as if an option were missing."""
    return do.mend(lambda request: [request.with_options(**{name: None})])


async def _last_item_beyond(request: Request, got: Answer) -> Answer:
    everything = (await request.ask(request.with_options(skip=None))).items
    return got.with_items(got.items or everything[-1:])


async def of_other_documents(request: Request, got: Answer) -> Answer:
    """Append a file of another document to a list of files."""
    others = {file.identifier: None for file in request.held.files() if file.identifier != request.uid}
    lists = [await request.ask(request.with_uid(uid)) for uid in [*others][-1:]]
    return got.with_items([*got.items, *(item for other in lists for item in other.items[-1:])])


def _lacks_newest(items: Items, request: Request) -> Items:
    newest = held.newest(request)
    return [item for item in items if item.get("identifier") != newest]


def like(items: Items, *identifiers: str) -> Items:
    """Items like those of a list, with other identifiers."""
    listed = {item.get("identifier") for item in items}
    return [{**items[0], "identifier": name} for name in identifiers if items and name not in listed]


def _as_texts(items: Items, request: Request) -> Items:
    """Items in the order of the texts of their numbers, if a list is ordered by numbers."""
    field, _, word = request.options["orderby"].partition(" ")
    values = [item.get(field) for item in items]
    if not all(type(value) is int for value in values):
        return items
    return sorted(items, key=lambda item: str(item[field]), reverse=word == "desc")


def _published(items: Items, request: Request) -> Items:
    """Items for published records of the author that have no draft."""
    return like(items, f"sandbox-existing-{request.realm}", f"sandbox-published-{request.realm}")


def _later_page(request: Request) -> bool:
    """Whether a request asks for the second page or a later one, with more than one item on a page."""
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

def _of_both(of: Rows, falling: str, malformed: str) -> tuple[Fault, ...]:
    """The faults of both lists. Attachment lists have fewer clauses on falling orders and faulty options."""
    return (
        *each(lambda name, clause, option, says, where: of(name, clause, _lost(option), says, where),
            ("filter-ignored", "filter-heeded", "filter", "a filter has no effect", "filter -top"),
            ("order-ignored", "orderby-heeded", "orderby", "an order has no effect", "orderby -top"),
            ("top-ignored", "top", "top", "top is ignored where no other option stands", _BARE_TOP),
            ("top-zero-is-all", "top-zero", "top", "a top of zero gives all items", "top~^0$"),
        ),
        of("asc-falls", "orderby-meaning", _text("orderby", r" asc\s*$", " desc"), "the word asc gives a falling order",
            "orderby"),
        of("order-after-page", "orderby-with-page", _composed(("top", "skip"), ("orderby",)),
            "an order applies to a page after it was chosen", "orderby top"),
        *each(lambda name, pattern, becomes, says:
            of(name, "filter-meaning", _text("filter", pattern, becomes), says, "filter"),
            ("or-binds-like-and", r"\(([^()]+ or [^()]+) and ([^()]+)\)", r"((\1) and \2)", "or binds like and"),
            ("startswith-within", r"\bstartswith\(", "contains(", "startswith finds a text in the middle too"),
        ),
        of("top-one-more", "top", _count("top", lambda n, _: n + 1), "top alone gives one item more", _BARE_TOP),
        of("skip-ignored", ("skip", "skip-beyond", "skip-beyond-empty"), _lost("skip"),
            "skip without top leaves nothing out", f"skip~{_POSITIVE} {_ALONE}"),
        of("skip-beyond-last-item", "skip-beyond", do.answer(_last_item_beyond),
            "a skip beyond the end gives the last item", rf"skip~{_POSITIVE} -top"),
        of("skip-beyond-refused", "skip-beyond-empty", _refused_if(lambda items, _: not items),
            "a skip beyond the end is refused", rf"skip~{_POSITIVE} -top~^0+$"),
        of("edge-lost", "pages-cover", _count("skip", lambda n, _: n + 1), "the item that follows a page is on no page",
            _later_page),
        of("rising-falls", "orderby", _text("orderby", r"^(.*?)(asc)?\s*$", r"\1 desc"), "a rising order falls",
            f"orderby -{_FALLING} -top"),
        of("falling-rises", falling, _text("orderby", r" desc\s*$", ""), "a falling order rises", f"{_FALLING} -top"),
        *each(lambda name, clause, option, what, where: of(name, malformed.format(clause), _forgiven(option),
                f"{what} is ignored", where),
            ("malformed-filter-ignored", "filter", "filter", "a filter that is no expression", "filter"),
            ("malformed-order-ignored", "orderby", "orderby", "an order that is no expression", "orderby"),
            ("top-no-number-ignored", "number", "top", "a top that is no number", r"top -top~^-?[0-9]+$"),
        ),
    )


ROWS: Final = (
    *_of_both(_DRAFTS, "orderby-falling", "{}-malformed"),
    *_of_both(_FILES, "orderby", "malformed"),
    _DRAFTS("filter-refuses-apostrophe", "filter", do.refuse_before(),
        "a filter is refused when it holds an apostrophe", "filter~''"),
    _FILES("filter-loses-match", "filter", do.answer(lambda _, got: got.with_items(got.items[1:])),
        "a filter loses a match", "filter -top"),
    *each(lambda name, clause, option, says, where: _DRAFTS(name, clause, _lost(option), says, where),
        ("collection-top-ignored", "collection-with-top", "top", "a bound has no effect in a collection",
            "collection top"),
        ("collection-skip-ignored", "collection-with-skip", "skip", "skip has no effect in a collection",
            "collection skip"),
        ("collection-lost-with-filter", "collection-with-filter", "collection",
            "a collection has no effect beside a filter", "collection filter"),
    ),
    _DRAFTS("skip-no-number-ignored", "number-malformed", _forgiven("skip"),
        "a skip that is no number is ignored", r"skip -skip~^-?[0-9]+$"),
    _DRAFTS("tolower-changes-nothing", "filter-meaning", _text("filter", r"tolower\(([^()]*)\)", r"\1"),
        "tolower changes nothing", "filter"),
    _DRAFTS("filter-after-page", "filter-with-top", _composed(("filter",), ("top", "skip")),
        "a bound is applied before a filter", "filter top -orderby -skip"),
    _DRAFTS("skip-counts-pages", "top-and-skip", _count("skip", lambda n, given: n * (_number(given, "top") or 1)),
        "skip counts pages beside a bound", f"top~{_POSITIVE} skip~{_POSITIVE}"),
    _DRAFTS("top-ample-refused", "top-ample", _refused_if(lambda items, given: len(items) < int(given["top"])),
        "a bound above the number of drafts is refused", r"top~^\d+$ -collection -filter -skip"),
    _DRAFTS("skip-zero-is-one", "skip-zero", _count("skip", do.always(1)), "a skip of zero leaves out one item",
        "skip~^0$ -top"),
    _DRAFTS("any-collection", "collection-unknown", _forgiven("collection"), "any other collection is ignored",
        f"collection -{_MY} -{_MY_DRAFTS}"),
    *each(lambda name, lists, what: _DRAFTS(f"{name}-lacks-newest", f"{name}-has-mine", _whole(_lacks_newest),
            f"{what} lacks the newest draft of the caller", f"{lists} -filter"),
        ("my", _MY, "the collection my"),
        ("plain", "-collection", "a list without a collection"),
    ),
    _DRAFTS("mydrafts-with-published", "mydrafts-without-published",
        _whole(lambda items, r: [*items, *_published(items, r)]),
        "the collection mydrafts goes on with published records", f"{_MY_DRAFTS} -orderby -filter"),
    _DRAFTS("with-published", "drafts-only", _whole(lambda items, r: [*_published(items, r), *items]),
        "the list begins with published records", "-filter -orderby -skip"),
    *each(lambda name: _DRAFTS(f"{name}-of-everybody", f"{name}-without-others", _lost("collection"),
            f"the collection {name} holds the drafts of all accounts", f"collection~^{name}$"),
        "my", "mydrafts"),
    _FILES("numbers-as-texts", "orderby-meaning", _whole(_as_texts), "an order by numbers is that of their texts",
        "orderby"),
    _FILES("empty-refused", "empty", _refused_if(lambda items, _: not items), "a list without items is refused",
        f"-collection {_BARE}"),
)
# fmt: on
