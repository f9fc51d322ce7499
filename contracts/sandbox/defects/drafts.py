"""Defects of saving, reading and deleting drafts."""

import json
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.declaration import (
    Change,
    Handler,
    Operations,
    When,
    alter,
    alteration,
    alteration_at,
    always,
    answered,
    answers,
    defect,
    defects,
    edit,
    every,
    in_realm,
    refuse,
)
from contracts.sandbox.defects.lists import removed_drafts
from contracts.sandbox.habits import json_text
from contracts.sandbox.http_requests import bad_request, not_found
from contracts.sandbox.service import Service
from contracts.sandbox.storage import ATTACHMENTS, DRAFT, LOCKS, PUBLISHED, VERSIONS, Records, Version

_LARGE = 64 * 1024


def _every_value(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value with each value in it changed, innermost first."""
    if isinstance(value, dict):
        return change({name: _every_value(inner, change) for name, inner in value.items()})
    if isinstance(value, list):
        return change([_every_value(inner, change) for inner in value])
    return change(value)


def _values(kinds: tuple[type, ...], change: Callable[[Any], Any]) -> Change:
    """Return the change of all values of some types in the content that reading a draft gives."""

    def changed(value: Any) -> Any:
        return change(value) if type(value) in kinds else value

    return edit(lambda body: _every_value(body, changed))


def _texts(change: Callable[[str], str]) -> Change:
    return _values((str,), change)


def _letters(kept: Callable[[str], bool]) -> Change:
    return _texts(lambda text: "".join(filter(kept, text)))


def _members(kept: Callable[[Any], bool]) -> Change:
    return _values((dict,), lambda value: {name: item for name, item in value.items() if kept(item)})


def _flat(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: {} if isinstance(inner, dict) else inner for name, inner in value.items()}


def _first_member_when_large(body: dict[str, Any]) -> dict[str, Any]:
    large = len(json.dumps(body, ensure_ascii=False)) > _LARGE
    return dict([*body.items()][:1]) if large else body


def _sorted_texts(items: list[Any]) -> list[Any]:
    return sorted(items) if all(isinstance(item, str) for item in items) else items


defects(
    {
        "draft-content-empty": edit(lambda _: {}),
        "draft-content-without-nested-objects": edit(
            lambda body: {name: _flat(value) for name, value in body.items()}
        ),
        "draft-content-without-20th-member": edit(
            lambda body: {name: body[name] for place, name in enumerate(body) if place != 19}
        ),
        "draft-content-without-last-item": _values(
            (list,), lambda items: items[:-1] if len(items) > 1 else items
        ),
        "draft-content-lists-of-100": _values((list,), lambda items: items[:100]),
        "draft-content-arrays-sorted": _values((list,), _sorted_texts),
        "draft-content-integers-as-text": _values((int, float), str),
        "draft-content-fractions-cut": _values((int, float), int),
        "draft-content-false-dropped": _members(lambda value: value is not False),
        "draft-content-zero-dropped": _members(
            lambda value: isinstance(value, bool) or value != 0 or isinstance(value, str)
        ),
        "draft-header-without-languages": edit(
            lambda body: (
                body
                | {"header": {name: value for name, value in body["header"].items() if name != "languages"}}
                if isinstance(body.get("header"), dict)
                else body
            )
        ),
        "draft-content-texts-cut": _texts(lambda text: text[:255]),
        "draft-content-lost-when-large": edit(_first_member_when_large),
        "draft-text-mangled": _texts(lambda text: text.encode("utf-8").decode("latin-1")),
        "draft-text-question-marks": _texts(lambda text: text.encode("ascii", "replace").decode()),
        "draft-text-beyond-basic-plane-lost": _letters(lambda letter: ord(letter) < 0x10000),
        "draft-text-latin-only": _letters(lambda letter: ord(letter) < 0x100),
        "draft-text-composed": _texts(partial(unicodedata.normalize, "NFC")),
        "draft-text-trimmed": _texts(str.strip),
        "draft-text-line-ends": _texts(lambda text: text.replace("\r\n", "\n")),
        "draft-text-escaped": _texts(lambda text: text.replace("<", "&lt;").replace(">", "&gt;")),
        "draft-text-without-control-characters": _letters(lambda letter: letter >= " " or letter in "\r\n\t"),
    }
)


def _place(service: Service, request: Request) -> tuple[str, str]:
    return service.realms.of_documents(request).name, service.identifiers.from_path(request)


def _put_back(records: Records, place: tuple[str, str], before: Version | None) -> None:
    if before is None:
        records.remove_draft(*place)
    else:
        records.store(before)


Undone = Callable[[Version | None, Version | None], bool]


def _undone(meant: Undone, when: When = always) -> Change:
    """Return the change that answers a write with success and leaves the draft as it was before.

    Args:
        meant: tells from the draft before and the draft after whether the write is undone.
        when: the requests meant, asked last.

    """

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        place = _place(service, request)
        with service.storage.transaction() as records:
            before = records.version(*place, DRAFT)
        response = await faithful(request)
        with service.storage.transaction() as records:
            if meant(before, records.version(*place, DRAFT)) and when(request):
                _put_back(records, place, before)
        return response

    return answered(answer)


@answers("draft-update-of-other-merged")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    caller, place = service.identity.require(request), _place(service, request)
    with service.storage.transaction() as records:
        before = records.version(*place, DRAFT)
    if before is None or before.owner == caller.name:
        return await faithful(request)
    body = await service.body.read_object(request)
    merged = json.loads(body.text) | json.loads(before.content)
    with service.storage.transaction() as records:
        records.store(replace(before, content=json_text(merged)))
    return Response(status_code=204)


def _delete(before: Version | None, _after: Version | None) -> bool:
    return before is not None


def _create(before: Version | None, after: Version | None) -> bool:
    return before is None and after is not None


def _update(before: Version | None, after: Version | None) -> bool:
    return before is not None and after is not None


def _large(_before: Version | None, after: Version | None) -> bool:
    return after is not None and after.size > _LARGE


def _create_of_other(before: Version | None, after: Version | None) -> bool:
    return before is None and after is not None and after.owner == "other"


def _create_beyond_ascii(before: Version | None, after: Version | None) -> bool:
    # The JSON may be written with escapes; what counts is the text it stands for.
    return (
        before is None
        and after is not None
        and not json.dumps(json.loads(after.content), ensure_ascii=False).isascii()
    )


defects(
    {
        "draft-delete-kept": _undone(_delete),
        "draft-delete-kept-in-chm": _undone(_delete, in_realm("chm-dev")),
        "draft-delete-kept-one-in-twenty": every(20, partial(_undone, _delete)),
        "draft-create-lost": _undone(_create),
        "draft-create-lost-in-chm": _undone(_create, in_realm("chm-dev")),
        "draft-create-lost-when-large": _undone(lambda *two: _create(*two) and _large(*two)),
        "draft-create-lost-of-other": _undone(_create_of_other),
        "draft-create-lost-beyond-ascii": _undone(_create_beyond_ascii),
        "draft-create-lost-one-in-twenty": every(20, partial(_undone, _create)),
        "draft-update-lost": _undone(_update),
        "draft-update-lost-in-bch": _undone(_update, in_realm("bch-dev")),
        "draft-update-lost-when-large": _undone(lambda *two: _update(*two) and _large(*two)),
        "draft-update-lost-one-in-twenty": every(20, partial(_undone, _update)),
    }
)


@alteration_at
def _remembered(
    service: Service, operations: Operations, answer_deleted: Callable[[Service, Version], Response]
) -> None:
    """Answer the requests for a draft that was deleted in another way."""
    removed = removed_drafts(service)

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        draft = removed.get(_place(service, request))
        return await faithful(request) if draft is None else answer_deleted(service, draft)

    answered(answer)(service, operations)


@alteration
def _removing_more(service: Service, more: Callable[[Records, Version], None]) -> None:
    """Remove more than the draft, whenever one is removed; ``more`` is given the draft that was there."""

    class Removing(Records):
        """Removes more than the draft."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            draft = self.version(realm, identifier, DRAFT)
            super().remove_draft(realm, identifier)
            if draft is not None:
                more(self, draft)

    service.storage.records = Removing


def _remove_latest(also: Callable[[str], Any]) -> Change:
    """Return the change that removes the latest draft of the realm that passes a test too."""

    def more(records: Records, draft: Version) -> None:
        meant = select(VERSIONS.c.sequence).where(
            VERSIONS.c.realm == draft.realm, VERSIONS.c.state == DRAFT, also(draft.identifier)
        )
        latest = records.connection.execute(meant.order_by(VERSIONS.c.sequence.desc())).scalars().first()
        records.connection.execute(delete(VERSIONS).where(VERSIONS.c.sequence == latest))

    return _removing_more(more)


def _remove_of_others(records: Records, draft: Version) -> None:
    table = VERSIONS.c
    of_others = (table.realm == draft.realm, table.state == DRAFT, table.owner != draft.owner)
    records.connection.execute(delete(VERSIONS).where(*of_others))


def _remove_published(records: Records, draft: Version) -> None:
    for table in (VERSIONS, LOCKS):
        here = (table.c.realm == draft.realm, table.c.identifier == draft.identifier)
        records.connection.execute(delete(table).where(*here))


defects(
    {
        "draft-deleted-still-exists": _remembered(lambda *_: Response(media_type="application/json")),
        "draft-deleted-still-read": _remembered(
            lambda service, draft: service.answers.content(draft.content)
        ),
        "draft-deleted-still-read-within": _remembered(
            lambda _, draft: JSONResponse({"message": "the draft was deleted", "last": draft.content}, 404)
        ),
        "draft-delete-takes-alike": _remove_latest(
            lambda uid: func.substr(VERSIONS.c.identifier, 1, len(uid)) == uid
        ),
        "draft-delete-takes-latest": _remove_latest(lambda uid: VERSIONS.c.identifier != uid),
        "draft-delete-takes-others": _removing_more(_remove_of_others),
        "draft-delete-takes-published": _removing_more(_remove_published),
    }
)


def _published(service: Service, request: Request) -> Version | None:
    service.identity.require(request)
    with service.storage.transaction() as records:
        return records.version(*_place(service, request), PUBLISHED)


@answers("draft-exists-for-published")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    there = _published(service, request)
    return Response(media_type="application/json") if there is not None else await faithful(request)


@answers("draft-published-in-its-place")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    there = _published(service, request)
    return service.answers.content(there.content) if there is not None else await faithful(request)


@answers("draft-exists-by-its-beginning")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    service.identity.require(request)
    realm, uid = _place(service, request)
    longer = select(VERSIONS.c.sequence).where(
        VERSIONS.c.realm == realm, VERSIONS.c.state == DRAFT, VERSIONS.c.identifier.startswith(uid)
    )
    with service.storage.transaction() as records:
        there = records.connection.execute(longer).first() is not None
    return Response(media_type="application/json") if there else await faithful(request)


@alteration_at
def _from_cache(
    service: Service, operations: Operations, meant: Callable[[], bool], *, renewed: bool = False
) -> None:
    """Answer some requests for a draft as they were answered at first.

    Args:
        meant: tells whether an answer comes from the cache.
        renewed: what did not come from the cache is kept for the next time.

    """
    cache: dict[tuple[str, str], bytes] = {}

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        body, place = bytes(response.body), _place(service, request)
        before = cache.setdefault(place, body)
        if (before != body or not renewed) and meant():
            return Response(before, media_type="application/json")
        if renewed:
            cache[place] = body
        return response

    answered(answer)(service, operations)


@alteration_at
def _made_up(service: Service, operations: Operations, body: Any, when: When = always) -> None:
    """Answer with success for a uid that obeys the rule and of which no record ever was."""
    deleted: set[str] = set()

    async def remember(service: Service, faithful: Handler, request: Request) -> Response:
        deleted.add(service.identifiers.from_path(request))
        return await faithful(request)

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        service.identity.require(request)
        realm, uid = _place(service, request)
        with service.storage.transaction() as records:
            there = records.owner(realm, uid) is not None
        if there or uid in deleted or not when(request):
            return await faithful(request)
        return Response(media_type="application/json") if body is None else JSONResponse(body)

    answered(remember)(service, ("deleteDraft",))
    answered(answer)(service, operations)


def _answered_with(body: Any) -> Change:
    async def answer(_service: Service, faithful: Handler, request: Request) -> Response:
        await faithful(request)
        return Response(status_code=204) if body is None else JSONResponse(body)

    return answered(answer)


defects(
    {
        "draft-read-from-cache": _from_cache(lambda: True, renewed=True),
        "draft-read-stale-one-in-twenty": every(20, _from_cache),
        "draft-info-from-cache": _from_cache(lambda: True),
        "draft-never-exists": refuse(not_found),
        "draft-never-exists-in-bch": refuse(not_found, in_realm("bch-dev")),
        "draft-exists-missed-one-in-twenty": every(20, partial(refuse, not_found)),
        "draft-info-not-found": refuse(not_found),
        "draft-info-not-found-in-chm": refuse(not_found, in_realm("chm-dev")),
        "draft-always-exists": _made_up(None),
        "draft-always-exists-in-bch": _made_up(None, in_realm("bch-dev")),
        "draft-get-absent-empty": _made_up({}),
        "draft-info-absent-empty": _made_up({}),
        "draft-info-empty": _answered_with({}),
        "draft-info-nothing": _answered_with(None),
        "draft-info-without-uid": edit(
            lambda body: {name: value for name, value in body.items() if name != "identifier"}
        ),
        "draft-info-of-another": edit(lambda body: {**body, "identifier": f"{body['identifier'][:-1]}~"}),
    }
)


@answers("draft-info-of-latest")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    realm, uid = _place(service, request)
    drafts = select(VERSIONS.c.identifier).where(VERSIONS.c.realm == realm, VERSIONS.c.state == DRAFT)
    with service.storage.transaction() as records:
        there = records.version(realm, uid, DRAFT) is not None
        latest = records.connection.execute(drafts.order_by(VERSIONS.c.sequence.desc())).scalars().first()
    scope = {**request.scope, "path_params": {"uid": latest if there else uid}}
    return await faithful(Request(scope, request.receive))


@answers("draft-update-refused")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    service.identity.require(request)
    with service.storage.transaction() as records:
        if records.version(*_place(service, request), DRAFT) is not None:
            raise bad_request("there is a draft of this document already")
    return await faithful(request)


@defect("draft-save-merges")
def _(service: Service) -> None:
    def keep(faithful: Callable[..., Version], records: Records, **given: Any) -> Version:
        before = records.version(given["realm"].name, given["uid"], DRAFT)
        if before is not None:
            merged = {**json.loads(before.content), **json.loads(given["content"])}
            given["content"] = json.dumps(merged, ensure_ascii=False)
        return faithful(records, **given)

    alter(service.drafts, "keep", keep)


@defect("draft-saved-anew-with-deleted-members")
def _(service: Service) -> None:
    saved: dict[tuple[str, str], dict[str, Any]] = {}

    def keep(faithful: Callable[..., Version], records: Records, **given: Any) -> Version:
        place, content = (given["realm"].name, given["uid"]), json.loads(given["content"])
        if records.version(*place, DRAFT) is None:
            given["content"] = json.dumps({**saved.get(place, {}), **content}, ensure_ascii=False)
        saved[place] = content
        return faithful(records, **given)

    alter(service.drafts, "keep", keep)


_NEWEST_FIRST = (
    select(VERSIONS)
    .where(VERSIONS.c.realm == bindparam("realm"), VERSIONS.c.state == DRAFT)
    .order_by(VERSIONS.c.sequence.desc())
)


@alteration
def _also_written(service: Service, meant: Callable[[Version, Version], bool]) -> None:
    """Write the content of a saved draft over the newest other draft that is meant, too."""

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


defects(
    {
        "draft-save-overwrites-latest": _also_written(lambda version, other: version.owner == other.owner),
        "draft-save-overwrites-alike": _also_written(
            lambda version, other: version.identifier[:20] == other.identifier[:20]
        ),
    }
)


@defect("draft-not-after-delete")
def _(service: Service) -> None:
    deleted: set[tuple[str, str]] = set()

    class Remembering(Records):
        """Remembers what was deleted."""

        def remove_draft(self, realm: str, identifier: str) -> None:
            deleted.add((realm, identifier))
            super().remove_draft(realm, identifier)

        def store(self, version: Version) -> Version:
            if (version.realm, version.identifier) in deleted:
                raise bad_request("this document was deleted")
            return super().store(version)

    service.storage.records = Remembering


@defect("draft-save-drops-attachments")
def _(service: Service) -> None:
    class Dropping(Records):
        """Drops the attachments of what it writes over."""

        def store(self, version: Version) -> Version:
            here = ATTACHMENTS.c.identifier == version.identifier
            self.connection.execute(delete(ATTACHMENTS).where(here))
            return super().store(version)

    service.storage.records = Dropping
