"""Faults of drafts and of the identifier rule: changed values, stale reads, wrong uids accepted, right ones refused."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import MISSING, Answer, Request, rewritten
from registry_contracts.sandbox.faults.places import DRAFTS, FILES

_OF_DOCUMENTS: Final = (*DRAFTS, *FILES)
_SAVED: Final = ("saveDraft", "getDraft", "draftExists")
#: A character of the rule, as a pattern.
_RIGHT: Final = "[A-Za-z0-9_-]"


def of_length(least: int, most: int | None = None, character: str = _RIGHT) -> str:
    """Requests whose identifier has so many characters, all allowed by the rule."""
    return rf"uid~^{character}{{{least},{least if most is None else most}}}\Z"


def _holding(other: str) -> str:
    """Requests whose identifier has a valid length and holds a character that the rule does not allow."""
    return rf"uid~^(?=.*{other})({_RIGHT}|{other}){{11,128}}\Z"


async def _under_another_name(request: Request) -> Answer | None:
    """Accept an identifier outside the rule: the service stores it under a valid one."""
    uid = request.uid
    alias = f"rc-{sha256(uid.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
    got = await request.ask(request.with_uid(alias))
    return replace(got, body=got.body.replace(alias.encode(), json.dumps(uid)[1:-1].encode()))


def other_case(request: Request, uids: Iterable[str]) -> str | None:
    """An identifier that differs from that of a request only in letter case; None if the request's own is there."""
    alike = [uid for uid in uids if uid.lower() == request.uid.lower()]
    return None if request.uid in alike else next(iter(alike), None)


def _composed(value: Any, _: Any) -> Any:
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _not_deleted(request: Request) -> bool:
    return request.uid not in request.memory.deleted


# fmt: off
_READ = Rows("draft-", "draft-", "getDraft", "A draft that is read {}.")
_SAVE, _INFO = (Rows("draft-", "draft-", at) for at in ("saveDraft", "getDraftInfo"))
#: Letters of other scripts, and a line break behind an identifier.
_LETTER, _BREAK = r"[^\W\d_A-Za-z]", rf"uid~^{_RIGHT}{{11,128}}\n\Z"
_REFUSES = Rows("uid-refuses-", "uid-", _SAVED, "A uid {} is refused.")
_ACCEPTS = Rows("uid-", "uid-", _OF_DOCUMENTS, "A uid may {}.")
_UID = Rows("uid-", "uid-", _OF_DOCUMENTS)
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
    Rows("draft-", "draft-", "getDraft")("get-absent-empty", "get-absent", do.forgive({}),
        "A draft that was never saved is read as an empty object", _not_deleted),
    _INFO("info-absent-empty", "info-absent", do.forgive({}),
        "The info of a draft that was never saved is an empty object", _not_deleted),
    _INFO("info-from-cache", "info-current", do.remember(lambda r: r.key),
        "The info of a draft is what it was when it was read first"),
    # Identifiers.
    _REFUSES("eleven-on-thumbnail", "files-at-the-edges", do.refuse_before(), "of 11 characters", r"uid~^.{11}\Z",
        at="getAttachmentThumbnail"),
    *each(lambda name, clause, where, words: _REFUSES(name, clause, do.refuse_before(), words, where),
        ("65", "any-kind", r"uid~^.{65}\Z", "of 65 characters"),
        ("last-hyphen", "hyphen", r"uid~[A-Za-z0-9].*-\Z", "that ends with a hyphen"),
        ("underscore", "underscore", "uid~_ uid~[A-Za-z0-9]", "with an underscore"),
    ),
    *each(lambda name, clause, where, words: _ACCEPTS(name, clause, _under_another_name, words, where),
        ("accepts-plus", "forbidden-characters", _holding("[+]"), "hold a plus sign"),
        ("accepts-backslash", "misread-range", _holding(r"\\"), "hold a backslash"),
        ("accepts-accented-letters", "non-ascii", _holding(_LETTER), "hold letters of every script"),
        ("trailing-newline", "trailing-newline", _BREAK, "end with a line break"),
        ("accepts-ten", "too-short", of_length(10), "have ten characters"),
        ("accepts-129", "too-long", of_length(129), "have 129 characters"),
    ),
    _UID("rule-not-for-attachment-list", "rule-without-effect", do.forgive([]),
        "listAttachments answers success for a text that is no uid", f"-{of_length(11, 128)}", at="listAttachments"),
    _UID("percent-encoding-refused", "percent-encoding", do.refuse_before(),
        "A character that is written percent-encoded in a path is refused", "path~%", at=_SAVED),
    _UID("space-stripped-on-attachment-list", "listing-tidied",
        do.send(lambda r: r.with_uid(r.uid.replace(" ", ""))),
        "Attachments are listed under the uid with a space in it", r"uid~\x20", at="listAttachments"),
    _UID("letter-case-ignored-on-attachment-list", "files-case-sensitive", do.send(lambda r:
            r.with_uid(other) if (other := other_case(r, [file.identifier for file in r.held.files()])) else None),
        "listAttachments finds attachments under a uid that differs only in letter case", at="listAttachments"),
)
# fmt: on
