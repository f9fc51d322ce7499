"""Lists of which some items are the suite's own: drafts that stay until the end of a run, and one document's files.

By which field filters and orders tell these items is not shown. It is learnt: the first field that holds a known value
and that the service takes is used; when it takes none, nothing can be claimed by it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from contracts.cases.list_pages import (
    Lister,
    Page,
    Record,
    attachments_of,
    drafts_of,
    equals,
    leaves,
    naming,
    quoted,
    text_paths,
)
from contracts.cases.sample_records import is_worded
from contracts.cases.shared_documents import shared_document, shared_document_list
from contracts.cases.world import World
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, Untested, require, taken
from contracts.session.namespace import SUITE_PREFIX

#: Neither rising nor falling, so that no order of making is an order of names; the letters around them are small.
SCRAMBLED = "DBFACE"
#: What the fields that hold the known values are commonly called.
_UIDS = ("identifier", "uid", "id")
_FILES = ("filename", "fileName", "name")
#: The texts of documents of the workflow's schema, two of each; one needs a doubled quote in a filter.
_TEXTS: Final = ("O'Neill's", "O'Neill's", "Maathai", "Maathai")
#: Those of the two contacts beside them.
_NAME: Final = "Maathai"


@dataclass(frozen=True)
class Field:
    """The field that holds the values of the suite's own items.

    Attributes:
        by_filter, by_order: Its OData path, as filters and orders take it; None where they take none.
        filters: Whether a filter by it picks exactly the suite's own items.
    """

    by_filter: str | None = None
    by_order: str | None = None
    filters: bool = False


@dataclass(frozen=True)
class KnownList:
    """A list, and the items of the suite's own that it holds.

    Attributes:
        own: The values that tell the suite's own items, in the order of their making.
    """

    world: World
    lister: Lister
    own: tuple[str, ...]

    @property
    def of_files(self) -> bool:
        """Whether its items are the attachments of a document."""
        return bool(self.lister.path)

    @property
    def usual(self) -> tuple[str, ...]:
        """Names of fields that are tried besides those that the items carry."""
        return _FILES if self.of_files else _UIDS

    @cached_property
    def field(self) -> Field:
        """The field that holds the own values, learnt where these are promised; without a path where it cannot be."""
        lister = self.lister if self.of_files else drafts_of(self.world.author, "mydrafts")
        with suppress(Blocked):
            return self.world.once(f"field of {lister.label}", lambda: learn(lister, self.own, self.usual))
        return Field()

    @property
    def filter_path(self) -> str:
        """The path by which the list is filtered."""
        return self._taken(self.field.by_filter, "filters")

    @property
    def order_path(self) -> str:
        """The path by which the list is ordered; raises as `filter_path`."""
        return self._taken(self.field.by_order, "orders")

    def _taken(self, path: str | None, what: str) -> str:
        if path is None:
            cause = f"{what} take none of the fields that hold a value the suite knows"
            raise Blocked(self.lister.operation, cause)
        return path

    @property
    def proven_path(self) -> str | None:
        """The path of the filter, where filtering by it was seen to pick the own items."""
        return self.field.by_filter if self.field.filters else None

    @property
    def narrowed(self) -> Lister | None:
        """The list with its own items alone; None where the service is not seen to filter rightly."""
        path = self.proven_path
        return self.lister.with_fixed(filter=equals(path, *self.own)) if path else None

    def need_filter(self) -> None:
        """See that a filter picks the suite's own items, for claims about what else filters do."""
        cause = f"{self.lister.sign}filter alone does not pick the suite's own items"
        require(self.field.filters, self.lister.operation, cause)

    def need_order(self) -> bool:
        """Require that the list comes in rising order when asked, for claims about what else orders do."""
        rising, _ = self.orders()
        cause = f"{self.lister.sign}orderby alone does not order the list"
        return require(rising == sorted(rising), self.lister.operation, cause)

    def need_top(self) -> bool:
        """Require that top alone bounds the list, for claims about what else it does."""
        cause = f"{self.lister.sign}top alone does not bound the list"
        return require(0 <= self.lister.page(top=1).size <= 1, self.lister.operation, cause)

    def orders(self) -> tuple[list[str], list[str]]:
        """The suite's own items as the list holds them in rising and in falling order, looked up once."""

        def look() -> tuple[list[str], list[str]]:
            path = self.order_path
            pages = [self.lister.page(orderby=order) for order in (path, f"{path} desc")]
            return pages[0].order_of(self.own), pages[1].order_of(self.own)

        return self.world.once(f"orders of {self.lister.label}", look)

    @property
    def is_ordered(self) -> bool:
        """Whether it comes in rising and in falling order when asked: its order is then known to be by this field."""
        if self.field.by_order is None:
            return False
        rising, falling = self.orders()
        return rising == sorted(rising) and len(falling) > 1 and falling == sorted(falling, reverse=True)


def known_drafts(world: World, collection: str | None = "mydrafts") -> KnownList:
    """The list of drafts with the actor's own kept ones, of a collection or of none."""
    return KnownList(world, drafts_of(world.author, collection), kept_drafts(world))


def known_files(world: World, *, sound: bool = True) -> KnownList:
    """The list of the attachments of the shared document.

    Args:
        sound: See first that it holds just these.
    """
    shared = shared_document(world)
    files = shared_document_list(world) if sound else attachments_of(world.author, shared.uid)
    names = tuple(attachment.filename for attachment in shared.attachments)
    return KnownList(world, files, names)


def kept_drafts(world: World) -> tuple[str, ...]:
    """Uids of six drafts that stay until the end of the run, in the order in which they were saved.

    Their uids differ in one letter first, so that any way of comparing texts puts them in the same order.
    """

    def make() -> tuple[str, ...]:
        uids = tuple(world.kept_draft(f"list{letter}").uid for letter in SCRAMBLED)
        drafts = drafts_of(world.author, "mydrafts")

        def shown() -> bool:
            first = drafts.page()
            return all(first.names(uid) or drafts.search(uid).found for uid in uids)

        # A list may be a moment late, and later with one than with another. Whether it holds them is for the cases.
        with suppress(Blocked):
            world.eventually(shown)
        return uids

    return world.once("drafts to list", make)


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


def drafts_searched(world: World, collection: str | None) -> Lister:
    """The author's list of drafts, in which a filter finds a draft where filters are seen to work."""
    return drafts_of(world.author, collection, known_drafts(world).proven_path)


def learn(lister: Lister, own: Sequence[str], usual: Sequence[str] = ()) -> Field:
    """Learn the field that holds these values, each of another record.

    A name that is no field may be passed over, so that a filter which is taken shows every record: one that picks goes
    before one that is taken.

    Args:
        usual: Names tried besides, since a list may show a field under another name than filters take.
    """
    # How long a page is, and which items come first, is not shown.
    value, paths = _held(lister.needed(), own) or _held(lister.walk(), own) or ("", [])
    if not paths:
        raise Blocked(lister.operation, "no listed item has a field that holds a value the suite knows")
    # An envelope around each item need be no part of a field's name.
    names = dict.fromkeys([*paths, *(path.rpartition("/")[2] for path in paths), *usual])
    filtered, picked = None, False
    for name in names:
        page = lister.page(filter=equals(name, value))
        picked = page.holds_just([value])
        if picked or (filtered is None and page.size >= 0 and not page.not_found):
            filtered = name  # a filter by an unknown field may be answered "not found"
        if picked:
            break
    ordered = next((name for name in names if lister.page(orderby=name).size >= 0), None)
    exact = picked and lister.page(filter=equals(str(filtered), *own)).holds_just(own)
    return Field(filtered, ordered, exact)


def _held(records: Iterable[Record], own: Sequence[str]) -> tuple[str, list[str]] | None:
    """The first of the values that a record holds, and the paths of the fields that hold it."""
    found = ((value, text_paths(record, value)) for record in records for value in own)
    return next(((value, paths) for value, paths in found if paths), None)


#: Fields of a kind that are tried before a list counts as one that heeds none, and items that show it.
_MOST_FIELDS = 6
_FEW = 2
_NO_VALUE = f"{SUITE_PREFIX}no-item-has-this"


def claim_picked(claim: Claim, lister: Lister, expression: str, wanted: Sequence[str]) -> None:
    """Claim that a filter gives exactly the items that carry these values."""
    page = lister.page(filter=expression)
    expected = f"{' and '.join(wanted) or 'nothing'} for {expression}"
    claim.holds(page.holds_just(wanted), page.exchange, expected=expected, seen=page.seen_beside(wanted))


def claim_ordered(claim: Claim, known: KnownList, *, falling: bool = False) -> None:
    """Claim that the suite's own items come in the order asked for."""
    order = f"{known.order_path} desc" if falling else known.order_path
    page = known.lister.page(orderby=order)
    if page.size >= 0 and len(page.order_of(known.own)) < len(known.own):
        narrowed = known.narrowed
        if narrowed is None:
            raise Blocked(known.lister.operation, "the suite's own items are not all on the first page")
        page = narrowed.page(orderby=order)
    wanted = sorted(known.own, reverse=falling)
    expected, seen = f"in the order {', '.join(wanted)}", page.seen_beside(wanted)
    claim.holds(page.order_of(known.own) == wanted, page.exchange, expected=expected, seen=seen)


def claim_filters_heeded(claim: Claim, known: KnownList) -> None:
    """Claim that not every filter is passed over: by some field, one for a value that nothing has gives no item.

    Nor may the opposite filter by each such field give no item either, since there are items of other values. A
    field that filters do not take may be passed over, or make the service refuse.
    """
    if known.proven_path is not None:
        claim.holds(True, expected="an effect of the option")
        return

    def heeded(equal: Page, unequal: Page) -> bool | None:
        if equal.size < 0:
            return None
        return equal.size == 0 and (unequal.size != 0 or unequal.not_found)

    asked = f"{{}} eq {quoted(_NO_VALUE)}", f"{{}} ne {quoted(_NO_VALUE)}"
    due = "no item for a value that none has, and items for any other value"
    _claim_heeded(claim, known, "filter", asked, heeded, due)


def claim_orders_heeded(claim: Claim, known: KnownList) -> None:
    """Claim that not every order is passed over: by some field, the falling one differs from the rising one.

    Nor may every order empty the list, since an order leaves out nothing.
    """
    if known.is_ordered:
        claim.holds(True, expected="an effect of the option")
        return

    def heeded(*pages: Page) -> bool | None:
        if min(page.size for page in pages) < 0:
            return None
        first, second = (page.records or [] for page in pages)
        names = naming(first, second)
        common = set(names(first)) & set(names(second))
        rising, falling = ([name for name in names(part) if name in common] for part in (first, second))
        # Pages that have hardly an item in common are the two ends of an ordered list.
        same = len(common) >= _FEW and rising == falling
        return bool(first and second) and not same

    due = "a falling order unlike the rising one"
    _claim_heeded(claim, known, "orderby", ("{}", "{} desc"), heeded, due)


def _claim_heeded(
    claim: Claim,
    known: KnownList,
    option: str,
    asked: tuple[str, str],
    heeded: Callable[[Page, Page], bool | None],
    due: str,
) -> None:
    """Claim that an option has an effect by some field.

    Args:
        asked: Two expressions, with room for the field.
        heeded: Whether their answers show an effect; None where the service does not take them.

    Raises:
        Untested: by no field does the service take both, or it passes over some and finds nothing by others.
    """
    records, passed = known.lister.needed(_FEW), list[tuple[Page, Page]]()
    fields = _fields(records, known.usual)
    for name in fields:
        first, second = (known.lister.page(**{option: expression.format(name)}) for expression in asked)
        effect = heeded(first, second)
        if effect:
            claim.holds(True, second.exchange, expected=due)
            return
        if effect is not None:
            passed.append((first, second))
    if len({first.size == 0 for first, _ in passed}) != 1:
        raise Untested(f"which fields {option} takes is not shown, and none of those known is plainly taken")
    exchanges = [page.exchange for pages in passed for page in pages]
    expected, seen = f"{due}, by one of {', '.join(fields)}", f"for each: {passed[0][0].seen}"
    claim.holds(False, *exchanges, expected=expected, seen=seen)


def _fields(records: Sequence[Record], usual: Sequence[str]) -> list[str]:
    """Paths of fields with texts: those that tell the items apart, and the usual ones; not many.

    An envelope around each item need be no part of a field's name.
    """
    texts = text_paths(records[0])
    telling = [path for path in texts if _differs(records, path)]
    found = [*telling[:_MOST_FIELDS], *usual]
    return list(dict.fromkeys(each for name in found for each in (name, name.rpartition("/")[2])))


def _differs(records: Sequence[Record], path: str) -> bool:
    """Whether each of these records has a value of its own in a field."""
    return len({str(dict(leaves(record)).get(path)) for record in records}) == len(records)
