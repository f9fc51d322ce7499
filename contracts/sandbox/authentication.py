"""Accounts, tokens and rights (Authentication), and the token operation.

The document shows how a token is requested and sent; how long it lives is ours to choose.
"""

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.habits import Clock, Habits, JsonAnswer
from contracts.sandbox.http import BodyReader, Reason, Refusal, bad_request, header_value


@dataclass(frozen=True)
class Account:
    """One registered account.

    Attributes:
        name: what the sandbox calls it in metadata (owner).
        may_write: it may create records and update its own.
        holds_nau: it holds the NAU role (Workflow submission body, additionalInfo).

    """

    name: str
    email: str
    password: str
    may_write: bool = True
    holds_nau: bool = False

    @property
    def may(self) -> str:
        """What it may do, in a few words."""
        if not self.may_write:
            return "signed in, may write nothing"
        return "writes, holds the NAU role" if self.holds_nau else "writes what is its own"


#: Where an account signs in.
SIGN_IN: Final = "/api/v2013/authentication/token"
ACCOUNTS = (
    Account("author", "author@sandbox.test", "sandbox-author"),
    Account("other", "other@sandbox.test", "sandbox-other"),
    Account("restricted", "restricted@sandbox.test", "sandbox-restricted", may_write=False),
    Account("nau", "nau@sandbox.test", "sandbox-nau", holds_nau=True),
)


@dataclass(frozen=True)
class Token:
    """A bearer token and the moment (UTC, without offset) it stops being valid."""

    text: str
    account: Account
    expires: datetime


class TokenBook:
    """Issues tokens and knows their holders; kept in memory, so a restart asks for new ones.

    Args:
        clock: source of time.
        lifetime: seconds a token stays valid.

    """

    def __init__(self, clock: Clock, lifetime: float) -> None:
        self.clock = clock
        self.lifetime = timedelta(seconds=lifetime)
        self._issued: dict[str, Token] = {}

    def issue(self, account: Account) -> Token:
        """Return a new token for an account."""
        now = self.clock.now()
        self._forget_expired(now)
        token = Token(secrets.token_urlsafe(32), account, now + self.lifetime)
        self._issued[token.text] = token
        return token

    def holder(self, text: str) -> Account | None:
        """Return the account of a valid token, or ``None``."""
        token = self._issued.get(text)
        if token is None or token.expires <= self.clock.now():
            return None
        return token.account

    def _forget_expired(self, now: datetime) -> None:
        # Tokens are issued in order and live equally long: the oldest stand first.
        for text, token in list(self._issued.items()):
            if token.expires > now:
                return
            del self._issued[text]


class Identity:
    """Knows who is calling."""

    def __init__(self, tokens: TokenBook, accounts: tuple[Account, ...] = ACCOUNTS) -> None:
        self.tokens = tokens
        self.accounts = accounts

    def sign_in(self, email: str, password: str) -> Account:
        """Return the account with this e-mail and password.

        Raises:
            Refusal: no such account, or another password; the two are not told apart.

        """
        for account in self.accounts:
            same = hmac.compare_digest(account.password.encode(), password.encode())
            if account.email == email and same:
                return account
        raise Refusal(Reason.WRONG_CREDENTIALS, "the e-mail or the password is wrong")

    def caller(self, request: Request) -> Account | None:
        """Return who sent the request (Authentication 3), or ``None`` without a valid token."""
        scheme, _, token = (header_value(request, "authorization") or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        return self.tokens.holder(token.strip())

    def require(self, request: Request) -> Account:
        """Return who sent the request to a protected operation (Authentication 4).

        Raises:
            Refusal: the Authorization header holds no valid token.

        """
        account = self.caller(request)
        if account is None:
            raise Refusal(Reason.UNAUTHENTICATED, "the Authorization header must hold a valid bearer token")
        return account


class Rights:
    """Who may do what: authors create, and update what is their own; restricted accounts do neither."""

    def may_create(self, account: Account) -> bool:
        """Tell whether an account may create a record."""
        return account.may_write

    def may_update(self, account: Account, owner: str) -> bool:
        """Tell whether an account may update or delete a record of ``owner`` (an account's name)."""
        return account.may_write and account.name == owner


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
