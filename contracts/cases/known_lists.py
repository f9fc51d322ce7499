"""Lists of which some items are the suite's own: drafts that stay until the end of a run, and one document's files.

By which field filters and orders tell these items is not shown. It is learnt: the first field that holds a known value
and that the service takes is used; when it takes none, nothing can be claimed by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from contracts.cases.list_pages import Lister, Record, attachments_of, drafts_of, equals, text_paths
from contracts.cases.shared_documents import shared_document, shared_document_list
from contracts.cases.world import World
from contracts.checks.outcomes import Blocked, require

#: Neither rising nor falling, so that no order of making is an order of names; the letters around them are small.
SCRAMBLED = "DBFACE"
#: What the fields that hold the known values are commonly called.
_UIDS = ("identifier", "uid", "id")
_FILES = ("filename", "fileName", "name")


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
        learns_from: The same items in the list that is promised to hold them; the field is learnt there.
        own: The values that tell the suite's own items, in the order of their making.
        usual: Names of fields that are tried besides those that the items carry.
        clauses: How the names of the clauses about it begin.
    """

    world: World
    lister: Lister
    learns_from: Lister
    own: tuple[str, ...]
    usual: tuple[str, ...]
    clauses: str

    @cached_property
    def field(self) -> Field:
        """The field that holds the own values; without a path where it cannot be learnt."""
        name = f"field of {self.learns_from.label}"
        with suppress(Blocked):
            return self.world.once(name, lambda: learn(self.learns_from, self.own, self.usual))
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

    def need_order(self) -> None:
        """See once that the list comes in rising order when asked, for claims about what else orders do."""
        rising, _ = self.orders()
        cause = f"{self.lister.sign}orderby alone does not order the list"
        require(rising == sorted(rising), self.lister.operation, cause)

    def need_top(self) -> None:
        """See once that top alone bounds the list, for claims about what else it does."""
        self.world.need(
            self.lister.operation,
            f"{self.lister.sign}top alone does not bound the list",
            lambda: 0 <= self.lister.page(top=1).size <= 1,
            f"top of {self.lister.label}",
        )

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
    lister, mine = drafts_of(world.author, collection), drafts_of(world.author, "mydrafts")
    return KnownList(world, lister, mine, kept_drafts(world), _UIDS, "list")


def known_files(world: World, *, sound: bool = True) -> KnownList:
    """The list of the attachments of the shared document.

    Args:
        sound: See first that it holds just these.
    """
    shared = shared_document(world)
    files = shared_document_list(world) if sound else attachments_of(world.author, shared.uid)
    names = tuple(attachment.filename for attachment in shared.attachments)
    return KnownList(world, files, files, names, _FILES, "attachment-list")


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
