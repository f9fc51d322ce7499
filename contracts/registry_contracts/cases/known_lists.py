"""Lists with items of the suite's own: drafts that stay until the end of a run, and one document's files.

The document does not name the fields for filters and orders. The suite uses the first field that holds a known value
and that the service accepts; if it accepts none, such claims cannot be made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from registry_contracts.cases.list_pages import (
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
from registry_contracts.cases.sample_records import is_worded
from registry_contracts.cases.shared_documents import shared_document, shared_document_list
from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import Blocked, Untested, require, taken
from registry_contracts.session.namespace import SUITE_PREFIX

#: Neither ascending nor descending, so that creation order differs from name order; letters around them are small.
SCRAMBLED = "DBFACE"
#: Usual names of the fields that hold the known values.
_UIDS = ("identifier", "uid", "id")
_FILES = ("filename", "fileName", "name")
#: Texts of two pairs of workflow documents; the first text needs a doubled quote in a filter.
_TEXTS: Final = ("O'Neill's", "O'Neill's", "Maathai", "Maathai")
#: The last name in the two contacts beside them: the second text.
_NAME: Final = "Maathai"


@dataclass(frozen=True)
class Field:
    """The field that holds the values of the suite's own items.

    Attributes:
        by_filter, by_order: Its OData path, as filters and orders accept it; None if they accept none.
        proven: The filter path, if a filter by it returned exactly the own items.
    """

    by_filter: str | None = None
    by_order: str | None = None
    proven: str | None = None


@dataclass(frozen=True)
class KnownList:
    """A list with items of the suite's own.

    Attributes:
        own: The values that identify the suite's own items, in creation order.
    """

    world: World
    lister: Lister
    own: tuple[str, ...]

    @property
    def of_files(self) -> bool:
        """Whether its items are the attachments of a document."""
        return bool(self.lister.path)

    def fields(self, paths: Iterable[str]) -> list[str]:
        """The paths, the last segment of each (an envelope may not be part of the name), and the usual names."""
        every = (*paths, *(_FILES if self.of_files else _UIDS))
        return list(dict.fromkeys(each for path in every for each in (path, path.rpartition("/")[2])))

    @cached_property
    def field(self) -> Field:
        """The field with the own values, learnt from a list that must hold them; its paths are None if unknown."""
        lister = self.lister if self.of_files else drafts_of(self.world.author, "mydrafts")
        with suppress(Blocked):
            return self.world.once(f"field of {lister.label}", lambda: self._learn(lister))
        return Field()

    def _learn(self, lister: Lister) -> Field:
        """Find the field that holds the own values.

        A service may ignore a filter by an unknown name and return every record. So a filter that selects is
        preferred to one that is merely accepted.
        """

        def held(records: Iterable[Record]) -> tuple[str, list[str]] | None:
            """The first own value in a record, and the paths of the fields that hold it."""
            found = ((value, text_paths(record, value)) for record in records for value in self.own)
            return next(((value, paths) for value, paths in found if paths), None)

        # The document gives neither the page length nor the order.
        value, paths = held(lister.needed()) or held(lister.walk()) or ("", [])
        if not paths:
            raise Blocked(lister.operation, "no listed item has a field that holds a value the suite knows")
        filtered, picked, names = None, False, self.fields(paths)
        for name in names:
            page = lister.page(filter=equals(name, value))
            picked = page.holds_just([value])
            if picked or (filtered is None and page.size >= 0 and not page.not_found):
                filtered = name  # "not found" may be the answer for an unknown field
            if picked:
                break
        ordered = next((name for name in names if lister.page(orderby=name).size >= 0), None)
        exact = filtered and picked and lister.page(filter=equals(filtered, *self.own)).holds_just(self.own)
        return Field(filtered, ordered, filtered if exact else None)

    @property
    def filter_path(self) -> str:
        """The path for filters; raises Blocked if the list accepts none."""
        return self._taken(self.field.by_filter, "filters")

    def order(self, *, falling: bool = False) -> str:
        """The order by the field with the own values; raises like `filter_path`."""
        return self._taken(self.field.by_order, "orders") + " desc" * falling

    def _taken(self, path: str | None, what: str) -> str:
        if path is None:
            cause = f"{what} accept none of the fields that hold a value the suite knows"
            raise Blocked(self.lister.operation, cause)
        return path

    def picking(self, *values: str) -> Lister | None:
        """The list filtered to these items; None if filters are not known to work."""
        path = self.field.proven
        return self.lister.with_fixed(filter=equals(path, *values)) if path else None

    def need_filter(self) -> None:
        """Require that a filter selects exactly the suite's own items, for claims about other filters."""
        cause = f"{self.lister.sign}filter alone does not select the suite's own items"
        require(self.field.proven is not None, self.lister.operation, cause)

    def need_order(self) -> bool:
        """Require that an ascending order works, for claims about other orders."""
        cause = f"{self.lister.sign}orderby alone does not order the list"
        return require(self._orders()[0], self.lister.operation, cause)

    @cached_property
    def shows_own(self) -> bool:
        """Whether a filter returns all own items; claims on filters judge any others."""
        page = self.lister.page(filter=equals(self.filter_path, *self.own))
        return len(page.order_of(self.own)) == len(self.own)

    def _orders(self) -> tuple[bool, bool]:
        """Whether the list obeys an ascending and a descending order; probed once."""

        def look() -> tuple[bool, bool]:
            pages = [self.lister.page(orderby=self.order(falling=falling)) for falling in (False, True)]
            rising, falling = (page.order_of(self.own) for page in pages)
            return rising == sorted(rising), len(falling) > 1 and falling == sorted(falling, reverse=True)

        return self.world.once(f"orders of {self.lister.label}", look)

    @property
    def is_ordered(self) -> bool:
        """Whether the list obeys both orders, so its order is known to be by this field."""
        return self.field.by_order is not None and all(self._orders())


def known_drafts(world: World, collection: str | None = "mydrafts") -> KnownList:
    """The author's list of drafts with the six kept ones; `collection` None leaves the parameter out."""
    return KnownList(world, drafts_of(world.author, collection), kept_drafts(world))


def known_files(world: World, *, sound: bool = True) -> KnownList:
    """The attachment list of the shared document; if `sound`, it is checked to hold exactly its attachments."""
    shared = shared_document(world)
    files = shared_document_list(world) if sound else attachments_of(world.author, shared.uid)
    names = tuple(attachment.filename for attachment in shared.attachments)
    return KnownList(world, files, names)


def kept_drafts(world: World) -> tuple[str, ...]:
    """Uids of six drafts that stay until the end of the run, in the order in which they were saved.

    The uids first differ in one letter, so every way of comparing texts puts them in the same order.
    """

    def make() -> tuple[str, ...]:
        uids = tuple(world.kept_draft(f"list{letter}").uid for letter in SCRAMBLED)
        drafts = drafts_of(world.author, "mydrafts")

        def shown() -> bool:
            first = drafts.page()
            return all(first.names(uid) or drafts.search(uid).found for uid in uids)

        # A list may show each draft with its own delay. The cases judge whether it holds them.
        with suppress(Blocked):
            world.eventually(shown)
        return uids

    return world.once("drafts to list", make)


def paired(world: World) -> tuple[str, ...]:
    """Uids of six kept drafts: two workflow documents with each of two texts, and two contacts with the second."""

    def make() -> tuple[str, ...]:
        uids = tuple(world.kept_uid(f"pair{letter}") for letter in SCRAMBLED)
        for uid, text in itertools.zip_longest(uids, _TEXTS):
            if text is None or not _saved_by_workflow_schema(world, uid, text):
                world.draft(uid, world.samples.draft(uid, lastName=text or _NAME))
        return uids

    return world.once("paired drafts", make)


def _saved_by_workflow_schema(world: World, uid: str, text: str) -> bool:
    """Save a document of the workflow's schema with this text in place of each of its own; tell if it was accepted."""
    if not world.samples.tells_workflow:
        return False
    document = world.samples.document(uid)
    worded = {name: dict.fromkeys(value, text) for name, value in document.items() if is_worded(value)}
    return taken(world.save(uid, document | worded, schema=world.samples.workflow_schema))


def drafts_searched(world: World, collection: str | None) -> Lister:
    """The author's list of drafts; it is searched with a filter if filters are known to work."""
    return drafts_of(world.author, collection, known_drafts(world).field.proven)


def claim_picked(claim: Claim, lister: Lister, expression: str, wanted: Sequence[str]) -> None:
    """Claim that a filter returns exactly the items with these values."""
    page = lister.page(filter=expression)
    page.claim(claim, page.holds_just(wanted), wanted, f" for {expression}")


def claim_ordered(claim: Claim, known: KnownList, *, falling: bool = False) -> None:
    """Claim that the suite's own items come in the requested order."""
    order = known.order(falling=falling)
    page = known.lister.page(orderby=order)
    if page.size >= 0 and len(page.order_of(known.own)) < len(known.own):
        alone = known.picking(*known.own)
        if alone is None:
            raise Blocked(known.lister.operation, "the suite's own items are not all on the first page")
        page = alone.page(orderby=order)
    wanted = sorted(known.own, reverse=falling)
    page.claim(claim, page.order_of(known.own) == wanted, wanted, ", in this order")


def claim_numbers_by_value(claim: Claim, known: KnownList) -> None:
    """Claim that an order by a field of numbers is not the order of their texts, in which 100 comes before 20.

    Raises:
        Untested: no field orders its numbers in either way.
    """
    rows = [dict(leaves(record)) for record in known.lister.needed(_FEW)]
    numbers = {path: [row.get(path) for row in rows] for path in rows[0]}
    for path, values in numbers.items():
        by_value = sorted(value for value in values if type(value) is int)
        by_text = sorted(by_value, key=str)
        if len(by_value) < len(rows) or by_value == by_text:
            continue
        pages = [known.lister.page(orderby=f"{path}{word}") for word in ("", " desc")]
        rising, falling = ([dict(leaves(each)).get(path) for each in page.records or ()] for page in pages)
        if (rising, falling[::-1]) in ((by_value, by_value), (by_text, by_text)):
            expected = f"{', '.join(map(str, by_value))}: in the order of {path}"
            claim.holds(
                rising == by_value, *(page.exchange for page in pages), expected=expected, seen=str(rising)
            )
            return
    raise Untested("which fields can be ordered by is not shown, and none orders numbers")


def _order_heeded(*pages: Page) -> bool:
    """Whether the descending order differs from the ascending one, and neither page is empty."""
    first, second = (page.records or [] for page in pages)
    names = naming(first, second)
    common = set(names(first)) & set(names(second))
    rising, falling = ([name for name in names(part) if name in common] for part in (first, second))
    # Pages with hardly any common items are the two ends of an ordered list.
    return bool(first and second) and (len(common) < _FEW or rising != falling)


#: Fields to try before a list counts as ignoring an option, and items needed to see it.
_MOST_FIELDS = 6
_FEW = 2
_NO_VALUE = quoted(f"{SUITE_PREFIX}no-item-has-this")
#: Option → two expressions with a placeholder for a field, a test for an effect, and the expected effect in words.
_EFFECTS: Final[Mapping[str, tuple[tuple[str, str], Callable[[Page, Page], bool], str]]] = {
    "filter": (
        (f"{{}} eq {_NO_VALUE}", f"{{}} ne {_NO_VALUE}"),
        lambda equal, unequal: equal.size == 0 and (unequal.size != 0 or unequal.not_found),
        "no items for a value that none has, and items for any other value",
    ),
    "orderby": (("{}", "{} desc"), _order_heeded, "a descending order different from the ascending one"),
}


def claim_heeded(claim: Claim, known: KnownList, option: str) -> None:
    """Claim that a filter (or an order) has an effect for at least one field.

    The service may ignore or refuse a field that the option does not support.

    Raises:
        Untested: the service accepts the option for no field, or ignores some fields and finds nothing for others.
    """
    expressions, heeded, due = _EFFECTS[option]
    if known.field.proven if option == "filter" else known.is_ordered:
        claim.holds(True, expected=due)
        return
    records, passed = known.lister.needed(_FEW), list[tuple[Page, Page]]()
    rows = [dict(leaves(record)) for record in records]
    # Fields with texts tell the items apart.
    telling = [
        path for path in text_paths(records[0]) if len({str(row.get(path)) for row in rows}) == len(rows)
    ]
    fields = known.fields(telling[:_MOST_FIELDS])
    for name in fields:
        first, second = (known.lister.page(**{option: each.format(name)}) for each in expressions)
        if first.size < 0 or (option == "orderby" and second.size < 0):
            continue
        if heeded(first, second):
            claim.holds(True, second.exchange, expected=due)
            return
        passed.append((first, second))
    if known.field.proven is None:
        none, every = (known.lister.page(filter=f"1 eq {number}") for number in (2, 1))
        if none.size <= 0 < every.size:
            raise Untested(f"filters are heeded, and by which fields {option} works is not shown")
    if len({first.size == 0 for first, _ in passed}) != 1:
        raise Untested(f"the document names no fields for {option}, and no known field clearly works")
    exchanges = [page.exchange for pages in passed for page in pages]
    expected, seen = f"{due}, by one of {', '.join(fields)}", f"for each: {passed[0][0].seen}"
    claim.holds(False, *exchanges, expected=expected, seen=seen)
