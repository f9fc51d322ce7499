"""Faults of requests and responses: tokens, rights, realms, headers, bodies, statuses, members, errors arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    CONTACTS,
    MISSING,
    REPEATED,
    SINGLE,
    SUBMISSIONS,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    kebab,
    possible_conditions,
)
from contracts.sandbox.validation import REALMS

_PROTOCOL: Final = Family("protocol")
_ANSWERS: Final = Family("answers")
_ERRORS: Final = Family("errors")
SIGN_IN: Final = "createToken"
REALM_NAMES: Final = tuple(realm.name for realm in REALMS)


def _without(header: str) -> Where:
    return lambda request, _: not request.header(header)


def _with(header: str) -> Where:
    return lambda request, _: bool(request.header(header))


async def realm_refused(request: Request, below: Below, _: Memory) -> Answer | None:
    """A realm of the document is not configured."""
    return await below(request.with_header("realm", "no-such-realm")) if request.role else None


def realm_in_query_alone(request: Request, _: Memory) -> bool:
    """Whether the query alone names a realm."""
    return not request.header("realm") and "Realm" in dict(request.query)


async def realm_in_query_ignored(request: Request, below: Below, _: Memory) -> Answer | None:
    """A realm that only the query names is not seen."""
    return await below(request.with_query("Realm"))


async def realm_in_query_unchecked(request: Request, below: Below, _: Memory) -> Answer | None:
    """An unknown realm that only the query names is taken for the first one."""
    if request.realm in REALM_NAMES or not request.role:
        return None
    answer = await below(request.with_query(Realm="abs-dev"))
    return answer if answer.success else answer_json(200, {"identifier": request.uid})


async def refused_for_header(_request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request is refused for a header that it need not have, or may have."""
    return answer_json(400, {"message": "the headers cannot be used"})


async def malformed_taken(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """A body that is no JSON is answered as the good one before it."""
    if not malformed(request, memory) or (request.role == "" and request.operation.protected):
        return None
    before = memory.successes.get(request.operation.id)
    return before or answer_json(200, {"identifier": request.uid})


def malformed(request: Request, _: Memory) -> bool:
    """Whether a body is there and is no well-formed JSON."""
    try:
        json.loads(request.body)
    except (ValueError, RecursionError):
        return bool(request.body)
    return False


async def password_echoed(request: Request, below: Below, _: Memory) -> Answer | None:
    """A refused sign-in repeats the password."""
    answer = await below(request)
    body = request.json
    password = body.get("password") if isinstance(body, dict) else None
    if answer.success or not isinstance(password, str) or not isinstance(answer.json, dict):
        return answer
    return answer.with_json({**answer.json, "password": password})


async def token_echoed(request: Request, below: Below, _: Memory) -> Answer | None:
    """An answer repeats the token of its request."""
    answer = await below(request)
    if not request.role or not isinstance(answer.json, dict):
        return answer
    return answer.with_json({**answer.json, "debug": request.header("authorization")})


# fmt: off
#: Operator, the clause that it breaks wherever the clause speaks of an operation, what it does, to which requests, and
#: the beginning of its other name.
_FRAME: Final[tuple[tuple[str, str, Inject, Where, str], ...]] = (
    ("realm-in-query-ignored", "realm-query", realm_in_query_ignored, realm_in_query_alone, ""),
    ("realm-in-query-unchecked", "realm-query-unknown", realm_in_query_unchecked, realm_in_query_alone, ""),
    ("realm-needed", "realm-attachments-without", refused_for_header, _without("realm"), "realm-needed-by"),
    ("realm-needed", "token-needs-no-token", refused_for_header, _without("realm"), ""),
    ("content-type-needed", "content-type-not-needed", refused_for_header, _without("content-type"),
        "content-type-needed-by"),
    ("content-type-refused", "content-type-without-body", refused_for_header, _with("content-type"),
        "content-type-refused-by"),
    ("malformed-taken", "malformed-json-refused", malformed_taken, malformed, ""),
)
# fmt: on


def frame_faults() -> Iterator[Fault]:
    """Realms and headers of requests that are ignored or needed, malformed bodies taken, secrets echoed."""
    catalogue = load_catalogue()
    for operator, clause, act, where, also in _FRAME:
        for operation in catalogue.clause(clause).operations:
            name = also and f"{also}-{kebab(operation)}"
            yield from _PROTOCOL.faults(operation, operator, (clause,), act, also=name, where=where)
    for clause, realms in (
        ("realm-document-realms", SINGLE[1:]),
        ("realm-workflow-realms", (*SINGLE[1:], "in-ort-dev")),
    ):
        for operation in catalogue.clause(clause).operations:
            broken = (clause, *ACCEPTANCE[operation])
            for fault in _PROTOCOL.faults(operation, "realm-refused", broken, realm_refused, realms):
                realm = fault.realms[0].removesuffix("-dev")
                yield replace(fault, also=f"realm-{realm}-not-for-{kebab(operation)}")
    for operation, operator, act in (
        (SIGN_IN, "password-echoed", password_echoed),
        *((o, "token-echoed", token_echoed) for o in ("getDraftInfo", "saveDraft", *CONTACTS, *SUBMISSIONS)),
    ):
        yield from _PROTOCOL.faults(operation, operator, ("no-secret-echoed",), act)


async def body_cut(request: Request, below: Below, _: Memory) -> Answer | None:
    """The JSON of a success lacks its last character."""
    answer = await below(request)
    return replace(answer, body=answer.body[:-1]) if answer.success and answer.json is not None else answer


async def body_plain(request: Request, below: Below, _: Memory) -> Answer | None:
    """The body of a success is a word of plain text."""
    answer = await below(request)
    if not answer.success or answer.json is None:
        return answer
    return replace(answer, headers=((b"content-type", b"text/plain"),), body=b"OK")


#: Operations whose answers the document shows, or whose content it promises, with the clause that says so.
_PROMISED_ANSWERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "createToken": ("token-issued",),
        "getDraft": ("draft-get-content",),
        "getDraftInfo": ("draft-info-present",),
        "listDrafts": ("list-answers",),
        "listAttachments": ("attachment-create-listed",),
        "createWorkflowRecord": ("workflow-identifier-returned",),
        "createWorkflowRecordWithIdentifier": ("workflow-identifier-kept",),
        "updateWorkflowRecord": ("workflow-identifier-kept",),
    }
)


def body_form_faults() -> Iterator[Fault]:
    """Answers whose body is cut or plain text."""
    for operation, clauses in _PROMISED_ANSWERS.items():
        # Whatever else the answer of the operation shows is lost with its body.
        shown = [c.id for c in load_catalogue() if c.level is Level.MUST and set(c.operations) == {operation}]
        for operator, act in (("body-cut", body_cut), ("body-plain", body_plain)):
            if operation == "getDraftInfo" and operator == "body-plain":
                continue  # the form of a draft's info is not shown
            yield from _PROTOCOL.faults(
                operation, operator, (*clauses, *shown), act, ("always", "every-third")
            )


async def success_answered_as(request: Request, below: Below, _: Memory, *, status: int) -> Answer | None:
    """A success is answered with the status of a failure, although it is done."""
    answer = await below(request)
    failed = {"message": "unexpected" if status >= 500 else "refused"}
    return (
        answer_json(status, failed)
        if answer.success and (request.role or not request.operation.protected)
        else answer
    )


async def refusal_answered_as_500(request: Request, below: Below, _: Memory) -> Answer | None:
    """A refusal is answered as an error of the service's own making."""
    answer = await below(request)
    return answer_json(500, {"message": "unexpected"}) if 400 <= answer.status < 500 else answer


async def identifier_missing(request: Request, below: Below, _: Memory) -> Answer | None:
    """The answer to a submission names no identifier."""
    answer = await below(request)
    return replace(answer_json(answer.status, {"message": "accepted"})) if answer.success else answer


async def identifier_altered(request: Request, below: Below, _: Memory) -> Answer | None:
    """The answer to a submission names another identifier."""
    answer = await below(request)
    if not answer.success or not request.uid:
        return answer
    return answer.renamed(request.uid, request.uid[::-1])


def answer_faults() -> Iterator[Fault]:
    """Answers as a whole: their status, whether they are JSON, and the members that they must carry."""
    for operation, clauses in ACCEPTANCE.items():
        described = load_description().operations[operation]
        repeated = (*REPEATED, *SINGLE[1:]) if described.takes_realm else REPEATED
        conditions = possible_conditions(operation, repeated, successes=True)
        for status in (400, 404, 409):
            yield from _ANSWERS.faults(
                operation,
                f"success-told-as-{status}",
                clauses,
                partial(success_answered_as, status=status),
                conditions,
                of_successes=True,
            )
        yield from _ANSWERS.faults(
            operation,
            "success-told-as-500",
            ("no-server-error",),
            partial(success_answered_as, status=500),
            conditions,
            of_successes=True,
        )
        yield from _ANSWERS.faults(
            operation,
            "refusal-told-as-500",
            ("no-server-error",),
            refusal_answered_as_500,
            ("always", "every-third"),
        )
    for operation in SUBMISSIONS:
        clause = (
            "workflow-identifier-returned"
            if operation == "createWorkflowRecord"
            else "workflow-identifier-kept"
        )
        for operator, act in (
            ("identifier-missing", identifier_missing),
            ("identifier-altered", identifier_altered),
        ):
            if operator == "identifier-altered" and operation == "createWorkflowRecord":
                continue  # any identifier may be the new record's
            yield from _ANSWERS.faults(operation, operator, (clause,), act, SINGLE)


def _each_error(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[Any]], Any]:
    return lambda errors: [change(error) if isinstance(error, dict) else error for error in errors]


def _each_mandatory_error(change: Callable[[dict[str, Any]], Any]) -> Callable[[list[Any]], Any]:
    return _each_error(lambda error: change(error) if error.get("code") == "Error.Mandatory" else error)


#: What may be wrong with an errors array.
ERRORS_CHANGES: Final[Mapping[str, Callable[[list[Any]], Any]]] = MappingProxyType(
    {
        "array-emptied": lambda _: [],
        "array-missing": lambda _: MISSING,
        "array-as-object": lambda errors: {str(number): error for number, error in enumerate(errors)},
        "elements-as-text": lambda errors: [json.dumps(error) for error in errors],
        "code-missing": _each_error(lambda error: {k: v for k, v in error.items() if k != "code"}),
        "code-number": _each_error(lambda error: {**error, "code": 17}),
        "code-unknown": _each_error(lambda error: {**error, "code": "Error.Failed"}),
        "code-lower-case": _each_error(lambda error: {**error, "code": str(error.get("code")).lower()}),
        "property-missing": _each_error(lambda error: {k: v for k, v in error.items() if k != "property"}),
        "property-number": _each_error(lambda error: {**error, "property": 3}),
        "property-array": _each_error(lambda error: {**error, "property": [error.get("property")]}),
        "mandatory-as-invalid-value": _each_mandatory_error(
            lambda error: {**error, "code": "Error.InvalidValue"}
        ),
        "mandatory-of-document": _each_mandatory_error(lambda error: {**error, "property": "document"}),
    }
)


#: The clauses of fields that no contact lacks.
_MANDATORY: Final = tuple(
    f"contact-mandatory-{name}"
    for name in (
        "first-name",
        "last-name",
        "organization",
        "country",
        "emails",
        "type",
        "contact-organization",
    )
)


async def errors_changed(
    request: Request, below: Below, _: Memory, *, change: Callable[[list[Any]], Any]
) -> Answer | None:
    """The errors array of an answer is changed, wherever it stands."""
    answer = await below(request)
    return answer.with_json(_errors_changed(answer.json, change)) if answer.json is not None else answer


def _errors_changed(value: Any, change: Callable[[list[Any]], Any]) -> Any:
    if isinstance(value, dict):
        members = {
            name: change(member)
            if name == "errors" and isinstance(member, list) and member
            else _errors_changed(member, change)
            for name, member in value.items()
        }
        return {name: member for name, member in members.items() if member is not MISSING}
    return [_errors_changed(item, change) for item in value] if isinstance(value, list) else value


def errors_array_faults() -> Iterator[Fault]:
    """The errors array of an answer, its elements, their codes and properties."""
    for operation in (*CONTACTS, *SUBMISSIONS):
        for operator, change in ERRORS_CHANGES.items():
            if operator.startswith("mandatory") and operation in SUBMISSIONS:
                continue  # which fields of a submitted document are mandatory is not shown
            yield from _ERRORS.faults(
                operation,
                operator,
                _errors_clauses(operator, operation),
                partial(errors_changed, change=change),
                SINGLE,
            )


def _errors_clauses(operator: str, operation: str) -> tuple[str, ...]:
    """What breaks with a change of the errors array."""
    contact = operation in CONTACTS
    if operator in ("array-emptied", "array-missing", "array-as-object"):
        beside = (
            ("contact-body-kind", "errors-code-mandatory") if contact else ("workflow-document-validated",)
        )
        return ("errors-array", *beside)
    if operator in ("code-unknown", "code-lower-case"):
        return ("errors-code-known", "errors-code-mandatory")
    if operator.startswith("mandatory"):
        return ("errors-code-mandatory", *_MANDATORY)
    return ("errors-element-shape", "errors-code-mandatory", *_MANDATORY)
