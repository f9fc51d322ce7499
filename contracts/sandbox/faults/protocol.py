"""Faults of the frame of a request and its answer: realms, headers, secrets, and bodies that are no JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import ACCEPTANCE, CONTACTS, SINGLE, SUBMISSIONS, Fault, under
from contracts.sandbox.faults.injection import Answer, Below, Inject, Memory, Request, answer_json
from contracts.sandbox.record_types import REALMS

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
            yield from under(
                ("always",),
                family="protocol",
                operations=(operation,),
                operator=operator,
                clauses=(clause,),
                inject=act,
            )
    for clause in ("realm-document-realms", "realm-workflow-realms"):
        for operation in catalogue.clause(clause).operations:
            yield from under(
                SINGLE[1:],
                family="protocol",
                operations=(operation,),
                operator="realm-refused",
                clauses=(clause, *ACCEPTANCE[operation]),
                inject=realm_refused,
            )
    protected = tuple(o.id for o in load_description().operations.values() if o.protected)
    yield from under(
        ("always",),
        family="tokens",
        operations=protected,
        label="protected",
        operator="token-dies-early",
        clauses=("token-opens-protected",),
        inject=token_dies_early,
    )
    for operation, operator, act in (
        ("createToken", "password-echoed", password_echoed),
        *((o, "token-echoed", token_echoed) for o in ("getDraftInfo", "saveDraft", *CONTACTS, *SUBMISSIONS)),
    ):
        yield from under(
            ("always",),
            family="protocol",
            operations=(operation,),
            operator=operator,
            clauses=("no-secret-echoed",),
            inject=act,
        )


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
        for operator, act in (("body-cut", body_cut), ("body-plain", body_plain)):
            if operation == "getDraftInfo" and operator == "body-plain":
                continue  # the form of a draft's info is not shown
            yield from under(
                ("always", "every-third"),
                family="protocol",
                operations=(operation,),
                operator=operator,
                clauses=clauses,
                inject=act,
            )
