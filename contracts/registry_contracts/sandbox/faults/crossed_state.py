"""Crossed faults of the state: of the record itself, of related records, and of stored values."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.crossed_answers import without_effect
from registry_contracts.sandbox.faults.effects import Clauses, Effect, Side, Values, row
from registry_contracts.sandbox.faults.held import Held
from registry_contracts.sandbox.faults.messages import MISSING, Answer, Inject, Request, rewritten
from registry_contracts.sandbox.faults.places import CONTACTS, DRAFTS, FILES, NAMED_SUBMISSIONS
from registry_contracts.sandbox.storage import DRAFT, PUBLISHED, Attachment, Records, Version
from registry_contracts.sandbox.validation import CONTACT

_SAVE, _GET, _, _DELETE, _INFO = DRAFTS
_CREATE_FILE, _PERSIST, _, _, _GET_FILE, _ = FILES
_NAMED, _UPDATE = NAMED_SUBMISSIONS
#: Fields of a draft that the document names; of the header, and of all others, it promises less.
_FIELDS: Final = tuple(field.name for field in CONTACT.fields if field.name != "header")
Change = Callable[[Any], Any]


@do.effect
async def _late(request: Request, seconds: float) -> Answer | None:
    """Answer at once and store the change later, unless the record changed meanwhile."""
    kept, uid = request.held, request.uid
    before = kept.rows(uid)
    got = await request.ask()
    after = kept.rows(uid)
    if not got.done or before == after:
        return got

    def arrive() -> None:
        with suppress(sqlite3.Error):  # the service may have ended
            if kept.rows(uid) == before:
                kept.put(uid, after)

    request.memory.alter(partial(Held.put, uid=uid, rows=before))
    asyncio.get_running_loop().call_later(seconds, arrive)
    return got


@do.effect
async def _though_refused(request: Request, then: Callable[[Request, Records], object]) -> Answer | None:
    """Do something with a submission after it was refused for its content."""
    got = await request.ask()
    if got.errors and request.role and isinstance(request.member.get("document"), dict):
        request.memory.alter(partial(then, request))
    return got


def _save(request: Request, records: Records) -> object:
    about = {"schema": request.params["schema"], "owner": request.role}
    return records.store(*request.key, DRAFT, **about, content=json.dumps(request.member["document"]))


@do.effect
async def _with(request: Request, near: Callable[[Request], list[Any]], content: Change) -> Answer | None:
    """Remove related drafts or files, or give related drafts another content."""
    found = near(request)
    got = await request.ask()
    for other in found if got.done else ():
        if isinstance(other, Attachment):
            request.memory.alter(partial(Held.remove_attachment, number=other.id))
        elif (changed := content(request)) != other.content:
            request.memory.alter(partial(Held.change, draft=other, content=changed))
    return got


@do.effect
async def _given(request: Request, relation: str) -> Answer | None:
    """Answer with a related draft or file if the requested one exists."""
    got, of_file = await request.ask(), request.operation.id == _GET_FILE
    for draft in held.neighbours(request, relation)[:1] if got.success and not of_file else ():
        return await request.ask(held.at_draft(request, draft))
    for file in held.neighbour_files(request, relation)[:1] if got.success and of_file else ():
        return replace(got, body=(await request.ask(held.at_file(request, file))).body)
    return got


def removing(relation: str) -> Inject:
    """Remove the drafts with a relation to that of the request; of unrelated ones only the latest."""
    return _with(partial(_near, relation), do.always(None))


def removing_files() -> Inject:
    """Remove the files that the document of the request has before it."""
    return _with(held.files_of, do.always(None))


def _published(request: Request) -> list[Version]:
    version = request.held.version(*request.key, PUBLISHED)
    return [version] if version else []


# Values: the content of a document or a file changes on its way into the service, or out of it.


def _documented(change: Change, *, stored: bool) -> Inject:
    """Change a document when it is stored or read. Of a contact only its documented fields are promised."""

    def changed(request: Request, before: Any) -> Any:
        after = change(before)
        promised = _FIELDS if "lastName" in before else before.keys() - {"header"}
        request.memory.silent = not any(before.get(name) != after.get(name) for name in promised)
        return after

    def given(request: Request, got: Answer) -> Answer:
        told = got.success and isinstance(got.json, dict)
        return got.with_json(changed(request, got.json)) if told else got

    sent = do.send(lambda r: r.with_json(changed(r, r.json)) if isinstance(r.json, dict) else None)
    return sent if stored else do.answer(given)


def _texts(is_of: Callable[[str], bool], becomes: Any) -> Change:
    return partial(rewritten, lambda v, path: becomes if path and isinstance(v, str) and is_of(v) else v)


def _arrays(change: Change) -> Change:
    return partial(rewritten, lambda v, _: change(v) if isinstance(v, list) and v else v)


def _member(name: str, becomes: Any) -> Change:
    return partial(rewritten, lambda v, path: becomes if path == (name,) else v)


def _with_bytes(change: Callable[[bytes], bytes], request: Request) -> Request:
    return replace(request, body=change(request.body))


def _with_name(change: Callable[[str], str], request: Request) -> Request:
    # Whether a service gives a file with an unusual name another one is not shown.
    request.memory.silent = re.fullmatch(r"[\w.-]+", request.params["filename"], re.ASCII) is None
    return request.with_params(filename=change(request.params["filename"]) or "file")


def _has(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def _any(test: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda text: any(map(test, text))


# fmt: off
#: Texts that break services: scripts, which the document promises to keep, and texts that look like something else.
_SCRIPTS: Final[Mapping[str, tuple[str, Callable[[str], bool]]]] = {
    "beyond-ascii": ("with letters beyond ASCII", lambda text: not text.isascii()),
    "astral": ("with characters beyond the basic plane", _any(lambda c: c > "\uffff")),
    "marks": ("with combining marks", _any(unicodedata.combining)),
    "right-to-left": ("of a script from the right", _any(lambda c: unicodedata.bidirectional(c) in ("R", "AL"))),
    "joiners": ("with characters that join others", _has("[\u200b-\u200d\u2060]")),
    "separators": ("with line separators", _has("[\x0b\x0c\x85\u2028\u2029]")),
    "full-width": ("with full-width letters", _has("[\uff01-\uff5e]")),
}
_TEXTS: Final[Mapping[str, tuple[str, Callable[[str], bool]]]] = {
    **_SCRIPTS,
    "date": ("that looks like a date", _has(r"^\d{4}-\d\d-\d\d")),
    "number": ("that looks like a number", _has(r"^[-+]?\d+([.]\d+)?(e\d+)?$")),
    "boolean": ("that looks like a boolean", _has("(?i)^(true|false|yes|no|on|off)$")),
    "none": ("that looks like null", _has("(?i)^(null|none|nil|undefined|nan)$")),
    "json": ("that looks like JSON", _has(r"(?s)^[\[{].*[\]}]$")),
    "html": ("that looks like HTML", _has(r"<\w+[^>]*>|&\w+;")),
    "template": ("that looks like a template", _has(r"\$\{|\{\{|%\w")),
    "base64": ("that looks like Base64", _has(r"^[A-Za-z0-9+/]{8,}={1,2}$")),
    "address": ("that looks like an address", _has(r"^\w+://|^\S+@\S+$")),
    "path": ("that looks like a path", _has(r"\.\./|^/\w|\\\w")),
    "quotes": ("with quotation marks", _has("[\"'`]")),
    "backslash": ("with a backslash", _has(r"\\")),
    "line-break": ("of several lines", _has(r"\n")),
    "long": ("of 255 or more characters", lambda text: len(text) >= 255),
}
_BECOMES: Final = {"lost": ("nothing at all", MISSING), "null": ("null", None), "emptied": ("an empty text", "")}
_ARRAYS: Final[Mapping[str, tuple[str, Change]]] = {
    "first-lost": ("of several without the first item", lambda v: v[1:] or v),
    "second-lost": ("without the second item", lambda v: [*v[:1], *v[2:]]),
    "last-lost": ("of several without the last item", lambda v: v[:-1] or v),
    "reversed": ("in reverse order", lambda v: v[::-1]),
    "distinct": ("with each item once", lambda v: [item for at, item in enumerate(v) if item not in v[:at]]),
    "unpacked": ("of one as the item alone", lambda v: v[0] if len(v) == 1 else v),
    "emptied": ("of several as empty ones", lambda v: [] if len(v) > 1 else v),
}
_BYTES: Final[Mapping[str, tuple[str, Callable[[bytes], bytes]]]] = {
    "line-ends": ("with a line feed for each carriage return and line feed", lambda c: c.replace(b"\r\n", b"\n")),
    "high": ("with a question mark for each byte above 127", lambda c: bytes(b if b < 128 else 63 for b in c)),
    "null": ("without its null bytes", lambda c: c.replace(b"\0", b"")),
    "mark": ("without a byte order mark at its beginning", lambda c: c.removeprefix(b"\xef\xbb\xbf")),
    "last-newline": ("without the line break at its end", lambda c: c.removesuffix(b"\n")),
    "end-trimmed": ("without white space at its end", bytes.rstrip),
    "last-lost": ("without its last byte", lambda c: c[:-1]),
    "edge-lost": ("without byte 4,096", lambda c: c[:4095] + c[4096:]),
    "cut": ("cut behind 65,536 bytes", lambda c: c[:65_536]),
    "emptied": ("that is empty", lambda _: b""),
}
_NAMES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "lowered": ("in small letters", str.lower),
    "without-spaces": ("with underscores for spaces", lambda name: name.replace(" ", "_")),
    "without-signs": ("without signs other than dots, hyphens and underscores", partial(re.sub, r"[^\w.-]", "")),
    "in-ascii": ("without letters beyond ASCII", lambda name: name.encode("ascii", "ignore").decode()),
    "cut": ("of 64 characters at most", lambda name: name[:64]),
    "without-inner-dots": ("with its last dot alone", partial(re.sub, "[.](?=.*[.])", "")),
}
_UPDATES: Final = ("draft-save-updates",)
_CONTENT: Final = ("draft-get-content",)
_READ: Final = (*_CONTENT, *_UPDATES)
_FILE: Final = ("attachment-create-listed", "attachment-download-same", "attachment-exists-present")
_BYTES_KEPT: Final = ("attachment-download-same", "attachment-several")
#: Clauses that break when a related draft is lost or changed: by the operation, and by the relation.
_SPARED: Final = {_SAVE: ("draft-save-spares-others",), _DELETE: ("draft-delete-spares-others",),
    **dict.fromkeys((*NAMED_SUBMISSIONS, *CONTACTS), ())}
_APART: Final = {"twin": ("uid-case-sensitive",), "other_realm": ("realm-drafts-apart",),
    "on_twin": ("uid-files-case-sensitive",)}


def on_records() -> Iterator[Effect]:
    """The service reports success and does nothing, or something else."""
    lost: dict[str, Clauses] = {_SAVE: ("draft-save-creates", *_READ), _CREATE_FILE: (*_FILE, "attachment-several"),
        _NAMED: ("workflow-created-exists", "workflow-created-known"), _UPDATE: ("workflow-update-replaces-draft",),
        _PERSIST: ("attachment-persist-listed", "attachment-persist-downloads"),
        _DELETE: ("draft-delete-removes", "draft-delete-content-gone", "list-deleted-gone")}
    yield row("state", "without-effect", "answers success and leaves everything as it was", lost, without_effect,
        lost=True)
    for seconds in (1, 3):
        yield row("state", f"late-{seconds}", f"does what is asked {seconds} s after its answer",
            {name: lost[name] for name in (_SAVE, _DELETE)}, _late(seconds), lost=True)
    yield row("state", "published-lost", "removes the published version too",
        {_DELETE: ("draft-delete-keeps-published",)}, _with(_published, do.always(None)))
    yield row("state", "content-of-another", "stores the content of the account's latest other draft", {_SAVE: _READ},
        do.send(lambda r: next((r.with_json(json.loads(d.content)) for d in held.neighbours(r, "unrelated")), None)))
    yield row("state", "bytes-of-another", "stores the bytes of the latest other file", {_CREATE_FILE: _BYTES_KEPT},
        do.send(lambda r: next((replace(r, body=other) for f in reversed(r.held.files())
            if (other := held.bytes_of(r, f)) != r.body), None)))
    yield row("state", "others-lost", "removes the other files of the document", {_CREATE_FILE: ("attachment-several",
        "attachment-create-listed"), _PERSIST: ("attachment-create-listed",)}, removing_files())
    faulty = partial(row, "state", side=Side.REFUSED)
    yield faulty("draft-saved", "saves a document that it refuses for its content",
        {_NAMED: _faulty("workflow-order-validation-before-save"),
            _UPDATE: _faulty("workflow-refused-update-keeps-draft")}, _though_refused(_save))
    yield faulty("locked", "locks a record whose document it refuses for its content",
        {_NAMED: _faulty("workflow-order-validation-before-initiate")},
        _though_refused(lambda request, records: records.lock(*request.key, request.role)))


def _faulty(clause: str) -> Callable[[str, Values], Clauses]:
    """A clause that breaks only if the content is faulty."""
    return lambda _, values: (clause,) if any(value.name == "faulty" for value in values) else ()


def on_neighbours() -> Iterator[Effect]:
    """A related draft or file changes, or is given instead of the right one."""
    for name, (says, _) in held.RELATIONS.items():
        apart = _APART.get(name, ())
        gone = {
            op: (*own, *apart, *_CONTENT, "draft-exists-present")
            for op, own in _SPARED.items()
            # The identifier of a contact is not compared with those of drafts.
            if op not in CONTACTS or name == "unrelated"
        }
        yield row("neighbour", f"{name}-lost", f"also removes another draft: {says}", gone, removing(name))
        if name not in ("equal_content", "of_other_account"):
            yield row("neighbour", f"{name}-overwritten", f"also writes its own content over another draft: {says}",
                {op: clauses[:-1] for op, clauses in gone.items() if op != _DELETE},
                _with(partial(_near, name), lambda r: json.dumps(r.record)))
        if name != "equal_content":
            # Whether the save of another draft has changed one, or its read gives that one, is not seen from outside.
            info = {} if name == "other_realm" else {_INFO: ("draft-info-own", *apart)}
            yield row("neighbour", f"{name}-given", f"gives another draft: {says}",
                {_GET: (*_CONTENT, *apart, *_SPARED[_SAVE]), **info}, _given(name))
    for name, (says, _) in held.FILE_RELATIONS.items():
        apart = _APART.get(name, ())
        yield row("neighbour", f"{name}-lost", f"removes a file of another document {says}",
            {_CREATE_FILE: (*_FILE, *apart)}, _with(partial(held.neighbour_files, relation=name), do.always(None)))
        if "content" not in name and name != "same_file":
            yield row("neighbour", f"{name}-given", f"gives a file of another document {says}",
                {_GET_FILE: ("attachment-download-same", *apart)}, _given(name))


def _near(relation: str, request: Request) -> list[Version]:
    return held.neighbours(request, relation)[: 1 if relation == "unrelated" else None]


def _of_documents(name: str, what: str, clauses: Clauses, change: Change) -> Iterable[Effect]:
    yield row("value", name, f"stores {what}", {_SAVE: (*clauses, *_UPDATES)}, _documented(change, stored=True))
    yield row("value", name, f"gives {what}", {_GET: clauses}, _documented(change, stored=False))


def on_values() -> Iterator[Effect]:
    """A value changes when it is stored, or when it is read."""
    for kind, (says, is_of) in _TEXTS.items():
        clauses = (*_CONTENT, *(("draft-text-kept",) if kind in _SCRIPTS else ()))
        for name, (what, becomes) in _BECOMES.items():
            yield from _of_documents(f"{kind}-{name}", f"each text {says} as {what}", clauses, _texts(is_of, becomes))
    for name, (says, change) in _ARRAYS.items():
        yield from _of_documents(f"arrays-{name}", f"arrays {says}", _CONTENT, _arrays(change))
    for field in _FIELDS:
        for name in ("lost", "null"):
            what, becomes = _BECOMES[name]
            yield from _of_documents(f"{field}-{name}", f"{field} as {what}", _CONTENT, _member(field, becomes))
    for name, (says, of_bytes) in _BYTES.items():
        yield row("value", f"bytes-{name}", f"gives a file {says}", {_GET_FILE: _BYTES_KEPT}, do.content(of_bytes))
        yield row("value", f"bytes-{name}", f"stores a file {says}", {_CREATE_FILE:
            (*_BYTES_KEPT, "attachment-size-within")}, do.send(partial(_with_bytes, of_bytes)))
    for name, (says, renamed) in _NAMES.items():
        yield row("value", f"name-{name}", f"keeps a file under a name {says}", {_CREATE_FILE: ("attachment-name-kept",
            "attachment-exists-present", "attachment-create-listed")}, do.send(partial(_with_name, renamed)))
# fmt: on
