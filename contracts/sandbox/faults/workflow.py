"""Faults of submissions by families: the table told wrongly, limits, steps in another order, effects of refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import Clause, load_catalogue
from contracts.sandbox.faults.contacts import VALUE
from contracts.sandbox.faults.effects import demand, send
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
from contracts.sandbox.faults.submissions import document, on, saying, told, validated_first, wrong

_STATE: Final = Family("state")
_LIMITS: Final = Family("limits")
_ROWS: Final = Family("rows")

#: The rows of the table, with the clauses that hang on the same answer.
_TABLE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "workflow-realm-missing": (),
        "workflow-realm-unknown": ("workflow-order-realm-before-schema", "realm-query-unknown"),
        "workflow-schema-unknown": (
            "workflow-order-schema-before-document",
            "workflow-schema-of-another-realm",
        ),
        "workflow-identifier-taken": (
            *("workflow-order-taken-before-validation", "workflow-order-taken-before-rights"),
            "workflow-created-exists",
        ),
        "workflow-identifier-unknown": (
            *("workflow-order-unknown-before-validation", "workflow-order-unknown-before-rights"),
            "workflow-created-known",
        ),
        "workflow-locked-record": (
            *("workflow-order-locked-before-validation", "workflow-order-locked-before-rights"),
        ),
        "workflow-update-rights": (),
        "workflow-create-rights": (),
        "workflow-anonymous": (
            *("workflow-invalid-token", "workflow-create-needs-token", "workflow-update-needs-token"),
            "workflow-create-with-identifier-needs-token",
        ),
    }
)


async def _done_instead(request: Request, _got: Answer, _below: Below, memory: Memory) -> Answer:
    return memory.successes.get(request.operation.id) or answer_json(200, {"identifier": request.uid})


def _row_injections(row: Clause, another: str) -> Mapping[str, Inject]:
    """What may be wrong with the answer of a row of the table."""
    message = row.message or ""
    beginning = message.partition("${")[0].strip(" .")
    texts = {
        "of-another": another,
        "short": beginning[: len(beginning) // 2],
        "missing": "",
        "translated": "La demande est refusée",
        "code-only": "WF-0017",
    }
    return {
        "taken": on(message, _done_instead),
        "other-status": told(message, 422 if row.status == 400 else 401),
        "not-found": told(message, 404),
        **{f"message-{word}": told(message, change=saying(text)) for word, text in texts.items()},
    }


def row_faults() -> Iterator[Fault]:
    """The rows of the workflow table, told wrongly or not at all."""
    catalogue = load_catalogue()
    rows = [catalogue.clause(name) for name in _TABLE]
    for row in rows:
        another = next(r.message or "" for r in rows if r is not row)
        # A request that names an unknown realm is in none of the realms.
        conditions = SINGLE[:1] if row.id == "workflow-realm-unknown" else SINGLE
        for operation in row.operations:
            beside = (c for c in _TABLE[row.id] if operation in catalogue.clause(c).operations)
            clauses = (row.id, *beside)
            for operator, act in _row_injections(row, another).items():
                name = f"{row.id.removeprefix('workflow-')}-{operator}"
                yield from _ROWS.faults(operation, name, clauses, act, conditions)


def _within(
    member: str, longest: int, length: Callable[[str], int] = len
) -> Callable[[dict[str, Any]], bool]:
    return lambda body: not isinstance(body.get(member), str) or length(body[member]) <= longest


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _at_most(longest: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= longest


def _body_repaired(request: Request) -> Request:
    """A body that is no object is taken."""
    good = valid_document(request.realm, request.params.get("schema", ""), request.uid)
    return (
        request if isinstance(request.json, dict) or good is None else request.with_json({"document": good})
    )


def limit_faults() -> Iterator[Fault]:
    """Texts within their limit that are refused and beyond it taken, and contents that are not looked at."""
    catalogue = load_catalogue()
    for operation in SUBMISSIONS:
        for member, limit, above, at, characters in (
            *(
                (
                    "batchId",
                    100,
                    "workflow-batch-too-long",
                    "workflow-batch-longest",
                    "workflow-batch-characters",
                ),
            ),
            *(
                (
                    "additionalInfo",
                    1000,
                    "workflow-info-too-long",
                    "workflow-info-longest",
                    "workflow-info-longest",
                ),
            ),
        ):
            for more in (1, 10, 100, 10**6):
                taken = wrong(VALUE, member, _at_most(limit + more))
                yield from _LIMITS.faults(operation, f"{kebab(member)}-{more}-more-taken", (above,), taken)
            for name, clause, within in (
                ("1-fewer-only", at, _within(member, limit - 1)),
                ("20-fewer-only", at, _within(member, limit - 20)),
                ("bytes-counted", characters, _within(member, limit, _bytes)),
            ):
                if operation in catalogue.clause(clause).operations:
                    refused = demand(VALUE, member, unless=within)
                    yield from _LIMITS.faults(operation, f"{kebab(member)}-{name}", (clause,), refused)
        for operator, clause, act in (
            ("content-not-validated", "workflow-document-validated", document(lambda d: isinstance(d, dict))),
            (
                "document-of-any-kind",
                "workflow-document-kind",
                document(lambda d: not isinstance(d, dict) and d is not ...),
            ),
            ("document-not-needed", "workflow-document-missing", document(lambda d: d is ...)),
            ("body-of-any-kind", "workflow-body-kind", send(_body_repaired)),
        ):
            yield from _LIMITS.faults(operation, operator, (clause,), act, SINGLE)


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


_ORDER: Final = (
    (
        *("identifier-taken", "taken", "createWorkflowRecordWithIdentifier"),
        "workflow-order-taken-before-validation",
    ),
    ("identifier-unknown", "unknown", "updateWorkflowRecord", "workflow-order-unknown-before-validation"),
    ("locked-record", "locked", "updateWorkflowRecord", "workflow-order-locked-before-validation"),
)
#: What a submission changes although it is refused or something was removed, or does not tell apart.
_EFFECTS: Final[tuple[tuple[str, str, str, Inject, str], ...]] = (
    (
        *(
            "createWorkflowRecordWithIdentifier",
            "draft-saved-although-refused",
            "workflow-order-validation-before-save",
        ),
        refused_document_saved,
        "workflow-save-before-validation",
    ),
    (
        *("updateWorkflowRecord", "draft-changed-although-refused", "workflow-refused-update-keeps-draft"),
        refused_document_saved,
        "workflow-save-before-validation-on-update",
    ),
    (
        *(
            "createWorkflowRecordWithIdentifier",
            "without-rights-saved",
            "workflow-rights-refusal-stores-nothing",
        ),
        without_rights_saved,
        "",
    ),
    (
        *(
            "createWorkflowRecordWithIdentifier",
            "refused-but-done",
            "workflow-create-with-identifier-needs-token",
        ),
        refused_but_done,
        "",
    ),
    (
        *("createWorkflowRecordWithIdentifier", "published-deleted-too", "draft-delete-keeps-published"),
        freed_by_deleting,
        "draft-delete-takes-published",
    ),
)


def order_faults() -> Iterator[Fault]:
    """Steps of the workflow in another order, and effects of what was refused or removed."""
    catalogue = load_catalogue()
    for row, other, operation, clause in _ORDER:
        message = (catalogue.clause(f"workflow-{row}").message or "").split("'")[0].strip()
        before, also = partial(validated_first, message=message), f"workflow-validation-before-{other}"
        yield from _STATE.faults(operation, f"validated-before-{row}", (clause,), before, SINGLE, also=also)
    for operation, operator, clause, act, also in _EFFECTS:
        yield from _STATE.faults(operation, operator, (clause,), act, SINGLE, also=also)
    yield from _STATE.faults(
        "createWorkflowRecord",
        "same-identifier-again",
        ("workflow-distinct-identifiers",),
        same_answer_again,
        ("always", "from-second-time"),
        also="workflow-same-identifier-for-all",
    )
