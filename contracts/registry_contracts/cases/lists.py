"""Claims about the contents and pages of a list while others add and remove items.

The expected page comes from the list itself, read before and after. A claim is made only if both reads agree, so the
list did not change meanwhile.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from registry_contracts.cases.identifiers import saved_under_every_kind
from registry_contracts.cases.known_lists import KnownList, kept_drafts, paired
from registry_contracts.cases.list_pages import (
    Lister,
    Option,
    Page,
    Record,
    Search,
    drafts_of,
    equals,
    naming,
    told,
)
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import Blocked, Untested, done, require, taken, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.session.actor import Actor
from registry_contracts.session.namespace import SUITE_PREFIX

#: The personal collections, by name.
COLLECTIONS: Final = {name: name for name in ("mydrafts", "my")}
#: More drafts than any account is likely to have.
BEYOND = 9_000
#: How many items get an exists check, and how many texts of an item to try as its uid.
_LOOKED_AT = 2
_MOST_UIDS = 3


def claim_listed(claim: Claim, world: World, lister: Lister, uid: str) -> None:
    """Claim that a list is returned and holds a draft, after a few seconds at most.

    A refused list contradicts the clause, and so does JSON that cannot be read; it is not a failed precondition.

    Raises:
        Blocked: no item names any draft of the suite; the document does not say how an item names its draft.
    """
    first = lister.page()
    if first.records is None and not first.not_found:
        claim.accepted(first.exchange)
        claim.holds(not first.exchange.answer.flaw, first.exchange, expected="a list")
    _look_until(True, world, lister, uid, first).claim(claim, f"the draft {uid} in the list", there=True)


def claim_not_listed(claim: Claim, world: World, lister: Lister, uid: str) -> None:
    """Claim that no page of a list holds a draft, after a few seconds at most.

    Raises:
        Blocked: it lists items, but none names a draft of the suite; or it is "not found", which is not known to be
            this service's way to report an empty list.
    """
    shown = _look_until(False, world, lister, uid)
    if shown.pages[0].records is None and not _empty_is_not_found(world, lister.actor):
        raise shown.pages[0].no_list
    shown.claim(claim, f"no draft {uid}", there=False)


def _look_until(wanted: bool, world: World, lister: Lister, uid: str, first: Page | None = None) -> Search:
    read = itertools.chain([first], itertools.repeat(None))
    shown = world.until(lambda: lister.search(uid, next(read)), lambda search: search.found is wanted)
    records = [record for page in shown.pages for record in page.records or ()]
    if records and SUITE_PREFIX not in json.dumps(records) and not _names_drafts(world):
        raise Blocked(lister.operation, "lists items, but none names a draft of the suite by its uid")
    return shown


def _names_drafts(world: World) -> bool:
    """Whether the author's list names drafts of the suite, so that a list that names none holds none."""

    def look() -> bool:
        uids, page = kept_drafts(world), drafts_of(world.author, "mydrafts").page()
        return any(map(page.names, uids))

    return world.once("lists name drafts", look)


def claim_bounded(claim: Claim, lister: Lister, top: int) -> None:
    """Claim that a list with `top` holds no more items than that.

    The document does not show an empty list: "not found" is judged only if the list holds items without the option.
    """
    page = lister.page(top=top)
    if page.not_found:
        lister.needed(1)
        page = lister.page(top=top)
    claim.meets("items-at-most", page.exchange, items=top)


def claim_empty(claim: Claim, page: Page) -> None:
    """Claim that a list is empty: an empty list, 204 or 404."""
    claim.holds(page.size == 0 or page.not_found, page.exchange, expected="an empty list", seen=page.seen)


def claim_no_items(claim: Claim, page: Page) -> None:
    """Claim that an answer holds no items; a refusal counts."""
    if page.records is None and not page.exchange.answer.refusal:
        raise page.no_list
    claim.holds(page.size <= 0, page.exchange, expected="no item", seen=page.seen)


def need_answer(world: World) -> bool:
    """Require that the plain list is returned or "not found", since it may be empty."""
    page = drafts_of(world.author).page()
    return require(page.size >= 0 or page.not_found, "listDrafts", f"the answer is no list: {page.seen}")


def claim_answered(claim: Claim, world: World, lister: Lister) -> Page:
    """Claim that a list of drafts whose contents the document does not define is answered with a list; return it."""
    page = lister.page()
    if page.not_found and _empty_is_not_found(world, lister.actor):
        raise Untested(f"the list may be empty: {page.exchange.answer.status} means that elsewhere, too")
    claim.accepted(page.exchange)
    claim.meets("list", page.exchange)
    return page


def _empty_is_not_found(world: World, actor: Actor) -> bool:
    """Whether the list of the actor's own drafts has items, but is "not found" if skip leaves none."""
    kept_drafts(world)
    own = drafts_of(actor, "mydrafts")
    return own.page().size > 0 and own.page(skip=BEYOND).not_found


def claim_drafts_only(claim: Claim, lister: Lister, prefix: str) -> None:
    """Claim that items of a list of drafts are drafts, by an exists check on the identifiers in an item.

    Items of this run come last.
    """

    def uids(record: Record) -> list[str]:
        """Texts of a record that may be its document's uid, the shortest path first."""
        return list(dict.fromkeys(filter(is_valid_uid, readers.values(record))))[:_MOST_UIDS]

    items = sorted(map(uids, lister.needed(1)), key=lambda names: any(prefix in name for name in names))
    for names in filter(None, items[:_LOOKED_AT]):
        checks = [lister.actor.draft_exists(name) for name in names]
        gone = not any(usable(check).success for check in checks)
        page = lister.page()
        # A draft that was deleted meanwhile is no longer listed.
        listed = gone and any(page.names(name) for name in names)
        seen = checks[0].answer.quote()
        claim.holds(not listed, page.exchange, *checks, expected="a draft for each item", seen=seen)


def claim_filter_adds_nothing(claim: Claim, drafts: Lister, theirs: str) -> None:
    """Claim that a filter by the uid of another account's draft returns nothing that the collection lacks.

    Raises:
        Untested: filters are not known to work.
    """
    if drafts.field is None:
        raise Untested("the document names no fields for filters, and no known field selects equal values")
    chosen = drafts.read(filter=equals(drafts.field, theirs))
    # The search must not use the filter that is tried.
    added = chosen.names(theirs) and not replace(drafts, field=None).search(theirs).found
    claim.holds(not added, chosen.exchange, expected=f"no draft {theirs}", seen=chosen.seen)


def claim_listed_once(claim: Claim, known: KnownList, uid: str) -> None:
    """Claim that the list, alone and filtered, holds a draft once; a repeated item may disappear after a moment."""
    try:
        listers = listers_of(known, uid)
    except Untested as unseen:
        claim.untested(str(unseen))
        return
    for lister in listers:
        page = known.world.until(lister.page, lambda page: page.count(uid) <= 1)
        done(page.exchange)
        count = page.count(uid)
        claim.holds(count <= 1, page.exchange, expected="the draft once", seen=f"{count} times")


def beyond_the_end(known: KnownList) -> list[Page]:
    """Pages behind the last item, far away; of files, which others do not add, the very next one too."""
    starts = [len(known.own), BEYOND] if known.of_files else [BEYOND]
    return [known.lister.page(skip=start) for start in starts]


def listers_of(known: KnownList, uid: str) -> list[Lister]:
    """The list that shows the actor's draft, and the list filtered by its uid if filters are known to work."""

    def look() -> list[Lister]:
        ways = filter(None, (known.lister, known.picking(uid)))
        return [each for each in ways if readers.carries_identifier(usable(each.page().exchange), uid)]

    if not (shown := known.world.until(look, bool)):
        raise Untested("the list does not show a draft that was just saved")
    return shown


def claim_not_listed_without_a_draft(claim: Claim, known: KnownList, uid: str) -> None:
    """Claim that a list of drafts does not hold a published record without a draft.

    Raises:
        Untested: the record keeps a draft, or there is no list.
    """
    actor, shown = known.lister.actor, list[Exchange]()
    if usable(actor.draft_exists(uid)).success:
        actor.delete_draft(uid)

    def absent() -> bool:
        pages = [each.page() for each in (known.lister, known.picking(uid)) if each]
        shown[:] = [actor.draft_exists(uid), *(page.exchange for page in pages)]
        if usable(shown[0]).success or pages[0].size < 0:
            raise Untested("the published record of the settings has a draft, or there is no list of drafts")
        return not any(page.names(uid) for page in pages)

    gone = known.world.eventually(absent)
    claim.holds(gone, *shown, expected=f"no item for {uid}, which has no draft", seen=f"{uid} is listed")


#: How often to read a list before it counts as always changing.
_LOOKS = 5
#: Items at the start of a list to compare parts with; later changes do not matter.
HEAD = 12
#: A list with fewer items proves nothing about its parts.
_ENOUGH = 4
#: Page length for a long list, and the minimum length of one.
_PAGE: Final = 9
_LONG: Final = 16
#: A part of a list: (skip, top); top None for no limit.
Cut = tuple[int, int | None]


@dataclass(frozen=True)
class _Part:
    """A part of a list: the answer, the names it must begin with, and the names of its items.

    A service may fill up a part with later items.
    """

    cut: Cut
    page: Page
    due: list[str]
    names: list[str]

    @property
    def right(self) -> bool:
        """Whether it begins with the due items."""
        return self.page.records is not None and self.names[: len(self.due)] == self.due


def _at_rest(known: KnownList, cuts: Sequence[Cut], **base: Option) -> tuple[list[str], list[_Part]]:
    """The first items' names and the parts of a list that rests meanwhile: the whole list, or the own items alone."""
    head = max(HEAD, *(skip + (top or 0) for skip, top in cuts))
    for lister in filter(None, (known.lister, known.picking(*known.own))):
        before = lister.needed(_ENOUGH, **base)
        for _ in range(_LOOKS):
            pages = [lister.page(skip=skip, top=top) for skip, top in cuts]
            after = lister.needed(_ENOUGH, **base)
            names = naming(before, after)
            items = names(before)[:head]
            if items == names(after)[:head]:
                named = [names(page.records or ()) for page in pages]
                due = [items[skip:][:top] for skip, top in cuts]
                return items, list(map(_Part, cuts, pages, due, named))
            before = after
    raise Blocked(known.lister.operation, f"the list changed during each of {_LOOKS} reads")


def _looks(known: KnownList, cuts: Sequence[Cut]) -> list[list[_Part]]:
    """Parts of a list, compared with the whole list, which is read just before and just after; the last look counts.

    The document gives no order for a list without options. Parts that do not fit it are compared again, with the list
    with a skip of zero, unless that loses items.
    """
    items, parts = _at_rest(known, cuts)
    in_order = f"{known.lister.sign}orderby" in known.lister.fixed
    if all(part.right for part in parts) or in_order or not any(skip for skip, _ in cuts):
        return [parts]
    with suppress(Blocked):
        others, again = _at_rest(known, cuts, skip=0)
        tails = (items[start:] for start in range(1, len(items) - 1))
        if not any(others[: len(tail)] == tail for tail in tails):
            return [parts, again]
    return [parts]


def claim_parts(claim: Claim, known: KnownList, *cuts: Cut) -> None:
    """Claim that parts of a list by skip and top hold the right items."""
    for part in _looks(known, cuts)[-1]:
        skip, top = part.cut
        what = f"the list from item {skip + 1} on" if top is None else f"items {skip + 1} to {skip + top}"
        part.page.claim(claim, part.right, part.due, f", which are {what}")
        if top is not None:
            claim.meets("items-at-most", part.page.exchange, items=top)


def pages(known: KnownList, size: int) -> list[Cut]:
    """The pages that cover the start of a list of drafts, or a whole list of known items."""
    alone = known.of_files or f"{known.lister.sign}filter" in known.lister.fixed
    return [(skip, size) for skip in range(0, len(known.own) if alone else HEAD, size)]


def claim_pages_cover(claim: Claim, known: KnownList, size: int) -> None:
    """Claim that consecutive pages of `size` items neither repeat nor lose an item of the list's start."""
    for parts in (looks := _looks(known, pages(known, size))):
        exchanges = [part.page.exchange for part in parts]
        answered = all(part.page.records is not None for part in parts)
        claim.holds(answered, *exchanges, expected="a list for every page", seen="a page was refused")
        # If the list has another order, the pages may hold other items, but none twice.
        times = Counter(name for part in parts for name in part.names)
        twice = [name for name in times if times[name] > 1]
        claim.holds(not twice, *exchanges, expected="no item twice", seen=f"twice: {told(twice)}")
    due = [name for part in looks[-1] for name in part.due]
    lost = [name for name in due if name not in times]
    claim.holds(not lost, *exchanges, expected=f"each of {len(due)} items once", seen=f"lost: {told(lost)}")


def claim_long_pages(claim: Claim, known: KnownList, more: Sequence[str] = (), *, size: int = _PAGE) -> None:
    """Claim that consecutive pages of `size` drafts hold every draft once.

    Raises:
        Untested: filters do not select them, or too few are kept.
    """
    saved = [uid for _, uid, exchange in saved_under_every_kind(known.world) if taken(exchange)]
    uids = (*known.own, *paired(known.world), *saved, *more)
    long = known.picking(*uids)
    if not long or len(uids) < _LONG or long.page().size < 0:
        raise Untested("the document names no filter that selects many drafts: no known one works")
    claim_pages_cover(claim, replace(known, lister=long, own=uids), size)
