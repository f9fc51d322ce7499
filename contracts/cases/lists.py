"""Claims about what a list holds, and about its parts, while others add and remove items.

What a part has to be is read from the list itself, before and after: only when both are the same was the list at
rest, and only then is anything claimed. Twenty drafts of one account, some under identifiers of every kind, some whose
texts come in pairs, have further pages behind ten and more items, filters of texts with quotes, orders of two keys.
"""

from __future__ import annotations

import itertools
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from contracts.cases.drafts import claim_as_ordinary
from contracts.cases.known_lists import SCRAMBLED, KnownList, kept_drafts
from contracts.cases.list_pages import (
    Item,
    Lister,
    Names,
    Option,
    Page,
    Record,
    Search,
    drafts_of,
    equals,
    leaves,
    quoted,
    told,
    unlike,
)
from contracts.cases.sample_records import is_worded
from contracts.cases.world import World
from contracts.checks.claims import Claim, Expect
from contracts.checks.outcomes import Blocked, Untested, done, require, taken, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import is_valid_uid
from contracts.session.actor import Actor

#: More drafts than any account is thought to have.
BEYOND = 9_000
#: Items of a list whose drafts are looked for, and texts of an item that are tried.
_LOOKED_AT = 2
_MOST_UIDS = 3


def claim_listed(claim: Claim, world: World, lister: Lister, item: Item, name: str = "") -> None:
    """Claim that a list is given and holds an item, if need be a few seconds later.

    A refused list is the contradiction itself, no precondition that failed; of files an answer that is no list, too.

    Args:
        name: What an item that is no draft is called.

    Raises:
        Blocked: no item names any draft of the suite's; by which member an item names its draft is not shown.
    """
    first = lister.page()
    if first.records is None and not first.not_found:
        claim.accepted(first.exchange)
        if name:
            claim.meets("list", first.exchange)
    result = Search(True, [first])
    if not first.holds(item):
        result = world.until(lambda: _searched(lister, item, name), lambda search: search.found)
    if not result.found and not name:
        _need_names(lister, result)
    expected = f"{name or f'the draft {item}'} in the list"
    claim.holds(result.found, *result.exchanges, expected=expected, seen=result.seen)


def claim_listed_each_time(claim: Claim, lister: Lister, item: Item, times: int, name: str = "") -> None:
    """Claim that a list which held an item holds it every time, on whatever page; `name` as for `claim_listed`."""
    expected = f"{name or f'the draft {item}'} in the list, as it was before"
    for _ in range(times):
        page = lister.page()
        told = page.size < 1 or page.holds(item)
        result = Search(page.holds(item), [page]) if told else _searched(lister, item, name)
        claim.holds(result.found, *result.exchanges, expected=expected, seen=result.seen)


def _searched(lister: Lister, item: Item, name: str) -> Search:
    """Search a list; the few files of a document are missing where the list cannot be read on behind its first page."""
    try:
        return lister.search(item)
    except Blocked:
        if not name:
            raise
        return Search(False, [lister.page()])


def claim_not_listed(claim: Claim, world: World, lister: Lister, uid: str) -> None:
    """Claim that no page of a list holds a draft, if need be a few seconds later.

    Raises:
        Blocked: it lists items, and none names any draft of the suite's; or it is "not found" where it should be given,
            and the service is not seen to tell so that a list holds nothing.
    """
    result = _look_until(False, world, lister, uid)
    _need_names(lister, result)
    first = result.pages[0]
    if first.records is None and not _empty_is_not_found(world, lister.actor):
        raise Blocked(lister.operation, f"the answer is no list: {first.exchange.answer.quote()}")
    claim.holds(not result.found, *result.exchanges, expected=f"no draft {uid}", seen=result.seen)


def need_listed(world: World, lister: Lister, uid: str) -> None:
    """Go on only when a list holds a draft, if need be a few seconds later."""
    found = _look_until(True, world, lister, uid).found
    require(found, lister.operation, f"{lister.label} does not hold a draft that was just saved")


def _look_until(wanted: bool, world: World, lister: Lister, item: Item) -> Search:
    return world.until(lambda: lister.search(item), lambda search: search.found is wanted)


def _need_names(lister: Lister, result: Search) -> None:
    if result.nameless:
        raise Blocked(lister.operation, "lists items, but none that names a draft of the suite's by its uid")


def claim_adds_nothing(claim: Claim, lister: Lister, uid: str) -> None:
    """Claim that a filter by a uid gives no item where the list does not hold it without the filter."""
    if lister.field is None:
        raise Untested("which fields filters take is not shown, and none was seen to pick what is equal")
    chosen = lister.read(filter=equals(lister.field, uid))
    if not (chosen.names(uid) and lister.search(uid).found):
        claim.holds(not chosen.names(uid), chosen.exchange, expected=f"no draft {uid}", seen=chosen.seen)


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
        raise Blocked(page.exchange.operation or "", f"the answer is no list: {page.exchange.answer.quote()}")
    claim.holds(page.size <= 0, page.exchange, expected="no item", seen=page.seen)


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

    Args:
        prefix: Of the run's own identifiers; other items come first.
    """
    records = sorted(lister.needed(1), key=lambda record: any(prefix in name for name in _named(record)))
    for names in filter(None, map(_named, records[:_LOOKED_AT])):
        checks = [lister.actor.draft_exists(name) for name in names]
        gone = not any(usable(check).success for check in checks)
        page = lister.page()
        # What was deleted meanwhile is no longer listed.
        listed = gone and any(page.names(name) for name in names)
        seen = checks[0].answer.quote()
        claim.holds(not listed, page.exchange, *checks, expected="a draft for each item", seen=seen)


def _named(record: Record) -> list[str]:
    """Texts of a record that may be the uid of its document, the shortest path first."""
    return list(dict.fromkeys(value for value in readers.values(record) if is_valid_uid(value)))[:_MOST_UIDS]


def listers_of(known: KnownList, uid: str) -> list[Lister]:
    """The list, and the list by the draft's uid, where they show a draft of the actor's own."""
    lister, path, shown = known.lister, known.proven_path, list[Lister]()
    listers = [lister, *([lister.with_fixed(filter=equals(path, uid))] if path else [])]

    def look() -> bool:
        shown[:] = [each for each in listers if readers.carries_identifier(usable(each.page().exchange), uid)]
        return bool(shown)

    if not known.world.eventually(look):
        raise Untested("the list does not show a draft that was just saved")
    return shown


def claim_listed_once(claim: Claim, world: World, lister: Lister, uid: str) -> None:
    """Claim that a list which holds a draft holds it once; where it was a moment ago, it may not be any more."""
    page = world.until(lister.page, lambda page: page.count(uid) <= 1)
    done(page.exchange)
    count = page.count(uid)
    claim.holds(count <= 1, page.exchange, expected="the draft once", seen=f"{count} times")


def claim_not_listed_without_a_draft(claim: Claim, known: KnownList, uid: str) -> None:
    """Claim that a list of drafts does not hold a published record that has no draft, or none any more.

    Raises:
        Untested: it keeps one, or there is no list to look at.
    """
    actor, lister, path = known.lister.actor, known.lister, known.proven_path
    shown: list[Exchange] = []
    if usable(actor.draft_exists(uid)).success:
        actor.delete_draft(uid)

    def absent() -> bool:
        pages = [lister.page(), *([lister.page(filter=equals(path, uid))] if path else [])]
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

#: A part of a list: how many items are left out from the start, and how many are given at most; None for no bound.
Cut = tuple[int, int | None]


@dataclass(frozen=True)
class _Parts:
    """Parts of a list, and the names of the items at its start while they were asked for, in order.

    Attributes:
        names: Of the items of each part, in order; None for one that was not answered with a list.
    """

    items: list[str]
    pages: dict[Cut, Page]
    names: dict[Cut, list[str] | None]

    def due(self, cut: Cut) -> list[str]:
        """What a part has to begin with; a service may fill it up with what comes behind."""
        skip, top = cut
        return self.items[skip : None if top is None else skip + top]

    @property
    def right(self) -> bool:
        """Whether every part is as due."""
        return all(_begins(part, self.due(cut)) for cut, part in self.names.items())

    @property
    def covering(self) -> bool:
        """Whether the parts together hold the start of the list."""
        return not set(self.items).difference(*(part or () for part in self.names.values()))


def _begins(seen: Sequence[str] | None, expected: Sequence[str]) -> bool:
    return seen is not None and list(seen[: len(expected)]) == list(expected)


def _part(lister: Lister, cut: Cut) -> Page:
    skip, top = cut
    return lister.page(skip=skip) if top is None else lister.page(skip=skip, top=top)


def _at_rest(lister: Lister, narrowed: Lister | None, cuts: Sequence[Cut], **base: Option) -> _Parts:
    """Ask for parts of a list while it is at rest.

    Args:
        narrowed: The list with the suite's own items alone, for when the whole one is never at rest.
        base: Options of the list that the parts are parts of.
    """
    before = lister.needed(_ENOUGH, **base)
    for _ in range(_LOOKS):
        pages = {cut: _part(lister, cut) for cut in cuts}
        after = lister.needed(_ENOUGH, **base)
        names = Names(before, after)
        items = names.of(before)[:HEAD]
        if items == names.of(after)[:HEAD]:
            listed = {cut: page.records for cut, page in pages.items()}
            named = {cut: None if part is None else names.of(part) for cut, part in listed.items()}
            return _Parts(items, pages, named)
        before = after
    if narrowed is not None:
        return _at_rest(narrowed, None, cuts, **base)
    raise Blocked(lister.operation, f"the list changed during each of {_LOOKS} looks")


def _parts(known: KnownList, cuts: Sequence[Cut], right: Callable[[_Parts], bool]) -> _Parts:
    """Parts of a list beside the list that they are parts of.

    The order of a list without options is not shown, and need not be that in which it is paged. Where the parts are
    not right beside it, they are held against the list with a skip of zero, unless items of the first are lost there.
    """
    plain = _at_rest(known.lister, known.narrowed, cuts)
    in_order = f"{known.lister.sign}orderby" in known.lister.fixed
    if right(plain) or in_order or not any(skip for skip, _ in cuts):
        return plain
    with suppress(Blocked):
        paged = _at_rest(known.lister, known.narrowed, cuts, skip=0)
        # A list with a skip of zero that is the plain one without its first items tells that skip counts wrongly.
        tails = (plain.items[start:] for start in range(1, len(plain.items) - 1))
        if not any(_begins(paged.items, tail) for tail in tails):
            return paged
    return plain


def claim_parts(claim: Claim, known: KnownList, *cuts: Cut) -> None:
    """Claim that parts of a list, each by skip and top, are what the list holds there."""
    parts = _parts(known, cuts, lambda parts: parts.right)
    for (skip, top), names in parts.names.items():
        page, due = parts.pages[skip, top], parts.due((skip, top))
        what = f"the list from item {skip + 1} on" if top is None else f"items {skip + 1} to {skip + top}"
        seen = page.seen
        if names is not None:
            seen = f"{len(names)} items{unlike(due, names[: len(due)])}: {_some(names)}"
        claim.holds(_begins(names, due), page.exchange, expected=f"{what}: {_some(due)}", seen=seen)
        if top is not None:
            claim.at_most(page.exchange, top)


def claim_pages_in_order(claim: Claim, known: KnownList, size: int, items: int = HEAD) -> None:
    """Claim that pages of the falling list are parts of that list; arguments as for `claim_pages_cover`."""
    falling = replace(known, lister=known.lister.with_fixed(orderby=f"{known.order_path} desc"))
    claim_parts(claim, falling, *((skip, size) for skip in range(0, items, size)))


def claim_pages_cover(claim: Claim, known: KnownList, size: int, items: int = HEAD) -> None:
    """Claim that pages of `size` taken one after another neither repeat an item of the list's head nor lose one."""
    walks: list[_Parts] = []

    def covering(parts: _Parts) -> bool:
        walks.append(parts)
        return parts.covering

    walks.append(_parts(known, [(skip, size) for skip in range(0, items, size)], covering))
    for parts in walks:  # beside another list each page may hold other items, and none of them twice
        exchanges = [page.exchange for page in parts.pages.values()]
        answered = None not in parts.names.values()
        claim.holds(answered, *exchanges, expected="a list for every page", seen="a page was refused")
        names = [name for part in parts.names.values() for name in part or ()]
        claim_each_once(claim, exchanges, parts.items if parts is walks[-1] else (), names)


def claim_each_once(
    claim: Claim, exchanges: Sequence[Exchange], due: Sequence[str], seen: Sequence[str]
) -> None:
    """Claim that pages repeat no item, and that they lose none of those that are due."""
    twice = [name for name, times in Counter(seen).items() if times > 1]
    claim.holds(not twice, *exchanges, expected="no item twice", seen=f"twice: {_some(twice)}")
    lost = [name for name in due if name not in seen]
    claim.holds(not lost, *exchanges, expected=f"each of {len(due)} items once", seen=f"lost: {_some(lost)}")


def need_parts(known: KnownList, *cuts: Cut) -> None:
    """See once that skip, alone or with top, gives a part of a list, for claims about what else it does."""

    def given() -> bool:
        parts = _parts(known, cuts, lambda parts: parts.right)
        bounded = all(top is None or len(names or ()) <= top for (_, top), names in parts.names.items())
        return parts.right and bounded

    cause, name = "skip does not give the part that it names", f"parts {cuts} of {known.lister.label}"
    known.world.need(known.lister.operation, cause, given, name)


def _some(names: Sequence[str]) -> str:
    return told(names[:HEAD], HEAD) or "nothing"


ANY, DIGITS, HYPHEN, UNDERSCORE = "uid-any-kind", "uid-digits-only", "uid-hyphen", "uid-underscore"
#: Items of a page; three make up the whole list.
_PAGE: Final = 9
#: Pages that are read of a service that gives fewer items than it is asked for.
_MOST_PAGES: Final = 12
#: A list that is shorter says nothing about long ones.
_LONG: Final = 16
#: The texts of documents of the workflow's schema, two of each; one needs a doubled quote in a filter.
_TEXTS: Final = ("O'Neill's", "O'Neill's", "Maathai", "Maathai")
#: What tells the drafts of every kind from each other.
_MARKS: Final = ("Ada", "Bella", "Clara", "Dora", "Edith", "Flora", "Greta", "Hanna")
#: Those of the two contacts beside them.
_NAME: Final = "Maathai"


def kinds(world: World) -> list[tuple[str, str]]:
    """Valid uids of every kind and of lengths between the ends of the range, each with the clause that promises it."""
    small, both = string.ascii_lowercase, string.ascii_letters
    return [
        (DIGITS, world.fresh.without_prefix(string.digits, 25)),
        (ANY, world.fresh.without_prefix(both, 36)),
        (ANY, world.fresh.without_prefix(small, 32)),
        (HYPHEN, "-" + world.fresh.without_prefix(small, 47)),
        (UNDERSCORE, "_" + world.fresh.without_prefix(small, 62) + "_"),
        (ANY, world.fresh.uid(65)),
        (ANY, world.fresh.uid(100)),
        (ANY, world.fresh.uid(17)),
    ]


def saved_under_every_kind(world: World) -> list[tuple[str, str, Exchange]]:
    """The saves of drafts under `kinds`, each with its clause and uid; the drafts stay until the end of the run."""

    def make() -> list[tuple[str, str, Exchange]]:
        made = []
        for (clause, uid), mark in zip(kinds(world), _MARKS, strict=True):
            world.keep(uid)
            draft = world.samples.short_draft(uid, middleName=mark)
            made.append((clause, uid, world.save(uid, draft)))
        return made

    return world.shared("drafts of every kind", make)


def claim_every_kind(world: World, expect: Expect) -> None:
    """Claim that a draft is saved, found and read under uids of every kind."""
    for (clause, uid, saved), mark in zip(saved_under_every_kind(world), _MARKS, strict=True):
        claim_as_ordinary(expect, world, clause, saved)
        told, read = world.samples.members_of_draft(middleName=mark), world.author.get_draft(uid)
        claim_as_ordinary(expect, world, clause, read)
        expect(clause, "getDraft").shows(read, told)
        claim_as_ordinary(expect, world, clause, world.author.draft_exists(uid))


def paired(world: World) -> tuple[str, ...]:
    """Uids of six drafts that stay; by their texts, and by their schema, they are equal in pairs."""

    def make() -> tuple[str, ...]:
        uids = tuple(world.kept_uid(f"pair{letter}") for letter in SCRAMBLED)
        for uid, text in itertools.zip_longest(uids, _TEXTS):
            if text is None or not _saved_by_workflow_schema(world, uid, text):
                world.draft(uid, world.samples.draft(uid, lastName=text or _NAME))
        return uids

    return world.once("paired drafts", make)


def _saved_by_workflow_schema(world: World, uid: str, text: str) -> bool:
    """Save a document of the workflow's schema with this text in the place of its own; whether it was taken."""
    if not world.samples.tells_workflow:
        return False
    document = world.samples.document(uid)
    worded = {name: dict.fromkeys(value, text) for name, value in document.items() if is_worded(value)}
    return taken(world.save(uid, document | worded, schema=world.samples.workflow_schema))


def claim_long_pages(claim: Claim, known: KnownList, more: Sequence[str] = ()) -> None:
    """Claim that pages of twenty drafts taken one after another hold every draft once.

    Where filters do not pick them, or fewer are kept, nothing is claimed: shorter lists are judged.
    """
    every, world = saved_under_every_kind(known.world), known.world
    uids = [*known.own, *paired(world), *(uid for _, uid, saved in every if taken(saved)), *more]
    if not known.field.filters or len(uids) < _LONG:
        return
    lister = known.lister.with_fixed(filter=equals(known.filter_path, *uids))

    def read() -> list[Page]:
        pages = [lister.page(top=_PAGE)]
        at = pages[0].size
        while pages[-1].size > 0 and at < len(uids) and len(pages) < _MOST_PAGES:
            pages.append(lister.page(top=_PAGE, skip=at))
            at += pages[-1].size
        return pages

    def listed(pages: Sequence[Page]) -> list[str]:
        return [uid for page in pages for uid in page.order_of(uids)]

    pages = world.until(read, lambda pages: pages[0].size <= 0 or set(uids) <= set(listed(pages)))
    if pages[0].size >= 0:  # so long a filter may not be taken
        claim_each_once(claim, [page.exchange for page in pages], uids, listed(pages))


class PairedDrafts:
    """The list of the paired drafts alone, for claims about fields in which some are equal and some differ."""

    def __init__(self, known: KnownList) -> None:
        self._known, self._uids = known, paired(known.world)
        self._narrow = equals(known.filter_path, *self._uids)
        self._lister = known.lister.with_fixed(filter=self._narrow)

    def _fields(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The fields in which some of the drafts are equal and some differ, with the text that each has."""
        shown = {
            uid: {path: value for path, value in leaves(record) if isinstance(value, str)}
            for record in self._lister.page().records or ()
            for uid in self._uids
            if readers.names(record, uid)
        }
        for path in dict.fromkeys(path for texts in shown.values() for path in texts):
            values = {uid: texts[path] for uid, texts in shown.items() if path in texts}
            # What holds a digit may be a time, of which less may be shown than the service goes by.
            worded = not any(character.isdigit() for value in values.values() for character in value)
            if worded and 1 < len(set(values.values())) < len(values):
                yield path, values

    def claim_quotes(self, claim: Claim) -> None:
        """Claim that a quote is doubled in a literal, on a field by which `eq` picks what has none."""
        for path, values in self._fields():
            # Those without a quote come first.
            plain, *_, special = sorted(set(values.values()), key=lambda value: "'" in value)
            if "'" in plain or "'" not in special or not self._picked(path, plain, values)[1]:
                continue
            page, right = self._picked(path, special, values)
            expected, refused = f"the drafts whose {path} is {special}", bool(usable(page.exchange).refusal)
            claim.holds(right or refused, page.exchange, expected=expected, seen=page.seen)
            return

    def _picked(self, path: str, value: str, values: Mapping[str, str]) -> tuple[Page, bool]:
        """The answer to a filter by a text beside that by the uids, and whether it holds just what has this text."""
        page = self._known.lister.page(filter=f"({self._narrow}) and {path} eq {quoted(value)}")
        return page, page.holds_just([uid for uid, own_value in values.items() if own_value == value])

    def claim_two_keys(self, claim: Claim) -> None:
        """Claim that drafts which are equal by the first key come in the order of the second one."""
        for path, values in self._fields() if self._known.is_ordered else ():
            rising, falling = (self._lister.page(orderby=f"{path}{word}") for word in ("", " desc"))
            texts = _runs(rising, values)
            sorted_rightly = len(texts) == len(set(values.values())) and _runs(falling, values) == texts[::-1]
            if sorted_rightly and len(values) == len(self._uids):
                for word in ("", " desc"):
                    by_uid = sorted(values, reverse=bool(word))
                    wanted = sorted(by_uid, key=lambda uid: texts.index(values[uid]))
                    self._claim_ordered(claim, f"{path},{self._known.order_path}{word}", wanted)
                return

    def _claim_ordered(self, claim: Claim, order: str, wanted: Sequence[str]) -> None:
        page = self._lister.page(orderby=order)
        if not usable(page.exchange).refusal:
            expected = f"in the order {order}: {', '.join(wanted)}"
            seen = page.seen_beside(wanted, others=True)
            claim.holds(page.order_of(wanted) == wanted, page.exchange, expected=expected, seen=seen)


def _runs(page: Page, values: Mapping[str, str]) -> list[str]:
    """The texts of a page's drafts in their order, each once for those beside each other."""
    return [text for text, _ in itertools.groupby(values[uid] for uid in page.order_of(list(values)))]
