"""Claims about what a list holds, and about its parts, while others add and remove items.

What a part has to be is read from the list itself, before and after: only when both are the same was the list at
rest, and only then is anything claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from contracts.cases.arrangement import Arrangement, Draft, require
from contracts.cases.list_pages import Lister, Names, Option, Page, Record, drafts_of, equals, told, unlike
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Untested, done, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import is_valid_uid
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

    A list that is "not found" holds nothing, for how an empty list is told is not shown.

    Args:
        field: A field that holds the uid and by which the service is known to filter rightly.

    Raises:
        Blocked: the list is refused, or too long to be read to its end.
    """
    first = _page(lister)
    if first.names(uid) or first.size <= 0:
        return SearchResult(first.names(uid), [first])
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
        Blocked: it lists items, and none names any draft of the suite's; or it is "not found" where it should be given,
            and the service is not seen to tell so that a list holds nothing.
    """
    result = _look_until(False, arrange, lister, uid, field)
    if result.nameless:
        raise Blocked(lister.operation, "lists items, but none that names a draft of the suite's by its uid")
    first = result.pages[0]
    if first.records is None and not _empty_is_not_found(arrange, lister.actor):
        raise Blocked(lister.operation, f"the answer is no list: {first.exchange.answer.quote()}")
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
    if page.records is None and not page.not_found:
        done(page.exchange)
        raise Blocked(lister.operation, f"the answer is no list: {page.exchange.answer.quote()}")
    return page


#: Neither rising nor falling, so that no order of making is an order of names.
SCRAMBLED = "dbface"
#: More drafts than any account is thought to have.
BEYOND = 9_000


def kept_drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    """Uids of six drafts that stay until the end of the run, in the order in which they were saved.

    Their uids differ in one letter first, so that any way of comparing texts puts them in the same order.
    """
    return arrange.once(f"drafts to list of {actor.role}", lambda: _drafts(arrange, actor))


def _drafts(arrange: Arrangement, actor: Actor) -> tuple[str, ...]:
    uids = tuple(arrange.kept_draft(actor, f"list{letter}").uid for letter in SCRAMBLED)
    drafts = drafts_of(actor, "mydrafts")

    def shown() -> bool:
        first = drafts.page()
        return all(first.names(uid) or look_for(drafts, uid).found for uid in uids)

    # A list may be a moment late, and later with one than with another. Whether it holds them is for the cases to say.
    with suppress(Blocked):
        arrange.eventually(shown)
    return uids


#: How often a list is looked at before it counts as never at rest.
_LOOKS = 5
#: Items at the start of a list that parts are compared with; what happens behind them does not matter.
_HEAD = 12
#: Items whose drafts are looked for, and texts of an item that are tried.
_LOOKED_AT = 2
_MOST_UIDS = 3

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
        names = Names(before, after)
        if names.of(before)[:_HEAD] == names.of(after)[:_HEAD]:
            orders = [None if page.records is None else names.of(page.records) for page in pages]
            return AtRest(names.of(before)[:_HEAD], orders, pages)
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


def claim_bounded(claim: Claim, lister: Lister, top: int) -> None:
    """Claim that a list that is asked for `top` items holds no more.

    How an empty list is told is not shown: "not found" is judged where the list holds items without the option.

    Raises:
        Contradiction: a must was contradicted. Blocked: a list of what the suite made is refused or empty.
        Untested: a list of which it is not shown what it holds is empty.
    """
    page = lister.page(top=top)
    if page.not_found:
        lister.needed(1)
        page = lister.page(top=top)
    claim.at_most(page.exchange, top)


def empty(claim: Claim, page: Page) -> None:
    """Claim that a list holds nothing, be it told by an empty list, by 204 or by 404."""
    nothing = page.size == 0 or page.not_found
    claim.holds(nothing, page.exchange, expected="an empty list", seen=page.seen)


def answered(claim: Claim, arrange: Arrangement, lister: Lister) -> Page:
    """Claim that a list of drafts of which it is not shown what it holds is answered with a list; returns the answer.

    Raises:
        Untested: it is answered as the service tells that a list holds nothing.
    """
    page = lister.page()
    if page.not_found and _empty_is_not_found(arrange, lister.actor):
        raise Untested(f"the list may be empty: {page.exchange.answer.status} tells that elsewhere, too")
    claim.accepted(page.exchange)
    claim.meets("list", page.exchange)
    return page


def _empty_is_not_found(arrange: Arrangement, actor: Actor) -> bool:
    """Whether the collection that holds the actor's own drafts is given, and "not found" where skip leaves none."""
    kept_drafts(arrange, actor)
    own = drafts_of(actor, "mydrafts")
    return own.page().size > 0 and own.page(skip=BEYOND).not_found


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
    checks = {
        name: _is_draft(lister.actor, name) for record in records[:_LOOKED_AT] for name in _named(record)
    }
    for record in (record for record in records[:_LOOKED_AT] if _named(record)):
        exchanges = [checks[name] for name in _named(record)]
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
        claim.at_most(page.exchange, top)


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
        seen=_seen_beside(rest.items, taken),
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
        seen=_seen_beside(expected, seen) if seen is not None else page.seen,
    )


def _seen_beside(due: Sequence[str], seen: Sequence[str]) -> str:
    return f"{len(seen)} items{unlike(due, seen[: len(due)])} (listed: {_some(seen)})"


def _some(names: Sequence[str]) -> str:
    return told(names[:_HEAD], _HEAD) or "nothing"


def held_once(claim: Claim, arrange: Arrangement, actor: Actor, query: dict[str, str], uid: str) -> None:
    """Claim that a list which holds a draft holds it once; where it was a moment ago, it may not be any more.

    Args:
        query: Such as `list_fields.queries_for` gives.

    Raises:
        Contradiction: a must was contradicted.
        Blocked: the list is refused now.
    """
    page = Page(actor.send("listDrafts", query=query))
    done(page.exchange)

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
