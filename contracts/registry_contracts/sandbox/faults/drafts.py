"""Faults of drafts: values that change, writes that are lost or go too far, and stale reads."""

from __future__ import annotations

import json
import unicodedata
from functools import partial
from typing import Any, Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.crossed_state import removing_files
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import MISSING, Request, rewritten


def _composed(value: Any, _: Any) -> Any:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _not_deleted(request: Request) -> bool:
    return request.uid not in request.memory.deleted


# fmt: off
_READ = Rows("draft-", "draft-", "getDraft", "A draft that is read {}.")
_SAVE, _INFO = (Rows("draft-", "draft-", at) for at in ("saveDraft", "getDraftInfo"))
ROWS: Final = (
    *each(lambda name, clause, change, says: _READ(name, clause, do.edit(partial(rewritten, change)), says),
        ("content-empty-arrays-dropped", "values-kept", lambda value, _: MISSING if value == [] else value,
            "lacks empty arrays"),
        ("text-composed", "text-exact", _composed, "has accents in the composed form"),
        ("header-languages-lost", "header-kept",
            lambda value, at: MISSING if at == ("header", "languages") else value, "has no languages in its header"),
    ),
    _SAVE("save-merges", "save-replaces",
        do.send(lambda r: r.with_json({**json.loads(draft.content), **r.member}) if
            r.member and (draft := held.draft_of(r)) else None),
        "A member left out of a later save stays in the draft"),
    _SAVE("not-after-delete", "save-after-delete", do.refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted", lambda r: not _not_deleted(r)),
    Rows("draft-", "attachment-", "saveDraft")("save-drops-attachments", "outlives-save", removing_files(),
        "Saving a draft again removes the attachments of the document"),
    Rows("draft-", "draft-", "getDraft")("get-absent-empty", "get-absent", do.forgive({}),
        "A draft that was never saved is read as an empty object", _not_deleted),
    _INFO("info-absent-empty", "info-absent", do.forgive({}),
        "The info of a draft that was never saved is an empty object", _not_deleted),
    _INFO("info-from-cache", "info-current", do.remember(lambda r: r.key),
        "The info of a draft is what it was when it was read first"),
)
# fmt: on
