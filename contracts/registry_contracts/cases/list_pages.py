"""Asks for lists with OData options and reads pages of records whose fields the document does not show.

Identifiers tell records apart. Fields are learnt from a known record.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import Blocked, Untested, done, usable
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.safe_text import cut
from registry_contracts.session.actor import Actor
from registry_contracts.session.namespace import SUITE_PREFIX

#: None leaves an option out.
Option = str | int | None
Record = dict[str, Any]
#: Maximum depth of fields in a record; OData separates path segments with slashes.
_DEEPEST_FIELD = 3
#: Maximum number of pages to read for one record.
MOST_PAGES = 40
#: Each page repeats one fourth of the one before, since a list may change meanwhile.
_OVERLAP = 4
#: Statuses that may mean that a list is empty.
NOTHING_THERE = (404, 410)
#: Rank of numbers in members not named like an id.
_NO_ID = 2
#: The operation that lists drafts, and the collection that must hold the caller's own.
_LISTING, _OWN = "listDrafts", "mydrafts"
#: How many records a message names, and the maximum length of a name.
_NAMED, _LONGEST_NAME = 12, 60


@dataclass(frozen=True)
class Page:
    """The answer to one list request.

    Attributes:
        may_be_empty: The result may be empty: the request has a skip, a filter or a top of zero, or the document does
            not say what the list holds.
    """

    exchange: Exchange
    may_be_empty: bool = False

    @cached_property
    def records(self) -> list[Record] | None:
        """The records; None if the answer is no list.

        The document does not show an empty list: if the result may be empty, "not found" counts as empty.
        """
        answer = usable(self.exchange)
        if self.may_be_empty and self.not_found:
            return []
        return readers.records(answer) if answer.success else None

    @property
    def not_found(self) -> bool:
        """Whether the status says "not found"."""
        return self.exchange.answer.status in NOTHING_THERE

    @property
    def size(self) -> int:
        """The number of records; -1 if the answer is no list."""
        return -1 if self.records is None else len(self.records)

    @property
    def no_list(self) -> Blocked:
        """A Blocked that says that the answer is no list."""
        done(self.exchange)
        return Blocked(
            self.exchange.operation or "", f"the answer is no list: {self.exchange.answer.quote()}"
        )

    def given(self) -> Page:
        """The page itself if it is a list or "not found"; raises Blocked otherwise."""
        if self.records is None and not self.not_found:
            raise self.no_list
        return self

    @property
    def seen(self) -> str:
        """The page in words, for reports."""
        count = "no list" if self.records is None else f"{self.size} items"
        return f"{count}: {self.exchange.answer.quote()}"

    def claim(self, claim: Claim, right: bool, due: Sequence[str], what: str = "", *more: Page) -> None:
        """Claim that this page, with the earlier ones in `more`, holds the items that are due."""
        seen = self.seen
        if self.records is not None:
            others = [record for record in self.records if not any(readers.names(record, own) for own in due)]
            names = [*self.order_of(due), *naming(self.records)(others)]
            seen = f"{told(names)}: {self.exchange.answer.quote()}"
        exchanges = [page.exchange for page in (*more, self)]
        claim.holds(right, *exchanges, expected=told(due) + what, seen=seen)

    def names(self, identifier: str) -> bool:
        """Whether a record has this identifier."""
        return self.count(identifier) > 0

    def count(self, identifier: str) -> int:
        """How many records have this identifier."""
        return sum(
            readers.names(value, identifier) for value in _naming_values(self.records or (), [identifier])
        )

    def order_of(self, identifiers: Sequence[str]) -> list[str]:
        """Those of `identifiers` that are on the page, in the order of the page."""
        values = _naming_values(self.records or (), identifiers)
        return [own for value in values for own in identifiers if readers.names(value, own)]

    def holds_just(self, identifiers: Sequence[str]) -> bool:
        """Whether its records are exactly those with `identifiers`."""
        return self.size == len(identifiers) and all(map(self.names, identifiers))


@dataclass(frozen=True)
class Search:
    """The pages on which an item was searched; the last one holds it if `found`."""

    pages: list[Page]
    found: bool

    def claim(self, claim: Claim, expected: str, *, there: bool) -> None:
        """Claim that the item is in the list, or that it is not; `expected` in words."""
        exchanges = [page.exchange for page in self.pages]
        where = f"there, among the items of {len(self.pages)} pages" if self.found else "not there"
        seen = f"{where}: {exchanges[-1].answer.quote()}"
        claim.holds(self.found is there, *exchanges, expected=expected, seen=seen)


def told(names: Sequence[str]) -> str:
    """The first names of records, for messages."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(cut(name, _LONGEST_NAME) for name in names[:_NAMED]) + more or "nothing"


@dataclass(frozen=True)
class Lister:
    """One list of one actor.

    Attributes:
        sign: Prefix of option names: `$` for drafts, nothing for attachments.
        fixed: Query parameters of every request.
        field: A field with the items' uids for which filters are known to work.
    """

    actor: Actor
    operation: str
    sign: str = ""
    path: Mapping[str, str] = dataclasses.field(default_factory=dict)
    fixed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    field: str | None = None

    @property
    def label(self) -> str:
        """A unique key for this list, for results that are cached."""
        return " ".join([self.actor.role, self.operation, *self.path.values(), *self.fixed.values()])

    def page(self, **options: Option) -> Page:
        """Send one request; option names without the sign: filter, orderby, top, skip."""
        query = self.with_fixed(**options).fixed
        part = {f"{self.sign}filter", f"{self.sign}skip"} & {*query} or query.get(f"{self.sign}top") == "0"
        exchange = self.actor.send(self.operation, path=self.path, query=query)
        return Page(exchange, bool(part) or self._holds_what_is_not_shown)

    def needed(self, at_least: int = 0, **options: Option) -> list[Record]:
        """The records of a list that the case relies on.

        Raises:
            Blocked: it was refused, is no list, or has fewer than `at_least` records.
            Untested: it has fewer, and the document does not say which drafts this list holds.
        """
        page = self.page(**options)
        if page.records is None:
            raise page.no_list
        if self._holds_what_is_not_shown and (page.not_found or page.size < at_least):
            raise Untested(f"the document does not say what other lists than {_OWN} hold: {page.size} items")
        if page.size < at_least:
            raise Blocked(self.operation, f"lists {page.size} items where there are {at_least} or more")
        return page.records

    @property
    def _holds_what_is_not_shown(self) -> bool:
        return self.operation == _LISTING and self.fixed.get("collection") != _OWN

    def read(self, **options: Option) -> Page:
        """Send one request and require a list; see `Page.given`."""
        return self.page(**options).given()

    def search(self, uid: str, first: Page | None = None) -> Search:
        """Search for a draft, as `search_for`."""
        return self.search_for(lambda page: page.names(uid), uid, first)

    def search_for(self, holds: Callable[[Page], bool], uid: str = "", first: Page | None = None) -> Search:
        """Search for an item: on the first pages, then with a filter if filters are known to work, or page by page.

        "Not found" counts as an empty list, since the document does not show an empty list.

        Args:
            holds: Whether a page holds the item.
            uid: To filter by.
            first: The first page, if it was read already.
        """
        pages: list[Page] = []
        # If items are removed meanwhile, all later ones shift; so each page repeats part of the one before.
        for page in itertools.islice(self.pages(_OVERLAP, first), 2 if self.field else None):
            pages.append(page.given())
            if holds(page):
                return Search(pages, found=True)
        if self.field is None and len(pages) > 1 and pages[1].size > 0:
            # A list without options may have another order than its pages.
            start = self.read(skip=0)
            if holds(start):
                return Search([*pages, start], found=True)
            if start.size < pages[0].size:
                raise self._without_end
        if pages[-1].size > 0:
            if self.field is None:
                raise self._without_end
            pages[1:] = [self.read(filter=equals(self.field, uid))]
        return Search(pages, holds(pages[-1]))

    @property
    def _without_end(self) -> Blocked:
        return Blocked(self.operation, "the list cannot be read to its end, so absence cannot be shown")

    def pages(self, overlap: int = 0, first: Page | None = None) -> Iterator[Page]:
        """Page after page, until one is empty, or the second one or two further ones repeat the one before.

        The document does not say how long a page is without options. One further page may repeat the one before, since
        the list may grow meanwhile.

        Args:
            overlap: From the second page on, each page repeats 1/`overlap` of the one before; 0 for none.
            first: The first page, if it was read already.
        """
        page, at, repeats = first or self.page(), 0, 0
        yield page
        for number in range(2, MOST_PAGES + 1):
            if page.size <= 0:
                return
            at += page.size - (page.size // overlap if overlap and at else 0)
            before, page = page.records, self.page(skip=at)
            repeats = repeats + 1 if page.records == before else 0
            if repeats > 1 or (repeats and number == 2):
                return
            yield page

    def walk(self) -> Iterator[Record]:
        """The records, page after page; none if the list is refused or is no list."""
        return (record for page in self.pages() for record in page.records or ())

    def with_fixed(self, **options: Option) -> Lister:
        """The same list with some options in every request."""
        more = {f"{self.sign}{name}": str(value) for name, value in options.items() if value is not None}
        return dataclasses.replace(self, fixed={**self.fixed, **more})


def drafts_of(actor: Actor, collection: str | None = None, field: str | None = None) -> Lister:
    """The list of drafts; `collection` None leaves the parameter out; for `field` see `Lister`."""
    fixed = {} if collection is None else {"collection": collection}
    return Lister(actor, _LISTING, "$", {}, fixed, field)


def attachments_of(actor: Actor, uid: str) -> Lister:
    """The list of attachments of one document."""
    return Lister(actor, "listAttachments", "", {"uid": uid})


def naming(*answers: Sequence[Record]) -> Callable[[Sequence[Record]], list[str]]:
    """Return a function that keys each record: by a field whose values are unique, else by the whole record.

    Among several fields it takes the one with most values common to all answers, since a record may also hold a value
    that is new in each answer, for example a receipt.

    Args:
        answers: The records of the same list in one or more answers.
    """
    tables = [[dict(leaves(record)) for record in records] for records in answers]

    def fitness(path: str) -> tuple[int, bool]:
        columns = [[str(row[path]) for row in table if row.get(path) not in (None, "")] for table in tables]
        texts = [text for column in columns for text in column]
        own = any(SUITE_PREFIX in text for text in texts)
        ranked = readers.ranked_integers({path.rpartition("/")[2]: texts})
        called_id = any(rank < _NO_ID for rank, _ in ranked)
        telling = all(len(set(column)) == len(table) for column, table in zip(columns, tables, strict=True))
        if not telling or not (own or called_id or all(map(is_valid_uid, texts))):
            return -1, False
        return len(set.intersection(*map(set, columns))), own

    paths = {path: fitness(path) for table in tables for row in table for path in row}
    best = max(paths, key=paths.__getitem__, default="")
    if best and paths[best] >= (0, False):
        return lambda records: [str(dict(leaves(record)).get(best, "")) for record in records]
    return lambda records: [json.dumps(record, sort_keys=True, ensure_ascii=False) for record in records]


def leaves(record: Record, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a record that are not objects, by OData path."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _naming_values(records: Sequence[Record], identifiers: Sequence[str]) -> list[Any]:
    """Of each record the value of the field that names it; the records themselves where no field names all that do.

    Of several such fields it is the one with the most different values: another may name a neighbouring record.
    """
    rows = [dict(leaves(record)) for record in records]
    named = [own for own in identifiers if any(readers.names(record, own) for record in records)]
    names = [
        path
        for path in dict.fromkeys(path for row in rows for path in row)
        if all(any(readers.names(row.get(path), own) for row in rows) for own in named)
    ]
    if not named or not names:
        return [*records]
    own = max(names, key=lambda path: len({str(row[path]) for row in rows if row.get(path) is not None}))
    return [row.get(own) for row in rows]


def repeated(records: Sequence[Record]) -> bool:
    """Whether a record occurs twice."""
    return any(record in records[:at] for at, record in enumerate(records))


def identifiers_in(record: Record) -> set[str]:
    """Values that may identify a record: valid uids, and numbers in members named like an id."""
    texts = (value for value in readers.values(record) if is_valid_uid(value))
    numbers = (str(number) for rank, number in readers.ranked_integers(record) if rank < _NO_ID)
    return {*texts, *numbers}


def text_paths(record: Record, wanted: str | None = None) -> list[str]:
    """OData paths of a record's text fields, or of those that equal `wanted`; top-level fields first."""
    texts = (path for path, value in leaves(record) if isinstance(value, str) and wanted in (None, value))
    return sorted(
        (path for path in texts if path.count("/") < _DEEPEST_FIELD), key=lambda path: path.count("/")
    )


def quoted(text: str) -> str:
    """A text as an OData literal, with quotes doubled."""
    return "'" + text.replace("'", "''") + "'"


def equals(path: str, *texts: str) -> str:
    """A filter for records whose field equals one of the texts."""
    return " or ".join(f"{path} eq {quoted(text)}" for text in texts)
