"""Faults of state: writes that do not happen, happen elsewhere or take others along, and reads that are out of date."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import DRAFTS, REPEATED, STATE, Fault, possible_conditions, under
from contracts.sandbox.faults.injection import (
    STAND_IN,
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
)


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
    return await _joined(request, below, memory, lambda old, new: {**new, **old})


async def arrays_appended(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A later save adds the items of its arrays to those of the earlier one."""

    def both(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        return {
            k: old[k] + v if isinstance(v, list) and isinstance(old.get(k), list) else v
            for k, v in new.items()
        }

    return await _joined(request, below, memory, both)


async def _joined(
    request: Request,
    below: Below,
    memory: Memory,
    join: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
) -> Answer | None:
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
        "createAttachment": ("attachment-create-listed", "attachment-download-same", "attachment-several"),
        "persistTemporaryFile": ("attachment-persist-listed", "attachment-persist-downloads"),
        "createWorkflowRecordWithIdentifier": (
            "workflow-created-exists",
            "workflow-created-known",
            "workflow-draft-saved",
        ),
    }
)
#: Writes and reads of the wrong record or state: operation, operator, clauses, injection.
_WRONG_EFFECTS: Final[tuple[tuple[str, str, tuple[str, ...], Inject], ...]] = (
    ("saveDraft", "stored-elsewhere", _LOST["saveDraft"], stored_elsewhere),
    (
        "saveDraft",
        "merged-with-before",
        ("draft-save-updates", "draft-save-replaces"),
        merged_with_before,
    ),
    (
        "saveDraft",
        "arrays-appended",
        ("draft-save-updates", "draft-save-replaces"),
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
        yield from under(
            possible_conditions(operation, STATE if operation in DRAFTS else REPEATED),
            family="state",
            operations=(operation,),
            operator="not-done",
            clauses=clauses,
            inject=not_done,
        )
    for operation, operator, clauses, act in _WRONG_EFFECTS:
        yield from under(
            possible_conditions(
                operation, STATE if load_description().operations[operation].takes_realm else REPEATED
            ),
            family="state",
            operations=(operation,),
            operator=operator,
            clauses=clauses,
            inject=act,
        )
    for operation, clauses in _REFUSED_BUT_DONE:
        yield from under(
            ("always",),
            family="state",
            operations=(operation,),
            operator="refused-but-done",
            clauses=clauses,
            inject=refused_but_done,
        )
