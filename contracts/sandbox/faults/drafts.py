"""Faults of drafts, each a row: contents that change, writes that are lost or go too far, reads that are wrong."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from contracts.sandbox.faults.effects import answer, edit, forgive, refuse, refuse_before
from contracts.sandbox.faults.fault import (
    Answer,
    Below,
    Fault,
    Inject,
    Memory,
    Request,
    answer_json,
    items_of,
    row,
    with_items,
)
from contracts.sandbox.faults.storage import VALUE_OPERATORS, changed, joined, out_of_date

Key = tuple[str, str]
_LARGE: Final = 64 * 1024


def _key(request: Request) -> Key:
    return request.realm, request.uid


def _is_new(request: Request, memory: Memory) -> bool:
    return _key(request) not in memory.saved


def _is_there(request: Request, memory: Memory) -> bool:
    return _key(request) in memory.saved


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


async def _others_values_kept(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Another account's save of a draft is accepted, and members that were there keep their values."""
    before = memory.saved[_key(request)]
    if before.role == request.role:
        return None
    return await joined(request, below, memory, lambda old, new: {**new, **old})


async def _members_stay(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A member left out of a later save stays in the draft."""
    return await joined(request, below, memory, lambda old, new: {**old, **new})


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


def _takes_along(near: Near) -> Inject:
    """Make the effect that deletes other drafts too; `near` is given the request and the other draft."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        others = _neighbours(request, memory, partial(near, request))
        got = await below(request)
        for other in others if got.success else ():
            await below(other.for_operation("deleteDraft", other.uid))
        return got

    return effect


async def _overwrites_alike(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Saving a draft also writes its content over a draft whose uid shares its first 20 characters."""
    others = _neighbours(request, memory, lambda other: other.uid[:20] == request.uid[:20])
    got = await below(request)
    for other in others[:1] if got.success else ():
        await below(other.with_json(request.json))
    return got


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
    got = await below(request)
    return with_items(got, lambda items: [item for item in items if item not in dropped])


def _of_members(keep: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return lambda value: {k: v for k, v in value.items() if keep(v)} if isinstance(value, dict) else value


def _letters(keep: Callable[[str], bool]) -> Callable[[Any], Any]:
    return lambda value: "".join(filter(keep, value)) if isinstance(value, str) else value


def _texts(change: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: change(value) if isinstance(value, str) else value


def _integers_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _fractions_cut(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value


def _last_item_lost(value: Any) -> Any:
    return value[:-1] if isinstance(value, list) and len(value) > 1 else value


def _sorted_texts(value: Any) -> Any:
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return sorted(value) if texts else value


def _inner_objects_emptied(document: Any) -> Any:
    return {
        name: {k: {} if isinstance(v, dict) else v for k, v in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in document.items()
    }


def _first_member_when_large(document: Any) -> Any:
    large = len(json.dumps(document, ensure_ascii=False)) > _LARGE
    return dict([*document.items()][:1]) if large else document


def _header_without_languages(document: Any) -> Any:
    header = document.get("header")
    if not isinstance(header, dict):
        return document
    return {**document, "header": {k: v for k, v in header.items() if k != "languages"}}


# fmt: off
#: What reading a draft makes of each value in it: clause, name, change, and a sentence.
_VALUES: Final[tuple[tuple[str, str, Callable[[Any], Any], str], ...]] = (
    ("draft-get-content", "content-without-last-item", _last_item_lost,
        "Arrays of more than one item lose the last one."),
    ("draft-get-content", "content-lists-of-100", lambda v: v[:100] if isinstance(v, list) else v,
        "Arrays end after a hundred items."),
    ("draft-get-content", "content-arrays-sorted", _sorted_texts, "Arrays of texts come back sorted."),
    ("draft-get-content", "content-integers-as-text", _integers_as_text, "Numbers come back as texts."),
    ("draft-get-content", "content-fractions-cut", _fractions_cut, "Numbers lose their fractions."),
    ("draft-get-content", "content-false-dropped", _of_members(lambda v: v is not False),
        "Members whose value is false are left out."),
    ("draft-get-content", "content-zero-dropped", _of_members(lambda v: isinstance(v, bool | str) or v != 0),
        "Members whose value is zero are left out."),
    ("draft-get-content", "content-texts-cut", VALUE_OPERATORS["text-cut-255"],
        "Texts of more than 255 characters are cut."),
    ("draft-text-kept", "text-mangled", _texts(lambda t: t.encode().decode("latin-1")),
        "Text is read as Latin-1 when it is UTF-8."),
    ("draft-text-kept", "text-question-marks", _texts(lambda t: t.encode("ascii", "replace").decode()),
        "Text has a question mark for each character beyond ASCII."),
    ("draft-text-kept", "text-beyond-basic-plane-lost", _letters(lambda c: ord(c) < 0x10000),
        "Text loses the characters beyond the basic plane."),
    ("draft-text-kept", "text-latin-only", _letters(lambda c: ord(c) < 0x100),
        "Text loses the characters that are not in Latin-1."),
    ("draft-text-kept", "text-escaped", VALUE_OPERATORS["text-escaped"],
        "Text has its angle brackets escaped as in HTML."),
    ("draft-text-exact", "text-composed", _texts(partial(unicodedata.normalize, "NFC")),
        "Text has accents in the composed form."),
    ("draft-text-exact", "text-trimmed", VALUE_OPERATORS["text-trimmed"], "Text loses white space at its ends."),
    ("draft-text-exact", "text-line-ends", VALUE_OPERATORS["text-line-ends-unix"],
        "Text has a line feed for each carriage return and line feed."),
    ("draft-text-exact", "text-without-control-characters", _letters(lambda c: c >= " " or c in "\r\n\t"),
        "Text loses control characters other than line breaks and tabs."),
    ("draft-values-kept", "content-nulls-dropped", _of_members(lambda v: v is not None),
        "Members whose value is null are left out."),
)
#: What reading a draft makes of the whole document.
_DOCUMENTS: Final[tuple[tuple[str, str, Callable[[Any], Any], str], ...]] = (
    ("draft-get-content", "content-empty", lambda _: {}, "Reading a draft gives an empty object."),
    ("draft-get-content", "content-without-nested-objects", _inner_objects_emptied,
        "Objects inside the objects of a draft come back empty."),
    ("draft-get-content", "content-without-20th-member", lambda d: {k: d[k] for at, k in enumerate(d) if at != 19},
        "The twentieth member of a draft is left out."),
    ("draft-get-content", "content-lost-when-large", _first_member_when_large,
        "Reading a draft above 64 KiB gives its first member alone."),
    ("draft-header-kept", "header-without-languages", _header_without_languages,
        "A draft that is read has no languages in its header."),
)


def _contents() -> Iterator[Fault]:
    for clause, name, change, says in _VALUES:
        yield row(f"draft-{name}", clause, "getDraft", edit(partial(changed, change=change)), says)
    for clause, name, change, says in _DOCUMENTS:
        yield row(f"draft-{name}", clause, "getDraft", edit(change), says)


def _writes() -> Iterator[Fault]:
    lost = "A draft is accepted when it is saved for the first time, and not stored."
    for condition in ("always", "in-chm-dev", "when-large", "of-other", "beyond-ascii", "one-in-twenty"):
        yield row("draft-create-lost", "draft-save-creates", "saveDraft", _undone(creating=True), lost, condition,
            where=_is_new if condition == "one-in-twenty" else None)
    lost = "An update of a draft is accepted, and the content from before stays."
    for condition in ("always", "in-bch-dev", "when-large", "one-in-twenty"):
        yield row("draft-update-lost", "draft-save-updates", "saveDraft", _undone(creating=False), lost, condition,
            where=_is_there)
    for condition in ("always", "in-chm-dev", "one-in-twenty"):
        yield row("draft-delete-kept", "draft-delete-removes", "deleteDraft", _delete_undone, "", condition,
            where=_is_there)
    yield row("draft-update-refused", "draft-save-updates", "saveDraft", refuse_before(),
        "Saving a draft that exists is refused.", where=_is_there)
    yield row("draft-update-of-other-merged", "draft-save-updates", "saveDraft", _others_values_kept, where=_is_there)
    yield row("draft-save-merges", "draft-save-replaces", "saveDraft", _members_stay)
    yield row("draft-not-after-delete", "draft-save-after-delete", "saveDraft", refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted.", where=lambda r, m: r.uid in m.deleted)
    yield row("draft-save-overwrites-alike", "draft-save-spares-others", "saveDraft", _overwrites_alike)
    yield row("draft-delete-takes-alike", "draft-delete-spares-others", "deleteDraft",
        _takes_along(lambda r, other: other.uid.startswith(r.uid)),
        "Deleting a draft takes along those whose uid goes on after its own.")
    yield row("draft-delete-takes-others", "draft-delete-spares-others", "deleteDraft",
        _takes_along(lambda r, other: other.role != r.role),
        "Deleting a draft takes along all drafts of other accounts in the realm.")
    yield row("draft-save-drops-attachments", "attachment-outlives-save", ("saveDraft", "listAttachments"),
        _attachments_dropped)


def _reads() -> Iterator[Fault]:
    gone = ("deleteDraft", "getDraft")
    yield row("draft-deleted-still-read-within", "draft-delete-content-gone", gone, _told_when_deleted)
    yield row("draft-saved-anew-with-deleted-members", "draft-delete-content-gone", ("deleteDraft", "saveDraft"),
        _deleted_members_back)
    yield row("draft-exists-by-its-beginning", "draft-delete-removes", "draftExists", _found_by_beginning)
    yield row("draft-exists-for-published", "draft-delete-removes", "draftExists", forgive(lambda _: True, None),
        "The exists check finds a document that has a published version and no draft.", where=_is_published)
    yield row("draft-published-in-its-place", "draft-get-content", "getDraft",
        edit(lambda _: {"header": {"languages": ["en"]}, "title": {"en": "published"}}),
        "Reading a draft gives the published version, where there is one.", where=_is_published)
    for condition in ("always", "in-bch-dev"):
        yield row("draft-always-exists", "draft-exists-absent", "draftExists", forgive(lambda _: True, None),
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
        yield row(f"{name}-absent-empty", clause, operation, forgive(lambda _: True, {}),
            f"{operation} gives an empty object for a draft that was never saved.", where=_never_saved)
    yield row("draft-info-nothing", "draft-info-present", "getDraftInfo",
        answer(lambda _, got: Answer(204) if got.success else got),
        "The info of a draft comes as an answer without a body.")
    yield row("draft-read-from-cache", "draft-save-updates", "getDraft", _first_read_kept)
    yield row("draft-read-stale", "draft-save-updates", "getDraft", out_of_date, condition="one-in-twenty")
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
    yield from _contents()
    yield from _writes()
    yield from _reads()
