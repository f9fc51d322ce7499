"""Defects of protection: operations that a request without a token can use, and refusals that came too late."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.defects.altering import Handler, alter, around
from contracts.sandbox.defects.groups import CREATE, CREATE_WITH, UPDATE, kebab
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.identity import Account
from contracts.sandbox.query import header_value
from contracts.sandbox.refusals import Reason, Refusal
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row

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


for _operation, _clause in CLAUSES.items():
    defect(
        f"{kebab(_operation)}-without-token",
        clause=_clause,
        operations=[_operation],
        sentence=f"{_operation} works without a token, as for the author.",
    )(_open(_operation))

for _operation, _realm in (("getDraft", "bch-dev"), ("saveDraft", "chm-dev"), (UPDATE, "ort-dev")):
    defect(
        f"{kebab(_operation)}-without-token-in-{_realm[:3]}",
        clause=CLAUSES[_operation],
        operations=[_operation],
        realms=[_realm],
        sentence=f"In {_realm} alone {_operation} works without a token, as for the author.",
    )(_open(_operation, _realm))


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


for _operation in ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile"):
    defect(
        f"{kebab(_operation)}-without-token-done-and-refused",
        clause=CLAUSES[_operation],
        operations=[_operation],
        sentence=f"{_operation} without a token is refused, but only after it was done.",
    )(_late(_operation, _unauthenticated))

defect(
    "workflow-without-token-done-and-refused",
    clause=CLAUSES[CREATE_WITH],
    operations=[CREATE_WITH],
    sentence="A submission without a token is refused with the right row, but its identifier is taken.",
)(_late(CREATE_WITH, Row.ANONYMOUS.refusal))
