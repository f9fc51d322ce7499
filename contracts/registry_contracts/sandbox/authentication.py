"""Accounts, tokens and rights (Authentication), and the token operation.

The document shows how a token is requested and sent, and leaves its lifetime open.
"""

import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from starlette.requests import Request

from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.http import Reason, Refusal, bad_request, forbidden, header_value
from registry_contracts.sandbox.storage import Clock


@dataclass(frozen=True)
class Account:
    """One registered account; ``holds_nau``: it holds the NAU role (Workflow submission body, additionalInfo)."""

    name: str
    email: str
    password: str
    may: str = "writes what is its own"
    may_write: bool = True
    holds_nau: bool = False

    def owns(self, owner: str) -> bool:
        """Tell whether it is the owner, or one of several."""
        return self.name in owner.split()


#: Where an account signs in.
SIGN_IN: Final = "/api/v2013/authentication/token"
ACCOUNTS = (
    Account("author", "author@sandbox.test", "sandbox-author"),
    Account("other", "other@sandbox.test", "sandbox-other"),
    Account(
        "restricted", "restricted@sandbox.test", "sandbox-restricted", "may write nothing", may_write=False
    ),
    Account("nau", "nau@sandbox.test", "sandbox-nau", "writes, holds the NAU role", holds_nau=True),
)


@dataclass(frozen=True)
class Token:
    """A bearer token and the moment (UTC, without offset) it stops being valid."""

    text: str
    account: Account
    expires: datetime


class Identity:
    """Issues tokens, and knows who is calling; a restart asks for new tokens."""

    def __init__(self, clock: Clock, habits: Habits) -> None:
        self.clock = clock
        self.habits = habits
        #: By their texts; some may have expired.
        self.issued: dict[str, Token] = {}

    def issue(self, account: Account) -> Token:
        """Return a token for an account, a new one each time."""
        now, habits = self.clock.now(), self.habits
        # Expired tokens go, also if nobody uses them again.
        self.issued = {text: token for text, token in self.issued.items() if token.expires > now}
        own = [token for token in self.issued.values() if token.account == account]
        if own and habits.sign_in_again == "same":
            return own[0]
        for token in own if habits.sign_in_again == "replaced" else ():
            del self.issued[token.text]
        text = secrets.token_urlsafe(habits.token_bytes) + habits.token_suffix
        token = Token(text, account, now + timedelta(seconds=habits.token_lifetime))
        self.issued[text] = token
        return token

    def holder(self, text: str) -> Account | None:
        """Return the account of a valid token, or ``None``."""
        token = self.issued.get(text)
        return None if token is None or token.expires <= self.clock.now() else token.account

    def forget(self) -> None:
        """Forget every token, as a restart does."""
        self.issued.clear()

    def sign_in(self, email: str, password: str) -> Account:
        """Return the account with this e-mail and password; refuse others without telling which of the two is wrong."""
        if self.habits.sign_in_email_checked and email and "@" not in email:
            raise bad_request("the e-mail is none")
        if self.habits.email_any_case:
            email = email.strip().lower()
        if self.habits.email_tags_ignored:
            email = re.sub(r"\+[^@]*(?=@)", "", email)
        for account in ACCOUNTS:
            same = hmac.compare_digest(account.password.encode(), password.encode())
            if account.email == email and same:
                return account
        raise Refusal(Reason.WRONG_CREDENTIALS, "the e-mail or the password is wrong")

    def caller(self, request: Request) -> Account | None:
        """Return who sent the request (Authentication 3), or ``None`` without a valid token."""
        given = header_value(request, "authorization") or ""
        scheme, _, token = given.partition(" ")
        exact = given.startswith("Bearer ") or not self.habits.bearer_exact
        known = scheme.lower() in self.habits.token_schemes.split()
        return self.holder(token.strip()) if known and exact else None

    def require(self, request: Request) -> Account:
        """Return who sent the request to a protected operation (Authentication 4); refuse without a valid token."""
        account = self.caller(request)
        if account is None:
            raise Refusal(Reason.UNAUTHENTICATED, "the Authorization header must hold a valid bearer token")
        if not account.may_write and self.habits.restricted_shut_out:
            raise forbidden("this account has no access")
        return account


def may_update(account: Account, owner: str, *, shared: bool = False) -> bool:
    """Tell whether an account may update or delete a record of ``owner``: its own, or a shared one."""
    return account.may_write and (shared or account.owns(owner))
