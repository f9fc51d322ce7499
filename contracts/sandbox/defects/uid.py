"""Defects of the identifier rule: what it lets in, what it shuts out, and identifiers that are mixed up."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import delete, func, select
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.database import DRAFT, VERSIONS, Records, Version, new_version
from contracts.sandbox.defects.declaration import (
    ATTACHING,
    DRAFTS,
    READING_ATTACHMENTS,
    READING_DRAFTS,
    Handler,
    alter,
    answers,
    around,
    defect,
    forgive,
    kebab,
    replaces,
)
from contracts.sandbox.http_requests import Refusal, bad_request, decoded_segment, header_value
from contracts.sandbox.service import Service

WITH_UID = (*DRAFTS, *ATTACHING, "listAttachments", *READING_ATTACHMENTS)
SHOWN = ("saveDraft", "getDraft", "draftExists")
"""Operations on which a uid that was let in shows at once: a draft can be saved, read and checked."""

SHAPE = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
Read = Callable[[str], str | None]


def admit(
    service: Service, read: Read, operations: Iterable[str] = WITH_UID, realm: str | None = None
) -> None:
    """Let the paths of some operations name what ``read`` makes of a text; ``None`` leaves it to the rule."""
    meant = frozenset(operations)

    def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
        text = decoded_segment(request.path_params[name])
        if text is not None and request.scope["operation_id"] in meant and name == "uid":
            found = read(text)
            if found is not None and realm in {None, header_value(request, "realm")}:
                return found
        return faithful(request, name)

    alter(service.identifiers, "from_path", from_path)


def as_it_is(test: Callable[[str], bool]) -> Read:
    """Return the reading of a text as itself, where it passes a test."""
    return lambda text: text if test(text) else None


def refused_when(test: Callable[[str], bool], operations: Iterable[str]) -> Callable[[Service], None]:
    """Return the change that also refuses the uids for which ``test`` holds, in the paths of operations."""
    meant = frozenset(operations)

    def change(service: Service) -> None:
        def from_path(faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
            text: str = faithful(request, name)
            if request.scope["operation_id"] in meant and test(text):
                raise _no_uid()
            return text

        alter(service.identifiers, "from_path", from_path)

    return change


def _no_uid() -> Refusal:
    return bad_request("uid must be letters, digits, hyphen and underscore, 11 to 128 characters")


_SHOWN = ("saveDraft", "getDraft", "draftExists")
_MARKS = (*_SHOWN, "deleteDraft")


def _last(uid: str, sign: str) -> bool:
    return uid.endswith(sign) and re.search("[A-Za-z0-9]", uid) is not None


def _within(uid: str, sign: str) -> bool:
    return sign in uid and re.search("[A-Za-z0-9]", uid) is not None


def _of(length: int) -> Callable[[str], bool]:
    return lambda uid: len(uid) == length


def _refuses(
    name: str, clause: str, which: str, test: Callable[[str], bool], operations: tuple[str, ...] = _MARKS
) -> None:
    change = refused_when(test, operations)
    sentence = f"A uid {which} is refused."
    defect(f"uid-refuses-{name}", clause=f"uid-{clause}", operations=operations, sentence=sentence)(change)


for _word, _length, _clause in (
    ("eleven", 11, "shortest"),
    ("twelve", 12, "shortest"),
    ("128", 128, "longest"),
    ("127", 127, "longest"),
):
    _refuses(_word, _clause, f"of exactly {_length} characters", _of(_length), DRAFTS)
for _word, _length, _clause, _operation, _where in (
    ("eleven-on-delete", 11, "shortest", "deleteDraft", "deleting"),
    ("128-on-exists", 128, "longest", "draftExists", "the exists check"),
    ("128-on-info", 128, "longest", "getDraftInfo", "asking for the info"),
):
    _which = f"of exactly {_length} characters, on {_where} alone,"
    _refuses(_word, _clause, _which, _of(_length), (_operation,))
_refuses("last-hyphen", "hyphen", "that ends with a hyphen", lambda uid: _last(uid, "-"))
_refuses("two-hyphens", "hyphen", "with two hyphens side by side", lambda uid: _within(uid, "--"))
_refuses("underscore", "underscore", "with an underscore", lambda uid: _within(uid, "_"))
_refuses("last-underscore", "underscore", "that ends with an underscore", lambda uid: _last(uid, "_"))
_refuses("digits-only", "digits-only", "made of digits alone", str.isdigit)
_refuses("hyphens-only", "hyphens-only", "made of hyphens alone", lambda uid: set(uid) == {"-"})
_refuses(
    "underscores-only",
    "hyphens-only",
    "without any letter or digit, made of hyphens and underscores,",
    lambda uid: set(uid) <= {"-", "_"} and "_" in uid,
)


@replaces(
    "identifiers.from_path",
    "uid-number-loses-leading-zero",
    clause="uid-digits-only",
    operations=["saveDraft"],
)
def _(_service: Service, faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
    """A draft saved under digits alone is stored under them as a number, without leading zeros."""
    text: str = faithful(request, name)
    saving = request.scope["operation_id"] == "saveDraft"
    return str(int(text)) if saving and text.isdigit() else text


class _AnyCase(Records):
    """Finds a draft under a uid that differs only in letter case."""

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        found = super().version(realm, identifier, state)
        if found is not None or state != DRAFT:
            return found
        like = select(VERSIONS.c.identifier).where(
            VERSIONS.c.realm == realm,
            VERSIONS.c.state == state,
            func.lower(VERSIONS.c.identifier) == identifier.lower(),
        )
        other = self.connection.execute(like).scalars().first()
        return None if other is None else super().version(realm, other, state)


@defect("uid-letter-case-ignored", clause="uid-case-sensitive", operations=_MARKS)
def _(service: Service) -> None:
    """A draft is found, and written over, under a uid that differs only in letter case."""
    service.storage.records = _AnyCase


@answers("uid-letter-case-ignored-on-exists", clause="uid-case-sensitive", operations=["draftExists"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The exists check alone finds a draft under a uid that differs only in letter case."""
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


@defect("uid-letter-case-ignored-on-delete", clause="uid-case-sensitive", operations=["deleteDraft"])
def _(service: Service) -> None:
    """Deleting a draft takes along the draft whose uid differs only in letter case."""
    service.storage.records = _DeletesAnyCase


@replaces(
    "identifiers.from_path", "uid-percent-encoding-refused", clause="uid-percent-encoding", operations=_SHOWN
)
def _(_service: Service, faithful: Callable[..., str], request: Request, name: str = "uid") -> str:
    """An allowed character written percent-encoded in the path is refused."""
    text: str = faithful(request, name)
    if "%" in request.path_params[name] and request.scope["operation_id"] in _SHOWN:
        raise _no_uid()
    return text


_CHARACTERS = {
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
_MISREAD = {"backslash": "\\", "closing-bracket": "]", "caret": "^"}


def _with(character: str) -> Read:
    def test(text: str) -> bool:
        rest = text.replace(character, "")
        return character in text and 11 <= len(text) <= 128 and SHAPE.fullmatch(rest) is not None

    return as_it_is(test)


def _lets_in(character: str) -> Callable[[Service], None]:
    return lambda service: admit(service, _with(character))


for _name, _character in _CHARACTERS.items():
    defect(
        f"uid-accepts-{_name}",
        clause="uid-forbidden-characters",
        operations=SHOWN,
        sentence=f"A uid may hold the character U+{ord(_character):04X} ({_name.replace('-', ' ')}).",
    )(_lets_in(_character))

for _name, _character in _MISREAD.items():
    defect(
        f"uid-accepts-{_name}",
        clause="uid-misread-range",
        operations=SHOWN,
        sentence=f"A uid may hold a {_name.replace('-', ' ')}, as the pattern says when it is read literally.",
    )(_lets_in(_character))


@defect("uid-decoded-twice", clause="uid-forbidden-characters", operations=SHOWN)
def _(service: Service) -> None:
    """The path is decoded twice, so that %2541 names the letter A."""

    def twice(text: str) -> str | None:
        again = decoded_segment(text)
        return again if again not in {None, text} and service.identifiers.holds(again or "") else None

    admit(service, twice)


@defect("uid-forbidden-character-stripped", clause="uid-forbidden-characters", operations=["saveDraft"])
def _(service: Service) -> None:
    """An exclamation mark in the uid of a saved draft is dropped instead of refused."""

    def stripped(text: str) -> str | None:
        rest = text.replace("!", "")
        return rest if rest != text and service.identifiers.holds(rest) else None

    admit(service, stripped, ["saveDraft"])


def _with_sign(request: Request) -> bool:
    """Tell whether the uid would be one, were it not for ASCII signs that no other clause speaks of."""
    text = decoded_segment(request.path_params["uid"]) or ""
    rest = "".join(letter for letter in text if SHAPE.fullmatch(letter))
    signs = set(text) - set(rest)
    apart = signs.isdisjoint({*_MISREAD.values(), "\r", "\n"})
    return bool(signs) and apart and text.isascii() and 11 <= len(text) <= 128


def _answering(operation: str) -> Callable[[Service], None]:
    return lambda service: forgive(service, [operation], {"identifier": "unknown"}, when=_with_sign)


for _operation in (*READING_DRAFTS, "updateContact", *ATTACHING, *READING_ATTACHMENTS):
    defect(
        f"uid-sign-answered-on-{kebab(_operation)}",
        clause="uid-forbidden-characters",
        operations=[_operation],
        sentence=f"{_operation} answers success for a uid that holds a sign of ASCII it must not.",
    )(_answering(_operation))


@defect("uid-accepts-accented-letters", clause="uid-non-ascii", operations=SHOWN)
def _(service: Service) -> None:
    """Letters of every script are allowed in a uid."""
    admit(service, as_it_is(lambda text: _wide(text, str.isalpha)))


@defect("uid-accepts-digits-of-other-scripts", clause="uid-non-ascii", operations=SHOWN)
def _(service: Service) -> None:
    """Digits of every script are allowed in a uid, full-width ones included."""
    admit(service, as_it_is(lambda text: _wide(text, str.isdecimal)))


@defect("uid-folded-to-ascii", clause="uid-non-ascii", operations=["saveDraft"])
def _(service: Service) -> None:
    """A draft saved under full-width letters or digits is stored under the plain ones."""

    def folded(text: str) -> str | None:
        plain = unicodedata.normalize("NFKC", text)
        return plain if plain != text and service.identifiers.holds(plain) else None

    admit(service, folded, ["saveDraft"])


def _wide(text: str, allowed: Callable[[str], bool]) -> bool:
    other = [letter for letter in text if not letter.isascii()]
    rest = "".join(letter for letter in text if letter.isascii())
    fits = 11 <= len(text) <= 128 and SHAPE.fullmatch(rest) is not None
    return bool(other) and fits and all(map(allowed, other))


def _line_break(kept: bool, *breaks: str) -> Read:
    def read(text: str) -> str | None:
        for ending in breaks:
            body = text.removesuffix(ending)
            if text.endswith(ending) and 11 <= len(body) <= 128 and SHAPE.fullmatch(body):
                return text if kept else body
        return None

    return read


@defect("uid-trailing-newline", clause="uid-trailing-newline", operations=SHOWN)
def _(service: Service) -> None:
    """A line break after a uid passes the rule, as $ lets it in many engines, and belongs to the name."""
    admit(service, _line_break(True, "\n"))


@defect("uid-trailing-newline-stripped", clause="uid-trailing-newline", operations=SHOWN)
def _(service: Service) -> None:
    """A line break after a uid is stripped, so that it names the document before the break."""
    admit(service, _line_break(False, "\r\n", "\n"))


def _no_rule(request: Request) -> bool:
    text = decoded_segment(request.path_params["uid"])
    return text is None or re.fullmatch(r"[A-Za-z0-9_-]{11,128}", text, re.ASCII) is None


@defect("uid-rule-not-for-delete", clause="uid-rule-without-effect", operations=["deleteDraft"])
def _(service: Service) -> None:
    """Deleting under a text that is no uid succeeds, with nothing to delete."""
    forgive(service, ["deleteDraft"], None, 204, when=_no_rule)


@defect("uid-rule-not-for-attachment-list", clause="uid-rule-without-effect", operations=["listAttachments"])
def _(service: Service) -> None:
    """Listing the attachments under a text that is no uid gives an empty list."""
    forgive(service, ["listAttachments"], [], when=_no_rule)


def _of_length(*lengths: int) -> Callable[[str], bool]:
    return lambda text: len(text) in lengths and SHAPE.fullmatch(text) is not None


@defect("uid-accepts-ten", clause="uid-too-short", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of ten characters is accepted."""
    admit(service, as_it_is(_of_length(10)))


@defect("uid-accepts-any-length-below", clause="uid-too-short", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of one to eight characters is accepted, one of nine or ten is not."""
    admit(service, as_it_is(_of_length(*range(1, 9))))


@defect("uid-accepts-ten-in-bch", clause="uid-too-short", operations=SHOWN, realms=["bch-dev"])
def _(service: Service) -> None:
    """A uid of ten characters is accepted for the drafts of bch-dev."""
    admit(service, as_it_is(_of_length(10)), DRAFTS, realm="bch-dev")


@defect("uid-accepts-129", clause="uid-too-long", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of 129 characters is accepted."""
    admit(service, as_it_is(_of_length(129)))


@defect("uid-accepts-any-length-above", clause="uid-too-long", operations=SHOWN)
def _(service: Service) -> None:
    """A uid of 200 or more characters is accepted, one of 129 to 199 is not."""
    admit(service, as_it_is(lambda text: len(text) >= 200 and SHAPE.fullmatch(text) is not None))


@defect("uid-cut-to-128", clause="uid-too-long", operations=["saveDraft"])
def _(service: Service) -> None:
    """A draft saved under more than 128 characters is stored under the first 128."""
    cut: Read = lambda text: text[:128] if len(text) > 128 and SHAPE.fullmatch(text) else None  # noqa: E731
    admit(service, cut, ["saveDraft"])


def _answering_length(operation: str, length: int) -> Callable[[Service], None]:
    """Return the change that answers success for a uid of a wrong length, without doing anything."""

    def meant(request: Request) -> bool:
        text = decoded_segment(request.path_params["uid"]) or ""
        return len(text) == length and SHAPE.fullmatch(text) is not None

    return lambda service: forgive(service, [operation], {"identifier": "unknown"}, when=meant)


for _operation, _name in (
    ("getDraft", "get"),
    ("getDraftInfo", "info"),
    ("draftExists", "exists"),
    ("updateContact", "contact-update"),
    ("attachmentExists", "attachment-exists"),
    ("getAttachment", "download"),
    ("getAttachmentThumbnail", "thumbnail"),
    ("createAttachment", "attaching"),
    ("persistTemporaryFile", "persisting"),
):
    for _length, _clause in ((10, "uid-too-short"), (129, "uid-too-long")):
        defect(
            f"uid-{_length}-answered-on-{_name}",
            clause=_clause,
            operations=[_operation],
            sentence=f"{_operation} answers success for a uid of {_length} characters.",
        )(_answering_length(_operation, _length))


def _stored_though_refused(meant: Callable[[str], bool]) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            uid = decoded_segment(request.path_params["uid"]) or ""
            if meant(uid):
                _store(service, request, uid)
            return await faithful(request)

        around(service, ["saveDraft"], answer)

    return change


def _store(service: Service, request: Request, uid: str) -> None:
    caller, realm = service.identity.require(request), service.realms.of_documents(request)
    moment = service.clock.now()
    schema = service.realms.schema(request, realm).name
    with service.storage.transaction() as records:
        records.store(
            new_version(
                realm=realm.name,
                identifier=uid,
                state=DRAFT,
                schema=schema,
                owner=caller.name,
                content="{}",
                moment=moment,
            )
        )


for _length, _clause in ((10, "uid-too-short"), (129, "uid-too-long")):
    defect(
        f"uid-{_length}-refused-yet-listed",
        clause=_clause,
        operations=["saveDraft"],
        sentence=f"Saving under {_length} characters is refused, yet the draft is stored and listed.",
    )(_stored_though_refused(_of_length(_length)))
