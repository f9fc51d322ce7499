"""Defects of deleting drafts: nothing goes, half of it goes, or too much goes."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, func, select
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.altering import Every, Handler, When, always, around, in_realm
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.records import DRAFT, Records, Version
from contracts.sandbox.service import Service
from contracts.sandbox.tables import LOCKS, VERSIONS

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
