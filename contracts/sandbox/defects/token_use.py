"""Defects of the Authorization header: tokens that open nothing, and requests without a valid one that are served."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account, Token
from contracts.sandbox.defects.alteration import Handler, alter, around
from contracts.sandbox.defects.registry import (
    CREATE,
    CREATE_WITH,
    LIST,
    PROTECTED,
    UPDATE,
    WORKFLOW,
    defect,
    kebab,
    replaces,
)
from contracts.sandbox.http_requests import header_value
from contracts.sandbox.refusals import Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row

_PLAIN = tuple(operation for operation in PROTECTED if operation not in WORKFLOW)
Require = Callable[[Request], Account]
Caller = Callable[[Request], Account | None]


def _sent(request: Request) -> tuple[str, str]:
    scheme, _, token = (header_value(request, "authorization") or "").partition(" ")
    return scheme.lower(), token.strip()


def _operation(request: Request) -> str:
    return str(request.scope["operation_id"])


def _refused() -> Refusal:
    return Refusal(Reason.UNAUTHENTICATED, "the token is not valid")


@replaces("identity.require", "token-opens-nothing", clause="token-opens-protected", operations=LIST)
def _(_service: Service, faithful: Require, request: Request) -> Account:
    """No token opens the list of drafts."""
    if _operation(request) == "listDrafts":
        raise _refused()
    return faithful(request)


@defect("token-opens-once", clause="token-opens-protected", operations=LIST)
def _(service: Service) -> None:
    """A token opens the list of drafts once and is refused there from then on."""
    used: set[str] = set()

    def require(faithful: Require, request: Request) -> Account:
        account = faithful(request)
        token = _sent(request)[1]
        if _operation(request) == "listDrafts":
            if token in used:
                raise _refused()
            used.add(token)
        return account

    alter(service.identity, "require", require)


@replaces("identity.require", "token-of-other-opens-nothing", clause="token-opens-protected", operations=LIST)
def _(_service: Service, faithful: Require, request: Request) -> Account:
    """The token of the second author does not open the list of drafts."""
    account = faithful(request)
    if account.name == "other" and _operation(request) == "listDrafts":
        raise _refused()
    return account


@replaces(
    "identity.require",
    "token-not-in-bch",
    clause="token-serves-every-realm",
    operations=LIST,
    realms=["bch-dev"],
)
def _(_service: Service, faithful: Require, request: Request) -> Account:
    """No token opens the list of drafts in bch-dev."""
    if header_value(request, "realm") == "bch-dev" and _operation(request) == "listDrafts":
        raise _refused()
    return faithful(request)


def _unknown_opens(operation: str) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        def caller(faithful: Caller, request: Request) -> Account | None:
            scheme, token = _sent(request)
            if _operation(request) == operation and scheme == "bearer" and token:
                return faithful(request) or service.identity.accounts[0]
            return faithful(request)

        alter(service.identity, "caller", caller)

    return change


for _name in _PLAIN:
    defect(
        f"unknown-token-opens-{kebab(_name)}",
        clause="token-invalid-refused",
        operations=[_name],
        sentence=f"A bearer token that was never issued opens {_name}.",
    )(_unknown_opens(_name))

for _name in WORKFLOW:
    defect(
        f"unknown-token-opens-{kebab(_name)}",
        clause="workflow-invalid-token",
        operations=[_name],
        sentence=f"A bearer token that was never issued opens {_name}.",
    )(_unknown_opens(_name))


def _cut_opens(operation: str) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        tokens, issued = service.identity.tokens, list[str]()

        def issue(faithful: Callable[[Account], Token], account: Account) -> Token:
            token = faithful(account)
            issued.append(token.text)
            return token

        def caller(faithful: Caller, request: Request) -> Account | None:
            scheme, given = _sent(request)
            if _operation(request) == operation and scheme == "bearer" and len(given) >= 8:
                whole = (token for token in issued if token.startswith(given))
                return tokens.holder(next(whole, given))
            return faithful(request)

        alter(tokens, "issue", issue)
        alter(service.identity, "caller", caller)

    return change


for _name in WORKFLOW:
    defect(
        f"cut-token-opens-{kebab(_name)}",
        clause="token-invalid-refused",
        operations=[_name],
        sentence=f"A bearer token whose end is cut off opens {_name}.",
    )(_cut_opens(_name))


def _remembering(service: Service, like: Callable[[str, str], bool]) -> None:
    """Accept what is ``like`` a token that was valid in an earlier request; workflow operations excepted."""
    seen: dict[str, Account] = {}

    def require(faithful: Require, request: Request) -> Account:
        scheme, given = _sent(request)
        try:
            account = faithful(request)
        except Refusal:
            for token, holder in seen.items():
                if scheme == "bearer" and like(given, token):
                    return holder
            raise
        seen[given] = account
        return account

    alter(service.identity, "require", require)


@defect("token-truncated-opens", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service) -> None:
    """A token whose last characters are cut off is still taken for the token."""
    _remembering(service, lambda given, token: len(given) >= 8 and token.startswith(given))


@defect("token-with-tail-opens", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service) -> None:
    """A token with further characters after it is still taken for the token."""
    _remembering(service, lambda given, token: given.startswith(token))


@defect("token-letter-case-ignored", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service) -> None:
    """The letter case of a token does not count."""
    _remembering(service, lambda given, token: given.lower() == token.lower())


@replaces("identity.require", "token-empty-opens", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service, faithful: Require, request: Request) -> Account:
    """The word Bearer with no token after it opens the operations, the workflow's excepted."""
    if _sent(request) == ("bearer", ""):
        return service.identity.accounts[0]
    return faithful(request)


@replaces("identity.require", "token-under-basic-opens", clause="token-other-scheme", operations=LIST)
def _(service: Service, faithful: Require, request: Request) -> Account:
    """A token sent under the scheme Basic opens the list of drafts."""
    scheme, token = _sent(request)
    holder = service.identity.tokens.holder(token)
    if scheme == "basic" and holder is not None and _operation(request) == "listDrafts":
        return holder
    return faithful(request)


CLAUSES = {
    "createContact": "contact-create-needs-token",
    "updateContact": "contact-update-needs-token",
    "saveDraft": "draft-save-needs-token",
    "getDraft": "draft-get-needs-token",
    "getDraftInfo": "draft-info-needs-token",
    "draftExists": "draft-exists-needs-token",
    "deleteDraft": "draft-delete-needs-token",
    "listDrafts": "list-needs-token",
    "createAttachment": "attachment-create-needs-token",
    "persistTemporaryFile": "attachment-persist-needs-token",
    "listAttachments": "attachment-list-needs-token",
    CREATE: "workflow-create-needs-token",
    CREATE_WITH: "workflow-create-with-identifier-needs-token",
    UPDATE: "workflow-update-needs-token",
}
"""The clause that closes each protected operation to requests without a token."""


def _anonymous(request: Request) -> bool:
    return not header_value(request, "authorization")


def _open(operation: str, *realms: str) -> Callable[[Service], None]:
    """Return the change that takes anonymous callers of an operation for the author."""

    def change(service: Service) -> None:
        def caller(faithful: Callable[[Request], Account | None], request: Request) -> Account | None:
            meant = request.scope["operation_id"] == operation
            if realms and header_value(request, "realm") not in realms:
                meant = False
            return service.identity.accounts[0] if meant and _anonymous(request) else faithful(request)

        alter(service.identity, "caller", caller)

    return change


for _openings_operation, _clause in CLAUSES.items():
    defect(
        f"{kebab(_openings_operation)}-without-token",
        clause=_clause,
        operations=[_openings_operation],
        sentence=f"{_openings_operation} works without a token, as for the author.",
    )(_open(_openings_operation))

for _openings_operation, _realm in (("getDraft", "bch-dev"), ("saveDraft", "chm-dev"), (UPDATE, "ort-dev")):
    defect(
        f"{kebab(_openings_operation)}-without-token-in-{_realm[:3]}",
        clause=CLAUSES[_openings_operation],
        operations=[_openings_operation],
        realms=[_realm],
        sentence=f"In {_realm} alone {_openings_operation} works without a token, as for the author.",
    )(_open(_openings_operation, _realm))


def _late(operation: str, refusal: Callable[[], Refusal]) -> Callable[[Service], None]:
    """Return the change that does what an anonymous caller asks for, and refuses only then."""

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            if not _anonymous(request):
                return await faithful(request)
            token = service.identity.tokens.issue(service.identity.accounts[0])
            headers = [*request.scope["headers"], (b"authorization", f"Bearer {token.text}".encode())]
            await faithful(Request({**request.scope, "headers": headers}, request.receive))
            raise refusal()

        around(service, [operation], answer)

    return change


def _unauthenticated() -> Refusal:
    return Refusal(Reason.UNAUTHENTICATED, "the Authorization header must hold a valid bearer token")


for _openings_operation in ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile"):
    defect(
        f"{kebab(_openings_operation)}-without-token-done-and-refused",
        clause=CLAUSES[_openings_operation],
        operations=[_openings_operation],
        sentence=f"{_openings_operation} without a token is refused, but only after it was done.",
    )(_late(_openings_operation, _unauthenticated))

defect(
    "workflow-without-token-done-and-refused",
    clause=CLAUSES[CREATE_WITH],
    operations=[CREATE_WITH],
    sentence="A submission without a token is refused with the right row, but its identifier is taken.",
)(_late(CREATE_WITH, Row.ANONYMOUS.refusal))
