"""Faults of the frame of a request and its answer: tokens, rights, realms, headers, secrets, bodies not in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import (
    ACCEPTANCE,
    CONTACTS,
    SINGLE,
    SUBMISSIONS,
    Fault,
    claimable_clauses,
    under,
)
from contracts.sandbox.faults.injection import (
    ACCOUNTS,
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    sign_in,
)
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
    known = email in ACCOUNTS if isinstance(email, str) else False
    wrong = {
        "wrong-password": known
        and isinstance(password, str)
        and password not in ("", ACCOUNTS[str(email)][1]),
        "unknown-account": isinstance(email, str) and bool(email) and not known and isinstance(password, str),
        "password-missing": known and not password and not isinstance(password, bool | int | list | dict),
        "email-missing": not email
        and not isinstance(email, bool | int | list | dict)
        and isinstance(password, str),
        "password-kind": known and password is not None and not isinstance(password, str),
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
            yield from under(
                SINGLE if operation.takes_realm else ("always",),
                family="tokens",
                operations=(operation.id,),
                operator="missing-token-taken",
                clauses=(*own, *rows),
                inject=missing_token_taken,
            )
        invalid = [
            c
            for c in ("token-invalid-refused", "workflow-invalid-token")
            if operation.id in catalogue.clause(c).operations
        ]
        if invalid:
            for operator in ("any", "short", "altered"):
                yield from under(
                    SINGLE if operation.takes_realm else ("always",),
                    family="tokens",
                    operations=(operation.id,),
                    operator=f"{operator}-token-taken",
                    clauses=tuple(invalid),
                    inject=partial(invalid_token_taken, kind=operator),
                )
    for submission in SUBMISSIONS:
        clause = (
            "workflow-update-rights" if submission == "updateWorkflowRecord" else "workflow-create-rights"
        )
        yield from under(
            SINGLE,
            family="tokens",
            operations=(submission,),
            operator="rights-not-checked",
            clauses=(clause,),
            inject=rights_not_checked,
        )
    yield from under(
        ("always",),
        family="tokens",
        operations=("listDrafts",),
        operator="other-account-served",
        clauses=("list-my-without-others", "list-mydrafts-has-mine"),
        inject=other_account_served,
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
        yield from under(
            ("always",),
            family="tokens",
            operations=("createToken",),
            operator=f"{kind}-taken",
            clauses=(clause, "token-body-kind"),
            inject=partial(sign_in_taken, kind=kind),
        )
