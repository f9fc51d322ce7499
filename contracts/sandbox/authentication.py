"""The token operation: e-mail and password for a bearer token."""

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Identity
from contracts.sandbox.answers import Clock, JsonAnswer
from contracts.sandbox.habits import Habits
from contracts.sandbox.http_requests import BodyReader
from contracts.sandbox.refusals import bad_request


class AuthenticationOperations:
    """Answers ``createToken``.

    Args:
        identity: the accounts and their tokens.
        body: reads the credentials.
        clock: writes the expiration.
        habits: the status of success.

    """

    def __init__(self, identity: Identity, body: BodyReader, clock: Clock, habits: Habits) -> None:
        self.identity = identity
        self.body = body
        self.clock = clock
        self.habits = habits

    async def create_token(self, request: Request) -> Response:
        """Answer a new token and its expiration (Authentication 1 and 2)."""
        credentials = (await self.body.read_object(request)).value
        email, password = credentials.get("email"), credentials.get("password")
        if not isinstance(email, str) or not isinstance(password, str):
            raise bad_request("email and password must be given, both as strings")
        token = self.identity.tokens.issue(self.identity.sign_in(email, password))
        answer = {"authenticationToken": token.text, "expiration": self.clock.written(token.expires)}
        return JsonAnswer(answer, self.habits.token_status, headers={"Cache-Control": "no-store"})
