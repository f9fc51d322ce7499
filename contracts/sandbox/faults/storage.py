"""Faults of what is stored: writes that do not happen or happen elsewhere, stale reads, changed contents.

Contents are values of a document and bytes of a file, changed when they are stored or when they are read.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import (
    DRAFTS,
    MISSING,
    REPEATED,
    SINGLE,
    STAND_IN,
    STATE,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    kebab,
    possible_conditions,
)

_BYTES: Final = Family("bytes")
_STATE: Final = Family("state")
_MEMBERS: Final = Family("members")


async def not_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The service answers with success and does nothing."""
    if not request.role:
        return None
    if request.operation.id == "saveDraft":
        elsewhere = await below(request.with_uid(STAND_IN))
        return elsewhere.renamed(STAND_IN, request.uid)
    before = memory.successes.get(request.operation.id)
    if before is None:
        return None
    if request.operation.id == "deleteDraft" and (request.realm, request.uid) not in memory.saved:
        return None
    return before


async def stored_elsewhere(request: Request, below: Below, _: Memory) -> Answer | None:
    """A draft is stored under another identifier."""
    other = (request.uid[:-1] + ("x" if not request.uid.endswith("x") else "y"))[:128]
    return (await below(request.with_uid(other))).renamed(other, request.uid)


async def merged_with_before(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A later save keeps the members of the earlier one, and their values."""
    return await joined(request, below, memory, lambda old, new: {**new, **old})


async def arrays_appended(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A later save adds the items of its arrays to those of the earlier one."""

    def both(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        return {
            k: old[k] + v if isinstance(v, list) and isinstance(old.get(k), list) else v
            for k, v in new.items()
        }

    return await joined(request, below, memory, both)


async def joined(
    request: Request,
    below: Below,
    memory: Memory,
    join: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
) -> Answer | None:
    """Save the members of the earlier save and of this one, joined."""
    before = memory.saved.get((request.realm, request.uid))
    old, new = (before.json if before else None), request.json
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    return await below(
        request.with_json({**join(old, new), **({"header": new["header"]} if "header" in new else {})})
    )


def _another(request: Request, memory: Memory) -> Request | None:
    """The latest draft of the same account and realm under another identifier."""
    for (realm, uid), saved in reversed(memory.saved.items()):
        if realm == request.realm and uid != request.uid and saved.role == request.role:
            return saved
    return None


async def overwrites_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A save also writes over another draft."""
    other = _another(request, memory)
    answer = await below(request)
    if other is not None and answer.success and (request.realm, request.uid) not in memory.saved:
        await below(other.with_json(request.json))
    return answer


async def deletes_another(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A write also deletes another draft."""
    other = _another(request, memory)
    answer = await below(request)
    if other is not None and answer.success:
        await below(other.for_operation("deleteDraft", other.uid))
    return answer


async def deletes_instead(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Another draft is deleted in place of the one that is named."""
    other = _another(request, memory)
    return None if other is None else await below(request.with_uid(other.uid))


async def update_not_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A save under an identifier that has a draft is answered with success, and the draft stays as it was."""
    return await not_done(request, below, memory) if (request.realm, request.uid) in memory.saved else None


async def out_of_date(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A draft is read as it was before the latest save."""
    before = memory.before.get((request.realm, request.uid))
    answer = await below(request)
    if before is None or not answer.success:
        return answer
    current = (
        memory.saved[request.realm, request.uid].body if (request.realm, request.uid) in memory.saved else b""
    )
    return replace(answer, body=before.body) if answer.json == json.loads(current or b"null") else answer


async def deleted_still_read(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A draft that was deleted is still read."""
    key = ("getDraft", request.uid + str(sorted(request.params.items())))
    answer = await below(request)
    before = memory.answers.get(key)
    gone = not answer.success and request.uid in memory.deleted and bool(request.role)
    if not gone:
        return answer
    return before or answer_json(200, {"header": {"identifier": request.uid}})


async def deleted_still_there(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The exists check still finds a draft that was deleted."""
    answer = await below(request)
    gone = not answer.success and request.uid in memory.deleted and bool(request.role)
    return Answer(200) if gone else answer


async def always_there(request: Request, below: Below, _: Memory) -> Answer | None:
    """The exists check finds whatever it is asked for."""
    answer = await below(request)
    return Answer(200) if answer.status == 404 else answer


async def another_drafts_content(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Reading a draft gives the content of another one."""
    other = _another(request, memory)
    return None if other is None else await below(request.with_uid(other.uid))


async def emptied(request: Request, below: Below, _: Memory) -> Answer | None:
    """The body of a success is an empty object."""
    answer = await below(request)
    return answer.with_json({}) if answer.success else answer


async def attachment_of_any_document(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An attachment is found through the uid of any document."""
    number = request.params.get("attachmentId")
    for name, path in memory.answers:
        if name == "attachmentExists" and f"('attachmentId', '{number}')" in path:
            return Answer(200)
    answer = await below(request)
    if answer.success:
        memory.answers["attachmentExists", f"('attachmentId', '{number}')"] = answer
    return answer


async def refusal_turned(request: Request, below: Below, memory: Memory) -> Answer | None:
    """What has to be refused is answered with success."""
    answer = await below(request)
    if 400 <= answer.status < 500 and request.role:
        return memory.successes.get(request.operation.id) or answer_json(200, {"identifier": request.uid})
    return answer


async def refused_but_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A request without a good token is refused, and done all the same."""
    if request.role:
        return None
    answer = await below(request)
    if 400 <= answer.status < 500:
        await as_role(request, below, memory, "author")
    return answer


#: Writes, with the clauses that break where one is answered as done and not done.
_LOST: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "saveDraft": ("draft-save-creates", "draft-save-updates", "draft-get-content"),
        "deleteDraft": ("draft-delete-removes", "draft-delete-content-gone", "list-deleted-gone"),
        "createAttachment": (
            "attachment-create-listed",
            "attachment-download-same",
            "attachment-several",
            "attachment-name-kept",
            # An upload that has to be refused is answered with success as well.
            "uid-forbidden-characters",
            "uid-too-short",
            "uid-too-long",
        ),
        "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
        "createWorkflowRecordWithIdentifier": (
            "workflow-created-exists",
            "workflow-created-known",
            "workflow-draft-saved",
            # What has to be refused for its content is answered with success as well; so is what has a row.
            "workflow-document-validated",
            "workflow-document-missing",
            "workflow-document-kind",
            "workflow-body-kind",
            "workflow-batch-too-long",
            "workflow-info-too-long",
            "workflow-identifier-once",
        ),
    }
)
#: Writes and reads of the wrong record or state: operation, operator, clauses, injection.
_WRONG_EFFECTS: Final[tuple[tuple[str, str, tuple[str, ...], Inject], ...]] = (
    ("saveDraft", "stored-elsewhere", _LOST["saveDraft"], stored_elsewhere),
    (
        "saveDraft",
        "merged-with-before",
        ("draft-save-updates", "draft-save-replaces", "draft-get-content"),
        merged_with_before,
    ),
    (
        "saveDraft",
        "arrays-appended",
        ("draft-save-updates", "draft-save-replaces", "draft-get-content"),
        arrays_appended,
    ),
    ("saveDraft", "overwrites-another", ("draft-save-spares-others",), overwrites_another),
    ("saveDraft", "update-not-done", ("draft-save-updates",), update_not_done),
    ("saveDraft", "deletes-another", ("draft-save-spares-others",), deletes_another),
    ("deleteDraft", "deletes-another", ("draft-delete-spares-others",), deletes_another),
    (
        "deleteDraft",
        "deletes-another-instead",
        ("draft-delete-spares-others", "draft-delete-removes"),
        deletes_instead,
    ),
    ("getDraft", "out-of-date", ("draft-save-updates",), out_of_date),
    ("getDraft", "deleted-still-read", ("draft-delete-content-gone",), deleted_still_read),
    ("draftExists", "deleted-still-there", ("draft-delete-removes",), deleted_still_there),
    ("draftExists", "always-there", ("draft-exists-absent", "draft-delete-removes"), always_there),
    (
        "getDraft",
        "another-drafts-content",
        ("draft-get-content", "draft-save-spares-others"),
        another_drafts_content,
    ),
    ("getDraftInfo", "empty", ("draft-info-present",), emptied),
    (
        "attachmentExists",
        "always-there",
        ("attachment-exists-absent", "attachment-exists-other-document"),
        always_there,
    ),
    (
        "attachmentExists",
        "of-any-document",
        ("attachment-exists-other-document",),
        attachment_of_any_document,
    ),
    ("persistTemporaryFile", "unknown-taken", ("attachment-persist-unknown",), refusal_turned),
)
#: Other names of these, by operation and operator.
_OTHER_NAMES: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("saveDraft", "overwrites-another"): "draft-save-overwrites-latest",
        ("deleteDraft", "deletes-another"): "draft-delete-takes-latest",
        ("getDraft", "deleted-still-read"): "draft-deleted-still-read",
        ("draftExists", "deleted-still-there"): "draft-deleted-still-exists",
        ("getDraftInfo", "empty"): "draft-info-empty",
    }
)
#: Writes that are refused for their token and done all the same.
_REFUSED_BUT_DONE: Final = (
    ("saveDraft", ("draft-save-needs-token", "token-invalid-refused")),
    ("deleteDraft", ("draft-delete-needs-token", "token-invalid-refused")),
    ("createAttachment", ("attachment-create-needs-token", "token-invalid-refused")),
    ("persistTemporaryFile", ("attachment-persist-needs-token", "token-invalid-refused")),
)


def state_faults() -> Iterator[Fault]:
    """Writes that do not happen, happen elsewhere or take others along; reads that are out of date."""
    for operation, clauses in _LOST.items():
        rows = [clause.id for clause in load_catalogue() if clause.message and operation in clause.operations]
        yield from _STATE.faults(
            operation,
            "not-done",
            (*clauses, *rows),
            not_done,
            possible_conditions(operation, STATE if operation in DRAFTS else REPEATED),
        )
    for operation, operator, clauses, act in _WRONG_EFFECTS:
        yield from _STATE.faults(
            operation,
            operator,
            clauses,
            act,
            possible_conditions(
                operation, STATE if load_description().operations[operation].takes_realm else REPEATED
            ),
            also=_OTHER_NAMES.get((operation, operator), ""),
        )
    for operation, clauses in _REFUSED_BUT_DONE:
        yield from _STATE.faults(operation, "refused-but-done", clauses, refused_but_done)


Json = Any


Change = Callable[[Json], Json]


#: An integer that a double holds exactly.
_SAFE_INTEGER: Final = 2**53


_DEEP: Final = 3


def _texts(change: Callable[[str], Json]) -> Change:
    return lambda value: change(value) if isinstance(value, str) else value


def _numbers(change: Callable[[float], Json]) -> Change:
    return lambda value: (
        change(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    )


def _when(matches: Callable[[Json], bool], becomes: Json) -> Change:
    return lambda value: becomes if matches(value) else value


def _same(wanted: Json) -> Callable[[Json], bool]:
    return lambda value: type(value) is type(wanted) and bool(value == wanted)


def _arrays(change: Callable[[list[Json]], Json]) -> Change:
    return lambda value: change(value) if isinstance(value, list) else value


def _as_number(text: str) -> Json:
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else text


def _distinct(items: Sequence[Json]) -> list[Json]:
    kept: list[Json] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept


#: Changes of one value, whatever its place; each is tried on every value inside a document, leaves first.
VALUE_OPERATORS: Final[Mapping[str, Change]] = MappingProxyType(
    {
        "number-as-string": _numbers(str),
        "digits-as-number": _texts(_as_number),
        "word-as-boolean": lambda value: (
            {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
        ),
        "fraction-rounded": _numbers(lambda value: int(value) if isinstance(value, float) else value),
        "integer-as-double": _numbers(
            lambda value: float(value) if isinstance(value, int) and abs(value) > _SAFE_INTEGER else value
        ),
        "negative-made-positive": _numbers(abs),
        "boolean-as-string": lambda value: str(value).lower() if isinstance(value, bool) else value,
        "boolean-as-number": lambda value: int(value) if isinstance(value, bool) else value,
        "zero-dropped": _when(lambda v: _same(0)(v) or _same(0.0)(v), MISSING),
        "false-dropped": _when(_same(False), MISSING),
        "null-dropped": _when(lambda value: value is None, MISSING),
        "empty-text-dropped": _when(_same(""), MISSING),
        "empty-array-dropped": _when(_same([]), MISSING),
        "empty-object-dropped": _when(_same({}), MISSING),
        "empty-text-null": _when(_same(""), None),
        "text-cut-50": _texts(lambda text: text[:50]),
        "text-cut-255": _texts(lambda text: text[:255]),
        "text-cut-4096": _texts(lambda text: text[:4096]),
        "text-cut-65535": _texts(lambda text: text[:65535]),
        "text-cut-131072": _texts(lambda text: text[:131072]),
        "text-composed": _texts(lambda text: unicodedata.normalize("NFC", text)),
        "text-decomposed": _texts(lambda text: unicodedata.normalize("NFD", text)),
        "text-trimmed": _texts(str.strip),
        "text-spaces-collapsed": _texts(lambda text: re.sub(r" {2,}", " ", text)),
        "text-escaped": _texts(lambda text: html.escape(text, quote=False)),
        "text-unescaped": _texts(html.unescape),
        "text-markup-removed": _texts(lambda text: re.sub(r"<[^>]*>", "", text)),
        "text-lower-case": _texts(str.lower),
        "text-first-capital": _texts(lambda text: text[:1].upper() + text[1:]),
        "text-accents-lost": _texts(
            lambda text: "".join(
                c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)
            )
        ),
        "text-astral-replaced": _texts(lambda text: re.sub("[\U00010000-\U0010ffff]", "�", text)),
        "text-beyond-latin-replaced": _texts(lambda text: re.sub("[^\x00-\xff]", "?", text)),
        "text-line-ends-unix": _texts(lambda text: text.replace("\r\n", "\n")),
        "text-line-ends-lost": _texts(lambda text: text.replace("\r", "").replace("\n", " ")),
        "text-tabs-lost": _texts(lambda text: text.replace("\t", " ")),
        "text-backslash-lost": _texts(lambda text: text.replace("\\", "")),
        "text-quote-doubled": _texts(lambda text: text.replace("'", "''")),
        "array-reversed": _arrays(lambda items: items[::-1]),
        "array-distinct": _arrays(_distinct),
        "array-first-only": _arrays(lambda items: items[:1]),
        "array-last-lost": _arrays(lambda items: items[:-1]),
        "array-cut-10": _arrays(lambda items: items[:10]),
        "array-of-one-unpacked": _arrays(lambda items: items[0] if len(items) == 1 else items),
    }
)


def changed(value: Json, change: Change) -> Json:
    """Apply a change to every value inside a JSON value, leaves first."""
    if isinstance(value, dict):
        members = ((name, changed(member, change)) for name, member in value.items())
        value = {name: member for name, member in members if member is not MISSING}
    elif isinstance(value, list):
        value = [item for item in (changed(item, change) for item in value) if item is not MISSING]
    return change(value)


def _deep_emptied(value: Json, depth: int = _DEEP) -> Json:
    if isinstance(value, dict):
        return (
            {} if depth == 0 else {name: _deep_emptied(member, depth - 1) for name, member in value.items()}
        )
    if isinstance(value, list):
        return [] if depth == 0 else [_deep_emptied(item, depth - 1) for item in value]
    return value


def _without_keys(lost: Callable[[str], bool]) -> Change:
    return lambda value: (
        {name: member for name, member in value.items() if not lost(name)}
        if isinstance(value, dict)
        else value
    )


def _keys(change: Callable[[str], str]) -> Change:
    return lambda value: (
        {change(name): member for name, member in value.items()} if isinstance(value, dict) else value
    )


#: Changes of a whole document.
DOCUMENT_OPERATORS: Final[Mapping[str, Change]] = MappingProxyType(
    {
        **{name: partial(changed, change=change) for name, change in VALUE_OPERATORS.items()},
        "keys-with-dot-lost": lambda value: changed(value, _without_keys(lambda name: "." in name)),
        "keys-with-dollar-lost": lambda value: changed(
            value, _without_keys(lambda name: name.startswith("$"))
        ),
        "keys-with-space-lost": lambda value: changed(value, _without_keys(lambda name: " " in name)),
        "keys-with-underscore-lost": lambda value: changed(value, _without_keys(lambda n: n.startswith("_"))),
        "keys-lower-case": lambda value: changed(value, _keys(str.lower)),
        "below-depth-emptied": _deep_emptied,
    }
)


def member_dropped(path: Sequence[str]) -> Change:
    """Return the change that takes the member at a path out of a document."""
    return lambda value: _at(value, path, lambda _: MISSING)


def member_null(path: Sequence[str]) -> Change:
    """Return the change that makes the member at a path null."""
    return lambda value: _at(value, path, lambda _: None)


def _at(value: Json, path: Sequence[str], change: Change) -> Json:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    inner = change(value[path[0]]) if len(path) == 1 else _at(value[path[0]], path[1:], change)
    rest = {name: member for name, member in value.items() if name != path[0]}
    return rest if inner is MISSING else {**value, path[0]: inner}


def paths_of(value: Json, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every member of a document and of the objects in it, as the names that lead to it."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*before, name)
            yield from paths_of(member, (*before, name))


async def request_changed(request: Request, below: Below, _: Memory, *, change: Change) -> Answer | None:
    """The service stores another document than it was sent."""
    document = request.json
    if not isinstance(document, dict):
        return None
    altered = change(document)
    return (
        None
        if altered == document and _kinds(altered) == _kinds(document)
        else await below(request.with_json(altered))
    )


async def content_changed(request: Request, below: Below, _: Memory, *, change: Change) -> Answer | None:
    """The service gives another document than it stored; its header and what is around it stay."""
    answer = await below(request)
    document = answer.json
    return answer.with_json(change(document)) if answer.success and isinstance(document, dict) else answer


def _kinds(value: Any) -> str:
    return json.dumps(value, sort_keys=False)


def document_faults() -> Iterator[Fault]:
    """Values of a draft, changed when it is saved or when it is read.

    That a change of an ordinary document is wrong is stated; what becomes of values that no such document holds is a
    reading, but for text in other scripts.
    """
    examples = (example["value"] for example in load_description().bundle["components"]["examples"].values())
    bodies = (example for example in examples if isinstance(example, dict))
    # Answers are no documents, and a submission only holds one.
    documents = [body.get("document", body) for body in bodies if {"document", "header"} & body.keys()]
    for operator, change in DOCUMENT_OPERATORS.items():
        clauses = (
            "draft-get-content",
            "draft-text-kept",
            "draft-text-exact",
            "draft-save-updates",
            "draft-save-replaces",
        )
        kind = "text" if operator.startswith("text-") else "values"
        scripts = operator in ("text-astral-replaced", "text-beyond-latin-replaced", "text-accents-lost")
        shows = scripts or any(json.dumps(change(document)) != json.dumps(document) for document in documents)
        yield from Family(f"content-{kind}").faults(
            "saveDraft",
            operator,
            clauses,
            partial(request_changed, change=change),
            REPEATED[:5],
            stated=shows,
        )
        yield from Family(f"content-{kind}").faults(
            "getDraft", operator, clauses, partial(content_changed, change=change), SINGLE, stated=shows
        )


def member_faults() -> Iterator[Fault]:
    """Each member of a documented record, at every depth, lost or made null on its way into a draft or out of it."""
    examples = load_description().bundle["components"]["examples"]
    document = next(e["value"] for e in examples.values() if "firstName" in e["value"])
    for path in paths_of(document):
        name = "-".join(map(kebab, path))
        # A service may complete a header or put it in order, so that the content is a draft's without it.
        in_header = path[0] == "header"
        clauses = ("draft-header-kept",) if in_header else ("draft-get-content", "draft-save-updates")
        for word, change in (("lost", member_dropped(path)), ("null", member_null(path))):
            for operation, act in (
                ("saveDraft", request_changed),
                ("getDraft", content_changed),
            ):
                yield from _MEMBERS.faults(operation, f"{name}-{word}", clauses, partial(act, change=change))


#: Changes of a file's bytes.
BYTE_OPERATORS: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        "last-byte-lost": lambda content: content[:-1],
        "first-byte-lost": lambda content: content[1:],
        "cut-1024": lambda content: content[:1024],
        "cut-8192": lambda content: content[:8192],
        "cut-65536": lambda content: content[:65536],
        "block-boundary-byte-lost": lambda content: content[:4095] + content[4096:],
        "line-ends-unix": lambda content: content.replace(b"\r\n", b"\n"),
        "line-ends-windows": lambda content: re.sub(rb"(?<!\r)\n", b"\r\n", content),
        "mark-lost": lambda content: content.removeprefix(b"\xef\xbb\xbf"),
        "mark-added": lambda content: b"\xef\xbb\xbf" + content,
        "trailing-space-lost": bytes.rstrip,
        "zero-bytes-lost": lambda content: content.replace(b"\0", b""),
        "decoded-as-text": lambda content: content.decode("utf-8", "replace").encode(),
        "high-bit-lost": lambda content: bytes(byte & 0x7F for byte in content),
        "newline-added": lambda content: content + b"\n",
        "emptied": lambda _: b"",
    }
)


def _of_kind(request: Request, suffix: str) -> bool:
    return not suffix or PurePosixPath(request.params.get("filename", "")).suffix.lower() == suffix


async def upload_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[bytes], bytes], suffix: str
) -> Answer | None:
    """The service stores other bytes than it was sent."""
    if not _of_kind(request, suffix):
        return None
    return await below(replace(request, body=change(request.body)))


async def download_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[bytes], bytes], suffix: str
) -> Answer | None:
    """The service gives other bytes than it stored."""
    if not _of_kind(request, suffix):
        return None
    answer = await below(request)
    return replace(answer, body=change(answer.body)) if answer.success else answer


async def another_files_bytes(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A download gives the bytes of the download before it."""
    before = memory.successes.get("getAttachment")
    answer = await below(request)
    memory.successes.setdefault("getAttachment", answer)
    return replace(answer, body=before.body) if answer.success and before is not None else answer


async def first_upload_kept(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A file of a name that was sent before is stored with the bytes of the first."""
    key = (request.operation.id, request.params.get("filename", ""))
    first = memory.before.setdefault(key, request)
    return await below(replace(request, body=first.body))


def file_faults() -> Iterator[Fault]:
    """Bytes of a file, changed when it is sent or when it is downloaded, for all files or for those of one kind."""
    clauses = ("attachment-download-same", "attachment-several", "attachment-size-within")
    kinds = ("", ".txt", ".json", ".xml", ".csv", ".html", ".pdf", ".png", ".bin")
    for operator, change in BYTE_OPERATORS.items():
        for kind in kinds:
            name = f"{operator}{'-of-' if kind else ''}{kind.removeprefix('.')}"
            for operation, act in (
                ("createAttachment", upload_changed),
                ("getAttachment", download_changed),
            ):
                conditions = REPEATED if not kind else ("always",)
                yield from _BYTES.faults(
                    operation, name, clauses, partial(act, change=change, suffix=kind), conditions
                )
    yield from _BYTES.faults(
        "getAttachment",
        "another-files-bytes",
        ("attachment-several", "attachment-download-same"),
        another_files_bytes,
        ("always", "every-third"),
    )
    yield from _BYTES.faults(
        "createAttachment",
        "same-name-replaced-everywhere",
        ("attachment-several", "attachment-download-same", "attachment-list-own-only"),
        first_upload_kept,
    )
