"""Faults of responses: their status, their members, and the errors array with its elements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    CONTACTS,
    REPEATED,
    SINGLE,
    SUBMISSIONS,
    Fault,
    claimable_clauses,
    possible_conditions,
    under,
)
from contracts.sandbox.faults.injection import MISSING, Answer, Below, Memory, Request, answer_json


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


async def member_set(request: Request, below: Below, _: Memory, *, name: str, value: Any) -> Answer | None:
    """A member of an answer has another value, or is not there."""
    answer = await below(request)
    body = answer.json
    if not answer.success or not isinstance(body, dict):
        return answer
    rest = {k: v for k, v in body.items() if k != name}
    return answer.with_json(rest if value is MISSING else {**rest, name: value})


#: Ways to write the expiration of a token that the document does not name.
EXPIRATION_FORMS: Final[Mapping[str, Callable[[datetime], Any]]] = MappingProxyType(
    {
        "without-fraction": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "without-zone": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%f"),
        "local-time": lambda moment: (
            (moment + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "+02:00"
        ),
        "epoch-seconds": lambda moment: int(moment.timestamp()),
        "epoch-text": lambda moment: str(int(moment.timestamp())),
        "date-alone": lambda moment: moment.strftime("%Y-%m-%d"),
        "http-date": lambda moment: moment.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "space-for-t": lambda moment: moment.strftime("%Y-%m-%d %H:%M:%S.%f"),
        "seconds-to-live": lambda _: 3600,
        "missing": lambda _: MISSING,
    }
)


async def expiration_written(request: Request, below: Below, memory: Memory, *, form: str) -> Answer | None:
    """The expiration of a token is written in another form."""
    value = EXPIRATION_FORMS[form](datetime.now(UTC) + timedelta(hours=1))
    return await member_set(request, below, memory, name="expiration", value=value)


def answer_faults() -> Iterator[Fault]:
    """Answers as a whole: their status, whether they are JSON, and the members that they must carry."""
    for operation, clauses in ACCEPTANCE.items():
        described = load_description().operations[operation]
        repeated = (*REPEATED, *SINGLE[1:]) if described.takes_realm else REPEATED
        conditions = possible_conditions(operation, repeated, successes=True)
        for status in (400, 404, 409):
            yield from under(
                conditions,
                family="answers",
                operations=(operation,),
                operator=f"success-told-as-{status}",
                clauses=clauses,
                of_successes=True,
                inject=partial(success_answered_as, status=status),
            )
        yield from under(
            conditions,
            family="answers",
            operations=(operation,),
            operator="success-told-as-500",
            clauses=("no-server-error",),
            of_successes=True,
            inject=partial(success_answered_as, status=500),
        )
        yield from under(
            ("always", "every-third"),
            family="answers",
            operations=(operation,),
            operator="refusal-told-as-500",
            clauses=("no-server-error",),
            inject=refusal_answered_as_500,
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
            yield from under(
                SINGLE,
                family="answers",
                operations=(operation,),
                operator=operator,
                clauses=(clause,),
                inject=act,
            )
    for operator, value in (("missing", MISSING), ("empty", ""), ("number", 7), ("null", None)):
        yield from under(
            ("always", "every-third"),
            family="answers",
            operations=("createToken",),
            operator=f"token-{operator}",
            clauses=("token-issued",),
            inject=partial(member_set, name="authenticationToken", value=value),
        )
    for operator in EXPIRATION_FORMS:
        yield from under(
            ("always", "every-third"),
            family="answers",
            operations=("createToken",),
            operator=f"expiration-{operator}",
            clauses=("token-expiration-format",),
            inject=partial(expiration_written, form=operator),
        )


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
            yield from under(
                SINGLE,
                family="errors",
                operations=(operation,),
                operator=operator,
                clauses=_errors_clauses(operator, operation),
                inject=partial(errors_changed, change=change),
            )


def _errors_clauses(operator: str, operation: str) -> tuple[str, ...]:
    if operator in ("array-emptied", "array-missing", "array-as-object"):
        return (
            ("errors-array", "contact-body-kind", "errors-code-mandatory")
            if operation in CONTACTS
            else ("errors-array", "workflow-document-validated")
        )
    if operator in ("code-unknown", "code-lower-case"):
        return ("errors-code-known", "errors-code-mandatory")
    if operator.startswith("mandatory"):
        return (
            (
                "errors-code-mandatory",
                *(c for c in claimable_clauses() if c.startswith("contact-mandatory-")),
            )
            if operation in CONTACTS
            else ("errors-element-shape",)
        )
    return (
        "errors-element-shape",
        "errors-code-mandatory",
        *(c for c in claimable_clauses() if c.startswith("contact-mandatory-")),
    )
