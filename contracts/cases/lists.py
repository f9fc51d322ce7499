"""Claims about what a list holds, and about its filters, orders and parts, while others add and remove items.

What a part has to be is read from the list itself, before and after: only when both are the same was the list at
rest, and only then is anything claimed. Which fields can be filtered and ordered by is not shown, so the first field
that holds a known value and that the service takes is used; when it takes none, nothing can be claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from contracts.cases.arrangement import Arrangement, Draft, require
from contracts.cases.attachments import shared_document
from contracts.cases.list_pages import (
    Lister,
    Names,
    Option,
    Page,
    Record,
    attachments_of,
    drafts_of,
    equals,
    paths_to,
)
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Untested, done, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import is_valid_uid
from contracts.safe_text import cut
from contracts.session.actor import Actor
from contracts.session.namespace import SUITE_PREFIX

#: Pages that are walked through before the list counts as too long to tell.
_MOST_PAGES = 20
#: The share of a page that the next one repeats, since items removed meanwhile shift all that follow.
_OVERLAP = 4


@dataclass(frozen=True)
class SearchResult:
    """Whether a list holds a draft, and the pages that show it."""

    found: bool
    pages: list[Page]

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges of its pages."""
        return [page.exchange for page in self.pages]

    @property
    def nameless(self) -> bool:
        """Whether there are items, and none that names a draft of any run of the suite's."""
        records = [record for page in self.pages for record in page.records or ()]
        return bool(records) and not any(
            SUITE_PREFIX in text
            for value in readers.values(records)
            for text in ([value] if isinstance(value, str) else value if isinstance(value, dict) else ())
        )

    @property
    def seen(self) -> str:
        """What was seen, for the report."""
        last = self.exchanges[-1].answer.quote()
        return (
            f"the draft among the items of {len(self.exchanges)} pages: {last}"
            if self.found
            else f"not there: {last}"
        )


def look_for(lister: Lister, uid: str, field: str | None = None) -> SearchResult:
    """Look for a draft in a list: on its first page, by a filter, and then page by page.

    Args:
        field: A field that holds the uid and by which the service is known to filter rightly.

    Raises:
        Blocked: the list is refused, or too long to be read to its end.
    """
    first = _page(lister)
    if first.names(uid) or first.size == 0:
        return SearchResult(first.size > 0, [first])
    second = _page(lister, skip=first.size)
    if second.names(uid) or second.size == 0:
        return SearchResult(second.names(uid), [first, second])
    if field is not None:
        chosen = _page(lister, filter=equals(field, uid))
        return SearchResult(chosen.names(uid), [first, chosen])
    return _walk(lister, uid, [first, second])


def held(claim: Claim, arrange: Arrangement, lister: Lister, uid: str, field: str | None = None) -> None:
    """Claim that a list is given and holds a draft, if need be a few seconds later; `field` as for `look_for`.

    A refused list is the contradiction itself, and no precondition that failed.

    Raises:
        Blocked: no item names any draft of the suite's; by which member an item names its draft is not shown.
    """
    first = lister.page()
    if usable(first.exchange).refusal and not first.not_found:
        claim.accepted(first.exchange)
    if first.records is not None and first.names(uid):
        claim.holds(True, first.exchange, expected=f"the draft {uid} in the list", seen=first.seen)
        return
    result = _look_until(True, arrange, lister, uid, field)
    if not result.found and result.nameless:
        raise Blocked(lister.operation, "lists items, but none that names a draft of the suite's by its uid")
    claim.holds(result.found, *result.exchanges, expected=f"the draft {uid} in the list", seen=result.seen)


def not_held(claim: Claim, arrange: Arrangement, lister: Lister, uid: str, field: str | None = None) -> None:
    """Claim that a list does not hold a draft, if need be a few seconds later; `field` as for `look_for`.

    Raises:
        Blocked: it lists items, and none names any draft of the suite's.
    """
    result = _look_until(False, arrange, lister, uid, field)
    if result.nameless:
        raise Blocked(lister.operation, "lists items, but none that names a draft of the suite's by its uid")
    claim.holds(not result.found, *result.exchanges, expected=f"no draft {uid}", seen=result.seen)


def require_listed(arrange: Arrangement, lister: Lister, uid: str, field: str | None = None) -> None:
    """Require that a list holds a draft, if need be a few seconds later; `field` as for `look_for`.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    listed = arrange.eventually(lambda: look_for(lister, uid, field).found)
    require(listed, lister.operation, f"{lister.label} does not hold a draft that was just saved")


def adds_nothing(claim: Claim, lister: Lister, uid: str, field: str | None) -> None:
    """Claim that a filter by a uid gives no item where the list does not hold it without the filter.

    Raises:
        Untested: no field is known to hold the uid.
    """
    if field is None:
        raise Untested("which fields filters take is not shown, and none was seen to pick what is equal")
    chosen = _page(lister, filter=equals(field, uid))
    if chosen.names(uid) and look_for(lister, uid).found:
        return
    claim.holds(not chosen.names(uid), chosen.exchange, expected=f"no draft {uid}", seen=chosen.seen)


def _look_until(
    wanted: bool, arrange: Arrangement, lister: Lister, uid: str, field: str | None
) -> SearchResult:
    latest = look_for(lister, uid, field)

    def look() -> bool:
        nonlocal latest
        latest = look_for(lister, uid, field)
        return latest.found is wanted

    if latest.found is not wanted:
        arrange.eventually(look)
    return latest


def _walk(lister: Lister, uid: str, pages: list[Page]) -> SearchResult:
    """Read on until the draft is found or the list ends."""
    at = pages[0].size
    while len(pages) < _MOST_PAGES:
        if pages[-1].records == pages[0].records:
            raise Blocked(
                lister.operation, "the list cannot be read to its end: skip gives the same page again"
            )
        at += max(1, pages[-1].size - pages[-1].size // _OVERLAP)
        pages.append(_page(lister, skip=at))
        if pages[-1].names(uid) or pages[-1].size == 0:
            return SearchResult(pages[-1].names(uid), pages)
    raise Blocked(
        lister.operation, f"the list goes on after {_MOST_PAGES} pages, so that absence cannot be told"
    )


def _page(lister: Lister, **options: str | int) -> Page:
    page = lister.page(**options)
    if page.records is None:
        done(page.exchange)
        raise Blocked(lister.operation, f"the answer is no list: {page.exchange.answer.quote()}")
    return page


#: Neither rising nor falling, so that no order of making is an order of names.
SCRAMBLED = "dbface"


def kept_drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    """Uids of six drafts that stay until the end of the run, in the order in which they were saved.

    Their uids differ in one letter first, so that any way of comparing texts puts them in the same order.
    """
    return arrange.once(f"drafts to list of {actor.role}", lambda: _drafts(arrange, actor))


def _drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    uids = tuple(arrange.kept_draft(actor, f"list{letter}").uid for letter in SCRAMBLED)
    drafts = drafts_of(actor, "mydrafts")
    # A list may be a moment late. Whether it holds them at all is for the cases to say.
    with suppress(Blocked):
        arrange.eventually(lambda: look_for(drafts, uids[-1]).found)
    return uids


#: How often a list is looked at before it counts as never at rest.
_LOOKS = 5
#: Items at the start of a list that parts are compared with; what happens behind them does not matter.
_HEAD = 12
#: Items whose drafts are looked for, and texts of an item that are tried.
_LOOKED_AT = 2
_MOST_UIDS = 3
#: Characters of a name that a sentence tells.
_SHOWN = 60

Options = Mapping[str, Option]


@dataclass(frozen=True)
class AtRest:
    """The head of a list as it was before and after some parts of it were asked for, and these parts.

    Attributes:
        items: Names of the items at the start of the list, in order.
        parts: The items of each part, in order; None for one that was not answered with a list.
    """

    items: list[str]
    parts: list[list[str] | None]
    pages: list[Page]


def at_rest(
    lister: Lister,
    *parts: Options,
    own: Lister | None = None,
    at_least: int = 4,
    base: Options = MappingProxyType({}),
) -> AtRest:
    """Ask for parts of a list while it is at rest.

    Args:
        own: The same list, narrowed to the suite's own items, for when it is never at rest.
        at_least: How many items the list must hold for the claim to mean something.
        base: Options of the whole list that the parts are parts of.

    Raises:
        Blocked: the list is refused, too short, or never at rest.
    """
    before = lister.needed(at_least, **base)
    for _ in range(_LOOKS):
        pages = [lister.page(**part) for part in parts]
        after = lister.needed(at_least, **base)
        names = Names(before)
        if names.of(before)[:_HEAD] == names.of(after)[:_HEAD]:
            found = [None if page.records is None else names.of(page.records) for page in pages]
            return AtRest(names.of(before)[:_HEAD], found, pages)
        before = after
    if own is not None:
        return at_rest(own, *parts, at_least=at_least, base=base)
    raise Blocked(lister.operation, f"the list changed during each of {_LOOKS} looks")


def _paged(
    right: Callable[[AtRest], bool],
    lister: Lister,
    *parts: Options,
    own: Lister | None = None,
    at_least: int = 4,
) -> AtRest:
    """Parts of a list beside the list that they are parts of.

    The order of a list without options is not shown, and need not be that in which it is paged. Where the parts are
    not right beside it, they are held against the list with a skip of zero, unless items of the first are lost there.

    Args:
        right: Whether the parts are what they have to be.
    """
    plain = at_rest(lister, *parts, own=own, at_least=at_least)
    if right(plain):
        return plain
    with suppress(Blocked):
        paged = at_rest(lister, *parts, own=own, at_least=at_least, base={"skip": 0})
        if not _shifted(paged.items, plain.items):
            return paged
    return plain


def _shifted(paged: Sequence[str], plain: Sequence[str]) -> bool:
    """Whether a list with a skip of zero is the plain one without its first items: then skip counts wrongly."""
    tails = [plain[start:] for start in range(1, len(plain) - 1)]
    return any(_begins(paged, tail) for tail in tails)


def claim_at_most(claim: Claim, page: Page, top: int) -> None:
    """Claim that a list holds at most `top` items."""
    claim.at_most(page.exchange, top)


def empty(claim: Claim, page: Page) -> None:
    """Claim that a list holds nothing, be it told by an empty list, by 204 or by 404."""
    nothing = page.size == 0 or page.not_found
    claim.holds(nothing, page.exchange, expected="an empty list", seen=page.seen)


def no_items(claim: Claim, page: Page) -> None:
    """Claim that no item comes, however that is told; a refusal gives none.

    Raises:
        Blocked: what was given cannot be read as a list.
    """
    if page.records is None and not page.exchange.answer.refusal:
        raise Blocked(page.exchange.operation or "", f"the answer is no list: {page.exchange.answer.quote()}")
    claim.holds(page.size <= 0, page.exchange, expected="no item", seen=page.seen)


def drafts_only(claim: Claim, lister: Lister, prefix: str) -> None:
    """Claim that items of a list of drafts are drafts, by the exists check on the identifiers that an item holds.

    Args:
        prefix: Of the run's own identifiers; other items come first.

    Raises:
        Blocked: the list is refused, or the exists check finds no draft that the list names.
    """
    records = sorted(lister.needed(1), key=lambda record: any(prefix in name for name in _named(record)))
    found = {
        name: _is_draft(lister.actor, name) for record in records[:_LOOKED_AT] for name in _named(record)
    }
    for record in (record for record in records[:_LOOKED_AT] if _named(record)):
        exchanges = [found[name] for name in _named(record)]
        gone = not any(usable(exchange).success for exchange in exchanges)
        page = lister.page()
        # What was deleted meanwhile is no longer listed.
        still = gone and any(page.names(name) for name in _named(record))
        claim.holds(
            not still,
            page.exchange,
            *exchanges,
            expected="a draft for each item",
            seen=exchanges[0].answer.quote(),
        )


def not_listed_without_a_draft(claim: Claim, arrange: Arrangement, actor: Actor, uid: str) -> None:
    """Claim that the collection mydrafts does not hold a published record that has no draft, or none any more.

    Raises:
        Untested: it keeps one, or there is no list to look at.
    """
    mydrafts, field = drafts_of(actor, "mydrafts"), proven_field(arrange, actor)
    exchanges: list[Exchange] = []
    if usable(_is_draft(actor, uid)).success:
        actor.send("deleteDraft", path={"uid": uid})

    def absent() -> bool:
        pages = [mydrafts.page(), *([mydrafts.page(filter=equals(field, uid))] if field else [])]
        exchanges[:] = [_is_draft(actor, uid), *(page.exchange for page in pages)]
        if usable(exchanges[0]).success or pages[0].size < 0:
            raise Untested("the published record of the settings has a draft, or there is no list of drafts")
        return not any(page.names(uid) for page in pages)

    gone = absent() or arrange.eventually(absent)
    claim.holds(gone, *exchanges, expected=f"no item for {uid}, which has no draft", seen=f"{uid} is listed")


def _is_draft(actor: Actor, uid: str) -> Exchange:
    return actor.send("draftExists", path={"uid": uid})


def _named(record: Record) -> list[str]:
    """Texts of a record that may be the uid of its document, the shortest path first."""
    return list(dict.fromkeys(value for value in readers.values(record) if is_valid_uid(value)))[:_MOST_UIDS]


def starts_where_it_does(claim: Claim, lister: Lister, own: Lister | None = None) -> None:
    """Claim that with a skip of zero a list starts where it starts without the option."""
    rest = at_rest(lister, {"skip": 0}, own=own)
    _same(claim, rest.items, rest.parts[0], rest.pages[0], "the list from item 1 on")


def starts_later(claim: Claim, lister: Lister, *skips: int, own: Lister | None = None) -> None:
    """Claim that with skip a list starts as many items later, and is the same list from there on."""

    def right(rest: AtRest) -> bool:
        return all(_begins(part, rest.items[skip:]) for skip, part in zip(skips, rest.parts, strict=True))

    parts = [{"skip": skip} for skip in skips]
    rest = _paged(right, lister, *parts, own=own, at_least=max(4, *skips))
    for skip, part, page in zip(skips, rest.parts, rest.pages, strict=True):
        expected = rest.items[skip:]
        _same(claim, expected, part, page, f"the list from item {skip + 1} on")


def windows(claim: Claim, lister: Lister, *cuts: tuple[int, int], own: Lister | None = None) -> None:
    """Claim that skip and top together give a window.

    Args:
        cuts: Pairs of skip and top.
    """

    def right(rest: AtRest) -> bool:
        windows = [rest.items[skip : skip + top] for skip, top in cuts]
        return all(_begins(part, window) for part, window in zip(rest.parts, windows, strict=True))

    options = [{"skip": skip, "top": top} for skip, top in cuts]
    rest = _paged(right, lister, *options, own=own, at_least=max(skip + top for skip, top in cuts))
    for (skip, top), part, page in zip(cuts, rest.parts, rest.pages, strict=True):
        _same(claim, rest.items[skip : skip + top], part, page, f"items {skip + 1} to {skip + top}")
        claim_at_most(claim, page, top)


def pages_cover(
    claim: Claim, lister: Lister, size: int, own: Lister | None = None, items: int = _HEAD
) -> None:
    """Claim that pages of `size` taken one after another neither repeat an item of the list's head nor lose one.

    Args:
        items: How many items the pages cover.
    """

    def right(rest: AtRest) -> bool:
        return not set(rest.items) - {name for part in rest.parts for name in part or ()}

    options = [{"skip": skip, "top": size} for skip in range(0, items, size)]
    rest = _paged(right, lister, *options, own=own, at_least=size + 1)
    taken = [name for part in rest.parts for name in part or ()]
    twice = [name for name, times in Counter(taken).items() if times > 1]
    lost = set(rest.items) - set(taken)
    exchanges = [page.exchange for page in rest.pages]
    answered = all(part is not None for part in rest.parts)
    claim.holds(answered, *exchanges, expected="a list for every page", seen="a page was refused")
    claim.holds(not twice, *exchanges, expected="no item twice", seen=f"twice: {_some(twice)}")
    claim.holds(not lost, *exchanges, expected="every item once", seen=f"lost: {_some(sorted(lost))}")


def pages_in_order(
    claim: Claim, lister: Lister, size: int, own: Lister | None = None, items: int = _HEAD
) -> None:
    """Claim that pages of `size` taken together are the list in its order; `items` as for `pages_cover`."""
    options = [{"skip": skip, "top": size} for skip in range(0, items, size)]
    rest = at_rest(lister, *options, own=own, at_least=size + 1)
    taken = [name for part in rest.parts for name in part or ()]
    exchanges = [page.exchange for page in rest.pages]
    claim.holds(
        taken[: len(rest.items)] == rest.items,
        *exchanges,
        expected=f"pages that make up the ordered list: {_some(rest.items)}",
        seen=_some(taken),
    )


def relies_on_list(arrange: Arrangement, lister: Lister) -> None:
    """See once that a list is given at all, for claims about its options.

    Raises:
        Blocked: it is not, which is a finding of its own.
    """
    arrange.once(f"list of {lister.label}", lister.needed)


def relies_on_top(arrange: Arrangement, lister: Lister) -> None:
    """See once that top alone bounds a list, for claims about what else it does.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """

    def look() -> bool:
        return require(
            0 <= lister.page(top=1).size <= 1, lister.operation, "top alone does not bound the list"
        )

    arrange.once(f"top of {lister.label}", look)


def relies_on_skip(arrange: Arrangement, lister: Lister, own: Lister | None = None) -> None:
    """See once that skip alone shifts a list, for claims about what else it does.

    Raises:
        Blocked: it does not, which is a finding of its own; or the list was never at rest.
    """

    def look() -> bool:
        def right(rest: AtRest) -> bool:
            return _begins(rest.parts[0], rest.items[1:])

        shifted = right(_paged(right, lister, {"skip": 1}, own=own))
        return require(shifted, lister.operation, "skip alone does not shift the list")

    arrange.once(f"skip of {lister.label}", look)


def relies_on_windows(arrange: Arrangement, lister: Lister, own: Lister | None = None) -> None:
    """See once that skip and top together give a window, for claims about several of them.

    Raises:
        Blocked: they do not, which is a finding of its own; or the list was never at rest.
    """

    def look() -> bool:
        def right(rest: AtRest) -> bool:
            return rest.parts[0] == rest.items[1:3]

        window = right(_paged(right, lister, {"skip": 1, "top": 2}, own=own))
        return require(window, lister.operation, "skip and top together give no window")

    arrange.once(f"window of {lister.label}", look)


def _begins(seen: Sequence[str] | None, expected: Sequence[str]) -> bool:
    """Whether a part begins as expected; a service may fill it up with what comes behind."""
    return seen is not None and list(seen[: len(expected)]) == list(expected)


def _same(claim: Claim, expected: Sequence[str], seen: Sequence[str] | None, page: Page, what: str) -> None:
    claim.holds(
        _begins(seen, expected),
        page.exchange,
        expected=f"{what}: {_some(expected)}",
        seen=_some(seen) if seen is not None else page.seen,
    )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(cut(name, _SHOWN) for name in names[:_HEAD])
    return shown or "nothing"


#: What such fields are commonly called.
_UIDS = ("identifier", "uid", "id")
_FILES = ("filename", "fileName", "name")


@dataclass(frozen=True)
class Field:
    """A field learnt from a list, and values of the suite's own items in it.

    Attributes:
        operation: The operation that lists it.
        by_filter, by_order: Its OData path, as filters and orders take it; None where they take none.
        own: The values that the suite's own kept items have, in the order of their making.
        filters: Whether a filter by it picks exactly the suite's own items.
    """

    operation: str
    by_filter: str | None
    by_order: str | None
    own: tuple[str, ...]
    filters: bool

    @property
    def filter_path(self) -> str:
        """The path by which the list is filtered.

        Raises:
            Blocked: filters take none of the fields that are known, and which they take is not shown.
        """
        return self._taken(self.by_filter, "filters")

    @property
    def order_path(self) -> str:
        """The path by which the list is ordered.

        Raises:
            Blocked: orders take none of the fields that are known, and which they take is not shown.
        """
        return self._taken(self.by_order, "orders")

    def _taken(self, path: str | None, what: str) -> str:
        if path is None:
            raise Blocked(self.operation, f"{what} take none of the fields that hold a value the suite knows")
        return path

    def narrowed(self, lister: Lister) -> Lister | None:
        """A list narrowed to the suite's own items; None where the service does not filter rightly."""
        return lister.with_fixed(filter=equals(self.filter_path, *self.own)) if self.filters else None

    @property
    def proven(self) -> str | None:
        """The path, where filtering by it was seen to work."""
        return self.by_filter if self.filters else None


def learn(lister: Lister, own: Sequence[str], usual: Sequence[str] = ()) -> Field:
    """Learn the field that holds these values, each of another record.

    Args:
        usual: Names tried besides, since a list may show a field under another name than filters take.

    Raises:
        Blocked: the records are not on the first page, or no field holds such a value.
    """
    records = [record for record in lister.needed() if paths_to(record, own[0])]
    paths = paths_to(records[0], own[0]) if records else []
    if not paths:
        raise Blocked(lister.operation, "no listed item has a field that holds a value the suite knows")
    names = list(dict.fromkeys([*paths, *usual]))
    by_filter, picks_one = _filtered_by(lister, names, own[0])
    by_order = next((name for name in names if lister.page(orderby=name).size >= 0), None)
    exact = picks_one and _exact(lister.page(filter=equals(str(by_filter), *own)), own)
    return Field(lister.operation, by_filter, by_order, tuple(own), exact)


def _filtered_by(lister: Lister, names: Sequence[str], value: str) -> tuple[str | None, bool]:
    """The name by which a filter picks the record with a value, or else one that is taken; and whether it picks.

    A name that is no field may be passed over, so that a filter which is taken shows every record.
    """
    taken = []
    for name in names:
        page = lister.page(filter=equals(name, value))
        if _exact(page, [value]):
            return name, True
        taken += [name] if _taken(page) else []
    return (taken[0] if taken else None), False


def _taken(page: Page) -> bool:
    """Whether a filter that matches something was read; one by an unknown field may be answered "not found"."""
    return page.size >= 0 and not page.not_found


def _exact(page: Page, own: Sequence[str]) -> bool:
    return page.size == len(own) and all(page.names(value) for value in own)


def picks(claim: Claim, lister: Lister, expression: str, wanted: Sequence[str]) -> None:
    """Claim that a filter gives exactly the items that carry these values."""
    page = lister.page(filter=expression)
    missing = [value for value in wanted if not page.names(value)]
    strangers = page.size - len(page.order_of(wanted))
    claim.holds(
        page.size >= 0 and not missing and strangers == 0,
        page.exchange,
        expected=f"exactly {len(wanted)} items for {expression}",
        seen=page.seen,
    )


def ordered(claim: Claim, lister: Lister, field: Field, *, falling: bool = False) -> None:
    """Claim that the suite's own items come in the order asked for.

    Raises:
        Blocked: they are not all on the page, and the list cannot be narrowed to them.
    """
    order = f"{field.order_path} desc" if falling else field.order_path
    page = lister.page(orderby=order)
    narrowed = field.narrowed(lister)
    if page.size >= 0 and len(page.order_of(field.own)) < len(field.own):
        if narrowed is None:
            raise Blocked(lister.operation, "the suite's own items are not all on the first page")
        page = narrowed.page(orderby=order)
    wanted = sorted(field.own, reverse=falling)
    claim.holds(
        page.order_of(field.own) == wanted,
        page.exchange,
        expected=f"in the order {', '.join(wanted)}",
        seen=page.seen if page.size < 0 else ", ".join(page.order_of(field.own)),
    )


def relies_on_order(arrange: Arrangement, lister: Lister, field: Field) -> None:
    """See once that a list comes in rising order when asked, for claims about what else orders do.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    rises, _ = _orders(arrange, lister, field)
    require(rises, lister.operation, f"{lister.sign}orderby alone does not order the list")


def orders(arrange: Arrangement, lister: Lister, field: Field) -> bool:
    """Whether a list comes in rising and in falling order when asked: its order is then known to be by this field."""
    return field.by_order is not None and all(_orders(arrange, lister, field))


def _orders(arrange: Arrangement, lister: Lister, field: Field) -> tuple[bool, bool]:
    """Whether a list comes in rising order, and whether in falling order, looked up once."""

    def look() -> tuple[bool, bool]:
        rising, falling = (
            lister.page(orderby=f"{field.order_path}{word}").order_of(field.own) for word in ("", " desc")
        )
        return rising == sorted(rising), len(falling) > 1 and falling == sorted(falling, reverse=True)

    return arrange.once(f"orders of {lister.label}", look)


def relies_on_filter(lister: Lister, field: Field) -> None:
    """See that a filter picks the suite's own items, for claims about what else filters do.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    if not field.filters:
        raise Blocked(lister.operation, f"{lister.sign}filter alone does not pick the suite's own items")


def draft_field(arrange: Arrangement, actor: Actor) -> Field:
    """The field that holds the uid in the lists of drafts, learnt from the actor's own kept ones.

    Raises:
        Blocked: it cannot be learnt.
    """
    own = kept_drafts(arrange, actor)
    return arrange.once(
        f"field of drafts of {actor.role}", lambda: learn(drafts_of(actor, "mydrafts"), own, _UIDS)
    )


def queries_for(arrange: Arrangement, actor: Actor, uid: str) -> list[dict[str, str]]:
    """Queries of the list that show a draft of the actor's own: of the collection, and by its uid.

    Raises:
        Untested: none does, which is a matter of the list's own clauses.
    """
    field, query = proven_field(arrange, actor), {"collection": "mydrafts"}
    queries = [query, *([query | {"$filter": equals(field, uid)}] if field else [])]

    def shown() -> list[dict[str, str]]:
        asked = {index: actor.send("listDrafts", query=each) for index, each in enumerate(queries)}
        return [
            queries[index] for index, sent in asked.items() if readers.carries_identifier(usable(sent), uid)
        ]

    if not arrange.eventually(lambda: bool(shown())):
        raise Untested("the list does not show a draft that was just saved")
    return shown()


def held_once(claim: Claim, arrange: Arrangement, actor: Actor, query: dict[str, str], uid: str) -> None:
    """Claim that a list which holds a draft holds it once; where it was a moment ago, it may not be any more."""
    page = Page(actor.send("listDrafts", query=query))

    def look() -> bool:
        nonlocal page
        page = Page(actor.send("listDrafts", query=query))
        return page.count(uid) <= 1

    held = page.count(uid) <= 1 or arrange.eventually(look)
    claim.holds(held, page.exchange, expected="the draft once", seen=f"{page.count(uid)} times")


def not_listed_elsewhere(claim: Claim, draft: Draft, elsewhere: Exchange, where: str) -> None:
    """Claim that no record of a list is that of a draft of another realm.

    Args:
        elsewhere: The list as it was asked for in the other realm; a refusal shows no record.
        where: The other realm.
    """
    claim.holds(
        not Page(elsewhere).names(draft.uid),
        draft.exchange,
        elsewhere,
        expected=f"no such draft in the list of {where}",
        seen=f"the list names {draft.uid}",
    )


def narrowed_drafts(arrange: Arrangement, actor: Actor, collection: str | None = None) -> Lister | None:
    """A list of drafts narrowed to the actor's own kept ones; None where that cannot be done."""
    try:
        return draft_field(arrange, actor).narrowed(drafts_of(actor, collection))
    except Blocked:
        return None


def sifted_drafts(arrange: Arrangement, actor: Actor, collection: str) -> Lister:
    """A collection of drafts with a filter and an order in every request, as far as they are seen to work."""
    return _sifted(arrange, drafts_of(actor, collection), lambda: draft_field(arrange, actor))


def sifted_files(arrange: Arrangement, actor: Actor, lister: Lister) -> Lister:
    """The list of the shared document's attachments with a filter and an order, as far as they are seen to work."""
    return _sifted(arrange, lister, lambda: file_field(arrange, actor))


def _sifted(arrange: Arrangement, lister: Lister, look: Callable[[], Field]) -> Lister:
    try:
        field = look()
    except Blocked:
        return lister
    narrowed = field.narrowed(lister) or lister
    # An order that is passed over, or that holds for some answers only, is a matter of its own clauses.
    ordered = orders(arrange, lister, field)
    return narrowed.with_fixed(orderby=f"{field.by_order} desc") if ordered else narrowed


def proven_field(arrange: Arrangement, actor: Actor) -> str | None:
    """The field that holds the uid, where filtering by it was seen to work."""
    try:
        return draft_field(arrange, actor).proven
    except Blocked:
        return None


def file_field(arrange: Arrangement, actor: Actor) -> Field:
    """The field that holds the file's name in the list of attachments of the shared document.

    Raises:
        Blocked: it cannot be learnt.
    """
    shared = shared_document(arrange, actor)
    names = [attachment.filename for attachment in shared.attachments]
    return arrange.once(
        "field of attachments", lambda: learn(attachments_of(actor, shared.uid), names, _FILES)
    )
