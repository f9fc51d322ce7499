"""Checks of the chapter on draft versions: a draft's content, its metadata, and lists of drafts and of attachments."""

from __future__ import annotations

from typing import Any, Final

from contracts.checks.definition import Arguments, Check, Subject, on_success, quoted_unless
from contracts.exchanges import readers
from contracts.exchanges.exchange import Response


def _another_document(response: Response, *, document: dict[str, Any]) -> str | None:
    if not response.success:
        return response.quote()
    return None if readers.holds_document(response, document) else readers.difference(response, document)


def _the_same_document(response: Response, *, document: dict[str, Any]) -> str | None:
    there = response.success and readers.holds_document(response, document)
    return response.quote() if there else None


DOCUMENT: Final = Check("document", "the document as it was saved", _another_document, kept=False)
GONE: Final = Check(
    "gone",
    "nothing there any more",
    quoted_unless(lambda response: not response.success),
)
CONTENT_GONE: Final = Check(
    "content-gone",
    "not the content that was deleted",
    _the_same_document,
    kept=False,
)
METADATA: Final = Check(
    "metadata",
    "metadata of the draft",
    quoted_unless(lambda response: bool(response.json)),
    clauses=("draft-info-present",),
    applies=on_success,
)


#: Clause → the option that says how many items a list may hold.
_OPTIONS: Final = {
    "list-top": "$top",
    "list-top-zero": "$top",
    "attachment-list-top": "top",
    "attachment-list-top-zero": "top",
}


def _most(subject: Subject, clause: str) -> Arguments | None:
    """The number of items that a list may hold, by its request; zero has a clause of its own."""
    if not subject.success or subject.facts is None:
        return None
    text = dict(subject.facts.query).get(_OPTIONS[clause], "")
    if not text.isdigit() or (int(text) == 0) is not clause.endswith("-zero"):
        return None
    return None if readers.records(subject.response) is None else {"items": int(text)}


def _more(response: Response, *, items: int) -> str | None:
    records = readers.records(response) if response.success else None
    if records is None:
        return f"no list: {response.quote()}"
    return None if len(records) <= items else f"{len(records)} items: {response.quote()}"


def _names(response: Response, *, identifier: str) -> str | None:
    listed = readers.records(response) or ()
    return f"it names {identifier}" if any(readers.names(record, identifier) for record in listed) else None


LIST: Final = Check(
    "list",
    "a list",
    quoted_unless(lambda response: readers.records(response) is not None),
    clauses=("list-answers",),
    applies=on_success,
)
AT_MOST: Final = Check(
    "items-at-most",
    "at most {items} items",
    _more,
    clauses=tuple(_OPTIONS),
    applies=_most,
    line="at_most(sent, {items})",
)
LIST_WITHOUT: Final = Check(
    "list-without",
    "a list without {identifier}",
    _names,
)
CHECKS: Final = (LIST, AT_MOST, LIST_WITHOUT, DOCUMENT, METADATA, GONE, CONTENT_GONE)
