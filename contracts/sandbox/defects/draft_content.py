"""Defects of the content that reading a draft returns, and of deleting drafts."""

import json
import unicodedata
from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, func, select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.database import DRAFT, LOCKS, VERSIONS, Records, Version
from contracts.sandbox.defects.alteration import Every, Handler, When, always, around, edit, in_realm
from contracts.sandbox.defects.registry import Change, defect
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
