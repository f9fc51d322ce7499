"""Claims about what a list holds, and about its parts, while others add and remove items.

What a part has to be is read from the list itself, before and after: only when both are the same was the list at
rest, and only then is anything claimed.
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
    naming,
    told,
)
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import Blocked, Untested, require, taken, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.session.actor import Actor
from registry_contracts.session.namespace import SUITE_PREFIX

#: More drafts than any account is thought to have.
BEYOND = 9_000
#: Items of a list whose drafts are looked for, and texts of an item that are tried.
_LOOKED_AT = 2
_MOST_UIDS = 3


def claim_listed(claim: Claim, world: World, lister: Lister, uid: str) -> None:
    """Claim that a list is given and holds a draft, if need be a few seconds later.

    A refused list is the contradiction itself, no precondition that failed.

    Raises:
        Blocked: no item names any draft of the suite's; by which member an item names its draft is not shown.
    """
    first = lister.page()
    if first.records is None and not first.not_found:
        claim.accepted(first.exchange)
    _look_until(True, world, lister, uid, first).claim(claim, there=True)


def claim_not_listed(claim: Claim, world: World, lister: Lister, uid: str) -> None:
    """Claim that no page of a list holds a draft, if need be a few seconds later.

    Raises:
        Blocked: it lists items, and none names any draft of the suite's; or it is "not found" where it should be given,
            and the service is not seen to tell so that a list holds nothing.
    """
    shown = _look_until(False, world, lister, uid)
    if shown.pages[0].records is None and not _empty_is_not_found(world, lister.actor):
        raise shown.pages[0].no_list
    shown.claim(claim, there=False)


def _look_until(wanted: bool, world: World, lister: Lister, uid: str, first: Page | None = None) -> Search:
    read = itertools.chain([first], itertools.repeat(None))
    shown = world.until(lambda: lister.search(uid, next(read)), lambda search: search.found is wanted)
    records = [record for page in shown.pages for record in page.records or ()]
    if records and SUITE_PREFIX not in json.dumps(records):
        raise Blocked(lister.operation, "lists items, but none that names a draft of the suite's by its uid")
    return shown


def claim_bounded(claim: Claim, lister: Lister, top: int) -> None:
    """Claim that a list that is asked for `top` items holds no more.

    How an empty list is told is not shown: "not found" is judged where the list holds items without the option.
    """
    page = lister.page(top=top)
    if page.not_found:
        lister.needed(1)
        page = lister.page(top=top)
    claim.at_most(page.exchange, top)


def claim_empty(claim: Claim, page: Page) -> None:
    """Claim that a list holds nothing, be it told by an empty list, by 204 or by 404."""
    claim.holds(page.size == 0 or page.not_found, page.exchange, expected="an empty list", seen=page.seen)


def claim_no_items(claim: Claim, page: Page) -> None:
    """Claim that no item comes, however that is told; a refusal gives none."""
    if page.records is None and not page.exchange.answer.refusal:
        raise page.no_list
    claim.holds(page.size <= 0, page.exchange, expected="no item", seen=page.seen)


def need_answer(world: World) -> bool:
    """Require that the plain list is given, or told to be empty: what it holds is not shown."""
    page = drafts_of(world.author).page()
    return require(page.size >= 0 or page.not_found, "listDrafts", f"the answer is no list: {page.seen}")


def claim_answered(claim: Claim, world: World, lister: Lister) -> Page:
    """Claim that a list of drafts of which it is not shown what it holds is answered with a list; the answer."""
    page = lister.page()
    if page.not_found and _empty_is_not_found(world, lister.actor):
        raise Untested(f"the list may be empty: {page.exchange.answer.status} tells that elsewhere, too")
    claim.accepted(page.exchange)
    claim.meets("list", page.exchange)
    return page


def _empty_is_not_found(world: World, actor: Actor) -> bool:
    """Whether the collection that holds the actor's own drafts is given, and "not found" where skip leaves none."""
    kept_drafts(world)
    own = drafts_of(actor, "mydrafts")
    return own.page().size > 0 and own.page(skip=BEYOND).not_found


def claim_drafts_only(claim: Claim, lister: Lister, prefix: str) -> None:
    """Claim that items of a list of drafts are drafts, by the exists check on the identifiers that an item holds.

    Items that hold the prefix of the run's own identifiers come last.
    """

    def uids(record: Record) -> list[str]:
        """Texts of a record that may be the uid of its document, the shortest path first."""
        return list(dict.fromkeys(filter(is_valid_uid, readers.values(record))))[:_MOST_UIDS]

    items = sorted(map(uids, lister.needed(1)), key=lambda names: any(prefix in name for name in names))
    for names in filter(None, items[:_LOOKED_AT]):
        checks = [lister.actor.draft_exists(name) for name in names]
        gone = not any(usable(check).success for check in checks)
        page = lister.page()
        # What was deleted meanwhile is no longer listed.
        listed = gone and any(page.names(name) for name in names)
        seen = checks[0].answer.quote()
        claim.holds(not listed, page.exchange, *checks, expected="a draft for each item", seen=seen)


def listers_of(known: KnownList, uid: str) -> list[Lister]:
    """The list, and the list by the draft's uid where filters are seen to work, that show a draft of the actor's."""

    def look() -> list[Lister]:
        ways = filter(None, (known.lister, known.picking(uid)))
        return [each for each in ways if readers.carries_identifier(usable(each.page().exchange), uid)]

    if not (shown := known.world.until(look, bool)):
        raise Untested("the list does not show a draft that was just saved")
    return shown


def claim_not_listed_without_a_draft(claim: Claim, known: KnownList, uid: str) -> None:
    """Claim that a list of drafts does not hold a published record that has no draft, or none any more.

    Raises:
        Untested: it keeps one, or there is no list to look at.
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


#: How often a list is looked at before it counts as never at rest.
_LOOKS = 5
#: Items at the start of a list that parts are compared with; what happens behind them does not matter.
HEAD = 12
#: A list that holds fewer says nothing about its parts.
_ENOUGH = 4
#: Items of a page of a long list; three make up the whole list. One that is shorter says nothing about long ones.
_PAGE: Final = 9
_LONG: Final = 16
#: A part of a list: how many items are left out from the start, and how many are given at most; None for no bound.
Cut = tuple[int, int | None]


@dataclass(frozen=True)
class _Part:
    """A part of a list: the answer, what it has to begin with, and the names of its items.

    A service may fill a part up with what comes behind.
    """

    cut: Cut
    page: Page
    due: list[str]
    names: list[str]

    @property
    def right(self) -> bool:
        """Whether it begins with what is due."""
        return self.page.records is not None and self.names[: len(self.due)] == self.due


#: The names of the items at the start of a list while its parts were asked for, in order; and those parts.
_Look = tuple[list[str], list[_Part]]


def _at_rest(known: KnownList, cuts: Sequence[Cut], **base: Option) -> _Look:
    """Ask for parts of a list, with base options, while it is at rest: the whole one, or else the own items alone."""
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
    raise Blocked(known.lister.operation, f"the list changed during each of {_LOOKS} looks")


def _looks(known: KnownList, cuts: Sequence[Cut]) -> list[_Look]:
    """Parts of a list beside the list that they are parts of, once or twice; the last look is the one to judge.

    The order of a list without options is not shown, and need not be that in which it is paged. Where the parts are
    not right beside it, they are held against the list with a skip of zero, unless items of the first are lost there.
    """
    plain = _at_rest(known, cuts)
    in_order = f"{known.lister.sign}orderby" in known.lister.fixed
    if all(part.right for part in plain[1]) or in_order or not any(skip for skip, _ in cuts):
        return [plain]
    with suppress(Blocked):
        paged = _at_rest(known, cuts, skip=0)
        # A list with a skip of zero that is the plain one without its first items tells that skip counts wrongly.
        tails = (plain[0][start:] for start in range(1, len(plain[0]) - 1))
        if not any(paged[0][: len(tail)] == tail for tail in tails):
            return [plain, paged]
    return [plain]


def claim_parts(claim: Claim, known: KnownList, *cuts: Cut) -> None:
    """Claim that parts of a list, each by skip and top, are what the list holds there."""
    for part in _looks(known, cuts)[-1][1]:
        skip, top = part.cut
        what = f"the list from item {skip + 1} on" if top is None else f"items {skip + 1} to {skip + top}"
        part.page.claim(claim, part.right, part.due, f", which are {what}")
        if top is not None:
            claim.at_most(part.page.exchange, top)


def pages(known: KnownList, size: int) -> list[Cut]:
    """The pages that hold the start of a list of drafts, or all of a list that holds just the known items."""
    alone = known.of_files or f"{known.lister.sign}filter" in known.lister.fixed
    return [(skip, size) for skip in range(0, len(known.own) if alone else HEAD, size)]


def claim_pages_cover(claim: Claim, known: KnownList, size: int) -> None:
    """Claim that pages of `size` taken one after another neither repeat an item of the list's start nor lose one."""
    looks = _looks(known, pages(known, size))
    whole = looks[-1:]
    for due, parts in looks:
        exchanges = [part.page.exchange for part in parts]
        answered = all(part.page.records is not None for part in parts)
        claim.holds(answered, *exchanges, expected="a list for every page", seen="a page was refused")
        # Beside the list in another order each page may hold other items, and none of them twice.
        times = Counter(name for part in parts for name in part.names)
        twice = [name for name in times if times[name] > 1]
        claim.holds(not twice, *exchanges, expected="no item twice", seen=f"twice: {told(twice)}")
        if (due, parts) in whole:
            lost, expected = [name for name in due if name not in times], f"each of {len(due)} items once"
            claim.holds(not lost, *exchanges, expected=expected, seen=f"lost: {told(lost)}")


def claim_long_pages(claim: Claim, known: KnownList, more: Sequence[str] = (), *, size: int = _PAGE) -> None:
    """Claim that pages of `size` drafts taken one after another hold every draft once.

    Raises:
        Untested: filters do not pick them, or fewer are kept; shorter lists are judged.
    """
    saved = [uid for _, uid, exchange in saved_under_every_kind(known.world) if taken(exchange)]
    uids = (*known.own, *paired(known.world), *saved, *more)
    long = known.picking(*uids)
    if not long or len(uids) < _LONG or long.page().size < 0:
        raise Untested("which filters pick many drafts is not shown: none known does")
    claim_pages_cover(claim, replace(known, lister=long, own=uids), size)


def need_parts(known: KnownList, *cuts: Cut) -> bool:
    """Require that skip, alone or with top, gives parts of a list, for claims about what else it does."""
    parts = _looks(known, cuts)[-1][1]
    given = all(part.right and part.page.size <= (part.cut[1] or part.page.size) for part in parts)
    return require(given, known.lister.operation, "skip does not give the part that it names")
