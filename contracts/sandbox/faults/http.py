"""Faults of requests and responses: tokens, rights, realms, headers, bodies, statuses, members, errors arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.catalogue import Level, load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    ACCOUNTS,
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
    answer_json,
    as_role,
    claimable_clauses,
    possible_conditions,
    sign_in,
)
from contracts.sandbox.record_types import REALMS

_TOKENS: Final = Family("tokens")
_PROTOCOL: Final = Family("protocol")
_ANSWERS: Final = Family("answers")
_ERRORS: Final = Family("errors")

#: So many requests does a token last that dies early.
_REQUESTS_OF_TOKEN: Final = 20


def _refused(message: str) -> Answer:
    return answer_json(400, {"message": message})


async def realm_refused(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A realm of the document is not configured."""
    return _refused("Realm is not configured, please provide valid realm.") if request.role else None


async def realm_in_query_ignored(request: Request, below: Below, _: Memory) -> Answer | None:
    """A realm that only the query names is not seen."""
    if request.header("realm") or "Realm" not in dict(request.query):
        return None
    return await below(request.with_query("Realm"))


async def realm_in_query_unchecked(request: Request, below: Below, _: Memory) -> Answer | None:
    """An unknown realm that only the query names is taken for the first one."""
    names = {realm.name for realm in REALMS}
    realm = dict(request.query).get("Realm")
    if request.header("realm") or realm is None or realm in names or not request.role:
        return None
    answer = await below(request.with_query(Realm="abs-dev"))
    return answer if answer.success else answer_json(200, {"identifier": request.uid})


async def realm_needed(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request without a Realm header is refused where none is listed."""
    return None if request.header("realm") else _refused("the Realm header is missing")


async def content_type_needed(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request without a Content-Type header is refused where none is listed."""
    return None if request.header("content-type") else _refused("the Content-Type header is missing")


async def content_type_refused(request: Request, _below: Below, _: Memory) -> Answer | None:
    """A request without a body is refused for its Content-Type header."""
    return _refused("a Content-Type without content") if request.header("content-type") else None


async def token_dies_early(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """A token is refused after so many requests, long before its expiration."""
    token = request.header("authorization")
    if not request.role:
        return None
    uses = int(memory.tokens.get(f"uses of {token}", "0")) + 1
    memory.tokens[f"uses of {token}"] = str(uses)
    return answer_json(401, {"message": "the token is not valid"}) if uses > _REQUESTS_OF_TOKEN else None


async def malformed_taken(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """A body that is no JSON is answered as the good one before it."""
    if not request.body or (request.role == "" and request.operation.protected):
        return None
    try:
        json.loads(request.body)
    except (ValueError, RecursionError):
        before = memory.successes.get(request.operation.id)
        return before or answer_json(200, {"identifier": request.uid})
    return None


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


def frame_faults() -> Iterator[Fault]:
    """Realms and headers of requests that are ignored or needed, malformed bodies taken, secrets echoed."""
    catalogue = load_catalogue()
    plain: tuple[tuple[str, str, Inject], ...] = (
        ("realm-query", "realm-in-query-ignored", realm_in_query_ignored),
        ("realm-query-unknown", "realm-in-query-unchecked", realm_in_query_unchecked),
        ("realm-attachments-without", "realm-needed", realm_needed),
        ("token-needs-no-token", "realm-needed", realm_needed),
        ("content-type-not-needed", "content-type-needed", content_type_needed),
        ("content-type-without-body", "content-type-refused", content_type_refused),
        ("malformed-json-refused", "malformed-taken", malformed_taken),
    )
    for clause, operator, act in plain:
        for operation in catalogue.clause(clause).operations:
            yield from _PROTOCOL.faults(operation, operator, (clause,), act)
    for clause in ("realm-document-realms", "realm-workflow-realms"):
        for operation in catalogue.clause(clause).operations:
            yield from _PROTOCOL.faults(
                operation, "realm-refused", (clause, *ACCEPTANCE[operation]), realm_refused, SINGLE[1:]
            )
    protected = tuple(o.id for o in load_description().operations.values() if o.protected)
    yield from _TOKENS.faults(
        protected, "token-dies-early", ("token-lasts-until-expiration",), token_dies_early, label="protected"
    )
    for operation, operator, act in (
        ("createToken", "password-echoed", password_echoed),
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


async def missing_token_taken(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A request without a token is served as the author's."""
    if request.header("authorization"):
        return None
    return await as_role(request, below, memory, "author")


async def invalid_token_taken(request: Request, below: Below, memory: Memory, *, kind: str) -> Answer | None:
    """A request with a token that was never issued is served as the author's."""
    scheme, _, token = request.header("authorization").rpartition(" ")
    if scheme.lower() != "bearer" or request.role:
        return None
    matches = {"any": True, "short": len(token) < 20, "altered": len(token) >= 20}[kind]
    return await as_role(request, below, memory, "author") if matches else None


async def rights_not_checked(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An account without rights may do what the author may."""
    return await as_role(request, below, memory, "author") if request.role == "restricted" else None


async def other_account_served(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The author is taken for another account."""
    return await as_role(request, below, memory, "other") if request.role == "author" else None


async def sign_in_taken(request: Request, below: Below, _: Memory, *, kind: str) -> Answer | None:
    """Credentials of one wrong kind buy a token all the same."""
    sent = request.json
    if not isinstance(sent, dict):
        return None
    email, password = sent.get("email"), sent.get("password")
    exists = email in ACCOUNTS if isinstance(email, str) else False
    wrong = {
        "wrong-password": exists
        and isinstance(password, str)
        and password not in ("", ACCOUNTS[str(email)][1]),
        "unknown-account": isinstance(email, str)
        and bool(email)
        and not exists
        and isinstance(password, str),
        "password-missing": exists and not password and not isinstance(password, bool | int | list | dict),
        "email-missing": not email
        and not isinstance(email, bool | int | list | dict)
        and isinstance(password, str),
        "password-kind": exists and password is not None and not isinstance(password, str),
        "email-kind": email is not None and not isinstance(email, str),
    }[kind]
    return await below(sign_in(request, "author@sandbox.test")) if wrong else None


def token_faults() -> Iterator[Fault]:
    """Tokens that are not asked for, not looked at, or taken for another account's; rights that are not checked."""
    catalogue = load_catalogue()
    for operation in load_description().operations.values():
        own = [
            c
            for c in claimable_clauses()
            if "needs-token" in c and operation.id in catalogue.clause(c).operations
        ]
        rows = ("workflow-anonymous",) * (operation.id in SUBMISSIONS)
        if own:
            yield from _TOKENS.faults(
                operation.id,
                "missing-token-taken",
                (*own, *rows),
                missing_token_taken,
                SINGLE if operation.takes_realm else ("always",),
            )
        invalid = [
            c
            for c in ("token-invalid-refused", "workflow-invalid-token")
            if operation.id in catalogue.clause(c).operations
        ]
        if invalid:
            for operator in ("any", "short", "altered"):
                yield from _TOKENS.faults(
                    operation.id,
                    f"{operator}-token-taken",
                    tuple(invalid),
                    partial(invalid_token_taken, kind=operator),
                    SINGLE if operation.takes_realm else ("always",),
                )
    for submission in SUBMISSIONS:
        clause = (
            "workflow-update-rights" if submission == "updateWorkflowRecord" else "workflow-create-rights"
        )
        yield from _TOKENS.faults(submission, "rights-not-checked", (clause,), rights_not_checked, SINGLE)
    yield from _TOKENS.faults(
        "listDrafts",
        "other-account-served",
        ("list-my-without-others", "list-mydrafts-has-mine"),
        other_account_served,
    )
    for kind in (
        "wrong-password",
        "unknown-account",
        "password-missing",
        "email-missing",
        "password-kind",
        "email-kind",
    ):
        clause = f"token-{kind}"
        yield from _TOKENS.faults(
            "createToken", f"{kind}-taken", (clause, "token-body-kind"), partial(sign_in_taken, kind=kind)
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
    for operator, value in (("missing", MISSING), ("empty", ""), ("number", 7), ("null", None)):
        yield from _ANSWERS.faults(
            "createToken",
            f"token-{operator}",
            ("token-issued",),
            partial(member_set, name="authenticationToken", value=value),
            ("always", "every-third"),
        )
    for operator in EXPIRATION_FORMS:
        yield from _ANSWERS.faults(
            "createToken",
            f"expiration-{operator}",
            ("token-expiration-format",),
            partial(expiration_written, form=operator),
            ("always", "every-third"),
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
            yield from _ERRORS.faults(
                operation,
                operator,
                _errors_clauses(operator, operation),
                partial(errors_changed, change=change),
                SINGLE,
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
