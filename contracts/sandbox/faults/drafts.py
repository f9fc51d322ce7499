"""Faults of drafts: writes that are lost or go too far, and reads that are wrong or out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_DOCUMENTS, OFTEN, ONCE
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import (
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    answer_json,
)

Document = dict[str, Any]
Near = Callable[[Request, Request], bool]
_CREATES, _UPDATES, _CONTENT = "draft-save-creates", "draft-save-updates", "draft-get-content"


def is_new(request: Request, memory: Memory) -> bool:
    """Whether no draft is there."""
    return request.key not in memory.saved


def is_there(request: Request, memory: Memory) -> bool:
    """Whether a draft is there that was saved before."""
    return request.key in memory.saved


def _was_deleted(request: Request, memory: Memory) -> bool:
    return request.uid in memory.deleted


def _never_saved(request: Request, memory: Memory) -> bool:
    return is_new(request, memory) and not _was_deleted(request, memory)


def _is_published(request: Request, _: Memory) -> bool:
    return request.uid.startswith("sandbox-published-")


def _undone(*, creating: bool) -> Inject:
    """Accept a save, of a draft that is new or of one that is there, and leave the draft as it was."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        there = await below(request.for_operation("draftExists"))
        before = memory.saved.get(request.key)
        if there.success == creating or (there.success and before is None):
            return None
        got = await below(request)
        if got.success:
            await below(before if before and there.success else request.for_operation("deleteDraft"))
        return got

    return effect


async def _delete_undone(request: Request, below: Below, memory: Memory) -> Answer | None:
    got = await below(request)
    if got.success:
        await below(memory.saved[request.key])
    return got


def _joining(join: Callable[[Document, Document], Document]) -> Inject:
    """Save the members of the earlier save and of this one, joined; the header is this one's."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        before, new = memory.saved.get(request.key), request.json
        old = before.json if before is not None else None
        if not isinstance(old, dict) or not isinstance(new, dict):
            return None
        header = {"header": new["header"]} if "header" in new else {}
        return await below(request.with_json({**join(old, new), **header}))

    return effect


async def _stored_elsewhere(request: Request, below: Below, _: Memory) -> Answer | None:
    other = (request.uid[:-1] + ("x" if not request.uid.endswith("x") else "y"))[:128]
    return (await below(request.with_uid(other))).renamed(other, request.uid)


async def _out_of_date(request: Request, below: Below, memory: Memory) -> Answer | None:
    before, current = memory.before.get(request.key), memory.saved.get(request.key)
    got = await below(request)
    stale = before is not None and current is not None and got.success and got.json == current.json
    return replace(got, body=before.body) if stale and before is not None else got


async def _deleted_still_read(request: Request, below: Below, memory: Memory) -> Answer | None:
    got = await below(request)
    if got.success or not request.role:
        return got
    return memory.answer_before(request) or answer_json(200, {"header": {"identifier": request.uid}})


def _neighbours(request: Request, memory: Memory, near: Near) -> list[Request]:
    """The other drafts of the realm that are near, the newest first."""
    return [
        saved
        for (realm, uid), saved in reversed(memory.saved.items())
        if realm == request.realm and uid != request.uid and near(request, saved)
    ]


def _own(request: Request, other: Request) -> bool:
    """Whether another draft is of the same account."""
    return other.role == request.role


def _also(near: Near, then: Callable[[Request, Request], Request], most: int = 10**6) -> Inject:
    """Do something to other drafts too, which are near."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        others = _neighbours(request, memory, near)
        got = await below(request)
        for other in others[:most] if got.success else ():
            await below(then(request, other))
        return got

    return effect


def _deleted(_: Request, other: Request) -> Request:
    return other.for_operation("deleteDraft")


def _written_over(request: Request, other: Request) -> Request:
    return other.with_json(request.json)


async def _of_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    others = _neighbours(request, memory, _own)
    return await below(request.with_uid(others[0].uid)) if others else None


async def _of_latest(request: Request, below: Below, memory: Memory) -> Answer | None:
    latest = next((uid for realm, uid in reversed(memory.saved) if realm == request.realm), request.uid)
    return await below(request.with_uid(latest))


async def _attachments_dropped(request: Request, below: Below, memory: Memory) -> Answer | None:
    if request.operation.id == "saveDraft":
        memory.kept[request.uid] = (await below(request.for_operation("listAttachments"))).items
        return None
    dropped = memory.kept.get(request.uid, ())
    if request.operation.id == "listAttachments":
        got = await below(request)
        return got.with_items(lambda items: [item for item in items if item not in dropped])
    gone = any(str(item.get("id")) == request.params["attachmentId"] for item in dropped)
    return answer_json(404, {"message": "there is no such attachment"}) if gone else None


# fmt: off
def _writes() -> Iterator[Fault]:
    lost = "A draft is accepted when it is saved for the first time, and not stored."
    # What is read at the same time is not what was saved, either.
    yield row("draft-create-lost", (_CREATES, _CONTENT), "saveDraft", _undone(creating=True), lost,
        where=is_new, ways=OF_DOCUMENTS)
    yield row("draft-create-lost", _CREATES, "saveDraft", _undone(creating=True), lost, "beyond-ascii", where=is_new)
    yield row("draft-update-lost", _UPDATES, "saveDraft", _undone(creating=False),
        "An update of a draft is accepted, and the content from before stays.",
        where=is_there, ways=OF_DOCUMENTS)
    yield row("draft-delete-kept", ("draft-delete-removes", "draft-delete-content-gone"), "deleteDraft",
        _delete_undone, "A deleted draft stays, although deleting it succeeds.", where=is_there, ways=OFTEN)
    yield row("draft-stored-elsewhere", (_CREATES, _UPDATES, _CONTENT), "saveDraft", _stored_elsewhere,
        "A draft is stored under another identifier.", ways=OFTEN)
    yield row("draft-update-refused", _UPDATES, "saveDraft", do.refuse_before(),
        "Saving a draft that exists is refused.", where=is_there, ways=OF_DOCUMENTS)
    yield row("draft-save-merges", "draft-save-replaces", "saveDraft", _joining(lambda old, new: {**old, **new}),
        "A member left out of a later save stays in the draft.", ways=OFTEN)
    yield row("draft-old-members-win", (_UPDATES, "draft-save-replaces", _CONTENT), "saveDraft",
        _joining(lambda old, new: {**new, **old}), "Members that a draft has keep their values in a later save.",
        ways=OFTEN)
    yield row("draft-not-after-delete", "draft-save-after-delete", "saveDraft", do.refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted.", where=_was_deleted)
    yield row("draft-save-overwrites-latest", "draft-save-spares-others", "saveDraft", _also(_own, _written_over, 1),
        "Saving a new draft also writes its content over the account's latest draft.", where=is_new, ways=OFTEN)
    yield row("draft-save-deletes-latest", "draft-save-spares-others", "saveDraft", _also(_own, _deleted, 1),
        "Saving a draft deletes the account's latest draft.", ways=OFTEN)
    for name, near, most, says in (
        ("latest", _own, 1, "the account's latest draft"),
        ("alike", lambda r, other: other.uid.startswith(r.uid), 10**6, "those whose uid goes on after its own"),
        ("others", lambda r, other: other.role != r.role, 10**6, "all drafts of other accounts in the realm"),
    ):
        yield row(f"draft-delete-takes-{name}", "draft-delete-spares-others", "deleteDraft",
            _also(near, _deleted, most), f"Deleting a draft takes along {says}.",
            ways=ONCE if name == "alike" else OFTEN)
    yield row("draft-delete-of-another", ("draft-delete-spares-others", "draft-delete-removes"), "deleteDraft",
        _of_another, "Deleting a draft deletes another one of the account in its place.", ways=OFTEN)
    yield row("draft-save-drops-attachments", "attachment-outlives-save",
        ("saveDraft", "listAttachments", "getAttachment"), _attachments_dropped,
        "Saving a draft again removes the attachments of the document.")


def _reads() -> Iterator[Fault]:
    yield row("draft-deleted-still-read", "draft-delete-content-gone", "getDraft", _deleted_still_read,
        "A draft that was deleted is still read.", where=_was_deleted)
    yield row("draft-deleted-still-exists", "draft-delete-removes", "draftExists", do.forgive(do.always, None),
        "The exists check finds a draft that was deleted.", where=_was_deleted, ways=OFTEN)
    yield row("draft-exists-for-published", "draft-delete-removes", "draftExists", do.forgive(do.always, None),
        "The exists check finds a document that has a published version and no draft.", where=_is_published)
    yield row("draft-published-in-its-place", _CONTENT, "getDraft",
        do.edit(lambda _: {"header": {"languages": ["en"]}, "title": {"en": "published"}}),
        "Reading a draft gives the published version, where there is one.", where=_is_published)
    yield row("draft-always-exists", "draft-exists-absent", "draftExists", do.forgive(do.always, None),
        "The exists check finds a draft under every uid, never-saved ones included.", where=_never_saved)
    yield row("draft-never-exists", "draft-exists-present", "draftExists", do.refuse(404),
        "The exists check finds no draft.", ways=OFTEN)
    yield row("draft-never-exists", "draft-exists-present", "draftExists", do.refuse(404),
        "The exists check finds no draft.", "every-20")
    for operation, clause, name in (
        ("getDraft", "draft-get-absent", "draft-get"),
        ("getDraftInfo", "draft-info-absent", "draft-info"),
    ):
        yield row(f"{name}-absent-empty", clause, operation, do.forgive(do.always, {}),
            f"{operation} gives an empty object for a draft that was never saved.", where=_never_saved)
    yield row("draft-read-from-cache", _UPDATES, "getDraft", do.remember(lambda r: r.key),
        "What was read of a draft once is given as it was then, whatever is saved later.", ways=OFTEN)
    yield row("draft-read-stale", _UPDATES, "getDraft", _out_of_date,
        "A draft is read as it was before the latest save.", ways=OFTEN)
    yield row("draft-read-stale", _UPDATES, "getDraft", _out_of_date,
        "A draft is read as it was before the latest save.", "every-20")
    yield row("draft-content-of-another", (_CONTENT, "draft-save-spares-others"), "getDraft", _of_another,
        "Reading a draft gives another draft of the account.", ways=OFTEN)
    for name, clause, effect, says in (
        ("not-found", "present", do.refuse(404), "is not found"),
        ("empty", "present", do.edit(lambda _: {}), "is an empty object"),
        ("from-cache", "current", do.remember(lambda r: r.key), "is what it was when it was read first"),
        ("without-uid", "names-document", do.edit(lambda body: {k: v for k, v in body.items() if k != "identifier"}),
            "does not name the document"),
    ):
        yield row(f"draft-info-{name}", f"draft-info-{clause}", "getDraftInfo", effect,
            f"The info of a draft {says}.", ways=OFTEN if clause == "present" else ONCE)
    yield row("draft-info-of-latest", "draft-info-own", "getDraftInfo", _of_latest,
        "The info of a draft is that of the draft of the realm that was saved last.", where=is_there)
# fmt: on


def draft_faults() -> Iterator[Fault]:
    """Writes and reads of drafts."""
    yield from _writes()
    yield from _reads()
