"""Defects of the identifier rule: what it lets in, what it shuts out, and identifiers that are mixed up."""

import re
import unicodedata
from collections.abc import Callable, Container
from functools import partial
from typing import Any

from sqlalchemy import delete, func, select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.declaration import (
    ATTACHING,
    DRAFTS,
    READING_ATTACHMENTS,
    READING_DRAFTS,
    Change,
    Handler,
    Operations,
    When,
    alter,
    alteration,
    alteration_at,
    answered,
    answers,
    defect,
    defects,
    forgive,
    kebab,
    replaces,
)
from contracts.sandbox.http_requests import Refusal, bad_request, decoded_segment, header_value
from contracts.sandbox.service import Service
from contracts.sandbox.storage import ATTACHMENTS, DRAFT, VERSIONS, Records, Version, new_version

WITH_UID = (*DRAFTS, *ATTACHING, "listAttachments", *READING_ATTACHMENTS)

_SHAPE = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
Read = Callable[[str], str | None]
Test = Callable[[str], bool]


def _shaped(text: str, lengths: Container[int] = range(11, 129)) -> bool:
    return len(text) in lengths and _SHAPE.fullmatch(text) is not None


def _text(request: Request) -> str:
    return decoded_segment(request.path_params["uid"]) or ""


@alteration
def _admit(
    service: Service, read: Read, operations: Container[str] = WITH_UID, realm: str | None = None
) -> None:
    """Let the paths of some operations name what ``read`` makes of a text; ``None`` leaves it to the rule."""

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text = decoded_segment(request.path_params[name])
        if text is not None and request.scope["operation_id"] in operations and name == "uid":
            identifier = read(text)
            if identifier is not None and realm in {None, header_value(request, "realm")}:
                return identifier
        return faithful(request, name)

    alter(service.identifiers, "from_path", from_path)


def _accept(test: Test, operations: Container[str] = WITH_UID, realm: str | None = None) -> Change:
    """Return the change that takes a text that passes a test for a uid."""
    return _admit(lambda text: text if test(text) else None, operations, realm)


def _accept_as(rewrite: Read, operations: Container[str] = WITH_UID) -> Change:
    """Return the change that takes a text for the uid that it becomes when it is rewritten."""

    def read(text: str) -> str | None:
        rewritten = rewrite(text)
        return rewritten if rewritten != text and _shaped(rewritten or "") else None

    return _admit(read, operations)


@alteration_at
def _reject(service: Service, operations: Operations, test: Callable[[Request, str], bool]) -> None:
    """Refuse also the uids that pass a test, in the paths of the defect's operations."""

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text: str = faithful(request, name)
        if request.scope["operation_id"] in operations and test(request, text):
            raise bad_request("uid must be letters, digits, hyphen and underscore, 11 to 128 characters")
        return text

    alter(service.identifiers, "from_path", from_path)


def _reject_uid(test: Test) -> Change:
    return _reject(lambda _, uid: test(uid))


def _reject_length(length: int) -> Change:
    return _reject_uid(lambda uid: len(uid) == length)


def _reject_mark(test: Test) -> Change:
    """Return the change that refuses uids that pass a test and hold a letter or a digit too."""
    return _reject_uid(lambda uid: test(uid) and re.search("[A-Za-z0-9]", uid) is not None)


defects(
    {
        "uid-refuses-eleven": _reject_length(11),
        "uid-refuses-eleven-on-delete": _reject_length(11),
        "uid-refuses-twelve": _reject_length(12),
        "uid-refuses-127": _reject_length(127),
        "uid-refuses-128": _reject_length(128),
        "uid-refuses-128-on-exists": _reject_length(128),
        "uid-refuses-128-on-info": _reject_length(128),
        "uid-refuses-last-hyphen": _reject_mark(lambda uid: uid.endswith("-")),
        "uid-refuses-two-hyphens": _reject_mark(lambda uid: "--" in uid),
        "uid-refuses-underscore": _reject_mark(lambda uid: "_" in uid),
        "uid-refuses-last-underscore": _reject_mark(lambda uid: uid.endswith("_")),
        "uid-refuses-digits-only": _reject_uid(str.isdigit),
        "uid-refuses-letters-only": _reject_uid(str.isalpha),
        "uid-refuses-65": _reject_length(65),
        "uid-refuses-first-hyphen": _reject_mark(lambda uid: uid.startswith("-")),
        "uid-refuses-first-underscore": _reject_mark(lambda uid: uid.startswith("_")),
        "uid-refuses-hyphens-only": _reject_uid(lambda uid: set(uid) == {"-"}),
        "uid-refuses-underscores-only": _reject_uid(lambda uid: set(uid) <= {"-", "_"} and "_" in uid),
        "uid-refuses-128-on-attaching": _reject_length(128),
        "uid-refuses-eleven-on-thumbnail": _reject_length(11),
        "uid-percent-encoding-refused": _reject(lambda request, _: "%" in request.path_params["uid"]),
    }
)


@replaces("identifiers.from_path", "uid-number-loses-leading-zero")
def _(_service: Service, faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
    text: str = faithful(request, name)
    saving = request.scope["operation_id"] == "saveDraft"
    return str(int(text)) if saving and text.isdigit() else text


class _AnyCase(Records):
    """Finds a draft under a uid that differs only in letter case."""

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        exact = super().version(realm, identifier, state)
        if exact is not None or state != DRAFT:
            return exact
        like = select(VERSIONS.c.identifier).where(
            VERSIONS.c.realm == realm,
            VERSIONS.c.state == state,
            func.lower(VERSIONS.c.identifier) == identifier.lower(),
        )
        other = self.connection.execute(like).scalars().first()
        return None if other is None else super().version(realm, other, state)


@defect("uid-letter-case-ignored")
def _(service: Service) -> None:
    service.storage.records = _AnyCase


@answers("uid-letter-case-ignored-on-exists")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    try:
        return await faithful(request)
    except Refusal:
        uid, realm = service.identifiers.from_path(request), service.realms.of_documents(request)
        with service.storage.transaction() as records:
            if _AnyCase(records.connection).version(realm.name, uid, DRAFT) is None:
                raise
        return Response(media_type="application/json")


class _DeletesAnyCase(Records):
    """Removes the drafts of all uids that differ only in letter case."""

    def remove_draft(self, realm: str, identifier: str) -> None:
        same: Any = func.lower(VERSIONS.c.identifier) == identifier.lower()
        here = (VERSIONS.c.realm == realm, VERSIONS.c.state == DRAFT, same)
        self.connection.execute(delete(VERSIONS).where(*here))


@defect("uid-letter-case-ignored-on-delete")
def _(service: Service) -> None:
    service.storage.records = _DeletesAnyCase


@alteration_at
def _any_case_of_files(service: Service, operations: Operations) -> None:
    """Take a uid for that of a document with attachments that differs only in letter case."""

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        uid: str = faithful(request, name)
        if request.scope["operation_id"] not in operations:
            return uid
        like = select(ATTACHMENTS.c.identifier).where(func.lower(ATTACHMENTS.c.identifier) == uid.lower())
        with service.storage.transaction() as records:
            uids = records.connection.execute(like).scalars().all()
        return uid if uid in uids else next(iter(uids), uid)

    alter(service.identifiers, "from_path", from_path)


defects(
    {
        f"uid-letter-case-ignored-on-{where}": _any_case_of_files()
        for where in ("attachment-exists", "attachment-list")
    }
)

_MISREAD = {"backslash": "\\", "closing-bracket": "]", "caret": "^"}
_FORBIDDEN = {
    "exclamation-mark": "!",
    "space": " ",
    "dot": ".",
    "tilde": "~",
    "plus": "+",
    "encoded-slash": "/",
    "percent-sign": "%",
    "at-sign": "@",
    "colon": ":",
    "dollar": "$",
    "apostrophe": "'",
    "null-character": "\0",
}


def _with(character: str) -> Change:
    def test(text: str) -> bool:
        rest = text.replace(character, "")
        return rest != text and 11 <= len(text) <= 128 and _SHAPE.fullmatch(rest) is not None

    return _accept(test)


def _wide(allowed: Test) -> Change:
    def test(text: str) -> bool:
        other = [letter for letter in text if not letter.isascii()]
        rest = "".join(letter for letter in text if letter.isascii())
        fits = 11 <= len(text) <= 128 and _SHAPE.fullmatch(rest) is not None
        return bool(other) and fits and all(map(allowed, other))

    return _accept(test)


def _before_line_break(text: str, *breaks: str) -> str | None:
    """Return what stands before a line break at the end, where that is a uid."""
    bodies = (text.removesuffix(ending) for ending in breaks if text.endswith(ending))
    return next((body for body in bodies if _shaped(body)), None)


def _of_length(*lengths: int) -> Test:
    return lambda text: _shaped(text, lengths)


_SAVE = ["saveDraft"]
defects({f"uid-accepts-{name}": _with(character) for name, character in {**_FORBIDDEN, **_MISREAD}.items()})
defects(
    {
        "uid-accepts-accented-letters": _wide(str.isalpha),
        "uid-accepts-digits-of-other-scripts": _wide(str.isdecimal),
        "uid-decoded-twice": _accept_as(decoded_segment),
        "uid-space-stripped-on-attachment-list": _accept_as(
            lambda text: text.replace(" ", ""), ["listAttachments"]
        ),
        "uid-forbidden-character-stripped": _accept_as(lambda text: text.replace("!", ""), _SAVE),
        "uid-folded-to-ascii": _accept_as(partial(unicodedata.normalize, "NFKC"), _SAVE),
        "uid-trailing-newline": _accept(lambda text: _before_line_break(text, "\n") is not None),
        "uid-trailing-newline-stripped": _admit(lambda text: _before_line_break(text, "\r\n", "\n")),
        "uid-accepts-ten": _accept(_of_length(10)),
        "uid-accepts-ten-in-bch": _accept(_of_length(10), DRAFTS, realm="bch-dev"),
        "uid-accepts-any-length-below": _accept(_of_length(*range(1, 9))),
        "uid-accepts-129": _accept(_of_length(129)),
        "uid-accepts-any-length-above": _accept(
            lambda text: len(text) >= 200 and _SHAPE.fullmatch(text) is not None
        ),
        "uid-cut-to-128": _admit(
            lambda text: text[:128] if len(text) > 128 and _SHAPE.fullmatch(text) else None, _SAVE
        ),
    }
)


def _with_sign(request: Request) -> bool:
    """Tell whether the uid would be one, were it not for ASCII signs that no other clause speaks of."""
    text = _text(request)
    signs = {letter for letter in text if not _SHAPE.fullmatch(letter)}
    apart = signs.isdisjoint({*_MISREAD.values(), "\r", "\n"})
    return bool(signs) and apart and text.isascii() and 11 <= len(text) <= 128


def _no_uid(request: Request) -> bool:
    return not _shaped(_text(request))


def _answering(when: When) -> Change:
    """Return the change that answers success for some uids that are none, without doing anything."""
    return forgive({"identifier": "unknown"}, when=when)


def _answering_length(length: int) -> Change:
    return _answering(lambda request: _shaped(_text(request), [length]))


_SIGN_ANSWERED = (*READING_DRAFTS, "updateContact", *ATTACHING, *READING_ATTACHMENTS)
_LENGTH_ANSWERED = (
    *("get", "info", "exists", "contact-update", "attachment-exists"),
    *("download", "thumbnail", "attaching", "persisting"),
)
defects({f"uid-sign-answered-on-{kebab(operation)}": _answering(_with_sign) for operation in _SIGN_ANSWERED})
defects(
    {
        f"uid-{length}-answered-on-{where}": _answering_length(length)
        for length in (10, 129)
        for where in _LENGTH_ANSWERED
    }
)
defects(
    {
        "uid-rule-not-for-delete": forgive(None, 204, when=_no_uid),
        "uid-rule-not-for-attachment-list": forgive([], when=_no_uid),
    }
)


def _stored_though_refused(length: int) -> Change:
    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        uid = _text(request)
        if _shaped(uid, [length]):
            _store(service, request, uid)
        return await faithful(request)

    return answered(answer)


def _store(service: Service, request: Request, uid: str) -> None:
    caller, realm = service.identity.require(request), service.realms.of_documents(request)
    version = new_version(
        realm=realm.name,
        identifier=uid,
        state=DRAFT,
        schema=service.realms.schema(request, realm).name,
        owner=caller.name,
        content="{}",
        moment=service.clock.now(),
    )
    with service.storage.transaction() as records:
        records.store(version)


defects({f"uid-{length}-refused-yet-listed": _stored_though_refused(length) for length in (10, 129)})
