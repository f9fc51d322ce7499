"""Variants of the texts that are taken: what JSON can carry and UTF-8 cannot."""

import json
import re
from contextvars import ContextVar
from typing import Any

from starlette.requests import Request

from contracts.sandbox.body import BodyReader, JsonBody
from contracts.sandbox.listing import Listing, Page
from contracts.sandbox.metadata import Metadata
from contracts.sandbox.records import DRAFT, Records, Version
from contracts.sandbox.variants.model import Variant

_HALF = re.compile("[\ud800-\udfff]")
_SAVING_DRAFT: ContextVar[bool] = ContextVar("_SAVING_DRAFT", default=False)


class _HalfPairsTaken(BodyReader):
    """The text of a draft may hold half of a surrogate pair; what is validated or signed in with may not."""

    async def read(self, request: Request) -> JsonBody:
        mark = _SAVING_DRAFT.set(request.scope.get("operation_id") == "saveDraft")
        try:
            return await super().read(request)
        finally:
            _SAVING_DRAFT.reset(mark)

    def refuse_surrogates(self, text: str, value: Any) -> None:
        if not _SAVING_DRAFT.get():
            super().refuse_surrogates(text, value)


class _HalfPairsDescribed(Metadata):
    """The description of a draft, which a save is answered with too, shows its members that hold half of a pair."""

    def of_version(self, version: Version) -> dict[str, Any]:
        return {**super().of_version(version), **_odd(version.content)}


class _HalfPairsListed(Listing):
    """A listed draft shows them too."""

    def drafts(self, records: Records, realm: str, owner: str | None, page: Page) -> list[dict[str, Any]]:
        rows = super().drafts(records, realm, owner, page)
        for row in rows:
            draft = records.version(realm, row["identifier"], DRAFT)
            row.update(_odd(draft.content) if draft is not None else {})
        return rows


def _odd(content: str) -> dict[str, Any]:
    """The outermost members of a JSON object that hold half of a pair, under one name; nothing when none does."""
    value = json.loads(content)
    members = value.items() if isinstance(value, dict) else ()
    found = {name: member for name, member in members if _HALF.search(name) or _holds_half(member)}
    return {"oddTexts": found} if found else {}


def _holds_half(value: Any) -> bool:
    return isinstance(value, str) and _HALF.search(value) is not None


VARIANTS = (
    Variant(
        "half-pairs-kept",
        "Whether half of a surrogate pair is text is not shown: a draft keeps it, and description and list show it.",
        parts={"body": _HalfPairsTaken, "metadata": _HalfPairsDescribed, "listing": _HalfPairsListed},
    ),
)
"""Each takes texts that others refuse."""
