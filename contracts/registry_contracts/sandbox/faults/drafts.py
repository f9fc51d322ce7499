"""Faults of drafts: what they hold, writes that are lost or go too far, and reads that are wrong or out of date."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, Literal

from registry_contracts.interface.description import load_description
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.fault import Rows, Table, each
from registry_contracts.sandbox.faults.messages import (
    MISSING,
    Answer,
    Inject,
    Request,
    answer_json,
    rewritten,
)
from registry_contracts.sandbox.faults.places import kebab

Change = Callable[[Any], Any]


def _of(kinds: tuple[type, ...], change: Change) -> Change:
    """Apply a change to every value of some kinds; a boolean is no number."""
    return partial(rewritten, lambda value, _: change(value) if type(value) in kinds else value)


_texts, _arrays, _objects, _numbers = (partial(_of, k) for k in ((str,), (list,), (dict,), (int, float)))


def _letters(keep: Callable[[str], bool], instead: str = "") -> Change:
    return _texts(lambda text: "".join(letter if keep(letter) else instead for letter in text))


def _normalized(form: Literal["NFC", "NFD"]) -> Change:
    return _texts(partial(unicodedata.normalize, form))


def _dropped(wanted: Any) -> Change:
    return _of((type(wanted),), lambda value: MISSING if value == wanted else value)


def _paths(value: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every member of a document and of the objects in it, as the names that lead to it."""
    for name, member in value.items() if isinstance(value, dict) else ():
        yield (*before, name)
        yield from _paths(member, (*before, name))


def _stored(change: Change) -> Inject:
    """Store another document than was sent."""
    return do.send(lambda r: r.with_json(change(r.json)) if isinstance(r.json, dict) else None)


def _before(request: Request) -> list[Request]:
    """What brings the draft back that was there, or takes it away where there was none."""
    return [request.memory.saved.get(request.key) or request.for_operation("deleteDraft")]


def _others(request: Request, near: Callable[[Request, Request], bool]) -> list[Request]:
    """The other drafts of the realm that are near, the newest first."""
    others = [other for other in reversed(request.memory.saved.values()) if other.uid != request.uid]
    return [other for other in others if other.realm == request.realm and near(request, other)]


def _own(request: Request, other: Request) -> bool:
    """Whether another draft is of the same account."""
    return other.role == request.role


def _taking(near: Callable[[Request, Request], bool], most: int) -> Inject:
    """Delete other drafts too, which are near."""
    return do.afterwards(lambda r: [other.for_operation("deleteDraft") for other in _others(r, near)[:most]])


async def _attachments_dropped(request: Request) -> Answer | None:
    dropped, uploads = request.memory.kept, request.memory.uploads.items()
    if request.operation.id == "saveDraft":
        dropped.update((number, upload) for number, upload in uploads if upload.uid == request.uid)
        return None
    if request.operation.id == "listAttachments":
        got = await request.ask()
        return got.with_items([item for item in got.items if str(item.get("id")) not in dropped])
    gone = answer_json(404, {"message": "there is no such attachment"})
    return gone if request.params["attachmentId"] in dropped else None


# fmt: off
_UPDATES, _CONTENT = "save-updates", "get-content"
_OTHERS, _REMOVES = "save-spares-others", "delete-removes"
#: Requests for a draft that is there, for one that is not, that was deleted, that never was, and of a published record.
_THERE, _NEW, _DELETED = "known~saved", "-known~saved", "known~deleted"
_NEVER_SAVED, _PUBLISHED = "-known~(saved|deleted)", "uid~^sandbox-published-"
#: Clauses on what a draft holds.
_ALL, _KEPT, _EXACT, _VALUES = "draft-get-content", "draft-text-kept", "draft-text-exact", "draft-values-kept"
_HEADER: Final = "draft-header-kept"
#: A value that changes in a documented field changes in any other, too.
_VALUES_TOO: Final = (_ALL, _VALUES)
#: Every member of the description's example of a draft.
_MEMBERS: Final = tuple(_paths(next(
    example["value"] for example in load_description().bundle["components"]["examples"].values()
    if "firstName" in example["value"])))


def _changed(of: Rows, effect: Callable[[Change], Inject], *beside: str) -> Table:
    """Documents that change on their way into a draft or out of it, and what that breaks beside."""
    return (
        # A text or a value that is kept in no documented field is wrong by a reading alone.
        *each(lambda clauses, name, change, says: of(name,
                (*clauses, *(() if {_ALL, _KEPT}.isdisjoint(clauses) else beside)), effect(change), says),
            ((_ALL,), "content-empty", lambda _: {}, "is an empty object"),
            ((_ALL,), "content-without-last-item", _arrays(lambda v: v[:-1] if len(v) > 1 else v),
                "lacks the last item of arrays of several"),
            ((_ALL,), "content-arrays-sorted",
                _arrays(lambda v: sorted(v) if all(isinstance(t, str) for t in v) else v),
                "has its arrays of texts sorted"),
            ((_ALL,), "content-arrays-distinct",
                _arrays(lambda v: [item for at, item in enumerate(v) if item not in v[:at]]),
                "has each item of an array once"),
            ((_ALL,), "content-array-of-one-unpacked", _arrays(lambda v: v[0] if len(v) == 1 else v),
                "has the item alone for an array of one"),
            (_VALUES_TOO, "content-below-depth-emptied", partial(rewritten,
                lambda value, path: type(value)() if len(path) == 3 and isinstance(value, dict | list) else value),
                "is empty three objects deep"),
            (_VALUES_TOO, "content-integers-as-text", _numbers(str), "has texts for numbers"),
            (_VALUES_TOO, "content-fractions-cut", _numbers(int), "has its numbers without their fractions"),
            (_VALUES_TOO, "content-negative-made-positive", _numbers(abs), "has its numbers without their sign"),
            # What goes beyond a double is kept by no promise of JSON (RFC 8259, 6), be the field documented.
            ((_VALUES,), "content-integers-as-doubles",
                _numbers(lambda v: float(v) if isinstance(v, int) and abs(v) > 2**53 else v),
                "has doubles for integers that no double holds"),
            (_VALUES_TOO, "content-booleans-as-text", _of((bool,), lambda v: str(v).lower()),
                "has texts for booleans"),
            (_VALUES_TOO, "content-false-dropped", _dropped(False), "lacks what is false"),
            (_VALUES_TOO, "content-zero-dropped", _dropped(0), "lacks what is zero"),
            (_VALUES_TOO, "content-digits-as-numbers",
                _texts(lambda t: int(t) if re.fullmatch("[0-9]{1,15}", t) else t), "has numbers for texts of digits"),
            ((_VALUES,), "content-nulls-dropped", _dropped(None), "lacks what is null"),
            ((_VALUES,), "content-empty-texts-dropped", _dropped(""), "lacks empty texts"),
            ((_VALUES,), "content-empty-arrays-dropped", _dropped([]), "lacks empty arrays"),
            ((_VALUES,), "content-empty-objects-dropped", _dropped({}), "lacks empty objects"),
            ((_VALUES,), "content-keys-with-dot-lost", _objects(lambda v: {k: m for k, m in v.items() if "." not in k}),
                "lacks members with a dot in the name"),
            ((_ALL, _HEADER), "content-keys-in-lower-case",
                _objects(lambda v: {k.lower(): m for k, m in v.items()}),
                "has the names of its members in small letters"),
            ((_KEPT,), "text-mangled", _texts(lambda t: t.encode().decode("latin-1")), "has its text read as Latin-1"),
            ((_KEPT,), "text-question-marks", _letters(str.isascii, "?"),
                "has a question mark for each character beyond ASCII"),
            ((_KEPT,), "text-beyond-basic-plane-lost", _letters(lambda c: c < "\U00010000"),
                "lacks characters beyond the basic plane"),
            ((_KEPT,), "text-accents-lost",
                _texts(lambda t: "".join(c for c in unicodedata.normalize("NFD", t) if not unicodedata.combining(c))),
                "lacks the accents of its letters"),
            ((_KEPT,), "text-escaped", _texts(lambda t: html.escape(t, quote=False)), "has its angle brackets escaped"),
            ((_KEPT, _ALL), "text-in-lower-case", _texts(str.lower), "is in small letters"),
            ((_EXACT,), "text-composed", _normalized("NFC"), "has accents in the composed form"),
            ((_EXACT,), "text-decomposed", _normalized("NFD"), "has accents in the form of two"),
            ((_EXACT,), "text-trimmed", _texts(str.strip), "has texts without white space at their ends"),
            ((_EXACT,), "text-line-ends", _texts(lambda t: t.replace("\r\n", "\n")),
                "has a line feed for carriage return and line feed"),
            ((_EXACT,), "text-without-control-characters", _letters(lambda c: c >= " " or c in "\r\n\t"),
                "lacks control characters other than line breaks and tabs"),
            ((_EXACT, _KEPT), "text-markup-removed", _texts(lambda t: re.sub("<[^>]*>", "", t)), "lacks HTML elements"),
            ((_EXACT, _KEPT, _ALL), "text-backslashes-lost", _texts(lambda t: t.replace("\\", "")),
                "lacks backslashes"),
        ),
        *each(lambda name, change, usual, says:
            of(f"content-{name}", (_ALL, *beside), effect(change(usual)), says.format(usual)),
            ("texts-cut", lambda n: _texts(lambda text: text[:n]), 255,
                "lacks what texts hold beyond {} characters"),
            ("arrays-cut", lambda n: _arrays(lambda items: items[:n]), 100,
                "lacks items of arrays beyond {}"),
            ("lost-when-large",
                lambda n: lambda d: d if len(json.dumps(d, ensure_ascii=False)) <= n else dict([*d.items()][:1]),
                65_536, "has its first member alone above {} bytes"),
            ("without-nth-member", lambda n: lambda d: {k: d[k] for at, k in enumerate(d, 1) if at != n}, 20,
                "lacks member {}"),
        ),
        # A service may complete a header or put it in order, so that the content is a draft's without it.
        *each(lambda path, word, becomes: of(f"{'-'.join(map(kebab, path))}-{word}",
                _HEADER if path[0] == "header" else (_ALL, *beside),
                effect(partial(rewritten, lambda value, at: becomes if at == path else value)),
                f"has {'.'.join(path)} {word}"),
            *((path, *row) for path in _MEMBERS for row in (("lost", MISSING), ("null", None))),
        ),
    )


_SAVE = Rows("draft-", "draft-", "saveDraft")
_DELETE = Rows("draft-", "draft-", "deleteDraft")
_READ, _EXISTS, _INFO = (Rows("draft-", "draft-", at) for at in ("getDraft", "draftExists", "getDraftInfo"))
_OUTDATED: Final = do.remember(lambda r: r.key)
ROWS: Final = (
    *_changed(Rows("draft-", "", "getDraft", "A draft that is read {}."), do.edit),
    *_changed(Rows("draft-saved-", "", "saveDraft", "A draft as it is stored {}."), _stored,
        "draft-save-updates", "draft-save-replaces"),
    # What is read at the same time is not what was saved, either.
    _SAVE("create-lost", ("save-creates", _CONTENT), do.afterwards(_before),
        "A draft is accepted when it is saved for the first time, and not stored", _NEW),
    _SAVE("create-lost", "save-creates", do.afterwards(_before),
        "A draft is accepted when it is saved for the first time, and not stored", _NEW,
        when="beyond-ascii"),
    _SAVE("update-lost", _UPDATES, do.afterwards(_before),
        "An update of a draft is accepted, and the content from before stays", _THERE),
    _SAVE("update-refused", _UPDATES, do.refuse_before(), "Saving a draft again is refused", _THERE),
    _SAVE("save-merges", "save-replaces",
        do.send(lambda r: r.with_json({**r.memory.saved.get(r.key, r).member, **r.member}) if r.member else None),
        "A member left out of a later save stays in the draft"),
    _SAVE("not-after-delete", "save-after-delete", do.refuse_before(),
        "A draft cannot be saved again under a uid whose draft was deleted", _DELETED),
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
        "Deleting a draft takes along those whose uid goes on after its own"),
    _DELETE("delete-takes-others", "delete-spares-others", _taking(lambda r, other: other.role != r.role, 10**6),
        "Deleting a draft takes along all drafts of other accounts in the realm"),
    Rows("draft-", "attachment-")("save-drops-attachments", "outlives-save", _attachments_dropped,
        "Saving a draft again removes the attachments of the document",
        at=("saveDraft", "listAttachments", "getAttachment")),
    _READ("deleted-still-read", "delete-content-gone",
        do.answer(lambda r, got: answer_json(200, r.memory.deleted[r.uid].json) if got.refusal and r.role else got),
        "A draft that was deleted is still read", _DELETED),
    _EXISTS("deleted-still-exists", _REMOVES, do.forgive(None), "The exists check finds a draft that was deleted",
        _DELETED),
    _EXISTS("exists-for-published", _REMOVES, do.forgive(None),
        "The exists check finds a document that has a published version and no draft", _PUBLISHED),
    _EXISTS("always-exists", "exists-absent", do.forgive(None),
        "The exists check finds a draft under every uid, never-saved ones included", _NEVER_SAVED),
    _EXISTS("never-exists", "exists-present", do.refuse(404), "The exists check finds no draft"),
    _READ("get-absent-empty", "get-absent", do.forgive({}),
        "A draft that was never saved is read as an empty object", _NEVER_SAVED),
    _INFO("info-absent-empty", "info-absent", do.forgive({}),
        "The info of a draft that was never saved is an empty object", _NEVER_SAVED),
    _READ("published-in-its-place", _CONTENT,
        do.edit(do.always({"header": {"languages": ["en"]}, "title": {"en": "published"}})),
        "Reading a draft gives the published version, where there is one", _PUBLISHED),
    _READ("read-from-cache", _UPDATES, _OUTDATED,
        "What was read of a draft once is given as it was then, whatever is saved later"),
    _READ("content-of-another", (_CONTENT, _OTHERS),
        do.send(lambda r: next((r.with_uid(other.uid) for other in _others(r, _own)), None)),
        "Reading a draft gives another draft of the account"),
    _INFO("info-empty", "info-present", do.edit(do.always({})), "The info of a draft is an empty object"),
    _INFO("info-from-cache", "info-current", _OUTDATED,
        "The info of a draft is what it was when it was read first"),
    _INFO("info-of-latest", "info-own",
        do.send(lambda r: r.with_uid(next(uid for realm, uid in reversed(r.memory.saved) if realm == r.realm))),
        "The info of a draft is that of the draft of the realm that was saved last", _THERE),
)
# fmt: on
