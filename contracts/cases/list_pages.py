"""Asking for a list with OData options, and reading pages of records whose fields the document does not show.

Records are told apart by the identifiers in them, and fields are learnt from a record that is known.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contracts.checks.outcomes import Blocked, Untested, done, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.interface.operations import is_valid_uid
from contracts.safe_text import cut
from contracts.session.actor import Actor
from contracts.session.namespace import SUITE_PREFIX

Option = str | int
Record = dict[str, Any]
#: What is looked for in a list: a draft by its uid, or what tells the record of anything else.
Item = str | Callable[[Record], bool]
#: How deep in a record a field is looked for; OData writes its path with slashes.
_DEEPEST_FIELD = 3
#: Pages of a list that are read to find one record.
_MOST_PAGES = 20
#: The share of a page that the next one repeats.
_OVERLAP = 4
#: Statuses by which a service tells that a list holds nothing.
NOTHING_THERE = (404, 410)
#: Rank of numbers that no member's name calls an id.
_NO_ID = 2
#: The operation whose lists are drafts, and the collection that is promised to hold the caller's own.
_LISTING, _OWN = "listDrafts", "mydrafts"
#: Records that are named as missing or too much, and characters of a name.
_NAMED, _LONGEST_NAME = 3, 60


@dataclass(frozen=True)
class Page:
    """The answer to one list request.

    Attributes:
        may_be_empty: The request asks for what may hold nothing: by skip, by filter, by a top of zero, or for a list
            of which it is not shown what it holds.
    """

    exchange: Exchange
    may_be_empty: bool = False

    @cached_property
    def records(self) -> list[Record] | None:
        """The records; None when the request was not answered with a list.

        How an empty list is told is not shown: where the part that was asked for may be empty, "not found" tells it.
        """
        answer = usable(self.exchange)
        if self.may_be_empty and self.not_found:
            return []
        return readers.records(answer) if answer.success else None

    @property
    def not_found(self) -> bool:
        """Whether the answer says that there is nothing, by its status."""
        return self.exchange.answer.status in NOTHING_THERE

    @property
    def size(self) -> int:
        """How many records there are; -1 when the answer is no list."""
        return -1 if self.records is None else len(self.records)

    @property
    def seen(self) -> str:
        """What was seen, for the report."""
        count = "no list" if self.records is None else f"{self.size} items"
        return f"{count}: {self.exchange.answer.quote()}"

    def seen_beside(self, due: Sequence[str], *, others: bool = False) -> str:
        """What was seen, and what is missing, is too much or stands elsewhere beside what is due."""
        if self.records is None:
            return self.seen
        strangers = [record for record in self.records if not any(readers.names(record, own) for own in due)]
        got = [*self.order_of(due), *([] if others else Names(self.records).of(strangers))]
        return f"{self.size} items{unlike(due, got)}: {self.exchange.answer.quote()}"

    def names(self, identifier: str) -> bool:
        """Whether a record with this identifier is among them."""
        return self.count(identifier) > 0

    def holds(self, item: Item) -> bool:
        """Whether an item is among them."""
        return self.names(item) if isinstance(item, str) else any(map(item, self.records or ()))

    def count(self, identifier: str) -> int:
        """How many records carry this identifier."""
        return sum(readers.names(record, identifier) for record in self.records or ())

    def order_of(self, identifiers: Sequence[str]) -> list[str]:
        """Those of `identifiers` that are on the page, in the order of the page."""
        records = self.records or ()
        return [own for record in records for own in identifiers if readers.names(record, own)]

    def holds_just(self, identifiers: Sequence[str]) -> bool:
        """Whether each of its records carries one of `identifiers`, and each of these is carried."""
        return self.size == len(identifiers) and all(map(self.names, identifiers))


@dataclass(frozen=True)
class Search:
    """Whether a list holds an item, and the pages that show it."""

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
        return bool(records) and SUITE_PREFIX not in json.dumps(records)

    @property
    def seen(self) -> str:
        """What was seen, for the report."""
        where = f"there, among the items of {len(self.pages)} pages" if self.found else "not there"
        return f"{where}: {self.exchanges[-1].answer.quote()}"


def unlike(due: Sequence[str], got: Sequence[str]) -> str:
    """What is missing from a list, is too much or in another order, as more words behind others; empty for nothing."""
    differences = {
        "missing": [name for name in due if name not in got],
        "too much": [name for name in got if name not in due],
        "more than once": [name for name, times in Counter(got).items() if times > max(1, due.count(name))],
    }
    named = "".join(f", {word}: {told(names)}" for word, names in differences.items() if names)
    return named or (", in another order" if list(got) != list(due) else "")


def told(names: Sequence[str], most: int = _NAMED) -> str:
    """Names of records as people read them, at most so many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(cut(name, _LONGEST_NAME) for name in names[:most]) + more


@dataclass(frozen=True)
class Lister:
    """One list as one actor asks for it.

    Attributes:
        sign: What stands before the names of options: `$` for drafts, nothing for attachments.
        fixed: Query parameters of every request.
        field: A field that holds the items' uids and by which the service is known to filter rightly.
    """

    actor: Actor
    operation: str
    sign: str = ""
    path: Mapping[str, str] = dataclasses.field(default_factory=dict)
    fixed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    field: str | None = None

    @property
    def label(self) -> str:
        """What tells this list from others, for things that are found out once."""
        return " ".join([self.actor.role, self.operation, *self.path.values(), *self.fixed.values()])

    def page(self, **options: Option) -> Page:
        """Ask once; options by their names without the sign: filter, orderby, top, skip."""
        query = dict(self.fixed) | {f"{self.sign}{name}": str(value) for name, value in options.items()}
        filtered = f"{self.sign}filter" in query
        may_be_empty = filtered or "skip" in options or str(options.get("top", "")) == "0"
        may_be_empty = may_be_empty or self._holds_what_is_not_shown
        return Page(self.actor.send(self.operation, path=self.path, query=query), may_be_empty)

    def needed(self, at_least: int = 0, **options: Option) -> list[Record]:
        """The records of a list that the case relies on.

        Raises:
            Blocked: it was refused, is no list, or has fewer than `at_least` records.
            Untested: it has fewer, and which drafts are in this list is not shown.
        """
        page = self.page(**options)
        records = page.records
        if records is None:
            raise self._no_list(page)
        if self._holds_what_is_not_shown and (page.not_found or len(records) < at_least):
            raise Untested(
                f"which drafts a list other than {_OWN} holds is not shown: it lists {len(records)}"
            )
        if len(records) < at_least:
            raise Blocked(self.operation, f"lists {len(records)} items where there are {at_least} or more")
        return records

    @property
    def _holds_what_is_not_shown(self) -> bool:
        return self.operation == _LISTING and self.fixed.get("collection") != _OWN

    def read(self, **options: Option) -> Page:
        """A page that is a list, or "not found", which holds nothing; raises Blocked for any other."""
        page = self.page(**options)
        if page.records is None and not page.not_found:
            raise self._no_list(page)
        return page

    def _no_list(self, page: Page) -> Blocked:
        done(page.exchange)
        return Blocked(self.operation, f"the answer is no list: {page.exchange.answer.quote()}")

    def search(self, item: Item) -> Search:
        """Look for an item: on the first page, by a filter where filters are known to work, and then page by page.

        How long a page is that was asked for without options is not shown. A list that is "not found" holds nothing,
        for how an empty list is told is not shown either.
        """
        pages = [self.read()]
        at = pages[0].size
        while not pages[-1].holds(item) and pages[-1].size > 0:
            if len(pages) > 1 and self.field is not None:
                pages[1:] = [self.read(filter=equals(self.field, str(item)))]
                break
            if len(pages) == _MOST_PAGES:
                cause = f"the list goes on after {_MOST_PAGES} pages, so that absence cannot be told"
                raise Blocked(self.operation, cause)
            pages.append(self.read(skip=at))
            if pages[-1].size > 0 and pages[-1].records == pages[0].records and self.field is None:
                cause = "the list cannot be read to its end: skip gives the same page again"
                raise Blocked(self.operation, cause)
            # Items that are removed meanwhile shift all that follow, so the next page repeats some.
            at += max(1, pages[-1].size - pages[-1].size // _OVERLAP)
        return Search(pages[-1].holds(item), pages)

    def walk(self) -> Iterator[Record]:
        """The records of the list, page after page, for as long as a page brings others than the one before.

        A list that is refused or that is no list has none.
        """
        seen, before = 0, None
        for _ in range(_MOST_PAGES):
            records = (self.page(skip=seen) if seen else self.page()).records
            if not records or records == before:
                return
            yield from records
            seen, before = seen + len(records), records

    def with_fixed(self, **options: Option) -> Lister:
        """The same list with some options in every request."""
        more = {f"{self.sign}{name}": str(value) for name, value in options.items()}
        return dataclasses.replace(self, fixed={**self.fixed, **more})


def drafts_of(actor: Actor, collection: str | None = None, field: str | None = None) -> Lister:
    """The list of drafts, of one collection or of none; `field` as for `Lister`."""
    fixed = {} if collection is None else {"collection": collection}
    return Lister(actor, _LISTING, "$", {}, fixed, field)


def attachments_of(actor: Actor, uid: str) -> Lister:
    """The list of attachments of one document."""
    return Lister(actor, "listAttachments", "", {"uid": uid})


class Names:
    """Tells records of one list apart: by the identifier that is another in each of them, else by all they hold.

    A member that holds the suite's identifiers comes first, and one without a value in common between the answers
    last: a record may carry what is another in each answer, such as a receipt.

    Args:
        answers: The records of the list, as one answer or several of them give them.
    """

    def __init__(self, *answers: Sequence[Record]) -> None:
        members = [[dict(leaves(record)) for record in records] for records in answers]
        ranks = {path: _rank(path, members) for path in _telling(members)}
        known = {path: rank for path, rank in ranks.items() if rank is not None}
        self._path = min(known, key=known.__getitem__, default=None)

    def of(self, records: Sequence[Record] | None) -> list[str]:
        """The records' names, in order."""
        if self._path is None:
            return [json.dumps(record, sort_keys=True, ensure_ascii=False) for record in records or ()]
        return [str(dict(leaves(record)).get(self._path, "")) for record in records or ()]


def leaves(record: Record, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a record that are no objects, by their OData paths."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _values(path: str, records: Sequence[Record]) -> list[str]:
    return [str(record[path]) for record in records if record.get(path) not in (None, "")]


def _telling(answers: Sequence[Sequence[Record]]) -> list[str]:
    """The paths at which every record has a value, and another than the others of its answer."""
    paths = dict.fromkeys(path for records in answers for record in records for path in record)
    return [
        path for path in paths if all(len(set(_values(path, records))) == len(records) for records in answers)
    ]


def _rank(path: str, answers: Sequence[Sequence[Record]]) -> tuple[bool, bool] | None:
    """How well a member tells records apart, the least best; None for what is no identifier."""
    first, last = (_values(path, records) for records in (answers[0], answers[-1]))
    named, numbers = [*first, *last], readers.ranked_integers({path.rpartition("/")[2]: [*first, *last]})
    own = any(SUITE_PREFIX in value for value in named)
    identifies = own or all(map(is_valid_uid, named)) or any(rank < _NO_ID for rank, _ in numbers)
    return (set(first).isdisjoint(last), not own) if identifies else None


def identifiers_in(record: Record) -> set[str]:
    """What may identify a record: its texts that keep the uid rule, and its numbers that are called an id."""
    texts = (value for value in readers.values(record) if is_valid_uid(value))
    numbers = (str(number) for rank, number in readers.ranked_integers(record) if rank < _NO_ID)
    return {*texts, *numbers}


def text_paths(record: Record, wanted: str | None = None) -> list[str]:
    """OData paths of the fields of a record that hold a text, or the one wanted; those nearest to the top first."""
    texts = (path for path, value in leaves(record) if isinstance(value, str) and wanted in (None, value))
    return sorted(
        (path for path in texts if path.count("/") < _DEEPEST_FIELD), key=lambda path: path.count("/")
    )


def quoted(text: str) -> str:
    """A text as an OData literal: a quote inside is doubled."""
    return "'" + text.replace("'", "''") + "'"


def equals(path: str, *texts: str) -> str:
    """The filter for records whose field is one of some texts."""
    return " or ".join(f"{path} eq {quoted(text)}" for text in texts)
