"""Faults of the identifier rule, each a row: what it lets in, what it shuts out, and identifiers that are mixed up."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.effects import forgive, refuse_before, send
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    DRAFTS,
    NAMED_SUBMISSIONS,
    SINGLE,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    kebab,
    row,
)
from contracts.sandbox.http import bad_request

Test = Callable[[str], bool]
_IDENTITY: Final = Family("identity")


#: Ways in which two identifiers become one.
FOLDINGS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType(
    {
        "case-folded": str.lower,
        "underscore-as-hyphen": lambda uid: uid.replace("_", "-"),
        "hyphen-as-underscore": lambda uid: uid.replace("-", "_"),
        "hyphens-lost": lambda uid: uid.replace("-", "") if len(uid.replace("-", "")) > 10 else uid,
        "first-20": lambda uid: uid[:20],
        "first-32": lambda uid: uid[:32],
        "first-64": lambda uid: uid[:64],
        "first-100": lambda uid: uid[:100],
        "first-127": lambda uid: uid[:127],
        "trailing-hyphens-lost": lambda uid: uid.rstrip("-") if len(uid.rstrip("-")) > 10 else uid,
        "trailing-underscores-lost": lambda uid: uid.rstrip("_") if len(uid.rstrip("_")) > 10 else uid,
        "hyphens-collapsed": lambda uid: (
            re.sub("-{2,}", "-", uid) if len(re.sub("-{2,}", "-", uid)) > 10 else uid
        ),
    }
)


def shaped(uid: str, shortest: int = 11, longest: int = 128) -> bool:
    """Whether a text holds nothing but the characters of the rule, and so many of them."""
    return shortest <= len(uid) <= longest and re.fullmatch(r"[A-Za-z0-9_-]*", uid) is not None


def _but_for(other: Test) -> Test:
    """Test a text of a right length that holds some other characters, and all others by the rule."""

    def test(uid: str) -> bool:
        rest = "".join(character for character in uid if not other(character))
        return rest != uid and 11 <= len(uid) <= 128 and shaped(rest, 0)

    return test


def _foreign(kind: Test) -> Test:
    return lambda character: kind(character) and not character.isascii()


#: Classes of identifiers inside the rule, by what a careless service may refuse, with the clauses of each.
VALID_CLASSES: Final[Mapping[str, tuple[tuple[str, ...], Test]]] = MappingProxyType(
    {
        "of-11": (("uid-shortest", "uid-any-kind"), lambda uid: len(uid) == 11),
        "of-12": (("uid-shortest", "uid-any-kind"), lambda uid: len(uid) == 12),
        "of-127": (("uid-longest", "uid-any-kind"), lambda uid: len(uid) == 127),
        "of-128": (("uid-longest", "uid-any-kind"), lambda uid: len(uid) == 128),
        "over-64": (("uid-longest", "uid-any-kind"), lambda uid: len(uid) > 64),
        "with-hyphen": (("uid-hyphen",), lambda uid: "-" in uid.strip("-")[3:]),
        "ending-in-hyphen": (("uid-hyphen", "uid-any-kind"), lambda uid: uid.endswith("-")),
        "with-underscore": (("uid-underscore", "uid-any-kind"), lambda uid: "_" in uid),
        "with-capitals": (("uid-case-sensitive", "uid-any-kind"), lambda uid: uid != uid.lower()),
        "digits-only": (("uid-digits-only", "uid-any-kind"), str.isdigit),
        "hyphens-only": (("uid-hyphens-only", "uid-any-kind"), lambda uid: not uid.strip("-_")),
    }
)
_SIGNS: Final = "!$&'()*+,;=:@~#%?<>|\"`{}["
#: Classes of identifiers outside the rule for one reason, by what a careless service may let in, with the clause.
INVALID_CLASSES: Final[Mapping[str, tuple[str, Test]]] = MappingProxyType(
    {
        "of-10": ("uid-too-short", lambda uid: shaped(uid, 10, 10)),
        "under-10": ("uid-too-short", lambda uid: shaped(uid, 1, 9)),
        "of-129": ("uid-too-long", lambda uid: shaped(uid, 129, 129)),
        "over-129": ("uid-too-long", lambda uid: shaped(uid, 130, 10**6)),
        "with-space": ("uid-forbidden-characters", _but_for(" ".__eq__)),
        "with-dot": ("uid-forbidden-characters", _but_for(".".__eq__)),
        "with-bracket": ("uid-misread-range", _but_for("]".__eq__)),
        "with-caret": ("uid-misread-range", _but_for("^".__eq__)),
        "with-backslash": ("uid-misread-range", _but_for("\\".__eq__)),
        "with-other-sign": ("uid-forbidden-characters", _but_for(_SIGNS.__contains__)),
        "with-slash": ("uid-forbidden-characters", _but_for("/".__eq__)),
        "with-letter-beyond-ascii": ("uid-non-ascii", _but_for(_foreign(str.isalpha))),
        "with-digit-beyond-ascii": ("uid-non-ascii", _but_for(_foreign(str.isdigit))),
        "ending-in-newline": (
            "uid-trailing-newline",
            lambda uid: uid.endswith(("\n", "\r")) and shaped(uid[:-1]),
        ),
    }
)
#: What an operation is called in another name of its faults.
_ASKED: Final = {
    **{"getDraft": "get", "getDraftInfo": "info", "draftExists": "exists", "updateContact": "contact-update"},
    **{"attachmentExists": "attachment-exists", "getAttachment": "download"},
    **{"getAttachmentThumbnail": "thumbnail", "createAttachment": "attaching"},
    **{"persistTemporaryFile": "persisting"},
}
#: An identifier that looks like any other.
_ORDINARY: Final = "rc-a1b2c3d4-e5f6g7h8i9j0"
_FILES: Final = (
    *("createAttachment", "persistTemporaryFile", "listAttachments"),
    *("attachmentExists", "getAttachment", "getAttachmentThumbnail"),
)
_OF_DOCUMENTS: Final = (*DRAFTS, *_FILES)
_SAVED: Final = ("saveDraft", "getDraft", "draftExists")
_SAVED_AND_DELETED: Final = (*_SAVED, "deleteDraft")
_MISREAD: Final = {"backslash": "\\", "closing-bracket": "]", "caret": "^"}
_FORBIDDEN: Final = {
    **{"exclamation-mark": "!", "space": " ", "dot": ".", "tilde": "~", "plus": "+", "encoded-slash": "/"},
    **{"percent-sign": "%", "at-sign": "@", "colon": ":", "dollar": "$", "apostrophe": "'"},
    **{"null-character": "\0"},
}


#: What breaks where identifiers are taken for others, by how; for the others the last.
_FOLDED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "case-folded": ("uid-case-sensitive",),
        "underscore-as-hyphen": ("uid-underscore", "draft-save-spares-others", "uid-hyphens-only"),
        "hyphen-as-underscore": ("uid-hyphen", "draft-save-spares-others", "uid-hyphens-only"),
        "": ("draft-save-spares-others", "uid-hyphen", "uid-underscore", "uid-longest"),
    }
)
#: Where identifiers are taken for others: operations, and what breaks beside.
_WHERE: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = MappingProxyType(
    {
        "drafts": (DRAFTS, ()),
        "deleteDraft": (("deleteDraft",), ("draft-delete-spares-others",)),
        # The files of a document are looked for under another uid: there is none, or it is another document's.
        "attachments": (
            _FILES,
            (
                *("attachment-list-own-only", "attachment-create-accepted", "attachment-create-listed"),
                *("uid-files-case-sensitive", "uid-files-at-the-edges"),
            ),
        ),
        "submissions": (
            NAMED_SUBMISSIONS,
            (
                *("workflow-create-with-identifier-accepted", "workflow-identifier-kept"),
                "workflow-identifier-case-sensitive",
            ),
        ),
    }
)


def _folded(fold: Callable[[str], str]) -> Inject:
    """One identifier is taken for another, in the header of a submission too."""

    def changed(request: Request) -> Request:
        uid, folded = request.uid, fold(request.uid)
        if not uid or request.operation.id not in NAMED_SUBMISSIONS:
            return request.with_uid(folded) if uid else request
        return replace(request.with_uid(folded), body=request.body.replace(uid.encode(), folded.encode()))

    return send(changed)


def identifier_faults() -> Iterator[Fault]:
    """Identifiers that are taken for another, refused although they keep the rule, or taken although they break it."""
    for operator, fold in FOLDINGS.items():
        for label, (operations, beside) in _WHERE.items():
            clauses = (*beside, *_FOLDED.get(operator, _FOLDED[""]))
            also = "uid-letter-case-ignored" if (operator, label) == ("case-folded", "drafts") else ""
            # That the identifier rule goes for records too, with all its signs and lengths, is a reading.
            stated = label != "submissions" or fold(_ORDINARY) != _ORDINARY
            yield from _IDENTITY.faults(
                operations, operator, clauses, _folded(fold), label=label, also=also, stated=stated
            )
    catalogue = load_catalogue()
    for operator, (of_class, test) in VALID_CLASSES.items():
        for operation in _SAVED_AND_DELETED:
            broken = tuple(c for c in of_class if operation in catalogue.clause(c).operations)
            # Most identifiers have a hyphen.
            broken += ACCEPTANCE[operation] if operator == "with-hyphen" else ()
            yield from _IDENTITY.faults(operation, f"{operator}-refused", broken, _refused(test), SINGLE)
    for operator, (of_rule, test) in INVALID_CLASSES.items():
        length = operator.removeprefix("of-")
        for described in load_description().operations.values():
            # Where no clause speaks of the class, that of the rule as a whole does.
            near = (of_rule, *(("uid-forbidden-characters",) if of_rule != "uid-misread-range" else ()))
            clause = next((c for c in near if described.id in catalogue.clause(c).operations), None)
            if clause is not None:
                known = length.isdigit() and described.id in _ASKED
                yield from _IDENTITY.faults(
                    described.id,
                    f"{operator}-taken",
                    (clause,),
                    _answered(test),
                    SINGLE if described.takes_realm else ("always",),
                    also=f"uid-{length}-answered-on-{_ASKED[described.id]}" if known else "",
                )


def _answered(test: Test) -> Inject:
    return forgive(lambda request: test(request.uid))


def _refused(test: Test) -> Inject:
    return refuse_before(lambda request: test(request.uid))


def _of(length: int) -> Test:
    return lambda uid: len(uid) == length


def _mark(test: Test) -> Test:
    """Test a uid that holds a letter or a digit beside what is tested."""
    return lambda uid: test(uid) and re.search("[A-Za-z0-9]", uid) is not None


def _alias(uid: str) -> str:
    return f"rc-{sha256(uid.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def _accepted(test: Test) -> Inject:
    """Take identifiers outside the rule for good ones: the service knows each under another name."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        if not test(request.uid):
            return None
        got, alias = await below(request.with_uid(_alias(request.uid))), _alias(request.uid)
        return replace(got, body=got.body.replace(alias.encode(), json.dumps(request.uid)[1:-1].encode()))

    return effect


def _read_as(rewrite: Callable[[str], str | None]) -> Inject:
    """Take an identifier outside the rule for the good one that it becomes when it is rewritten."""

    def changed(request: Request) -> Request:
        uid = rewrite(request.uid)
        return request.with_uid(uid) if uid is not None and shaped(uid) else request

    return send(changed)


def _before_break(uid: str) -> str | None:
    rest = uid.removesuffix("\n").removesuffix("\r")
    return rest if rest != uid and shaped(rest) else None


def _sign(uid: str) -> bool:
    """Whether a uid would be one, were it not for ASCII signs that no other clause speaks of."""
    signs = {c for c in uid if not shaped(c, 0)}
    apart = signs.isdisjoint({*_MISREAD.values(), "\r", "\n"})
    return bool(signs) and apart and uid.isascii() and 11 <= len(uid) <= 128


def _no_uid(request: Request) -> bool:
    return not shaped(request.uid)


def _listed_though_refused(length: int) -> Inject:
    """Save a draft under an identifier of a wrong length, list it, and refuse it all the same."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        if request.operation.id == "saveDraft":
            if shaped(request.uid, length, length):
                await below(request.with_uid(_alias(request.uid)))
                memory.kept[_alias(request.uid)] = request.uid
            return None
        got = await below(request)
        for alias, uid in memory.kept.items():
            got = got.renamed(alias, uid)
        return got

    return effect


def _same_but_for_case(request: Request, uids: Any) -> str | None:
    """Another identifier that differs only in letter case."""
    return next((uid for uid in uids if uid != request.uid and uid.lower() == request.uid.lower()), None)


def _saved_in_realm(request: Request, memory: Memory) -> list[str]:
    return [uid for realm, uid in memory.saved if realm == request.realm]


async def _any_case_found(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The exists check alone finds a draft under a uid that differs only in letter case."""
    got, other = await below(request), _same_but_for_case(request, _saved_in_realm(request, memory))
    return Answer(200) if got.status == 404 and other else got


async def _any_case_deleted(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Deleting a draft takes along the draft whose uid differs only in letter case."""
    got, other = await below(request), _same_but_for_case(request, _saved_in_realm(request, memory))
    if got.success and other:
        await below(request.with_uid(other))
    return got


async def _files_of_any_case(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Attachments are found under a uid that differs only in letter case."""
    got = await below(request)
    if request.operation.id == "createAttachment":
        memory.kept[request.uid] = got.success
        return got
    other = _same_but_for_case(request, memory.kept)
    return got if other is None or request.uid in memory.kept else await below(request.with_uid(other))


def _percent_encoding_refused(service: Any) -> None:
    """Refuse an identifier that is written with percent signs in the path."""
    faithful = service.identifiers.from_path

    def from_path(request: Any, name: str = "uid") -> str:
        uid: str = faithful(request, name)
        if "%" in request.path_params[name]:
            raise bad_request("the identifier is not well formed")
        return uid

    service.identifiers.from_path = from_path


_ANSWERED: Final = (
    *("getDraft", "getDraftInfo", "draftExists", "updateContact", "createAttachment", "persistTemporaryFile"),
    *("attachmentExists", "getAttachment", "getAttachmentThumbnail"),
)


# fmt: off
#: Identifiers inside the rule that are refused: name, clause, operations, which ones, and in words.
_SHUT_OUT: Final[tuple[tuple[str, str, str | tuple[str, ...], Test, str], ...]] = (
    ("eleven", "uid-shortest", DRAFTS, _of(11), "of 11 characters"),
    ("eleven-on-delete", "uid-shortest", "deleteDraft", _of(11), "of 11 characters, on deleting alone,"),
    ("eleven-on-thumbnail", "uid-files-at-the-edges", "getAttachmentThumbnail", _of(11),
        "of 11 characters, for a preview alone,"),
    ("twelve", "uid-shortest", DRAFTS, _of(12), "of 12 characters"),
    ("127", "uid-longest", DRAFTS, _of(127), "of 127 characters"),
    ("128", "uid-longest", DRAFTS, _of(128), "of 128 characters"),
    ("128-on-exists", "uid-longest", "draftExists", _of(128), "of 128 characters, on the exists check alone,"),
    ("128-on-info", "uid-longest", "getDraftInfo", _of(128), "of 128 characters, for the info alone,"),
    ("128-on-attaching", "uid-files-at-the-edges", "createAttachment", _of(128),
        "of 128 characters, on attaching alone,"),
    ("first-hyphen", "uid-hyphen", _SAVED, _mark(lambda uid: uid.startswith("-")), "that begins with a hyphen"),
    ("last-hyphen", "uid-hyphen", _SAVED_AND_DELETED, _mark(lambda uid: uid.endswith("-")), "that ends with a hyphen"),
    ("two-hyphens", "uid-hyphen", _SAVED_AND_DELETED, _mark(lambda uid: "--" in uid), "with two hyphens side by side"),
    ("underscore", "uid-underscore", _SAVED_AND_DELETED, _mark(lambda uid: "_" in uid), "with an underscore"),
    ("first-underscore", "uid-underscore", _SAVED, _mark(lambda uid: uid.startswith("_")),
        "that begins with an underscore"),
    ("last-underscore", "uid-underscore", _SAVED_AND_DELETED, _mark(lambda uid: uid.endswith("_")),
        "that ends with an underscore"),
    ("digits-only", "uid-digits-only", _SAVED_AND_DELETED, str.isdigit, "of digits alone"),
    ("letters-only", "uid-any-kind", _SAVED, str.isalpha, "of letters alone"),
    ("65", "uid-any-kind", _SAVED, _of(65), "of 65 characters"),
    ("hyphens-only", "uid-hyphens-only", _SAVED_AND_DELETED, lambda uid: set(uid) == {"-"}, "of hyphens alone"),
    ("underscores-only", "uid-hyphens-only", _SAVED_AND_DELETED, lambda uid: set(uid) <= {"-", "_"} and "_" in uid,
        "of hyphens and underscores alone"),
)
#: Identifiers outside the rule that are accepted: name, clause, which ones, and in words.
_LET_IN: Final[tuple[tuple[str, str, Test, str], ...]] = (
    *(
        (f"accepts-{name}", "uid-forbidden-characters", _but_for(c.__eq__), f"may hold the character U+{ord(c):04X}")
        for name, c in _FORBIDDEN.items()
    ),
    *(
        (
            f"accepts-{name}",
            "uid-misread-range",
            _but_for(c.__eq__),
            f"may hold the character U+{ord(c):04X}, as the pattern may be misread",
        )
        for name, c in _MISREAD.items()
    ),
    ("accepts-accented-letters", "uid-non-ascii", _but_for(_foreign(str.isalpha)), "may hold letters of every script"),
    ("accepts-digits-of-other-scripts", "uid-non-ascii", _but_for(_foreign(str.isdecimal)),
        "may hold digits of every script"),
    ("trailing-newline", "uid-trailing-newline", lambda uid: uid.endswith("\n") and shaped(uid[:-1]),
        "may end with a line break"),
    ("accepts-ten", "uid-too-short", lambda uid: shaped(uid, 10, 10), "may have ten characters"),
    ("accepts-any-length-below", "uid-too-short", lambda uid: shaped(uid, 1, 8),
        "may have one to eight characters, and not nine or ten"),
    ("accepts-129", "uid-too-long", lambda uid: shaped(uid, 129, 129), "may have 129 characters"),
    ("accepts-any-length-above", "uid-too-long", lambda uid: shaped(uid, 200, 10**6),
        "may have 200 or more characters, and not 129 to 199"),
)
#: Identifiers outside the rule that are taken for others: name, clause, operations, for which, and in words.
_REWRITTEN: Final[tuple[tuple[str, str, str | tuple[str, ...], Callable[[str], str | None], str], ...]] = (
    ("decoded-twice", "uid-forbidden-characters", _OF_DOCUMENTS, unquote,
        "A path is decoded twice, so that %2541 names the letter A."),
    ("forbidden-character-stripped", "uid-forbidden-characters", "saveDraft", lambda uid: uid.replace("!", ""),
        "An exclamation mark in the uid of a saved draft is dropped."),
    ("folded-to-ascii", "uid-non-ascii", "saveDraft", lambda uid: unicodedata.normalize("NFKC", uid),
        "A draft saved under full-width letters is stored under the plain ones."),
    ("trailing-newline-stripped", "uid-trailing-newline", _OF_DOCUMENTS, _before_break,
        "A line break after a uid is stripped."),
    ("cut-to-128", "uid-too-long", "saveDraft", lambda uid: uid[:128] if shaped(uid, 129, 10**6) else None,
        "A draft saved under more than 128 characters is stored under the first 128."),
    ("space-stripped-on-attachment-list", "uid-listing-tidied", "listAttachments", lambda uid: uid.replace(" ", ""),
        "Attachments are listed under the uid with a space in it."),
    ("number-loses-leading-zero", "uid-digits-only", "saveDraft",
        lambda uid: str(int(uid)) if uid.isdigit() else None,
        "A draft saved under digits alone is stored without their leading zeros."),
)


def uid_rows() -> Iterator[Fault]:
    """Every row of the identifier rule."""
    for name, clause, operations, test, words in _SHUT_OUT:
        yield row(f"uid-refuses-{name}", clause, operations, _refused(test), f"A uid {words} is refused.")
    for name, clause, test, words in _LET_IN:
        yield row(f"uid-{name}", clause, _OF_DOCUMENTS, _accepted(test), f"A uid {words}.")
    ten = _accepted(lambda uid: shaped(uid, 10, 10))
    yield row("uid-accepts-ten", "uid-too-short", DRAFTS, ten, "A uid may have ten characters.", "in-bch-dev")
    for name, clause, operations, rewrite, says in _REWRITTEN:
        yield row(f"uid-{name}", clause, operations, _read_as(rewrite), says)
    for operation in _ANSWERED:
        says = f"{operation} answers success for a uid that holds a sign of ASCII that it must not."
        effect = _answered(_sign)
        yield row(f"uid-sign-answered-on-{kebab(operation)}", "uid-forbidden-characters", operation, effect, says)
    for length, clause in ((10, "uid-too-short"), (129, "uid-too-long")):
        says = f"Saving under {length} characters is refused, yet the draft is stored and listed."
        effect = _listed_though_refused(length)
        yield row(f"uid-{length}-refused-yet-listed", clause, ("saveDraft", "listDrafts"), effect, says)
    effect_of_none = "uid-rule-without-effect"
    yield row("uid-rule-not-for-delete", effect_of_none, "deleteDraft", forgive(_no_uid, None, 204),
        "Deleting under a text that is no uid succeeds.")
    yield row("uid-rule-not-for-attachment-list", effect_of_none, "listAttachments", forgive(_no_uid, []),
        "Attachments of a text that is no uid are an empty list.")
    yield row("uid-letter-case-ignored-on-exists", "uid-case-sensitive", "draftExists", _any_case_found)
    yield row("uid-letter-case-ignored-on-delete", "uid-case-sensitive", "deleteDraft", _any_case_deleted)
    for where, operation in (("exists", "attachmentExists"), ("list", "listAttachments")):
        yield row(f"uid-letter-case-ignored-on-attachment-{where}", "uid-files-case-sensitive",
            ("createAttachment", operation), _files_of_any_case)
    yield row("uid-percent-encoding-refused", "uid-percent-encoding", _SAVED,
        says="A character that is written percent-encoded in a path is refused.", part=_percent_encoding_refused)
