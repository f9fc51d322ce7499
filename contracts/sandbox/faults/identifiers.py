"""Faults of the identifier rule: what it lets in, what it shuts out, and identifiers that are mixed up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import Final
from urllib.parse import unquote

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import (
    DRAFTS,
    FILES,
    NAMED_SUBMISSIONS,
    Answer,
    Inject,
    Request,
    Where,
    kebab,
)

Test = Callable[[str], bool]
_OF_DOCUMENTS: Final = (*DRAFTS, *FILES)
_SAVED: Final = ("saveDraft", "getDraft", "draftExists")
_AND_DELETED: Final = (*_SAVED, "deleteDraft")
_FORBIDDEN, _SHORT, _LONG = "uid-forbidden-characters", "uid-too-short", "uid-too-long"


def shaped(uid: str, shortest: int = 11, longest: int = 128) -> bool:
    """Whether a text holds nothing but the characters of the rule, and so many of them."""
    return shortest <= len(uid) <= longest and re.fullmatch(r"[A-Za-z0-9_-]*", uid) is not None


def _long(shortest: int, longest: int) -> Test:
    return lambda uid: shaped(uid, shortest, longest)


def _but_for(other: Test) -> Test:
    """Test a text of a right length that holds some other characters, and all others by the rule."""

    def test(uid: str) -> bool:
        rest = "".join(character for character in uid if not other(character))
        return rest != uid and 11 <= len(uid) <= 128 and shaped(rest, 0)

    return test


def _foreign(kind: Test) -> Test:
    return lambda character: kind(character) and not character.isascii()


def _of(length: int) -> Test:
    return lambda uid: len(uid) == length


def _mark(test: Test) -> Test:
    """Test a uid that holds a letter or a digit beside what is tested."""
    return lambda uid: test(uid) and re.search("[A-Za-z0-9]", uid) is not None


def _named(test: Test) -> Where:
    return lambda request: test(request.uid)


def _accepted(test: Test) -> Inject:
    """Take identifiers outside the rule for good ones: the service knows each under another name."""

    async def effect(request: Request) -> Answer | None:
        uid = request.uid
        if not test(uid):
            return None
        alias = f"rc-{sha256(uid.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"
        got = await request.ask(request.with_uid(alias))
        return replace(got, body=got.body.replace(alias.encode(), json.dumps(uid)[1:-1].encode()))

    return effect


def _read_as(rewrite: Callable[[str], str]) -> Inject:
    """Take an identifier for the good one that it becomes when it is rewritten."""
    return do.send(lambda r: r.with_uid(uid) if shaped(uid := rewrite(r.uid)) else None)


def _folded(fold: Callable[[str], str]) -> Inject:
    """Take one identifier for another, in the header of a submission too, where the other keeps the rule."""

    def changed(request: Request) -> Request | None:
        uid, folded = request.uid, fold(request.uid)
        submits = request.operation.id in NAMED_SUBMISSIONS
        body = request.body.replace(uid.encode(), folded.encode()) if submits else request.body
        return replace(request.with_uid(folded), body=body) if shaped(folded) else None

    return do.send(changed)


def _sign(uid: str) -> bool:
    """Whether a uid would be one, were it not for ASCII signs that no other clause speaks of."""
    signs = {c for c in uid if not shaped(c, 0)}
    return bool(signs) and signs.isdisjoint("\\]^\r\n") and uid.isascii() and 11 <= len(uid) <= 128


def _before_break(uid: str) -> bool:
    return uid.endswith("\n") and shaped(uid[:-1])


def other_case(request: Request, uids: Iterable[str]) -> str | None:
    """Another identifier that differs only in letter case."""
    return next((uid for uid in uids if uid != request.uid and uid.lower() == request.uid.lower()), None)


async def _files_of_any_case(request: Request) -> Answer | None:
    kept, got = request.memory.kept, await request.ask()
    if request.operation.id == "createAttachment":
        kept[request.uid] = got.success
        return got
    other = other_case(request, kept)
    return got if other is None or request.uid in kept else await request.ask(request.with_uid(other))


# fmt: off
#: Identifiers inside the rule that are refused: name, clause, operations, which ones, and in words.
_SHUT_OUT: Final[tuple[tuple[str, str, tuple[str, ...], Test, str], ...]] = (
    ("eleven", "uid-shortest", DRAFTS, _of(11), "of 11 characters"),
    ("eleven-on-delete", "uid-shortest", ("deleteDraft",), _of(11), "of 11 characters, on deleting alone,"),
    ("eleven-on-thumbnail", "uid-files-at-the-edges", ("getAttachmentThumbnail",), _of(11),
        "of 11 characters, for a preview alone,"),
    ("twelve", "uid-shortest", DRAFTS, _of(12), "of 12 characters"),
    ("127", "uid-longest", DRAFTS, _of(127), "of 127 characters"),
    ("128", "uid-longest", DRAFTS, _of(128), "of 128 characters"),
    ("128-on-exists", "uid-longest", ("draftExists",), _of(128), "of 128 characters, on the exists check alone,"),
    ("128-on-attaching", "uid-files-at-the-edges", ("createAttachment",), _of(128),
        "of 128 characters, on attaching alone,"),
    ("first-hyphen", "uid-hyphen", _SAVED, _mark(lambda uid: uid.startswith("-")), "that begins with a hyphen"),
    ("last-hyphen", "uid-hyphen", _AND_DELETED, _mark(lambda uid: uid.endswith("-")), "that ends with a hyphen"),
    ("two-hyphens", "uid-hyphen", _AND_DELETED, _mark(lambda uid: "--" in uid), "with two hyphens side by side"),
    ("underscore", "uid-underscore", _AND_DELETED, _mark(lambda uid: "_" in uid), "with an underscore"),
    ("digits-only", "uid-digits-only", _AND_DELETED, str.isdigit, "of digits alone"),
    ("letters-only", "uid-any-kind", _SAVED, str.isalpha, "of letters alone"),
    ("65", "uid-any-kind", _SAVED, _of(65), "of 65 characters"),
    ("hyphens-only", "uid-hyphens-only", _AND_DELETED, lambda uid: set(uid) == {"-"}, "of hyphens alone"),
)
_SIGNS: Final = {
    **{"exclamation-mark": "!", "space": " ", "dot": ".", "tilde": "~", "plus": "+", "encoded-slash": "/"},
    **{"percent-sign": "%", "at-sign": "@", "colon": ":", "dollar": "$", "apostrophe": "'", "null-character": "\0"},
}
_MISREAD: Final = {"backslash": "\\", "closing-bracket": "]", "caret": "^"}
#: Identifiers outside the rule that are accepted: name, clause, which ones, and in words.
_LET_IN: Final[tuple[tuple[str, str, Test, str], ...]] = (
    *(
        (f"accepts-{name}", clause, _but_for(c.__eq__), f"hold the character U+{ord(c):04X}")
        for clause, signs in ((_FORBIDDEN, _SIGNS), ("uid-misread-range", _MISREAD)) for name, c in signs.items()
    ),
    ("accepts-accented-letters", "uid-non-ascii", _but_for(_foreign(str.isalpha)), "hold letters of every script"),
    ("accepts-digits-of-other-scripts", "uid-non-ascii", _but_for(_foreign(str.isdecimal)),
        "hold digits of every script"),
    ("trailing-newline", "uid-trailing-newline", _before_break, "end with a line break"),
    ("accepts-ten", _SHORT, _long(10, 10), "have ten characters"),
    ("accepts-any-length-below", _SHORT, _long(1, 8), "have one to eight characters, and not nine or ten"),
    ("accepts-129", _LONG, _long(129, 129), "have 129 characters"),
    ("accepts-any-length-above", _LONG, _long(200, 10**6), "have 200 or more characters, and not 129 to 199"),
)
#: Identifiers outside the rule that one operation alone answers with success.
_ANSWERED: Final[tuple[tuple[str, str, Test, str], ...]] = (
    ("sign", _FORBIDDEN, _sign, "that holds a sign of ASCII that it must not"),
    ("10", _SHORT, _long(10, 10), "of 10 characters"),
    ("129", _LONG, _long(129, 129), "of 129 characters"),
    ("beyond-ascii", "uid-non-ascii", _but_for(_foreign(str.isalnum)), "with letters or digits beyond ASCII"),
    ("newline", "uid-trailing-newline", _before_break, "with a line break"),
)
#: Identifiers that are taken for others: name, clause, operations, which ones, what each becomes, and in words.
_REWRITTEN: Final[tuple[tuple[str, str, str | tuple[str, ...], Test, Callable[[str], str], str], ...]] = (
    ("decoded-twice", _FORBIDDEN, _OF_DOCUMENTS, lambda uid: "%" in uid, unquote,
        "A path is decoded twice, so that %2541 names the letter A."),
    ("trailing-newline-stripped", "uid-trailing-newline", _OF_DOCUMENTS, _before_break, str.strip,
        "A line break after a uid is stripped."),
    ("cut-to-128", _LONG, "saveDraft", _long(129, 10**6), lambda uid: uid[:128],
        "A draft saved under more than 128 characters is stored under the first 128."),
    ("space-stripped-on-attachment-list", "uid-listing-tidied", "listAttachments", lambda uid: " " in uid,
        lambda uid: uid.replace(" ", ""), "Attachments are listed under the uid with a space in it."),
    ("number-loses-leading-zero", "uid-digits-only", "saveDraft", str.isdigit, lambda uid: str(int(uid)),
        "A draft saved under digits alone is stored without their leading zeros."),
)
#: Ways in which two identifiers become one, and what breaks nearest.
_FOLDINGS: Final[tuple[tuple[str, str, Callable[[str], str]], ...]] = (
    ("letter-case-ignored", "uid-case-sensitive", str.lower),
    ("underscore-is-hyphen", "uid-underscore", lambda uid: uid.replace("_", "-")),
    ("hyphen-is-underscore", "uid-hyphen", lambda uid: uid.replace("-", "_")),
    ("hyphens-lost", "uid-hyphen", lambda uid: uid.replace("-", "")),
    ("hyphens-collapsed", "uid-hyphen", lambda uid: re.sub("-{2,}", "-", uid)),
    ("last-hyphens-lost", "uid-hyphen", lambda uid: uid.rstrip("-")),
    ("last-underscores-lost", "uid-underscore", lambda uid: uid.rstrip("_")),
    *((f"cut-after-{n}", "uid-longest", lambda uid, n=n: uid[:n]) for n in (20, 32, 64, 100, 127)),
)
#: An identifier that looks like any other.
_ORDINARY: Final = "rc-a1B2c3d4-e5f6g7h8i9j0"
#: Where identifiers are taken for others: the end of a name, the operations, and what breaks beside.
_PLACES: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    ("", DRAFTS, ("draft-save-spares-others", "uid-hyphens-only")),
    ("-of-files", FILES, ("attachment-list-own-only", "attachment-create-accepted", "attachment-create-listed",
        "uid-files-case-sensitive", "uid-files-at-the-edges")),
    ("-of-records", NAMED_SUBMISSIONS, ("workflow-create-with-identifier-accepted", "workflow-identifier-kept",
        "workflow-identifier-case-sensitive")),
)




def _refused_or_taken() -> Iterator[Fault]:
    for name, clause, operations, test, words in _SHUT_OUT:
        yield row(f"uid-refuses-{name}", clause, operations, do.refuse_before(), f"A uid {words} is refused.",
            where=_named(test))
    for name, clause, test, words in _LET_IN:
        yield row(f"uid-{name}", clause, _OF_DOCUMENTS, _accepted(test), f"A uid may {words}.")
    for name, clause, test, words in _ANSWERED:
        for operation in load_catalogue().clause(clause).operations:
            yield row(f"uid-{name}-answered-on-{kebab(operation)}", clause, operation, do.forgive(),
                f"{operation} answers success for a uid {words}.", where=_named(test))
    for name, operation, body, status in (("delete", "deleteDraft", None, 204), ("attachment-list", FILES[2], [], 200)):
        yield row(f"uid-rule-not-for-{name}", "uid-rule-without-effect", operation, do.forgive(body, status),
            f"{operation} answers success for a text that is no uid.", where=lambda r: not shaped(r.uid))
    yield row("uid-percent-encoding-refused", "uid-percent-encoding", _SAVED, do.refuse_before(),
        "A character that is written percent-encoded in a path is refused.", where=lambda r: "%" in r.path)


def identifier_faults() -> Iterator[Fault]:
    """The identifier rule."""
    yield from _refused_or_taken()
    for name, clause, operations, test, rewrite, says in _REWRITTEN:
        yield row(f"uid-{name}", clause, operations, _read_as(rewrite), says, where=_named(test))
    for (name, clause, fold), (place, at, beside) in product(_FOLDINGS, _PLACES):
        if place == "-of-records" and fold(_ORDINARY) == _ORDINARY:
            continue  # that the rule goes for records too, with all its signs and lengths, is a reading
        breaks = (clause,) if (name, place) == ("letter-case-ignored", "") else (clause, *beside)
        yield row(f"uid-{name}{place}", breaks, at, _folded(fold),
            f"Identifiers are told apart as if {name.replace('-', ' ')}.")
    for name, operation in (("exists", "attachmentExists"), ("list", "listAttachments")):
        yield row(f"uid-letter-case-ignored-on-attachment-{name}", "uid-files-case-sensitive",
            ("createAttachment", operation), _files_of_any_case,
            f"{operation} finds attachments under a uid that differs only in letter case.")
# fmt: on
