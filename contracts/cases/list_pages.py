"""Asking for a list with OData options, and reading pages of records whose fields the document does not show.

Records are told apart by the identifiers in them, and fields are learnt from a record that is known.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, partial
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

        Raises:
            Blocked: a server error. Ambiguous: the envelope holds several lists.
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
    def different(self) -> int:
        """How many different records there are; -1 when the answer is no list."""
        return -1 if self.records is None else len(set(map(_whole, self.records)))

    @property
    def seen(self) -> str:
        """What was seen, for the report."""
        count = "no list" if self.records is None else f"{self.size} items"
        return f"{count}: {self.exchange.answer.quote()}"

    def seen_of(self, other_uid: str) -> str:
        """What was seen, for the report, with how much of it is of a document that it is not about."""
        count = self.count(other_uid)
        return (
            f"{self.size} items, {count} of them of {other_uid}: {self.exchange.answer.quote()}"
            if count
            else self.seen
        )

    def seen_beside(self, due: Sequence[str], *, others: bool = False) -> str:
        """What was seen, for the report, and what is missing, is too much or stands elsewhere beside what is due.

        Args:
            others: Whether more than what is due may be there.
        """
        if self.records is None:
            return self.seen
        strangers = [record for record in self.records if not any(readers.names(record, own) for own in due)]
        got = [*self.order_of(due), *([] if others else Names(self.records).of(strangers))]
        return f"{self.size} items{unlike(due, got)}: {self.exchange.answer.quote()}"

    def names(self, identifier: str) -> bool:
        """Whether a record with this identifier is among them."""
        return any(readers.names(record, identifier) for record in self.records or ())

    def count(self, identifier: str) -> int:
        """How many records carry this identifier."""
        return sum(readers.names(record, identifier) for record in self.records or ())

    def order_of(self, identifiers: Sequence[str]) -> list[str]:
        """Those of `identifiers` that are on the page, in the order of the page."""
        hits = ((own for own in identifiers if readers.names(record, own)) for record in self.records or ())
        return [own for match in hits for own in match]


@dataclass(frozen=True)
class Search:
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
        texts = [
            text
            for page in self.pages
            for value in readers.values(page.records or ())
            for text in ([value] if isinstance(value, str) else value if isinstance(value, dict) else ())
        ]
        return any(page.records for page in self.pages) and not any(SUITE_PREFIX in text for text in texts)

    @property
    def seen(self) -> str:
        """What was seen, for the report."""
        last = self.exchanges[-1].answer.quote()
        where = f"the draft among the items of {len(self.pages)} pages" if self.found else "not there"
        return f"{where}: {last}"


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
    """

    actor: Actor
    operation: str
    sign: str = ""
    path: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)

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
            done(page.exchange)
        if records is None:
            raise Blocked(self.operation, f"the answer is no list: {page.exchange.answer.quote()}")
        if self._holds_what_is_not_shown and (page.not_found or len(records) < at_least):
            raise Untested(
                f"which drafts a list other than {_OWN} holds is not shown: it lists {len(records)}"
            )
        if len(records) < at_least:
            seen = f"lists {len(records)} items where there are {at_least} or more"
            raise Blocked(self.operation, seen)
        return records

    @property
    def _holds_what_is_not_shown(self) -> bool:
        return self.operation == _LISTING and self.fixed.get("collection") != _OWN

    def search(self, uid: str, field: str | None = None) -> Search:
        """Look for a draft: on the first page, by a filter, and then page by page.

        How long a page is that was asked for without options is not shown. A list that is "not found" holds nothing,
        for how an empty list is told is not shown either.

        Args:
            field: A field that holds the uid and by which the service is known to filter rightly.

        Raises:
            Blocked: the list is refused, or cannot be read to its end.
        """
        pages = [self.read()]
        at = pages[0].size
        while not pages[-1].names(uid) and pages[-1].size > 0:
            if len(pages) > 1 and field is not None:
                pages[1:] = [self.read(filter=equals(field, uid))]
                break
            if len(pages) == _MOST_PAGES:
                cause = f"the list goes on after {_MOST_PAGES} pages, so that absence cannot be told"
                raise Blocked(self.operation, cause)
            pages.append(self.read(skip=at))
            if pages[-1].size > 0 and pages[-1].records == pages[0].records and field is None:
                cause = "the list cannot be read to its end: skip gives the same page again"
                raise Blocked(self.operation, cause)
            # Items that are removed meanwhile shift all that follow, so the next page repeats some.
            at += max(1, pages[-1].size - pages[-1].size // _OVERLAP)
        return Search(pages[-1].names(uid), pages)

    def read(self, **options: Option) -> Page:
        """A page that is a list, or "not found", which holds nothing."""
        page = self.page(**options)
        if page.records is None and not page.not_found:
            done(page.exchange)
            raise Blocked(self.operation, f"the answer is no list: {page.exchange.answer.quote()}")
        return page

    def walk(self, first: Page | None = None) -> Iterator[Record]:
        """The records of the list, page after page, for as long as a page brings others than the one before.

        A list that is refused or that is no list has none.

        Args:
            first: The first page, where it was asked for already.

        Raises:
            Blocked: a server error. Ambiguous: the envelope holds several lists.
        """
        seen, before = 0, None
        for _ in range(_MOST_PAGES):
            records = (self.page(skip=seen) if seen else first or self.page()).records
            if not records or records == before:
                return
            yield from records
            seen, before = seen + len(records), records

    def with_fixed(self, **options: Option) -> Lister:
        """The same list with some options in every request."""
        more = {f"{self.sign}{name}": str(value) for name, value in options.items()}
        return Lister(self.actor, self.operation, self.sign, self.path, {**self.fixed, **more})


def drafts_of(actor: Actor, collection: str | None = None) -> Lister:
    """The list of drafts, of one collection or of none."""
    fixed = {} if collection is None else {"collection": collection}
    return Lister(actor, "listDrafts", "$", {}, fixed)


def attachments_of(actor: Actor, uid: str) -> Lister:
    """The list of attachments of one document."""
    return Lister(actor, "listAttachments", "", {"uid": uid})


class Names:
    """Tells records of one list apart: by the identifiers in them where these differ, else by all they hold.

    A record may carry what is another in each answer (a score, a moment, a receipt) or at each place (a cursor). So the
    member that holds the suite's identifiers comes first, and members without a value in common between the answers
    come last.

    Args:
        answers: The records of the list, as one answer or several of them give them.
    """

    def __init__(self, *answers: Sequence[Record]) -> None:
        volatile, telling = _volatile(answers), _telling_paths(answers)
        ways: list[Callable[[Record], str]] = []
        for left_out in (volatile, frozenset[str]()):
            ways += [partial(_at, path) for path in telling if path not in left_out]
            ways.append(partial(_by_identifiers, left_out))
        ways.append(partial(_lasting, volatile))
        self._name = next((name for name in ways if _tells_apart(name, answers)), _whole)

    def of(self, records: Sequence[Record] | None) -> list[str]:
        """The records' names, in order."""
        return [self._name(record) for record in records or ()]


def _tells_apart(name: Callable[[Record], str], answers: Sequence[Sequence[Record]]) -> bool:
    named = [[name(record) for record in records] for records in answers]
    return all(all(names) and len(set(names)) == len(names) for names in named)


def _telling_paths(answers: Sequence[Sequence[Record]]) -> list[str]:
    """Paths of members that may identify a record alone: of the suite's identifiers, then of numbers called an id."""
    leaves = [leaf for records in answers for record in records for leaf in _leaves(record)]
    named = [path for path, value in leaves if isinstance(value, str) and SUITE_PREFIX in value]
    numbered = [
        path
        for path, value in leaves
        if any(rank < _NO_ID for rank, _ in readers.ranked_integers({path.rpartition("/")[2]: value}))
    ]
    return list(dict.fromkeys([*named, *numbered]))


def _volatile(answers: Sequence[Sequence[Record]]) -> Set[str]:
    """Paths of the members that no two records have alike in two answers which both have them."""
    if len(answers) == 1:
        return frozenset()
    values: list[dict[str, set[str]]] = []
    for records in (answers[0], answers[-1]):
        values.append(defaultdict(set))
        for path, value in (leaf for record in records for leaf in _leaves(record)):
            values[-1][path].add(json.dumps(value, sort_keys=True))
    first, last = values
    return {path for path in first.keys() & last.keys() if first[path].isdisjoint(last[path])}


def _leaves(record: Record, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _at(path: str, record: Record) -> str:
    return next((str(value) for here, value in _leaves(record) if here == path), "")


def _by_identifiers(left_out: Set[str], record: Record) -> str:
    return " ".join(sorted(identifiers_in(_without(record, left_out))))


def _lasting(left_out: Set[str], record: Record) -> str:
    return _whole(_without(record, left_out))


def _without(record: Record, paths: Set[str], prefix: str = "") -> Record:
    return {
        name: _without(value, paths, f"{prefix}{name}/") if isinstance(value, dict) else value
        for name, value in record.items()
        if f"{prefix}{name}" not in paths
    }


def _whole(record: Record) -> str:
    return json.dumps(record, sort_keys=True, ensure_ascii=False)


def identifiers_in(record: Record) -> set[str]:
    """What may identify a record: its texts that keep the uid rule, and its numbers that are called an id."""
    texts = (value for value in readers.values(record) if is_valid_uid(value))
    numbers = (str(number) for rank, number in readers.ranked_integers(record) if rank < _NO_ID)
    return {*texts, *numbers}


def paths_to(record: Record, wanted: object, prefix: str = "") -> list[str]:
    """OData paths of the fields of a record that hold a value, those nearest to the top first."""
    here = [f"{prefix}{name}" for name, value in record.items() if value == wanted]
    if prefix.count("/") + 1 >= _DEEPEST_FIELD:
        return here
    nested = [(name, value) for name, value in record.items() if isinstance(value, dict)]
    return here + [path for name, value in nested for path in paths_to(value, wanted, f"{prefix}{name}/")]


def quoted(text: str) -> str:
    """A text as an OData literal: a quote inside is doubled."""
    return "'" + text.replace("'", "''") + "'"


def equals(path: str, *texts: str) -> str:
    """The filter for records whose field is one of some texts."""
    return " or ".join(f"{path} eq {quoted(text)}" for text in texts)
