"""Defects of the identifier rule that let in what it shuts out."""

import re
import unicodedata
from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, alter, around, forgive
from contracts.sandbox.defects.groups import ATTACHING, DRAFTS, READING_ATTACHMENTS
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.identifiers import decoded_segment
from contracts.sandbox.query import header_value
from contracts.sandbox.records import DRAFT, new_version
from contracts.sandbox.service import Service

_WITH_UID = (*DRAFTS, *ATTACHING, "listAttachments", *READING_ATTACHMENTS)
_SHAPE = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
Read = Callable[[str], str | None]


def admit(
    service: Service, read: Read, operations: Iterable[str] = _WITH_UID, realm: str | None = None
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


def _as_it_is(test: Callable[[str], bool]) -> Read:
    return lambda text: text if test(text) else None


def _of_length(*lengths: int) -> Callable[[str], bool]:
    return lambda text: len(text) in lengths and _SHAPE.fullmatch(text) is not None


@defect("uid-accepts-ten", clause="uid-too-short", operations=_WITH_UID)
def _(service: Service) -> None:
    """A uid of ten characters is accepted."""
    admit(service, _as_it_is(_of_length(10)))


@defect("uid-accepts-one", clause="uid-too-short", operations=_WITH_UID)
def _(service: Service) -> None:
    """A uid of a single character is accepted, one of two to ten is not."""
    admit(service, _as_it_is(_of_length(1)))


@defect("uid-accepts-ten-in-bch", clause="uid-too-short", operations=DRAFTS, realms=["bch-dev"])
def _(service: Service) -> None:
    """A uid of ten characters is accepted for the drafts of bch-dev."""
    admit(service, _as_it_is(_of_length(10)), DRAFTS, realm="bch-dev")


@defect("uid-accepts-129", clause="uid-too-long", operations=_WITH_UID)
def _(service: Service) -> None:
    """A uid of 129 characters is accepted."""
    admit(service, _as_it_is(_of_length(129)))


@defect("uid-accepts-any-length-above", clause="uid-too-long", operations=_WITH_UID)
def _(service: Service) -> None:
    """A uid of 200 or more characters is accepted, one of 129 to 199 is not."""
    admit(service, _as_it_is(lambda text: len(text) >= 200 and _SHAPE.fullmatch(text) is not None))


@defect("uid-cut-to-128", clause="uid-too-long", operations=["saveDraft"])
def _(service: Service) -> None:
    """A draft saved under more than 128 characters is stored under the first 128."""
    cut: Read = lambda text: text[:128] if len(text) > 128 and _SHAPE.fullmatch(text) else None  # noqa: E731
    admit(service, cut, ["saveDraft"])


def _answering(operation: str, length: int) -> Callable[[Service], None]:
    """Return the change that answers success for a uid of a wrong length, without doing anything."""

    def meant(request: Request) -> bool:
        text = decoded_segment(request.path_params["uid"]) or ""
        return len(text) == length and _SHAPE.fullmatch(text) is not None

    return lambda service: forgive(service, [operation], {"identifier": "unknown"}, when=meant)


for _operation, _name in (
    ("getDraft", "get"),
    ("draftExists", "exists"),
    ("updateContact", "contact-update"),
    ("attachmentExists", "attachment-exists"),
    ("getAttachment", "download"),
    ("createAttachment", "attaching"),
):
    for _length, _clause in ((10, "uid-too-short"), (129, "uid-too-long")):
        defect(
            f"uid-{_length}-answered-on-{_name}",
            clause=_clause,
            operations=[_operation],
            sentence=f"{_operation} answers success for a uid of {_length} characters.",
        )(_answering(_operation, _length))


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
        return character in text and 11 <= len(text) <= 128 and _SHAPE.fullmatch(rest) is not None

    return _as_it_is(test)


def _lets_in(character: str) -> Callable[[Service], None]:
    return lambda service: admit(service, _with(character))


for _name, _character in _CHARACTERS.items():
    defect(
        f"uid-accepts-{_name}",
        clause="uid-forbidden-characters",
        operations=_WITH_UID,
        sentence=f"A uid may hold the character U+{ord(_character):04X} ({_name.replace('-', ' ')}).",
    )(_lets_in(_character))

for _name, _character in _MISREAD.items():
    defect(
        f"uid-accepts-{_name}",
        clause="uid-misread-range",
        operations=_WITH_UID,
        sentence=f"A uid may hold a {_name.replace('-', ' ')}, as the pattern says when it is read literally.",
    )(_lets_in(_character))


@defect("uid-decoded-twice", clause="uid-forbidden-characters", operations=_WITH_UID)
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


@defect("uid-accepts-accented-letters", clause="uid-non-ascii", operations=_WITH_UID)
def _(service: Service) -> None:
    """Letters of every script are allowed in a uid."""
    admit(service, _as_it_is(lambda text: _wide(text, str.isalpha)))


@defect("uid-accepts-digits-of-other-scripts", clause="uid-non-ascii", operations=_WITH_UID)
def _(service: Service) -> None:
    """Digits of every script are allowed in a uid, full-width ones included."""
    admit(service, _as_it_is(lambda text: _wide(text, str.isdecimal)))


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
    fits = 11 <= len(text) <= 128 and _SHAPE.fullmatch(rest) is not None
    return bool(other) and fits and all(map(allowed, other))


def _line_break(kept: bool, *breaks: str) -> Read:
    def read(text: str) -> str | None:
        for ending in breaks:
            body = text.removesuffix(ending)
            if text.endswith(ending) and 11 <= len(body) <= 128 and _SHAPE.fullmatch(body):
                return text if kept else body
        return None

    return read


@defect("uid-trailing-newline", clause="uid-trailing-newline", operations=_WITH_UID)
def _(service: Service) -> None:
    """A line break after a uid passes the rule, as $ lets it in many engines, and belongs to the name."""
    admit(service, _line_break(True, "\n"))


@defect("uid-trailing-newline-stripped", clause="uid-trailing-newline", operations=_WITH_UID)
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
