"""Faults of the workflow: the rows of its table, the limits of a submission, the steps' order and effects."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import Clause, load_catalogue
from contracts.sandbox.faults.fault import (
    SINGLE,
    SUBMISSIONS,
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
)
from contracts.sandbox.faults.samples import valid_document
from contracts.sandbox.faults.storage import refused_but_done

_STATE: Final = Family("state")
_LIMITS: Final = Family("limits")
_ROWS: Final = Family("rows")


def _has_message(answer: Answer, message: str) -> bool:
    """Whether a refusal carries the message of a row; the row's realm may stand where its placeholder is."""
    beginning = message.partition("${")[0].strip(" .")
    return beginning in json.dumps(answer.json) and 400 <= answer.status < 500


async def _row_changed(
    request: Request, below: Below, memory: Memory, *, message: str, others: tuple[str, ...], kind: str
) -> Answer | None:
    answer = await below(request)
    if not _has_message(answer, message):
        return answer
    text = answer.body.decode()
    beginning = message.partition("${")[0].strip(" .")
    if kind == "taken":
        return memory.successes.get(request.operation.id) or answer_json(200, {"identifier": request.uid})
    if kind == "other-status":
        return replace(answer, status=422 if answer.status == 400 else 401)
    if kind == "not-found":
        return replace(answer, status=404)
    changed = {
        "message-of-another": others[0],
        "message-short": beginning[: len(beginning) // 2],
        "message-missing": "",
        "message-upper-case": beginning.upper(),
        "message-translated": "La demande est refusée",
        "message-code-only": "WF-0017",
    }[kind]
    # The refusal's own body, with another text in the place of the message.
    body = _replaced(json.loads(text), beginning, changed)
    return answer.with_json(body)


def _replaced(value: Any, beginning: str, text: str) -> Any:
    if isinstance(value, str):
        return text if beginning in value else value
    if isinstance(value, dict):
        return {name: _replaced(member, beginning, text) for name, member in value.items()}
    return [_replaced(item, beginning, text) for item in value] if isinstance(value, list) else value


#: What may be wrong with the answer of a row of the workflow table.
ROW_INJECTIONS: Final[Mapping[str, Callable[..., Awaitable[Answer | None]]]] = MappingProxyType(
    {
        kind: partial(_row_changed, kind=kind)
        for kind in (
            "taken",
            "other-status",
            "not-found",
            "message-of-another",
            "message-short",
            "message-missing",
            "message-translated",
            "message-code-only",
        )
    }
)


async def text_cut(
    request: Request, below: Below, _: Memory, *, member: str, limit: int, more: int
) -> Answer | None:
    """A text that is too long by no more than so many characters is taken."""
    body = request.json
    value = body.get(member) if isinstance(body, dict) else None
    if not isinstance(value, str) or not limit < len(value) <= limit + more:
        return None
    return await below(request.with_json({**body, member: value[:limit]}))


async def text_refused(
    request: Request, _below: Below, _: Memory, *, member: str, longest: int
) -> Answer | None:
    """A text within the limit is refused."""
    body = request.json
    value = body.get(member) if isinstance(body, dict) else None
    if isinstance(value, str) and len(value) > longest:
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": member}]})
    return None


def _valid_submission(request: Request) -> dict[str, Any] | None:
    """A submission that the service takes under the schema and the identifier of a request."""
    document = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return None if document is None else {"document": document}


async def document_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A document is not validated against its schema."""
    body, good = request.json, _valid_submission(request)
    if good is None or not isinstance(body, dict) or not isinstance(body.get("document"), dict):
        return None
    answer = await below(request)
    return (
        answer
        if answer.success or answer.status == 403 or not request.role
        else await below(request.with_json({**body, "document": good["document"]}))
    )


async def document_kind_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A document that is no object is taken."""
    body, good = request.json, _valid_submission(request)
    if (
        good is None
        or not isinstance(body, dict)
        or "document" not in body
        or isinstance(body["document"], dict)
    ):
        return None
    return await below(request.with_json(good))


async def document_missing_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A submission without a document is taken."""
    body, good = request.json, _valid_submission(request)
    if good is None or not isinstance(body, dict) or "document" in body:
        return None
    return await below(request.with_json(good))


async def body_repaired(request: Request, below: Below, _: Memory) -> Answer | None:
    """A body that is no object is taken."""
    body, good = request.json, _valid_submission(request)
    if good is None or isinstance(body, dict):
        return None
    return await below(request.with_json(good))


async def refused_document_saved(request: Request, below: Below, _: Memory) -> Answer | None:
    """The document of a submission that is refused for its content is saved as a draft."""
    answer = await below(request)
    body = request.json
    received = answer.json
    if (
        request.role
        and isinstance(received, dict)
        and "errors" in json.dumps(received)
        and isinstance(body, dict)
    ):
        document = json.dumps(body.get("document")).encode()
        schema = request.params.get("schema", "")
        await below(request.for_operation("saveDraft", request.uid, document, schema=schema))
    return answer


async def same_answer_again(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A submission without an identifier gets the identifier of the one before."""
    before = memory.successes.get("createWorkflowRecord")
    answer = await below(request)
    return before if before is not None and answer.success else answer


def workflow_faults() -> Iterator[Fault]:
    """The rows of the workflow table, the order of its steps, its limits, and what a submission brings about."""
    yield from _row_faults()
    for operation in SUBMISSIONS:
        yield from _length_faults(operation)
        yield from _content_faults(operation)
    yield from _effect_faults()


def _row_faults() -> Iterator[Fault]:
    """The rows of the workflow table."""
    by_message = _clauses_by_message()
    # The clause of the row itself has the shortest name; the others hang on the same answer.
    rows = [min(clauses, key=lambda each: len(each.id)) for clauses in by_message.values()]
    for row in rows:
        for operation in row.operations:
            # A request that names an unknown realm is in none of the realms.
            conditions = SINGLE[:1] if row.id == "workflow-realm-unknown" else SINGLE
            for operator, act in ROW_INJECTIONS.items():
                yield from _ROWS.faults(
                    operation,
                    f"{row.id.removeprefix('workflow-')}-{operator}",
                    _clauses_of(row, by_message),
                    partial(act, message=row.message, others=tuple(r.message for r in rows if r is not row)),
                    conditions,
                )


def _length_faults(operation: str) -> Iterator[Fault]:
    """Texts that are longer than their limit and taken, or within it and refused."""
    catalogue = load_catalogue()
    for member, limit, above, at in (
        ("batchId", 100, "workflow-batch-too-long", "workflow-batch-longest"),
        ("additionalInfo", 1000, "workflow-info-too-long", "workflow-info-longest"),
    ):
        for more in (1, 10, 100, 10**6):
            yield from _LIMITS.faults(
                operation,
                f"{kebab(member)}-{more}-more-taken",
                (above,),
                partial(text_cut, member=member, limit=limit, more=more),
            )
        for fewer in (1, 20):
            if operation in catalogue.clause(at).operations:
                yield from _LIMITS.faults(
                    operation,
                    f"{kebab(member)}-{fewer}-fewer-only",
                    (at,),
                    partial(text_refused, member=member, longest=limit - fewer),
                )


def _content_faults(operation: str) -> Iterator[Fault]:
    """Submissions whose content is not looked at."""
    steps = (
        (
            "content-not-validated",
            ("workflow-document-validated", "errors-array"),
            document_repaired,
        ),
        ("document-of-any-kind", ("workflow-document-kind",), document_kind_repaired),
        ("document-not-needed", ("workflow-document-missing",), document_missing_repaired),
        ("body-of-any-kind", ("workflow-body-kind",), body_repaired),
    )
    for operator, clauses, act in steps:
        yield from _LIMITS.faults(operation, operator, clauses, act, SINGLE)


def _effect_faults() -> Iterator[Fault]:
    """What a submission changes although it is refused, or does not tell apart."""
    yield from _STATE.faults(
        "createWorkflowRecordWithIdentifier",
        "draft-saved-although-refused",
        ("workflow-order-validation-before-save",),
        refused_document_saved,
        SINGLE,
    )
    yield from _STATE.faults(
        "updateWorkflowRecord",
        "draft-changed-although-refused",
        ("workflow-refused-update-keeps-draft",),
        refused_document_saved,
        SINGLE,
    )
    yield from _STATE.faults(
        "createWorkflowRecord",
        "same-identifier-again",
        ("workflow-distinct-identifiers",),
        same_answer_again,
        ("always", "from-second-time"),
    )


def _clauses_by_message() -> Mapping[str, Sequence[Clause]]:
    """The clauses of the workflow that give a message, by the message."""
    by_message: dict[str, list[Clause]] = {}
    for clause in load_catalogue():
        if clause.message is not None and clause.id.startswith("workflow-"):
            by_message.setdefault(clause.message, []).append(clause)
    return by_message


def _clauses_of(row: Clause, by_message: Mapping[str, Sequence[Clause]]) -> tuple[str, ...]:
    """The clauses that hang on the answer of a row: the row's own first, then all with the same message."""
    same = [clause.id for clause in by_message[row.message or ""]]
    return tuple(dict.fromkeys((row.id, *same, *_clauses_beside(row.id))))


def _clauses_beside(row: str) -> tuple[str, ...]:
    """Clauses that hang on the same answer as a row."""
    return {
        "workflow-anonymous": (
            "workflow-invalid-token",
            "workflow-create-needs-token",
            "workflow-update-needs-token",
            "workflow-create-with-identifier-needs-token",
        ),
        "workflow-realm-unknown": ("realm-query-unknown",),
        "workflow-identifier-taken": ("workflow-created-exists", "workflow-order-taken-before-validation"),
        "workflow-identifier-unknown": ("workflow-order-unknown-before-validation", "workflow-created-known"),
        "workflow-locked-record": ("workflow-order-locked-before-validation",),
    }.get(row, ())


async def validated_first(request: Request, below: Below, _: Memory, *, message: str) -> Answer | None:
    """A faulty document is reported before its identifier is looked at."""
    answer = await below(request)
    body = request.json
    document = body.get("document") if isinstance(body, dict) else None
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    if (
        good is None
        or message not in answer.body.decode("utf-8", "replace")
        or not isinstance(document, dict)
    ):
        return answer
    wrong = sorted(name for name, value in good.items() if type(document.get(name)) is not type(value))
    errors = [
        {"code": "Error.InvalidType" if name in document else "Error.Mandatory", "property": name}
        for name in wrong
    ]
    return answer_json(400, {"errors": errors}) if errors else answer


async def without_rights_saved(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A submission that is refused for want of rights is carried out all the same."""
    answer = await below(request)
    if request.role == "restricted" and answer.status == 403:
        await as_role(request, below, memory, "author")
    return answer


async def freed_by_deleting(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Deleting a draft takes the published version along: its identifier is free again."""
    answer = await below(request)
    taken = "with the identifier exists" in answer.body.decode("utf-8", "replace")
    if taken and request.uid in memory.deleted:
        return answer_json(201, {"identifier": request.uid})
    return answer


async def bytes_counted(
    request: Request, _below: Below, _: Memory, *, member: str, limit: int
) -> Answer | None:
    """The limit of a text counts bytes."""
    body = request.json
    value = body.get(member) if isinstance(body, dict) else None
    if isinstance(value, str) and len(value) <= limit < len(value.encode("utf-8", "replace")):
        return answer_json(400, {"errors": [{"code": "Error.InvalidValue", "property": member}]})
    return None


def order_faults() -> Iterator[Fault]:
    """Steps of the workflow in another order, and effects of what was refused or removed."""
    catalogue = load_catalogue()
    for row, order in (
        ("workflow-identifier-taken", "workflow-order-taken-before-validation"),
        ("workflow-identifier-unknown", "workflow-order-unknown-before-validation"),
        ("workflow-locked-record", "workflow-order-locked-before-validation"),
    ):
        message = (catalogue.clause(row).message or "").split("'")[0].strip()
        for operation in catalogue.clause(order).operations:
            yield from _STATE.faults(
                operation,
                f"validated-before-{row.removeprefix('workflow-')}",
                (order,),
                partial(validated_first, message=message),
                SINGLE,
            )
    parts: tuple[tuple[str, str, Inject], ...] = (
        ("without-rights-saved", "workflow-rights-refusal-stores-nothing", without_rights_saved),
        ("refused-but-done", "workflow-create-with-identifier-needs-token", refused_but_done),
        ("published-deleted-too", "draft-delete-keeps-published", freed_by_deleting),
    )
    for operator, clause, act in parts:
        yield from _STATE.faults("createWorkflowRecordWithIdentifier", operator, (clause,), act, SINGLE)


def byte_limit_faults() -> Iterator[Fault]:
    """Limits of texts that count bytes in place of characters."""
    for clause, member, limit in (
        ("workflow-batch-characters", "batchId", 100),
        ("workflow-info-longest", "additionalInfo", 1000),
    ):
        for operation in load_catalogue().clause(clause).operations:
            yield from _LIMITS.faults(
                operation,
                f"{kebab(member)}-bytes-counted",
                (clause,),
                partial(bytes_counted, member=member, limit=limit),
            )
