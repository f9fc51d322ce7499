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

from contracts.sandbox.accounts import Account, Identity, Token, TokenBook
from contracts.sandbox.answers import JsonAnswer
from contracts.sandbox.authentication import AuthenticationOperations
from contracts.sandbox.http_requests import BodyReader, header_value
from contracts.sandbox.refusals import Reason, Refusal
from contracts.sandbox.variants.model import Variant
from contracts.sandbox.workflow import Entry, WorkflowOperations

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


class _Short(_Book):
    """Ten hexadecimal digits."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return secrets.token_hex(5)


class _Long(_Book):
    """Some two thousand characters, with every sign that a bearer token may have."""

    def text(self, token: Token) -> str:  # noqa: ARG002
        return f"{secrets.token_urlsafe(1500)}.~+/{secrets.token_hex(8)}=="


class _Jwt(_Book):
    """A JSON Web Token that names its holder."""

    def text(self, token: Token) -> str:
        head = {"alg": "HS256", "typ": "JWT"}
        body = {"sub": token.account.name, "exp": token.expires.timestamp(), "jti": secrets.token_hex(8)}
        return f"{_segment(head)}.{_segment(body)}.{secrets.token_urlsafe(32)}"


def _segment(value: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


class _Same(TokenBook):
    """An account that has a valid token is given the same one again."""

    def issue(self, account: Account) -> Token:
        now = self.clock.now()
        valid = (token for token in self._issued.values() if token.account == account and token.expires > now)
        return next(valid, None) or super().issue(account)


class _Replaced(TokenBook):
    """A new token ends the account's earlier ones."""

    def issue(self, account: Account) -> Token:
        for text in [token.text for token in self._issued.values() if token.account == account]:
            del self._issued[text]
        return super().issue(account)


class _Brief(TokenBook):
    """A token is valid for less than a minute."""

    def issue(self, account: Account) -> Token:
        self.lifetime = timedelta(seconds=_BRIEF_SECONDS)
        return super().issue(account)


class _ExactScheme(Identity):
    """The scheme is the word Bearer in this very spelling."""

    def caller(self, request: Request) -> Account | None:
        given = header_value(request, "authorization") or ""
        return super().caller(request) if given.startswith("Bearer ") else None


class _AnyCase(Identity):
    """The letter case of an e-mail address does not matter, nor white space around it."""

    def sign_in(self, email: str, password: str) -> Account:
        return super().sign_in(email.strip().lower(), password)


class _Told(AuthenticationOperations):
    """Wrong credentials are answered with 200, a text and no token."""

    async def create_token(self, request: Request) -> Response:
        try:
            return await super().create_token(request)
        except Refusal as refusal:
            if refusal.reason is not Reason.WRONG_CREDENTIALS:
                raise
            return JsonAnswer({"authenticationToken": None, "expiration": None, "error": refusal.message})


class _AnyType(BodyReader):
    """A JSON body is read whatever its content type says."""

    def require_json_type(self, request: Request) -> None:  # noqa: ARG002
        return


class _RealmFirst(WorkflowOperations):
    """Realm and schema are looked at before the caller."""

    def enter(self, request: Request) -> Entry:
        realm = self.require_realm(request)
        kind = self.require_schema(request, realm)
        return Entry(self.require_identity(request), realm, kind)


def _tokens(layer: type[TokenBook]) -> dict[str, type]:
    return {"identity.tokens": layer}


VARIANTS = (
    Variant(
        "tokens-short",
        "The form of a token is not shown: ten hexadecimal digits.",
        parts=_tokens(_Short),
    ),
    Variant(
        "tokens-long",
        "The form of a token is not shown: two thousand characters, with all signs a bearer token may have.",
        parts=_tokens(_Long),
    ),
    Variant(
        "tokens-jwt",
        "The form of a token is not shown: a JSON Web Token that names its holder.",
        parts=_tokens(_Jwt),
    ),
    Variant(
        "token-same-again",
        "What a second sign-in gives is not shown: the same token again.",
        parts=_tokens(_Same),
    ),
    Variant(
        "token-replaced",
        "Whether a token outlives the next sign-in of its account is not shown: it does not.",
        parts=_tokens(_Replaced),
    ),
    Variant(
        "tokens-brief",
        "How long a token stays valid is not shown: forty seconds.",
        parts=_tokens(_Brief),
    ),
    Variant(
        "bearer-exact",
        "Other spellings of the scheme are not shown: the word Bearer and one space, or nobody is known.",
        parts={"identity": _ExactScheme},
    ),
    Variant(
        "email-any-case",
        "Whether the letter case of an e-mail matters is not shown: it does not.",
        parts={"identity": _AnyCase},
    ),
    Variant(
        "sign-in-refused-200",
        "Status and body of a failed sign-in are not shown: 200 with a text and null for a token.",
        parts={"authentication": _Told},
    ),
    Variant(
        "content-type-any",
        "A JSON body labelled as something else is not shown: it is read all the same.",
        parts={"body": _AnyType},
    ),
    Variant(
        "realm-before-identity",
        "Which refusal a submission without realm and token meets is not shown: that for the realm.",
        parts={"workflow": _RealmFirst},
    ),
)
"""Each lets callers in otherwise."""
