"""Checks of the chapter on draft versions: a draft's content, its metadata, and lists of drafts and of attachments."""

from __future__ import annotations

from typing import Any, Final

from contracts.checks.check import Arguments, Check, Needs, Subject, on_success, quoted_unless
from contracts.exchanges import readers
from contracts.exchanges.exchange import Response


def _another_document(response: Response, *, document: dict[str, Any]) -> str | None:
    if not response.success:
        return response.quote()
    return None if readers.holds_document(response, document) else readers.difference(response, document)


DOCUMENT: Final = Check(
    "document", "the document as it was saved", _another_document, needs=Needs.CLAIM, kept=False
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
    needs=Needs.FACTS,
    applies=_most,
    line="at_most(sent, {items})",
)
CHECKS: Final = (LIST, AT_MOST, DOCUMENT, METADATA)
