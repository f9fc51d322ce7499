"""Faults of drafts: writes that are lost or go too far, and reads that are wrong or out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import ALWAYS, OF_DOCUMENTS, OFTEN, ONCE
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import Answer, Inject, Request, Where, answer_json

_CREATES, _UPDATES, _CONTENT = "draft-save-creates", "draft-save-updates", "draft-get-content"
_OTHERS, _REMOVES = "draft-save-spares-others", "draft-delete-removes"
#: Which requests are meant, by what was done before; `there` is a draft that was saved and not deleted.
_WHERE: Final[dict[str, Where | str]] = {
    "there": lambda r: r.key in r.memory.saved,
    "new": lambda r: r.key not in r.memory.saved,
    "deleted": lambda r: r.uid in r.memory.deleted,
    "never saved": lambda r: r.key not in r.memory.saved and r.uid not in r.memory.deleted,
    "published": "uid~^sandbox-published-",
    "": "uid",
}


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
def _writes() -> Iterator[Fault]:
    # What is read at the same time is not what was saved, either.
    for breaks, when in (((_CREATES, _CONTENT), ALWAYS), ((_CREATES,), "beyond-ascii")):
        yield row("draft-create-lost", breaks, "saveDraft", do.afterwards(_before),
            "A draft is accepted when it is saved for the first time, and not stored.", when, where=_WHERE["new"],
            ways=OF_DOCUMENTS)
    for name, clauses, effect, where, ways, says in (
        ("update-lost", _UPDATES, do.afterwards(_before), "there", OF_DOCUMENTS,
            "An update of a draft is accepted, and the content from before stays"),
        ("update-refused", _UPDATES, do.refuse_before(), "there", OF_DOCUMENTS, "Saving a draft again is refused"),
        ("stored-elsewhere", (_CREATES, _UPDATES, _CONTENT), _stored_elsewhere, "", OFTEN,
            "A draft is stored under another identifier"),
        ("save-merges", "draft-save-replaces", do.send(_joined), "", OFTEN,
            "A member left out of a later save stays in the draft"),
        ("not-after-delete", "draft-save-after-delete", do.refuse_before(), "deleted", ONCE,
            "A draft cannot be saved again under a uid whose draft was deleted"),
        ("save-overwrites-latest", _OTHERS,
            do.afterwards(lambda r: [other.with_json(r.json) for other in _others(r, _own)[:1]]), "new", OFTEN,
            "Saving a new draft also writes its content over the account's latest draft"),
        ("save-deletes-latest", _OTHERS, _taking(_own, 1), "", OFTEN, "Saving a draft deletes the latest other one"),
    ):
        yield row(f"draft-{name}", clauses, "saveDraft", effect, f"{says}.", where=_WHERE[where], ways=ways)
    yield row("draft-delete-kept", (_REMOVES, "draft-delete-content-gone"), "deleteDraft", do.afterwards(_before),
        "A deleted draft stays, although deleting it succeeds.", where=_WHERE["there"], ways=OFTEN)
    for name, near, most, says in (
        ("latest", _own, 1, "the account's latest draft"),
        ("alike", lambda r, other: other.uid.startswith(r.uid), 10**6, "those whose uid goes on after its own"),
        ("others", lambda r, other: other.role != r.role, 10**6, "all drafts of other accounts in the realm"),
    ):
        yield row(f"draft-delete-takes-{name}", "draft-delete-spares-others", "deleteDraft", _taking(near, most),
            f"Deleting a draft takes along {says}.", ways=ONCE if name == "alike" else OFTEN)
    yield row("draft-delete-of-another", ("draft-delete-spares-others", _REMOVES), "deleteDraft", do.send(_of_another),
        "Deleting a draft deletes another one of the account in its place.", ways=OFTEN)
    yield row("draft-save-drops-attachments", "attachment-outlives-save",
        ("saveDraft", "listAttachments", "getAttachment"), _attachments_dropped,
        "Saving a draft again removes the attachments of the document.")


def _reads() -> Iterator[Fault]:
    cached, published = do.remember(lambda r: r.key), {"header": {"languages": ["en"]}, "title": {"en": "published"}}
    for name, clauses, at, effect, where, ways, says in (
        ("deleted-still-read", "draft-delete-content-gone", "getDraft", do.answer(_deleted_still_read), "deleted",
            ONCE, "A draft that was deleted is still read"),
        ("deleted-still-exists", _REMOVES, "draftExists", do.forgive(None), "deleted", OFTEN,
            "The exists check finds a draft that was deleted"),
        ("exists-for-published", _REMOVES, "draftExists", do.forgive(None), "published", ONCE,
            "The exists check finds a document that has a published version and no draft"),
        ("always-exists", "draft-exists-absent", "draftExists", do.forgive(None), "never saved", ONCE,
            "The exists check finds a draft under every uid, never-saved ones included"),
        ("never-exists", "draft-exists-present", "draftExists", do.refuse(404), "", OFTEN,
            "The exists check finds no draft"),
        ("get-absent-empty", "draft-get-absent", "getDraft", do.forgive({}), "never saved", ONCE,
            "A draft that was never saved is read as an empty object"),
        ("info-absent-empty", "draft-info-absent", "getDraftInfo", do.forgive({}), "never saved", ONCE,
            "The info of a draft that was never saved is an empty object"),
        ("published-in-its-place", _CONTENT, "getDraft", do.edit(do.always(published)), "published", ONCE,
            "Reading a draft gives the published version, where there is one"),
        ("read-from-cache", _UPDATES, "getDraft", cached, "", OFTEN,
            "What was read of a draft once is given as it was then, whatever is saved later"),
        ("read-stale", _UPDATES, "getDraft", do.answer(_out_of_date), "", OFTEN,
            "A draft is read as it was before the latest save"),
        ("content-of-another", (_CONTENT, _OTHERS), "getDraft", do.send(_of_another), "", OFTEN,
            "Reading a draft gives another draft of the account"),
        ("info-empty", "draft-info-present", "getDraftInfo", do.edit(do.always({})), "", OFTEN,
            "The info of a draft is an empty object"),
        ("info-from-cache", "draft-info-current", "getDraftInfo", cached, "", ONCE,
            "The info of a draft is what it was when it was read first"),
        ("info-of-latest", "draft-info-own", "getDraftInfo", do.send(_of_latest), "there", ONCE,
            "The info of a draft is that of the draft of the realm that was saved last"),
    ):
        yield row(f"draft-{name}", clauses, at, effect, f"{says}.", where=_WHERE[where], ways=ways)
# fmt: on


def draft_faults() -> Iterator[Fault]:
    """Writes and reads of drafts."""
    yield from _writes()
    yield from _reads()
