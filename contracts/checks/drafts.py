"""Checks of the chapter on draft versions: a draft's content and its metadata."""

from __future__ import annotations

from typing import Any, Final

from contracts.checks.check import Check, Needs, on_success, quoted_unless
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
CHECKS: Final = (DOCUMENT, METADATA)
