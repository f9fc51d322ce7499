"""Faults of drafts: writes that are lost or go too far, and reads that are wrong or out of date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_DOCUMENTS, OFTEN, ONCE
from contracts.sandbox.faults.fault import Fault, Rows
from contracts.sandbox.faults.messages import Answer, Inject, Request, answer_json

_UPDATES, _CONTENT = "save-updates", "get-content"
_OTHERS, _REMOVES = "save-spares-others", "delete-removes"
#: Requests for a draft that is there, for one that is not, that was deleted, that never was, and of a published record.
_THERE, _NEW, _DELETED = "known~saved", "-known~saved", "known~deleted"
_NEVER_SAVED, _PUBLISHED = "-known~(saved|deleted)", "uid~^sandbox-published-"


def _before(request: Request) -> list[Request]:
    """What brings the draft back that was there, or takes it away where there was none."""
    return [request.memory.saved.get(request.key) or request.for_operation("deleteDraft")]


def _joined(request: Request) -> Request | None:
    """A save with what the save before it holds and it does not."""
    before, new = request.memory.saved.get(request.key), request.member
    return request.with_json({**before.member, **new}) if before and new else None


async def _stored_elsewhere(request: Request) -> Answer | None:
    other = (request.uid[:-1] + ("x" if not request.uid.endswith("x") else "y"))[:128]
    got = await request.ask(request.with_uid(other))
    return replace(got, body=got.body.replace(other.encode(), request.uid.encode()))


def _out_of_date(request: Request, got: Answer) -> Answer:
    before, current = request.memory.before.get(request.key), request.memory.saved.get(request.key)
    fresh = current is not None and got.success and got.json == current.json
    return replace(got, body=before.body) if before and fresh else got


def _deleted_still_read(request: Request, got: Answer) -> Answer:
    if got.success or not request.role:
        return got
    made_up = answer_json(200, {"header": {"identifier": request.uid}})
    return request.memory.answers.get(request.place) or made_up


def _others(request: Request, near: Callable[[Request, Request], bool]) -> list[Request]:
    """The other drafts of the realm that are near, the newest first."""
    saved = reversed(request.memory.saved.values())
    return [
        other
        for other in saved
        if other.realm == request.realm and other.uid != request.uid and near(request, other)
    ]


def _own(request: Request, other: Request) -> bool:
    """Whether another draft is of the same account."""
    return other.role == request.role


def _of_another(request: Request) -> Request | None:
    return next((request.with_uid(other.uid) for other in _others(request, _own)), None)


def _of_latest(request: Request) -> Request:
    return request.with_uid(
        next(uid for realm, uid in reversed(request.memory.saved) if realm == request.realm)
    )


def _taking(near: Callable[[Request, Request], bool], most: int) -> Inject:
    """Delete other drafts too, which are near."""
    return do.afterwards(lambda r: [other.for_operation("deleteDraft") for other in _others(r, near)[:most]])


async def _attachments_dropped(request: Request) -> Answer | None:
    kept = request.memory.kept
    if request.operation.id == "saveDraft":
        kept[request.uid] = (await request.ask(request.for_operation("listAttachments"))).items
        return None
    dropped = kept.get(request.uid, ())
    if request.operation.id == "listAttachments":
        return (await request.ask()).with_items(lambda items: [item for item in items if item not in dropped])
    gone = any(str(item.get("id")) == request.params["attachmentId"] for item in dropped)
    return answer_json(404, {"message": "there is no such attachment"}) if gone else None


# fmt: off
_SAVE = Rows("draft-", "draft-", "saveDraft", ways=OFTEN)
_DELETE = Rows("draft-", "draft-", "deleteDraft", ways=OFTEN)
_READ, _EXISTS, _INFO = (Rows("draft-", "draft-", at) for at in ("getDraft", "draftExists", "getDraftInfo"))
_OUTDATED: Final = do.remember(lambda r: r.key)
#: Writes that are lost or go too far, and reads that are wrong or out of date.
OF_DRAFTS: Final[tuple[Fault, ...]] = (
    # What is read at the same time is not what was saved, either.
    _SAVE("create-lost", ("save-creates", _CONTENT), do.afterwards(_before),
        "A draft is accepted when it is saved for the first time, and not stored", _NEW, ways=OF_DOCUMENTS),
    _SAVE("create-lost", "save-creates", do.afterwards(_before),
        "A draft is accepted when it is saved for the first time, and not stored", _NEW, ways=OF_DOCUMENTS,
    ).under("beyond-ascii"),
    _SAVE("update-lost", _UPDATES, do.afterwards(_before),
        "An update of a draft is accepted, and the content from before stays", _THERE, ways=OF_DOCUMENTS),
    _SAVE("update-refused", _UPDATES, do.refuse_before(), "Saving a draft again is refused", _THERE, ways=OF_DOCUMENTS),
    _SAVE("stored-elsewhere", ("save-creates", _UPDATES, _CONTENT), _stored_elsewhere,
        "A draft is stored under another identifier"),
    _SAVE("save-merges", "save-replaces", do.send(_joined), "A member left out of a later save stays in the draft"),
    _SAVE("not-after-delete", "save-after-delete", do.refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted", _DELETED, ways=ONCE),
    _SAVE("save-overwrites-latest", _OTHERS,
        do.afterwards(lambda r: [other.with_json(r.json) for other in _others(r, _own)[:1]]),
        "Saving a new draft also writes its content over the account's latest draft", _NEW),
    _SAVE("save-deletes-latest", _OTHERS, _taking(_own, 1), "Saving a draft deletes the latest other one"),
    _DELETE("delete-kept", (_REMOVES, "delete-content-gone"), do.afterwards(_before),
        "A deleted draft stays, although deleting it succeeds", _THERE),
    _DELETE("delete-takes-latest", "delete-spares-others", _taking(_own, 1),
        "Deleting a draft takes along the account's latest draft"),
    _DELETE("delete-takes-alike", "delete-spares-others",
        _taking(lambda r, other: other.uid.startswith(r.uid), 10**6),
        "Deleting a draft takes along those whose uid goes on after its own", ways=ONCE),
    _DELETE("delete-takes-others", "delete-spares-others", _taking(lambda r, other: other.role != r.role, 10**6),
        "Deleting a draft takes along all drafts of other accounts in the realm"),
    _DELETE("delete-of-another", ("delete-spares-others", _REMOVES), do.send(_of_another),
        "Deleting a draft deletes another one of the account in its place"),
    Rows("draft-", "attachment-")("save-drops-attachments", "outlives-save", _attachments_dropped,
        "Saving a draft again removes the attachments of the document",
        at=("saveDraft", "listAttachments", "getAttachment")),
    _READ("deleted-still-read", "delete-content-gone", do.answer(_deleted_still_read),
        "A draft that was deleted is still read", _DELETED),
    _EXISTS("deleted-still-exists", _REMOVES, do.forgive(None), "The exists check finds a draft that was deleted",
        _DELETED, ways=OFTEN),
    _EXISTS("exists-for-published", _REMOVES, do.forgive(None),
        "The exists check finds a document that has a published version and no draft", _PUBLISHED),
    _EXISTS("always-exists", "exists-absent", do.forgive(None),
        "The exists check finds a draft under every uid, never-saved ones included", _NEVER_SAVED),
    _EXISTS("never-exists", "exists-present", do.refuse(404), "The exists check finds no draft", ways=OFTEN),
    _READ("get-absent-empty", "get-absent", do.forgive({}),
        "A draft that was never saved is read as an empty object", _NEVER_SAVED),
    _INFO("info-absent-empty", "info-absent", do.forgive({}),
        "The info of a draft that was never saved is an empty object", _NEVER_SAVED),
    _READ("published-in-its-place", _CONTENT,
        do.edit(do.always({"header": {"languages": ["en"]}, "title": {"en": "published"}})),
        "Reading a draft gives the published version, where there is one", _PUBLISHED),
    _READ("read-from-cache", _UPDATES, _OUTDATED,
        "What was read of a draft once is given as it was then, whatever is saved later", ways=OFTEN),
    _READ("read-stale", _UPDATES, do.answer(_out_of_date), "A draft is read as it was before the latest save",
        ways=OFTEN),
    _READ("content-of-another", (_CONTENT, _OTHERS), do.send(_of_another),
        "Reading a draft gives another draft of the account", ways=OFTEN),
    _INFO("info-empty", "info-present", do.edit(do.always({})), "The info of a draft is an empty object", ways=OFTEN),
    _INFO("info-from-cache", "info-current", _OUTDATED,
        "The info of a draft is what it was when it was read first"),
    _INFO("info-of-latest", "info-own", do.send(_of_latest),
        "The info of a draft is that of the draft of the realm that was saved last", _THERE),
)
# fmt: on
