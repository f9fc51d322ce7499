"""Faults of the identifier rule: what it lets in, what it shuts out, and identifiers that are mixed up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Final
from urllib.parse import unquote

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.fault import Rows, Table, each
from registry_contracts.sandbox.faults.messages import Answer, Inject, Request
from registry_contracts.sandbox.faults.places import DRAFTS, FILES, NAMED_SUBMISSIONS

_OF_DOCUMENTS: Final = (*DRAFTS, *FILES)
_SAVED: Final = ("saveDraft", "getDraft", "draftExists")
_AND_DELETED: Final = (*_SAVED, "deleteDraft")
_FORBIDDEN, _SHORT, _LONG = "forbidden-characters", "too-short", "too-long"
#: A character of the rule, as a pattern.
_RIGHT: Final = "[A-Za-z0-9_-]"


def of_length(least: int, most: int | None = None, character: str = _RIGHT) -> str:
    """Requests whose identifier has so many characters, of those of the rule."""
    return rf"uid~^{character}{{{least},{least if most is None else most}}}\Z"


def _holding(other: str) -> str:
    """Requests whose identifier has a right length and holds some other character beside those of the rule."""
    return rf"uid~^(?=.*{other})({_RIGHT}|{other}){{11,128}}\Z"


async def _under_another_name(request: Request) -> Answer | None:
    """Take an identifier outside the rule for a good one: the service knows it under another name."""
    uid = request.uid
    alias = f"rc-{sha256(uid.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
    got = await request.ask(request.with_uid(alias))
    return replace(got, body=got.body.replace(alias.encode(), json.dumps(uid)[1:-1].encode()))


def _read_as(rewrite: Callable[[str], str]) -> Inject:
    """Take one identifier for another that keeps the rule, in the header of a submission too."""

    def changed(request: Request) -> Request | None:
        uid, other = request.uid, rewrite(request.uid)
        submits = request.operation.id in NAMED_SUBMISSIONS
        body = request.body.replace(uid.encode(), other.encode()) if submits else request.body
        keeps_rule = re.fullmatch(f"{_RIGHT}{{11,128}}", other)
        return replace(request.with_uid(other), body=body) if keeps_rule else None

    return do.send(changed)


def other_case(request: Request, uids: Iterable[str]) -> str | None:
    """An identifier that differs from that of a request in letter case alone, where that itself is not there."""
    alike = [uid for uid in uids if uid.lower() == request.uid.lower()]
    return None if request.uid in alike else next(iter(alike), None)


# fmt: off
#: Letters and digits of other scripts, and a line break behind an identifier.
_LETTER, _DIGIT, _BREAK = r"[^\W\d_A-Za-z]", r"[^\D0-9]", rf"uid~^{_RIGHT}{{11,128}}\n\Z"
_REFUSES = Rows("uid-refuses-", "uid-", says="A uid {} is refused.")
_ACCEPTS = Rows("uid-", "uid-", _OF_DOCUMENTS, "A uid may {}.")
_UID, _ONE = Rows("uid-", "uid-", _OF_DOCUMENTS), Rows("uid-", "uid-")


def _mixed_up(place: str, operations: tuple[str, ...], *beside: str) -> Table:
    """Ways in which two identifiers become one, where that happens, and what breaks beside."""
    every = each(lambda name, clause, fold: Rows("uid-", "", operations)(f"{name}{place}",
            (clause, *(beside if (name, place) != ("letter-case-ignored", "") else ())), _read_as(fold),
            f"Identifiers are told apart as if {name.replace('-', ' ')}"),
        ("letter-case-ignored", "uid-case-sensitive", str.lower),
        ("hyphen-is-underscore", "uid-hyphen", lambda uid: uid.replace("-", "_")),
        ("hyphens-lost", "uid-hyphen", lambda uid: uid.replace("-", "")),
        ("underscore-is-hyphen", "uid-underscore", lambda uid: uid.replace("_", "-")),
        ("hyphens-collapsed", "uid-hyphen", lambda uid: re.sub("-{2,}", "-", uid)),
        ("last-hyphens-lost", "uid-hyphen", lambda uid: uid.rstrip("-")),
        ("last-underscores-lost", "uid-underscore", lambda uid: uid.rstrip("_")),
    )
    cut = Rows("uid-cut", "", operations)(place, ("uid-longest", *beside),
        _read_as(lambda uid: uid[:64]),
        "Identifiers are told apart by their first 64 characters")
    # That the rule goes for records too, with all its signs and lengths, is a reading: not that of ordinary ones.
    return every[:3] if place == "-of-records" else (*every, cut)


ROWS: Final = (
    *each(lambda name, clause, at, length:
        _REFUSES(name, clause, do.refuse_before(), f"of {length} characters", rf"uid~^.{{{length}}}\Z", at=at),
        ("eleven", "shortest", DRAFTS, 11), ("eleven-on-delete", "shortest", "deleteDraft", 11),
        ("eleven-on-thumbnail", "files-at-the-edges", "getAttachmentThumbnail", 11),
        ("65", "any-kind", _SAVED, 65),
        ("128", "longest", DRAFTS, 128), ("128-on-exists", "longest", "draftExists", 128),
        ("128-on-attaching", "files-at-the-edges", "createAttachment", 128),
    ),
    *each(lambda name, clause, at, where, words: _REFUSES(name, clause, do.refuse_before(), words, where, at=at),
        ("first-hyphen", "hyphen", _SAVED, "uid~^-.*[A-Za-z0-9]", "that begins with a hyphen"),
        ("last-hyphen", "hyphen", _AND_DELETED, r"uid~[A-Za-z0-9].*-\Z", "that ends with a hyphen"),
        ("two-hyphens", "hyphen", _AND_DELETED, "uid~-- uid~[A-Za-z0-9]", "with two hyphens side by side"),
        ("underscore", "underscore", _AND_DELETED, "uid~_ uid~[A-Za-z0-9]", "with an underscore"),
        ("digits-only", "digits-only", _AND_DELETED, r"uid~^[0-9]+\Z", "of digits alone"),
        ("letters-only", "any-kind", _SAVED, r"uid~^[A-Za-z]+\Z", "of letters alone"),
        ("hyphens-only", "hyphens-only", _AND_DELETED, r"uid~^-+\Z", "of hyphens alone"),
    ),
    *each(lambda name, sign, clause=_FORBIDDEN: _ACCEPTS(f"accepts-{name}", clause, _under_another_name,
            f"hold the character U+{ord(sign):04X}", _holding(rf"\x{ord(sign):02x}")),
        ("exclamation-mark", "!"), ("space", " "), ("dot", "."), ("tilde", "~"), ("plus", "+"), ("encoded-slash", "/"),
        ("percent-sign", "%"), ("at-sign", "@"), ("colon", ":"), ("dollar", "$"), ("apostrophe", "'"),
        ("null-character", "\0"), ("backslash", "\\", "misread-range"), ("closing-bracket", "]", "misread-range"),
        ("caret", "^", "misread-range"),
    ),
    *each(lambda name, clause, where, words: _ACCEPTS(name, clause, _under_another_name, words, where),
        ("accepts-accented-letters", "non-ascii", _holding(_LETTER), "hold letters of every script"),
        ("accepts-digits-of-other-scripts", "non-ascii", _holding(_DIGIT), "hold digits of every script"),
        ("trailing-newline", "trailing-newline", _BREAK, "end with a line break"),
        ("accepts-ten", _SHORT, of_length(10), "have ten characters"),
        ("accepts-any-length-below", _SHORT, of_length(1, 8), "have one to eight characters, and not nine or ten"),
        ("accepts-129", _LONG, of_length(129), "have 129 characters"),
        ("accepts-any-length-above", _LONG, of_length(200, 10**6),
            "have 200 or more characters, and not 129 to 199"),
    ),
    # One operation alone answers with success.
    *each(lambda name, clause, where, words:
        _ONE(f"{name}-answered-on-*", clause, do.forgive(), f"* answers success for a uid {words}", where),
        ("sign", _FORBIDDEN, _holding(r"(?:(?![\w\]\\^\r\n-])[\x00-\x7f])"),
            "that holds a sign of ASCII that it must not"),
        ("10", _SHORT, of_length(10), "of 10 characters"),
        ("129", _LONG, of_length(129), "of 129 characters"),
        ("beyond-ascii", "non-ascii", _holding(r"[^\W_A-Za-z0-9]"), "with letters or digits beyond ASCII"),
        ("newline", "trailing-newline", _BREAK, "with a line break"),
    ),
    *each(lambda name, at, effect: _UID(f"rule-not-for-{name}", "rule-without-effect", effect,
            f"{at} answers success for a text that is no uid", f"-{of_length(11, 128)}", at=at),
        ("delete", "deleteDraft", do.forgive(None, 204)), ("attachment-list", "listAttachments", do.forgive([]))),
    _UID("percent-encoding-refused", "percent-encoding", do.refuse_before(),
        "A character that is written percent-encoded in a path is refused", "path~%", at=_SAVED),
    # Identifiers are taken for others.
    _UID("decoded-twice", _FORBIDDEN, _read_as(unquote),
        "A path is decoded twice, so that %2541 names the letter A", "uid~%"),
    _UID("trailing-newline-stripped", "trailing-newline", _read_as(str.strip),
        "A line break after a uid is stripped", _BREAK),
    _UID("space-stripped-on-attachment-list", "listing-tidied", _read_as(lambda uid: uid.replace(" ", "")),
        "Attachments are listed under the uid with a space in it", r"uid~\x20", at="listAttachments"),
    _UID("number-loses-leading-zero", "digits-only", _read_as(lambda uid: str(int(uid))),
        "A draft saved under digits alone is stored without their leading zeros", r"uid~^[0-9]+\Z", at="saveDraft"),
    *_mixed_up("", DRAFTS, "draft-save-spares-others", "uid-hyphens-only"),
    *_mixed_up("-of-files", FILES, "attachment-list-own-only", "attachment-create-accepted",
        "attachment-create-listed", "uid-files-case-sensitive", "uid-files-at-the-edges"),
    *_mixed_up("-of-records", NAMED_SUBMISSIONS, "workflow-create-with-identifier-accepted",
        "workflow-identifier-kept", "workflow-identifier-case-sensitive"),
    *each(lambda name, operation:
        _UID(f"letter-case-ignored-on-attachment-{name}", "files-case-sensitive", do.send(lambda r:
            r.with_uid(other) if (other := other_case(r, [u.uid for u in r.memory.uploads.values()])) else None),
            f"{operation} finds attachments under a uid that differs only in letter case", at=operation),
        ("exists", "attachmentExists"), ("list", "listAttachments"),
    ),
)
# fmt: on
