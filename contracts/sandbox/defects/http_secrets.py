"""Defects that repeat a password or a token where neither belongs."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.defects.altering import Handler, around, edit, json_of
from contracts.sandbox.defects.groups import UPDATE
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.query import header_value
from contracts.sandbox.refusals import Refusal
from contracts.sandbox.service import Service


def _token(request: Request) -> str:
    return (header_value(request, "authorization") or "").partition(" ")[2]


@defect("password-in-refusal", clause="no-secret-echoed", operations=["createToken"])
def _(service: Service) -> None:
    """The refusal of a wrong password repeats the password."""

    async def answer(faithful: Handler, request: Request) -> Response:
        value = await json_of(request)
        try:
            return await faithful(request)
        except Refusal as refusal:
            password = value.get("password") if isinstance(value, dict) else None
            if isinstance(password, str) and password:
                raise Refusal(refusal.reason, f"{password!r} is not the password") from None
            raise

    around(service, ["createToken"], answer)


@defect("password-in-answer", clause="no-secret-echoed", operations=["createToken"])
def _(service: Service) -> None:
    """The answer to signing in repeats the password beside the token."""

    async def answer(faithful: Handler, request: Request) -> Response:
        value = await json_of(request)
        response = await faithful(request)
        body: dict[str, Any] = json.loads(bytes(response.body))
        return JSONResponse({**body, "account": value}, response.status_code)

    around(service, ["createToken"], answer)


@defect("token-in-info", clause="no-secret-echoed", operations=["getDraftInfo"])
def _(service: Service) -> None:
    """The info of a draft repeats the token of the request."""
    asked: list[Request] = []

    def remember(request: Request) -> bool:
        asked[:] = [request]
        return True

    edit(service, ["getDraftInfo"], lambda body: {**body, "session": _token(asked[0])}, remember)


def _in_refusals(service: Service, operation: str) -> None:
    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            if not _token(request):
                raise
            message = f"{refusal.message} (authorization: {header_value(request, 'authorization')})"
            raise Refusal(refusal.reason, message, faults=refusal.faults, status=refusal.status) from None

    around(service, [operation], answer)


@defect("token-in-refusal-of-draft", clause="no-secret-echoed", operations=["getDraft"])
def _(service: Service) -> None:
    """The refusal of a draft that cannot be read repeats the Authorization header."""
    _in_refusals(service, "getDraft")


@defect("token-in-refusal-of-contact", clause="no-secret-echoed", operations=["createContact"])
def _(service: Service) -> None:
    """The refusal of a faulty contact repeats the Authorization header in its message."""
    _in_refusals(service, "createContact")


@defect("token-in-header", clause="no-secret-echoed", operations=["listDrafts"])
def _(service: Service) -> None:
    """A header of the list of drafts repeats the token of the request."""

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        response.headers["X-Session"] = _token(request)
        return response

    around(service, ["listDrafts"], answer)


@defect("token-in-submission-answer", clause="no-secret-echoed", operations=[UPDATE])
def _(service: Service) -> None:
    """The answer to an accepted update repeats all headers of the request."""
    asked: list[Request] = []

    def remember(request: Request) -> bool:
        asked[:] = [request]
        return True

    edit(service, [UPDATE], lambda body: {**body, "request": dict(asked[0].headers)}, remember)
