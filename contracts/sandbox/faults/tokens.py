"""Faults of tokens, rights and sign-in: not asked for, not looked at, or taken for another account's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.sandbox.faults.fault import SINGLE, SUBMISSIONS, Fault, claimable_clauses, under
from contracts.sandbox.faults.injection import ACCOUNTS, Answer, Below, Memory, Request, as_role, sign_in


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
    """Tokens that are not asked for, not looked at, or taken for another account's; rights that nobody checks."""
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
