"""Defects of saving, reading and deleting drafts."""

import json
import unicodedata
from collections.abc import Callable
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.database import ATTACHMENTS, DRAFT, LOCKS, VERSIONS, Records, Version
from contracts.sandbox.defects.declaration import (
    Change,
    Every,
    Handler,
    When,
    alter,
    always,
    answers,
    around,
    defect,
    edit,
    in_realm,
    refuse,
)
from contracts.sandbox.http_requests import bad_request, not_found
from contracts.sandbox.service import Service

_GET = ["getDraft"]


def _every_value(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value with each value in it changed, innermost first."""
    if isinstance(value, dict):
        return change({name: _every_value(each, change) for name, each in value.items()})
    if isinstance(value, list):
        return change([_every_value(each, change) for each in value])
    return change(value)


def _shown(change: Callable[[Any], Any]) -> Change:
    return lambda service: edit(service, _GET, change)


def _texts(change: Callable[[str], str]) -> Change:
    def each(value: Any) -> Any:
        return change(value) if isinstance(value, str) else value

    return _shown(lambda body: _every_value(body, each))


def _members(kept: Callable[[Any], bool]) -> Change:
    def each(value: Any) -> Any:
        return (
            {name: item for name, item in value.items() if kept(item)} if isinstance(value, dict) else value
        )

    return _shown(lambda body: _every_value(body, each))


def _items(change: Callable[[list[Any]], list[Any]]) -> Change:
    return _shown(
        lambda body: _every_value(body, lambda each: change(each) if isinstance(each, list) else each)
    )


def _numbers(change: Callable[[int | float], Any]) -> Change:
    def each(value: Any) -> Any:
        return change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    return _shown(lambda body: _every_value(body, each))


def _flat(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: {} if isinstance(inner, dict) else inner for name, inner in value.items()}


_CONTENT: dict[str, tuple[str, Change]] = {
    "draft-content-empty": ("Reading a draft gives an empty object.", _shown(lambda _: {})),
    "draft-content-without-nested-objects": (
        "Reading a draft gives its top-level members, with objects inside objects left empty.",
        _shown(lambda body: {name: _flat(value) for name, value in body.items()}),
    ),
    "draft-content-without-20th-member": (
        "Reading a draft with more than twenty members leaves out the twentieth.",
        _shown(lambda body: {name: body[name] for place, name in enumerate(body) if place != 19}),
    ),
    "draft-content-without-last-item": (
        "Arrays of more than one item lose the last one.",
        _items(lambda items: items[:-1] if len(items) > 1 else items),
    ),
    "draft-content-arrays-sorted": (
        "Arrays of texts come back sorted.",
        _items(lambda items: sorted(items) if all(isinstance(each, str) for each in items) else items),
    ),
    "draft-content-integers-as-text": ("Integers come back as texts.", _numbers(str)),
    "draft-content-fractions-cut": ("Numbers lose their fractions.", _numbers(int)),
    "draft-content-false-dropped": (
        "Members whose value is false are left out.",
        _members(lambda value: value is not False),
    ),
    "draft-content-zero-dropped": (
        "Members whose value is the number zero are left out.",
        _members(lambda value: isinstance(value, bool) or value != 0 or isinstance(value, str)),
    ),
    "draft-content-texts-cut": (
        "Texts of more than 255 characters are cut.",
        _texts(lambda text: text[:255]),
    ),
}
for _name, (_sentence, _change) in _CONTENT.items():
    defect(_name, clause="draft-get-content", operations=_GET, sentence=_sentence)(_change)


@defect("draft-content-lost-when-large", clause="draft-get-content", operations=_GET)
def _(service: Service) -> None:
    """Reading a draft above 64 KiB gives its first member alone."""

    def change(body: dict[str, Any]) -> dict[str, Any]:
        large = len(json.dumps(body, ensure_ascii=False)) > 64 * 1024
        return dict([*body.items()][:1]) if large else body

    edit(service, _GET, change)


def _mangled(text: str) -> str:
    return text.encode("utf-8").decode("latin-1")


_TEXTS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "draft-text-mangled": ("draft-text-kept", "is read as Latin-1 when it is UTF-8", _mangled),
    "draft-text-question-marks": (
        "draft-text-kept",
        "has a question mark for each character beyond ASCII",
        lambda text: text.encode("ascii", "replace").decode(),
    ),
    "draft-text-beyond-basic-plane-lost": (
        "draft-text-kept",
        "loses the characters beyond the basic plane",
        lambda text: "".join(letter for letter in text if ord(letter) < 0x10000),
    ),
    "draft-text-latin-only": (
        "draft-text-kept",
        "loses the characters that are not in Latin-1",
        lambda text: "".join(letter for letter in text if ord(letter) < 0x100),
    ),
    "draft-text-composed": (
        "draft-text-exact",
        "has accents in the composed form",
        lambda text: unicodedata.normalize("NFC", text),
    ),
    "draft-text-trimmed": ("draft-text-exact", "loses white space at its ends", str.strip),
    "draft-text-line-ends": (
        "draft-text-exact",
        "has a line feed for each carriage return and line feed",
        lambda text: text.replace("\r\n", "\n"),
    ),
    "draft-text-escaped": (
        "draft-text-exact",
        "has its angle brackets escaped as in HTML",
        lambda text: text.replace("<", "&lt;").replace(">", "&gt;"),
    ),
    "draft-text-without-control-characters": (
        "draft-text-exact",
        "loses control characters other than line breaks and tabs",
        lambda text: "".join(each for each in text if each >= " " or each in "\r\n\t"),
    ),
}
for _name, (_clause, _what, _change_text) in _TEXTS.items():
    defect(_name, clause=_clause, operations=_GET, sentence=f"Text in a draft that is read {_what}.")(
        _texts(_change_text)
    )


_DELETE = ["deleteDraft"]


def _kept(when: When) -> Change:
    """Return the change that answers a delete with success and keeps the draft."""

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            service.identity.require(request)
            place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
            with service.storage.transaction() as records:
                before = records.version(*place, DRAFT)
            response = await faithful(request)
            if before is not None and when(request):
                with service.storage.transaction() as records:
                    records.store(before)
            return response

        around(service, _DELETE, answer)

    return change


for _name, _when, _realms, _sentence in (
    ("draft-delete-kept", always, (), "A deleted draft stays, although deleting it succeeds."),
    (
        "draft-delete-kept-in-chm",
        in_realm("chm-dev"),
        ("chm-dev",),
        "In chm-dev a deleted draft stays, although deleting it succeeds.",
    ),
):
    defect(_name, clause="draft-delete-removes", operations=_DELETE, realms=_realms, sentence=_sentence)(
        _kept(_when)
    )


@defect("draft-delete-kept-one-in-twenty", clause="draft-delete-removes", operations=_DELETE)
def _(service: Service) -> None:
    """Every twentieth deleted draft stays, although deleting it succeeds."""
    _kept(Every(20))(service)


@defect("draft-deleted-still-exists", clause="draft-delete-removes", operations=["draftExists"])
def _(service: Service) -> None:
    """The exists check still finds a draft after it was deleted; nothing else does."""
    gone = _remembering(service)

    async def answer(faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        uid = service.identifiers.from_path(request)
        if (service.realms.of_documents(request).name, uid) in gone:
            return Response(media_type="application/json")
        return await faithful(request)

    around(service, ["draftExists"], answer)


@defect("draft-deleted-still-read", clause="draft-delete-content-gone", operations=["getDraft"])
def _(service: Service) -> None:
    """Reading a draft still gives its content after it was deleted; nothing else finds it."""
    gone = _remembering(service)

    async def answer(faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
        return service.answers.content(gone[place]) if place in gone else await faithful(request)

    around(service, ["getDraft"], answer)


@defect("draft-deleted-still-read-within", clause="draft-delete-content-gone", operations=["getDraft"])
def _(service: Service) -> None:
    """Reading a deleted draft is refused with 404, and the body of the refusal holds its content."""
    gone = _remembering(service)

    async def answer(faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
        if place not in gone:
            return await faithful(request)
        return JSONResponse({"message": "the draft was deleted", "last": gone[place]}, 404)

    around(service, ["getDraft"], answer)


def _remembering(service: Service) -> dict[tuple[str, str], str]:
    """Return what was deleted and not saved again, by realm and uid; it fills as requests come."""
    gone: dict[tuple[str, str], str] = {}

    class Remembering(Records):
        """Remembers what it removes."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            before = self.version(realm, identifier, DRAFT)
            if before is not None:
                gone[realm, identifier] = before.content
            super().remove_draft(realm, identifier)

        def store(self, version: Version) -> Version:
            gone.pop((version.realm, version.identifier), None)
            return super().store(version)

    service.storage.records = Remembering
    return gone


def _taking(service: Service, more: Callable[[Records, str, str], None]) -> None:
    """Remove more than the draft, whenever one is removed."""

    class Taking(Records):
        """Removes more than it is told to."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            super().remove_draft(realm, identifier)
            more(self, realm, identifier)

    service.storage.records = Taking


_OTHERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "draft-delete-takes-alike": (
        "Deleting a draft takes along those whose uid goes on after its own.",
        lambda uid: func.substr(VERSIONS.c.identifier, 1, len(uid)) == uid,
    ),
    "draft-delete-takes-latest": (
        "Deleting a draft takes along the draft that was saved last in the realm.",
        lambda uid: VERSIONS.c.identifier != uid,
    ),
}


def _one_more(test: Callable[[str], Any]) -> Change:
    def more(records: Records, realm: str, identifier: str) -> None:
        meant = select(VERSIONS.c.sequence).where(
            VERSIONS.c.realm == realm, VERSIONS.c.state == DRAFT, test(identifier)
        )
        latest = records.connection.execute(meant.order_by(VERSIONS.c.sequence.desc())).scalars().first()
        records.connection.execute(delete(VERSIONS).where(VERSIONS.c.sequence == latest))

    return lambda service: _taking(service, more)


for _name, (_sentence, _test) in _OTHERS.items():
    defect(_name, clause="draft-delete-spares-others", operations=_DELETE, sentence=_sentence)(
        _one_more(_test)
    )


@defect("draft-delete-takes-others", clause="draft-delete-spares-others", operations=_DELETE)
def _(service: Service) -> None:
    """Deleting a draft takes along all drafts of other accounts in the realm."""

    class Taking(Records):
        """Removes what is not the owner's, too."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            gone = self.version(realm, identifier, DRAFT)
            super().remove_draft(realm, identifier)
            if gone is not None:
                table = VERSIONS.c
                strange = (table.realm == realm, table.state == DRAFT, table.owner != gone.owner)
                self.connection.execute(delete(VERSIONS).where(*strange))

    service.storage.records = Taking


@defect("draft-delete-takes-published", clause="draft-delete-keeps-published", operations=_DELETE)
def _(service: Service) -> None:
    """Deleting a draft removes the published version of the document too."""

    def more(records: Records, realm: str, identifier: str) -> None:
        for table in (VERSIONS, LOCKS):
            here = (table.c.realm == realm, table.c.identifier == identifier)
            records.connection.execute(delete(table).where(*here))

    _taking(service, more)


_INFO = ["getDraftInfo"]
_EXISTS = ["draftExists"]


def _remembered(rare: Callable[[], bool]) -> Change:
    """Return the change that answers some reads of a draft as it was read before."""

    def change(service: Service) -> None:
        seen: dict[tuple[str, str], bytes] = {}

        async def answer(faithful: Handler, request: Request) -> Response:
            response = await faithful(request)
            place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
            before = seen.get(place, response.body)
            if before != response.body and rare():
                return Response(before, media_type="application/json")
            seen[place] = bytes(response.body)
            return response

        around(service, _GET, answer)

    return change


defect(
    "draft-read-from-cache",
    clause="draft-save-updates",
    operations=_GET,
    sentence="A draft that was read once is given as it was then, whatever is saved later.",
)(_remembered(lambda: True))


@defect("draft-read-stale-one-in-twenty", clause="draft-save-updates", operations=_GET)
def _(service: Service) -> None:
    """Every twentieth read of a draft gives the content it had when it was read for the first time."""
    first: dict[tuple[str, str], bytes] = {}
    rare = Every(20)

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
        before = first.setdefault(place, bytes(response.body))
        return Response(before, media_type="application/json") if rare() else response

    around(service, _GET, answer)


def _missed(operation: str, when: When = always) -> Change:
    return lambda service: refuse(service, [operation], not_found, when)


for _name, _clause, _operation, _when, _reading_realms, _sentence in (
    (
        "draft-never-exists",
        "draft-exists-present",
        "draftExists",
        always,
        (),
        "The exists check finds no draft.",
    ),
    (
        "draft-never-exists-in-bch",
        "draft-exists-present",
        "draftExists",
        in_realm("bch-dev"),
        ("bch-dev",),
        "In bch-dev the exists check finds no draft.",
    ),
    ("draft-info-not-found", "draft-info-present", "getDraftInfo", always, (), "No draft has any info."),
    (
        "draft-info-not-found-in-chm",
        "draft-info-present",
        "getDraftInfo",
        in_realm("chm-dev"),
        ("chm-dev",),
        "In chm-dev no draft has any info.",
    ),
):
    defect(_name, clause=_clause, operations=[_operation], realms=_reading_realms, sentence=_sentence)(
        _missed(_operation, _when)
    )

defect(
    "draft-exists-missed-one-in-twenty",
    clause="draft-exists-present",
    operations=_EXISTS,
    sentence="Every twentieth exists check finds no draft.",
)(lambda service: refuse(service, _EXISTS, not_found, Every(20)))


@defect("draft-always-exists", clause="draft-exists-absent", operations=_EXISTS)
def _(service: Service) -> None:
    """The exists check finds a draft under every uid nobody ever saved under."""
    _made_up(service, "draftExists", None)


@defect("draft-always-exists-in-bch", clause="draft-exists-absent", operations=_EXISTS, realms=["bch-dev"])
def _(service: Service) -> None:
    """In bch-dev the exists check finds a draft under every uid nobody ever saved under."""
    _made_up(service, "draftExists", None, in_realm("bch-dev"))


@defect("draft-get-absent-empty", clause="draft-get-absent", operations=_GET)
def _(service: Service) -> None:
    """Reading a draft that nobody ever saved gives an empty object."""
    _made_up(service, "getDraft", {})


@defect("draft-info-absent-empty", clause="draft-info-absent", operations=_INFO)
def _(service: Service) -> None:
    """Asking for the info of a draft that nobody ever saved gives an empty object."""
    _made_up(service, "getDraftInfo", {})


def _made_up(service: Service, operation: str, body: Any, when: When = always) -> None:
    """Answer with success for a uid that obeys the rule and of which no record ever was."""
    known: set[str] = set()

    def strange(request: Request) -> bool:
        uid = service.identifiers.from_path(request)
        realm = service.realms.of_documents(request).name
        with service.storage.transaction() as records:
            there = records.owner(realm, uid) is not None
        return not there and uid not in known and when(request)

    async def remember(faithful: Handler, request: Request) -> Response:
        known.add(service.identifiers.from_path(request))
        return await faithful(request)

    around(service, ["deleteDraft"], remember)

    async def answer(faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        if strange(request):
            return Response(media_type="application/json") if body is None else JSONResponse(body)
        return await faithful(request)

    around(service, [operation], answer)


for _name, _body, _sentence in (
    ("draft-info-empty", {}, "The info of a draft is an empty object."),
    ("draft-info-nothing", None, "The info of a draft comes as an answer without a body."),
):

    def _emptied(service: Service, body: Any = _body) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            await faithful(request)
            return Response(status_code=204) if body is None else JSONResponse(body)

        around(service, _INFO, answer)

    defect(_name, clause="draft-info-present", operations=_INFO, sentence=_sentence)(_emptied)


@defect("draft-info-without-uid", clause="draft-info-names-document", operations=_INFO)
def _(service: Service) -> None:
    """The info of a draft does not name the document."""
    edit(service, _INFO, lambda body: {name: value for name, value in body.items() if name != "identifier"})


@defect("draft-info-of-another", clause="draft-info-names-document", operations=_INFO)
def _(service: Service) -> None:
    """The info of a draft names a document of another uid."""
    edit(service, _INFO, lambda body: {**body, "identifier": f"{body['identifier'][:-1]}~"})


@defect("draft-info-from-cache", clause="draft-info-current", operations=_INFO)
def _(service: Service) -> None:
    """The info of a draft that was asked for once is given as it was then."""
    seen: dict[tuple[str, str], bytes] = {}

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        place = (service.realms.of_documents(request).name, service.identifiers.from_path(request))
        first = seen.setdefault(place, bytes(response.body))
        return Response(first, media_type="application/json")

    around(service, _INFO, answer)


_SAVE = ["saveDraft"]
_NEWEST_FIRST = (
    select(VERSIONS)
    .where(VERSIONS.c.realm == bindparam("realm"), VERSIONS.c.state == DRAFT)
    .order_by(VERSIONS.c.sequence.desc())
)


def _place(service: Service, request: Request) -> tuple[str, str]:
    return service.realms.of_documents(request).name, service.identifiers.from_path(request)


def _lost(*, new: bool, when: When = always, content: Callable[[Version], bool] | None = None) -> Change:
    """Return the change that answers a save with success and leaves things as they were before.

    Args:
        new: drafts that did not exist are lost; else updates are.
        when: the requests meant.
        content: also only the drafts for which this holds after the save.

    """

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            service.identity.require(request)
            place = _place(service, request)
            with service.storage.transaction() as records:
                before = records.version(*place, DRAFT)
            response = await faithful(request)
            with service.storage.transaction() as records:
                stored = records.version(*place, DRAFT)
                meant = stored is not None and (content is None or content(stored))
                if meant and (before is None) == new and when(request):
                    _put_back(records, place, before)
            return response

        around(service, _SAVE, answer)

    return change


def _put_back(records: Records, place: tuple[str, str], before: Version | None) -> None:
    if before is None:
        records.remove_draft(*place)
    else:
        records.store(before)


def _large(version: Version) -> bool:
    return version.size > 64 * 1024


def _of_other(version: Version) -> bool:
    return version.owner == "other"


def _text(version: Version) -> bool:
    # The JSON may be written with escapes; what counts is the text it stands for.
    return not json.dumps(json.loads(version.content), ensure_ascii=False).isascii()


_CREATES: dict[str, tuple[str, Change, tuple[str, ...]]] = {
    "draft-create-lost": ("A draft", _lost(new=True), ()),
    "draft-create-lost-in-chm": (
        "In chm-dev a draft",
        _lost(new=True, when=in_realm("chm-dev")),
        ("chm-dev",),
    ),
    "draft-create-lost-when-large": ("A draft above 64 KiB", _lost(new=True, content=_large), ()),
    "draft-create-lost-of-other": ("A draft of the second author", _lost(new=True, content=_of_other), ()),
    "draft-create-lost-beyond-ascii": ("A draft with text beyond ASCII", _lost(new=True, content=_text), ()),
}
for _name, (_which, _change, _lost_realms) in _CREATES.items():
    defect(
        _name,
        clause="draft-save-creates",
        operations=_SAVE,
        realms=_lost_realms,
        sentence=f"{_which} is accepted when it is saved for the first time, and not stored.",
    )(_change)

_UPDATES: dict[str, tuple[str, Change, tuple[str, ...]]] = {
    "draft-update-lost": ("An update of a draft", _lost(new=False), ()),
    "draft-update-lost-in-bch": (
        "In bch-dev an update of a draft",
        _lost(new=False, when=in_realm("bch-dev")),
        ("bch-dev",),
    ),
    "draft-update-lost-when-large": (
        "An update of a draft to more than 64 KiB",
        _lost(new=False, content=_large),
        (),
    ),
}
for _name, (_which, _change, _lost_realms) in _UPDATES.items():
    defect(
        _name,
        clause="draft-save-updates",
        operations=_SAVE,
        realms=_lost_realms,
        sentence=f"{_which} is accepted, and the content from before stays.",
    )(_change)


@defect("draft-create-lost-one-in-twenty", clause="draft-save-creates", operations=_SAVE)
def _(service: Service) -> None:
    """Every twentieth draft that is saved for the first time is accepted and not stored."""
    _lost(new=True, when=Every(20))(service)


@defect("draft-update-lost-one-in-twenty", clause="draft-save-updates", operations=_SAVE)
def _(service: Service) -> None:
    """Every twentieth update of a draft is accepted, and the content from before stays."""
    _lost(new=False, when=Every(20))(service)


@answers("draft-update-refused", clause="draft-save-updates", operations=_SAVE)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """Saving a draft that exists is refused."""
    service.identity.require(request)
    with service.storage.transaction() as records:
        if records.version(*_place(service, request), DRAFT) is not None:
            raise bad_request("there is a draft of this document already")
    return await faithful(request)


def _keep(service: Service, change: Callable[[Records, dict[str, Any]], str]) -> None:
    """Let ``change`` say what is stored of a draft, from the arguments of the faithful ``keep``."""

    def keep(faithful: Callable[..., Version], records: Records, **given: Any) -> Version:
        return faithful(records, **{**given, "content": change(records, given)})

    alter(service.drafts, "keep", keep)


@defect("draft-save-merges", clause="draft-save-replaces", operations=_SAVE)
def _(service: Service) -> None:
    """A member left out of a later save stays in the draft."""

    def merged(records: Records, given: dict[str, Any]) -> str:
        before = records.version(given["realm"].name, given["uid"], DRAFT)
        content: str = given["content"]
        if before is None:
            return content
        return json.dumps({**json.loads(before.content), **json.loads(content)}, ensure_ascii=False)

    _keep(service, merged)


@defect("draft-save-overwrites-latest", clause="draft-save-spares-others", operations=_SAVE)
def _(service: Service) -> None:
    """Saving a draft also writes its content over the newest other draft of the caller."""
    _also_written(service, lambda version, other: version.owner == other.owner)


@defect("draft-save-overwrites-alike", clause="draft-save-spares-others", operations=_SAVE)
def _(service: Service) -> None:
    """Saving a draft also writes its content over a draft whose uid shares its first 20 characters."""
    _also_written(service, lambda version, other: version.identifier[:20] == other.identifier[:20])


def _also_written(service: Service, meant: Callable[[Version, Version], bool]) -> None:
    def keep(faithful: Callable[..., Version], records: Records, **given: Any) -> Version:
        stored: Version = faithful(records, **given)
        for row in records.connection.execute(_NEWEST_FIRST, {"realm": stored.realm}):
            other = Version(**row._mapping)
            if other.identifier != stored.identifier and meant(stored, other):
                here = VERSIONS.c.sequence == other.sequence
                records.connection.execute(update(VERSIONS).where(here).values(content=stored.content))
                break
        return stored

    alter(service.drafts, "keep", keep)


@defect("draft-not-after-delete", clause="draft-save-after-delete", operations=_SAVE)
def _(service: Service) -> None:
    """A draft cannot be saved again under a uid whose draft was deleted."""
    gone: set[tuple[str, str]] = set()

    class Remembering(Records):
        """Remembers what was deleted."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            gone.add((realm, identifier))
            super().remove_draft(realm, identifier)

        def store(self, version: Version) -> Version:
            if (version.realm, version.identifier) in gone:
                raise bad_request("this document was deleted")
            return super().store(version)

    service.storage.records = Remembering


@defect("draft-save-drops-attachments", clause="attachment-outlives-save", operations=["listAttachments"])
def _(service: Service) -> None:
    """Saving a draft again removes the attachments of the document."""

    class Dropping(Records):
        """Drops the attachments of what it writes over."""

        def store(self, version: Version) -> Version:
            here = ATTACHMENTS.c.identifier == version.identifier
            self.connection.execute(delete(ATTACHMENTS).where(here))
            return super().store(version)

    service.storage.records = Dropping
