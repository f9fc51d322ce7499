"""Faults of drafts: wrong content, writes that are lost or go too far, and stale reads."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.crossed_state import removing, removing_files
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import (
    MISSING,
    Request,
    rewritten,
)

Change = Callable[[Any], Any]


def _texts(change: Callable[[str], str]) -> Change:
    """Apply a change to every text."""
    return partial(rewritten, lambda value, _: change(value) if isinstance(value, str) else value)


def _dropped(wanted: Any) -> Change:
    """Leave out each value that equals the given one and is of its type."""
    return partial(
        rewritten, lambda value, _: MISSING if type(value) is type(wanted) and value == wanted else value
    )


def _not_deleted(request: Request) -> bool:
    return request.uid not in request.memory.deleted


# fmt: off
_READ = Rows("draft-", "draft-", "getDraft", "A draft that is read {}.")
_SAVE, _DELETE, _INFO = (Rows("draft-", "draft-", at) for at in ("saveDraft", "deleteDraft", "getDraftInfo"))
ROWS: Final = (
    *each(lambda name, clause, change, says: _READ(name, clause, do.edit(change), says),
        ("content-texts-cut", "get-content", _texts(lambda text: text[:255]),
            "lacks what texts hold beyond 255 characters"),
        ("content-empty-arrays-dropped", "values-kept", _dropped([]), "lacks empty arrays"),
        ("text-beyond-basic-plane-lost", "text-kept",
            _texts(lambda text: "".join(letter for letter in text if letter < "\U00010000")),
            "lacks characters beyond the basic plane"),
        ("text-composed", "text-exact", _texts(partial(unicodedata.normalize, "NFC")),
            "has accents in the composed form"),
        ("header-languages-lost", "header-kept",
            partial(rewritten, lambda value, at: MISSING if at == ("header", "languages") else value),
            "has no languages in its header"),
    ),
    _SAVE("save-merges", "save-replaces",
        do.send(lambda r: r.with_json({**json.loads(draft.content), **r.member}) if
            r.member and (draft := held.draft_of(r)) else None),
        "A member left out of a later save stays in the draft"),
    _SAVE("not-after-delete", "save-after-delete", do.refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted", lambda r: not _not_deleted(r)),
    _SAVE("save-deletes-latest", "save-spares-others", removing("unrelated"),
        "Saving a draft deletes the latest other one"),
    _DELETE("delete-takes-others", "delete-spares-others", removing("of_other_account"),
        "Deleting a draft takes along the drafts of other accounts that have the same content"),
    Rows("draft-", "attachment-", "saveDraft")("save-drops-attachments", "outlives-save", removing_files(),
        "Saving a draft again removes the attachments of the document"),
    Rows("draft-", "draft-", "draftExists")("never-exists", "exists-present",
        do.success(do.always(replace(do.REFUSED, status=404))),
        "The exists check finds no draft"),
    Rows("draft-", "draft-", "getDraft")("get-absent-empty", "get-absent", do.forgive({}),
        "A draft that was never saved is read as an empty object", _not_deleted),
    _INFO("info-absent-empty", "info-absent", do.forgive({}),
        "The info of a draft that was never saved is an empty object", _not_deleted),
    _INFO("info-from-cache", "info-current", do.remember(lambda r: r.key),
        "The info of a draft is what it was when it was read first"),
)
# fmt: on
