"""Variants of signing in: the form and the life of tokens, the spelling of credentials, who is looked at when."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.authentication import Account, AuthenticationOperations, Identity, Token, TokenBook
from contracts.sandbox.http_requests import BodyReader, Reason, Refusal, header_value
from contracts.sandbox.variants.model import Variants
from contracts.sandbox.workflow import Entry, WorkflowOperations

VARIANTS = Variants()

_BRIEF_SECONDS: Final = 40.0


class _Book(TokenBook):
    """Base of variants that write tokens in another form."""

    def issue(self, account: Account) -> Token:
        plain = super().issue(account)
        del self._issued[plain.text]
        token = replace(plain, text=self.text(plain))
        self._issued[token.text] = token
        return token

    def text(self, token: Token) -> str:
        """Return the text of a new token."""
        raise NotImplementedError


@VARIANTS.layer("identity.tokens", "tokens-short")
class _Short(_Book):
    """The form of a token is not shown: ten hexadecimal digits."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return secrets.token_hex(5)


@VARIANTS.layer("identity.tokens", "tokens-long")
class _Long(_Book):
    """The form of a token is not shown: two thousand characters, with all signs a bearer token may have."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return f"{secrets.token_urlsafe(1500)}.~+/{secrets.token_hex(8)}=="


@VARIANTS.layer("identity.tokens", "tokens-jwt")
class _Jwt(_Book):
    """The form of a token is not shown: a JSON Web Token that names its holder."""

    def text(self, token: Token) -> str:
        head = {"alg": "HS256", "typ": "JWT"}
        body = {"sub": token.account.name, "exp": token.expires.timestamp(), "jti": secrets.token_hex(8)}
        return f"{_segment(head)}.{_segment(body)}.{secrets.token_urlsafe(32)}"


def _segment(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@VARIANTS.layer("identity.tokens", "token-same-again")
class _Same(TokenBook):
    """What a second sign-in gives is not shown: the same token again."""

    def issue(self, account: Account) -> Token:
        now = self.clock.now()
        valid = (token for token in self._issued.values() if token.account == account and token.expires > now)
        return next(valid, None) or super().issue(account)


@VARIANTS.layer("identity.tokens", "token-replaced")
class _Replaced(TokenBook):
    """Whether a token outlives the next sign-in of its account is not shown: it does not."""

    def issue(self, account: Account) -> Token:
        for text in [token.text for token in self._issued.values() if token.account == account]:
            del self._issued[text]
        return super().issue(account)


@VARIANTS.layer("identity.tokens", "tokens-brief")
class _Brief(TokenBook):
    """How long a token stays valid is not shown: forty seconds."""

    def issue(self, account: Account) -> Token:
        self.lifetime = timedelta(seconds=_BRIEF_SECONDS)
        return super().issue(account)


@VARIANTS.layer("identity", "bearer-exact")
class _ExactScheme(Identity):
    """Other spellings of the scheme are not shown: only the word Bearer and one space count as a token."""

    def caller(self, request: Request) -> Account | None:
        given = header_value(request, "authorization") or ""
        return super().caller(request) if given.startswith("Bearer ") else None


@VARIANTS.layer("identity", "email-any-case")
class _AnyCase(Identity):
    """Whether the letter case of an e-mail matters is not shown: it does not."""

    def sign_in(self, email: str, password: str) -> Account:
        return super().sign_in(email.strip().lower(), password)


@VARIANTS.layer("authentication", "sign-in-refused-200")
class _Told(AuthenticationOperations):
    """Status and body of a failed sign-in are not shown: 200 with a text and null for a token."""

    async def create_token(self, request: Request) -> Response:
        try:
            return await super().create_token(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.WRONG_CREDENTIALS:
                raise
            return JsonAnswer({"authenticationToken": None, "expiration": None, "error": refusal.message})


@VARIANTS.layer("body", "content-type-any")
class _AnyType(BodyReader):
    """A JSON body labelled as something else is not shown: it is read all the same."""

    def require_json_type(self, request: Request) -> None:  # noqa: ARG002
        return


@VARIANTS.layer("workflow", "realm-before-identity")
class _RealmFirst(WorkflowOperations):
    """Which refusal a submission without realm and token meets is not shown: that for the realm."""

    def enter(self, request: Request) -> Entry:
        realm = self.require_realm(request)
        kind = self.require_schema(request, realm)
        return Entry(self.require_identity(request), realm, kind)
