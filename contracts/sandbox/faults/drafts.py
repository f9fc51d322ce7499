"""Faults of drafts, each a row: contents that change, writes that are lost or go too far, reads that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from contracts.sandbox.faults.effects import always, answer, edit, forgive, refuse, refuse_before
from contracts.sandbox.faults.fault import (
    STATE,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    as_role,
    items_of,
    possible_conditions,
    row,
    with_items,
)
from contracts.sandbox.faults.storage import not_done

_STATE: Final = Family("state")
Key = tuple[str, str]
_LARGE: Final = 64 * 1024


def _key(request: Request) -> Key:
    return request.realm, request.uid


def _is_new(request: Request, memory: Memory) -> bool:
    return _key(request) not in memory.saved


def _is_there(request: Request, memory: Memory) -> bool:
    return _key(request) in memory.saved


def _was_deleted(request: Request, memory: Memory) -> bool:
    return request.uid in memory.deleted


def _never_saved(request: Request, memory: Memory) -> bool:
    return _key(request) not in memory.saved and request.uid not in memory.deleted


def _undone(*, creating: bool) -> Inject:
    """Accept a save, of a draft that is new or of one that is there, and leave the draft as it was."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        there = await below(request.for_operation("draftExists", request.uid))
        before = memory.saved.get(_key(request))
        if there.success == creating or (there.success and before is None):
            return None
        got = await below(request)
        if got.success:
            await below(
                before if before and there.success else request.for_operation("deleteDraft", request.uid)
            )
        return got

    return effect


async def _delete_undone(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A deleted draft stays, although deleting it succeeds."""
    got = await below(request)
    if got.success:
        await below(memory.saved[_key(request)])
    return got


Document = dict[str, Any]


def _joining(join: Callable[[Document, Document], Document]) -> Inject:
    """Save the members of the earlier save and of this one, joined; the header is this one's."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        before, new = memory.saved.get(_key(request)), request.json
        old = before.json if before is not None else None
        if not isinstance(old, dict) or not isinstance(new, dict):
            return None
        header = {"header": new["header"]} if "header" in new else {}
        return await below(request.with_json({**join(old, new), **header}))

    return effect


async def _merged_for_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Another account's save of a draft is accepted, and members that were there keep their values."""
    owner = memory.kept.setdefault(_key(request), memory.saved[_key(request)].role)
    if request.role in ("", owner) or not isinstance(request.json, dict):
        return None
    there = await as_role(request.for_operation("getDraft", request.uid), below, memory, owner)
    merged = request.with_json({**request.json, **(there.json if there.success else {})})
    return await as_role(merged, below, memory, owner)


def _arrays_appended(old: Document, new: Document) -> Document:
    both = {k: old[k] + v for k, v in new.items() if isinstance(v, list) and isinstance(old.get(k), list)}
    return {**new, **both}


async def _stored_elsewhere(request: Request, below: Below, _: Memory) -> Answer | None:
    """A draft is stored under another identifier."""
    other = (request.uid[:-1] + ("x" if not request.uid.endswith("x") else "y"))[:128]
    return (await below(request.with_uid(other))).renamed(other, request.uid)


async def _out_of_date(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A draft is read as it was before the latest save."""
    before, current = memory.before.get(_key(request)), memory.saved.get(_key(request))
    got = await below(request)
    stale = got.success and before is not None and current is not None and got.json == current.json
    return replace(got, body=before.body) if stale and before is not None else got


async def _deleted_still_read(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A draft that was deleted is still read."""
    got = await below(request)
    if got.success or not request.role:
        return got
    before = memory.answers.get(("getDraft", request.uid + str(sorted(request.params.items()))))
    return before or answer_json(200, {"header": {"identifier": request.uid}})


async def _deleted_members_back(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Reading a draft that was saved again after it was deleted gives the members of the deleted one beside its own."""
    key = _key(request)
    if request.operation.id == "deleteDraft":
        memory.kept[key] = memory.saved.get(key, request).json
        return None
    old, new = memory.kept.get(key), request.json
    if key in memory.saved or not isinstance(old, dict) or not isinstance(new, dict):
        return None
    return await below(request.with_json({**old, **new}))


async def _told_when_deleted(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Reading a deleted draft is refused with 404, and the body of the refusal holds its content."""
    key = _key(request)
    if request.operation.id == "deleteDraft":
        memory.kept[key] = memory.saved.get(key, request).json
        return None
    got = await below(request)
    last = memory.kept.get(key)
    return (
        got if got.status != 404 or last is None else answer_json(404, {"message": "deleted", "last": last})
    )


def _neighbours(request: Request, memory: Memory, test: Callable[[Request], bool]) -> list[Request]:
    """The other drafts of the realm that pass a test, the newest first."""
    return [
        saved
        for (realm, uid), saved in reversed(memory.saved.items())
        if realm == request.realm and uid != request.uid and test(saved)
    ]


Near = Callable[[Request, Request], bool]


def _own(request: Request, other: Request) -> bool:
    """Whether another draft is of the same account."""
    return other.role == request.role


def _takes_along(near: Near, most: int = 10**6) -> Inject:
    """Delete other drafts too; `near` is given the request and the other draft."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        others = _neighbours(request, memory, partial(near, request))
        got = await below(request)
        for other in others[:most] if got.success else ():
            await below(other.for_operation("deleteDraft", other.uid))
        return got

    return effect


def _also_over(near: Near) -> Inject:
    """Write the content of a save over another draft, too."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        others = _neighbours(request, memory, partial(near, request))
        got = await below(request)
        for other in others[:1] if got.success else ():
            await below(other.with_json(request.json))
        return got

    return effect


async def _of_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Another draft of the account is meant in place of the one that is named."""
    others = _neighbours(request, memory, partial(_own, request))
    return await below(request.with_uid(others[0].uid)) if others else None


async def _found_by_beginning(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The exists check finds a draft whose uid begins with the uid that was asked for."""
    got = await below(request)
    longer = _neighbours(request, memory, lambda other: other.uid.startswith(request.uid))
    return Answer(200) if got.status == 404 and longer else got


def _is_published(request: Request, _: Memory) -> bool:
    return request.uid.startswith("sandbox-published-")


async def _first_read_kept(request: Request, below: Below, memory: Memory) -> Answer | None:
    """What was read of a draft once is given as it was then, whatever is saved later."""
    got = await below(request)
    first: Answer = memory.kept.setdefault(_key(request), got) if got.success else got
    return first


async def _of_latest(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The info of a draft is that of the draft of the realm that was saved last."""
    latest = next((uid for realm, uid in reversed(memory.saved) if realm == request.realm), request.uid)
    return await below(request.with_uid(latest))


async def _attachments_dropped(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Saving a draft again removes the attachments of the document."""
    if request.operation.id == "saveDraft":
        listed = await below(request.for_operation("listAttachments", request.uid))
        memory.kept[request.uid] = items_of(listed.json) or []
        return None
    dropped = memory.kept.get(request.uid, ())
    if request.operation.id == "listAttachments":
        return with_items(await below(request), lambda items: [item for item in items if item not in dropped])
    gone = any(str(item.get("id")) == request.params["attachmentId"] for item in dropped)
    return answer_json(404, {"message": "there is no such attachment"}) if gone else None


# fmt: off
_SAVED: Final = ("draft-save-creates", "draft-save-updates", "draft-get-content")
_SAVED_AGAIN: Final = ("draft-save-updates", "draft-save-replaces", "draft-get-content")
#: Writes and reads of the wrong draft or state: operation, operator, clauses, effect, where, and another name.
_STATES: Final[tuple[tuple[str, str, tuple[str, ...], Inject, Where | None, str], ...]] = (
    ("saveDraft", "stored-elsewhere", _SAVED, _stored_elsewhere, None, ""),
    ("saveDraft", "merged-with-before", _SAVED_AGAIN, _joining(lambda old, new: {**new, **old}), None, ""),
    ("saveDraft", "arrays-appended", _SAVED_AGAIN, _joining(_arrays_appended), None, ""),
    ("saveDraft", "overwrites-another", ("draft-save-spares-others",), _also_over(_own), _is_new,
        "draft-save-overwrites-latest"),
    ("saveDraft", "update-not-done", ("draft-save-updates",), not_done, _is_there, ""),
    ("saveDraft", "deletes-another", ("draft-save-spares-others",), _takes_along(_own, 1), None, ""),
    ("deleteDraft", "deletes-another", ("draft-delete-spares-others",), _takes_along(_own, 1), None,
        "draft-delete-takes-latest"),
    ("deleteDraft", "deletes-another-instead", ("draft-delete-spares-others", "draft-delete-removes"), _of_another,
        None, ""),
    ("getDraft", "out-of-date", ("draft-save-updates",), _out_of_date, None, ""),
    ("getDraft", "deleted-still-read", ("draft-delete-content-gone",), _deleted_still_read, _was_deleted,
        "draft-deleted-still-read"),
    ("draftExists", "deleted-still-there", ("draft-delete-removes",), forgive(always, None), _was_deleted,
        "draft-deleted-still-exists"),
    ("draftExists", "always-there", ("draft-exists-absent", "draft-delete-removes"), forgive(always, None), None, ""),
    ("getDraft", "another-drafts-content", ("draft-get-content", "draft-save-spares-others"), _of_another, None, ""),
    ("getDraftInfo", "empty", ("draft-info-present",), edit(lambda _: {}), None, "draft-info-empty"),
)


def draft_faults() -> Iterator[Fault]:
    """Writes of drafts that go elsewhere or take others along, and reads that are wrong or out of date."""
    for operation, operator, clauses, effect, where, also in _STATES:
        conditions = possible_conditions(operation, STATE)
        yield from _STATE.faults(operation, operator, clauses, effect, conditions, where=where, also=also)


def _writes() -> Iterator[Fault]:
    lost = "A draft is accepted when it is saved for the first time, and not stored."
    for condition in ("always", "in-chm-dev", "when-large", "of-other", "beyond-ascii", "one-in-twenty"):
        # What is read at the same time is not what was saved, either.
        broken = ("draft-save-creates", "draft-get-content")[: 2 if condition in ("always", "in-chm-dev") else 1]
        yield row("draft-create-lost", broken, "saveDraft", _undone(creating=True), lost, condition,
            where=_is_new if condition == "one-in-twenty" else None)
    lost = "An update of a draft is accepted, and the content from before stays."
    for condition in ("always", "in-bch-dev", "when-large", "one-in-twenty"):
        yield row("draft-update-lost", "draft-save-updates", "saveDraft", _undone(creating=False), lost, condition,
            where=_is_there)
    for condition in ("always", "in-chm-dev", "one-in-twenty"):
        yield row("draft-delete-kept", ("draft-delete-removes", "draft-delete-content-gone"), "deleteDraft",
            _delete_undone, "", condition, where=_is_there)
    yield row("draft-update-refused", "draft-save-updates", "saveDraft", refuse_before(),
        "Saving a draft that exists is refused.", where=_is_there)
    yield row("draft-update-of-other-merged", "draft-save-updates", "saveDraft", _merged_for_another, where=_is_there)
    yield row("draft-save-merges", "draft-save-replaces", "saveDraft", _joining(lambda old, new: {**old, **new}),
        "A member left out of a later save stays in the draft.")
    yield row("draft-not-after-delete", "draft-save-after-delete", "saveDraft", refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted.", where=_was_deleted)
    yield row("draft-save-overwrites-alike", "draft-save-spares-others", "saveDraft",
        _also_over(lambda r, other: other.uid[:20] == r.uid[:20]),
        "Saving a draft also writes its content over a draft whose uid shares its first 20 characters.")
    yield row("draft-delete-takes-alike", "draft-delete-spares-others", "deleteDraft",
        _takes_along(lambda r, other: other.uid.startswith(r.uid)),
        "Deleting a draft takes along those whose uid goes on after its own.")
    yield row("draft-delete-takes-others", "draft-delete-spares-others", "deleteDraft",
        _takes_along(lambda r, other: other.role != r.role),
        "Deleting a draft takes along all drafts of other accounts in the realm.")
    yield row("draft-save-drops-attachments", "attachment-outlives-save",
        ("saveDraft", "listAttachments", "getAttachment"), _attachments_dropped)


def _reads() -> Iterator[Fault]:
    gone = ("deleteDraft", "getDraft")
    yield row("draft-deleted-still-read-within", "draft-delete-content-gone", gone, _told_when_deleted)
    yield row("draft-saved-anew-with-deleted-members", ("draft-delete-content-gone", "draft-save-replaces"),
        ("deleteDraft", "saveDraft"), _deleted_members_back)
    yield row("draft-exists-by-its-beginning", "draft-delete-removes", "draftExists", _found_by_beginning)
    yield row("draft-exists-for-published", "draft-delete-removes", "draftExists", forgive(always, None),
        "The exists check finds a document that has a published version and no draft.", where=_is_published)
    yield row("draft-published-in-its-place", "draft-get-content", "getDraft",
        edit(lambda _: {"header": {"languages": ["en"]}, "title": {"en": "published"}}),
        "Reading a draft gives the published version, where there is one.", where=_is_published)
    for condition in ("always", "in-bch-dev"):
        yield row("draft-always-exists", "draft-exists-absent", "draftExists", forgive(always, None),
            "The exists check finds a draft under every uid, never-saved ones included.", condition,
            where=_never_saved)
    for condition in ("always", "in-bch-dev"):
        yield row("draft-never-exists", "draft-exists-present", "draftExists", refuse(status=404),
            "The exists check finds no draft.", condition)
    yield row("draft-exists-missed", "draft-exists-present", "draftExists", refuse(status=404),
        "The exists check finds no draft.", "one-in-twenty")
    for condition in ("always", "in-chm-dev"):
        yield row("draft-info-not-found", "draft-info-present", "getDraftInfo", refuse(status=404),
            "No draft has any info.", condition)
    for operation, clause, name in (
        ("getDraft", "draft-get-absent", "draft-get"),
        ("getDraftInfo", "draft-info-absent", "draft-info"),
    ):
        yield row(f"{name}-absent-empty", clause, operation, forgive(always, {}),
            f"{operation} gives an empty object for a draft that was never saved.", where=_never_saved)
    yield row("draft-info-nothing", "draft-info-present", "getDraftInfo",
        answer(lambda _, got: Answer(204) if got.success else got),
        "The info of a draft comes as an answer without a body.")
    yield row("draft-read-from-cache", "draft-save-updates", "getDraft", _first_read_kept)
    yield row("draft-read-stale", "draft-save-updates", "getDraft", _out_of_date, condition="one-in-twenty")
    yield row("draft-info-from-cache", "draft-info-current", "getDraftInfo", _first_read_kept)
    yield row("draft-info-without-uid", "draft-info-names-document", "getDraftInfo",
        edit(lambda body: {k: v for k, v in body.items() if k != "identifier"}),
        "The info of a draft does not name the document.")
    yield row("draft-info-of-another", "draft-info-names-document", "getDraftInfo",
        edit(lambda body: {**body, "identifier": f"{body['identifier'][:-1]}~"}),
        "The info of a draft names a document of another uid.")
    yield row("draft-info-of-latest", "draft-info-own", "getDraftInfo", _of_latest, where=_is_there)


def draft_rows() -> Iterator[Fault]:
    """Every row of drafts."""
    yield from _writes()
    yield from _reads()
