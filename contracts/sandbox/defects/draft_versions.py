"""Defects of reading drafts (out of date, missed, made up) and of saving them (lost, merged, written over others)."""

import json
from collections.abc import Callable
from typing import Any

from sqlalchemy import bindparam, delete, select, update
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.database import ATTACHMENTS, DRAFT, VERSIONS, Records, Version
from contracts.sandbox.defects.alteration import (
    Every,
    Handler,
    When,
    alter,
    always,
    around,
    edit,
    in_realm,
    refuse,
)
from contracts.sandbox.defects.registry import Change, answers, defect
from contracts.sandbox.refusals import bad_request, not_found
from contracts.sandbox.service import Service

_GET = ["getDraft"]
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


_CREATES = {
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
for _name, (_which, _change, _realms) in _CREATES.items():
    defect(
        _name,
        clause="draft-save-creates",
        operations=_SAVE,
        realms=_realms,
        sentence=f"{_which} is accepted when it is saved for the first time, and not stored.",
    )(_change)

_UPDATES = {
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
for _name, (_which, _change, _realms) in _UPDATES.items():
    defect(
        _name,
        clause="draft-save-updates",
        operations=_SAVE,
        realms=_realms,
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
