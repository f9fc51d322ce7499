"""The token operation: e-mail and password for a bearer token."""

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.context import Context
from contracts.sandbox.refusals import bad_request


class AuthenticationOperations:
    """Answers ``createToken``.

    Args:
        context: what the operations share.

    """

    def __init__(self, context: Context) -> None:
        self.context = context

    async def create_token(self, request: Request) -> Response:
        """Answer a new token and its expiration (Authentication 1 and 2)."""
        context = self.context
        credentials = (await context.body.read_object(request)).value
        email, password = credentials.get("email"), credentials.get("password")
        if not isinstance(email, str) or not isinstance(password, str):
            raise bad_request("email and password must be given, both as strings")
        token = context.identity.tokens.issue(context.identity.sign_in(email, password))
        answer = {"authenticationToken": token.text, "expiration": context.clock.written(token.expires)}
        return JsonAnswer(answer, context.habits.token_status, headers={"Cache-Control": "no-store"})
