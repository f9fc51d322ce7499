"""Faults of what is stored: writes that do not happen, or happen although refused, and bytes of files that change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults.fault import (
    DRAFTS,
    REPEATED,
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


async def always_there(request: Request, below: Below, _: Memory) -> Answer | None:
    """The exists check finds whatever it is asked for."""
    answer = await below(request)
    return Answer(200) if answer.status == 404 else answer


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
#: Files that are found, or taken, although they are not there.
_OF_FILES: Final[tuple[tuple[str, str, tuple[str, ...], Inject], ...]] = (
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
    for operation, operator, clauses, act in _OF_FILES:
        yield from _STATE.faults(operation, operator, clauses, act, possible_conditions(operation, REPEATED))
    for operation, clauses in _REFUSED_BUT_DONE:
        yield from _STATE.faults(operation, "refused-but-done", clauses, refused_but_done)


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
