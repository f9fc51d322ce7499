"""The token operation: e-mail and password for a bearer token."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.refusals import bad_request

if TYPE_CHECKING:
    from contracts.sandbox.service import Service


class AuthenticationOperations:
    """Answers ``createToken``.

    Args:
        service: the parts of the sandbox.

    """

    def __init__(self, service: "Service") -> None:
        self.service = service

    async def create_token(self, request: Request) -> Response:
        """Answer a new token and its expiration (Authentication 1 and 2)."""
        service = self.service
        credentials = (await service.body.read_object(request)).value
        email, password = credentials.get("email"), credentials.get("password")
        if not isinstance(email, str) or not isinstance(password, str):
            raise bad_request("email and password must be given, both as strings")
        token = service.identity.tokens.issue(service.identity.sign_in(email, password))
        answer = {"authenticationToken": token.text, "expiration": service.clock.written(token.expires)}
        return JsonAnswer(answer, service.habits.token_status, headers={"Cache-Control": "no-store"})
