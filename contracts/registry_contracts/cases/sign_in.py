"""Signing in: bodies of token requests, tokens in answers, and tokens that are not valid."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from registry_contracts.cases.world import World
from registry_contracts.checks.claims import Claim
from registry_contracts.checks.outcomes import Blocked, Untested, usable
from registry_contracts.checks.sign_in import EXPIRATION_MEMBER, token_in, without_secrets
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.session.actor import Actor
from registry_contracts.settings.target import Target

#: How often to sign in to see that it works each time.
_TIMES: Final = 2


class Credentials:
    """E-mails and passwords of a target's accounts, as bodies of token requests.

    Raises (all methods that name a role):
        Untested: the settings have no account of this role.
    """

    def __init__(self, target: Target) -> None:
        self._target = target

    def of(self, role: str, **changes: Any) -> dict[str, Any]:
        """The right body for a role, with members replaced or added."""
        return {"email": self.email(role), "password": self.password(role), **changes}

    def of_each(self) -> list[dict[str, Any]]:
        """The right body for each account of the settings."""
        return [self.of(role) for role in self._target.accounts]

    def email(self, role: str) -> str:
        """The e-mail of a role."""
        self._require_account(role)
        return self._target.accounts[role].email

    def password(self, role: str) -> str:
        """The password of a role."""
        self._require_account(role)
        return self._target.accounts[role].password.reveal()

    def _require_account(self, role: str) -> None:
        if why := self._target.missing(f"account.{role}"):
            raise Untested(why, f"accounts.{role}")


#: Credentials are missing or invalid (RFC 9110, 15.5.2).
_UNAUTHENTICATED: Final = 401


def token_of(actor: Actor, body: Mapping[str, Any]) -> str:
    """A fresh token."""
    exchange = actor.create_token(json=body)
    token = token_in(usable(exchange))
    if token is None:
        raise Blocked("createToken", f"gave no token: {exchange.answer.status}")
    return token


def expiration_of(exchange: Exchange) -> Any:
    """The value of the expiration member in a sign-in answer."""
    answer = usable(exchange)
    if token_in(answer) is None:
        raise Blocked("createToken", f"gave no token: {answer.status}")
    return answer.json.get(EXPIRATION_MEMBER)


def claim_signed_in(
    issued: Claim, bare: Claim, sign_in: Callable[[], Exchange], with_more: Callable[[], Exchange]
) -> Exchange:
    """Claim that signing in returns a token each time, and needs no more headers than the document lists.

    Args:
        with_more: Signs in with more headers; only sent if no plain request returned a token.
    """
    tried = [sign_in() for _ in range(_TIMES)]
    given = any(token_in(usable(each)) for each in tried)
    if not given and token_in(usable(with_more())):
        expected, seen = "a token without Realm and Authorization", without_secrets(tried[0].answer)
        bare.holds(False, tried[0], expected=expected, seen=seen)
    for each in tried:
        issued.meets("token-given", each)
    bare.holds(given, *tried, expected="a token")
    return tried[0]


def claim_no_token(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that none of these answers holds a token; the document does not say which status they have."""
    for exchange in exchanges:
        claim.meets("no-token", exchange)


def claim_opens(claim: Claim, tries: Iterable[Callable[..., Exchange]]) -> None:
    """Claim that a fresh token opens one of several protected operations, tried in turn, and opens it a second time.

    The operations' own clauses judge each of them, unless one is refused for its credentials.
    """
    asked: list[Exchange] = []
    for ask in tries:
        asked.append(ask())
        if usable(asked[-1]).success:
            asked.append(ask())
            break
        _claim_recognised(claim, asked[-1], ask)
    opened, expected = usable(asked[-1]).success, "a protected operation opens, the second time too"
    claim.holds(opened, *asked, expected=expected)


def claim_opens_here(claim: Claim, ask: Callable[..., Exchange], elsewhere: str) -> None:
    """Claim that a token that another realm accepts is not refused in the case's own realm like a missing token.

    Args:
        ask: Sends a request with the token; the arguments `token` and `realm` replace either.
        elsewhere: The other realm.

    Raises:
        Blocked: the request is refused here for another reason.
    """
    here = ask()
    if usable(here).success:
        return
    if usable(ask(realm=elsewhere)).success:
        _claim_recognised(claim, here, ask)
    raise Blocked(here.operation or "", f"answered {here.answer.quote()}")


def _claim_recognised(claim: Claim, refused: Exchange, ask: Callable[..., Exchange]) -> None:
    """Claim that a request with a token was not refused with 401 like one without; 401 may also mean missing rights."""
    if refused.status == _UNAUTHENTICATED:
        plain, expected = ask(token=None), "a fresh token is accepted as credentials"
        claim.holds(usable(plain).status != _UNAUTHENTICATED, plain, refused, expected=expected)


#: The URL-safe Base64 alphabet in order of value.
_BASE64: Final = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
#: Appended to a token to make another one; too long to be padding.
_TAIL: Final = "rcTail00"


#: Character classes for the letters and digits of a token.
_SIGNS: Final = (string.digits, "abcdef", "ABCDEF", string.ascii_lowercase, string.ascii_uppercase)


def invented(token: str) -> str:
    """A text that looks like a token: same length, another letter or digit in each place, all else unchanged.

    The others are drawn at random, so the token cannot be derived from it.
    """
    hexadecimal = all(sign in string.hexdigits for sign in token if sign.isalnum())
    kinds = _SIGNS if hexadecimal else [_SIGNS[0], *_SIGNS[3:]]
    others = (next((kind.replace(sign, "") for kind in kinds if sign in kind), sign) for sign in token)
    return "".join(map(secrets.choice, others))


def never_issued(world: World) -> dict[str, str]:
    """Values of the Authorization header without a token that the service ever issued, by kind."""
    token = world.author.token() or ""
    return {
        "invented": f"Bearer {invented(token) or 'garbage'}",
        "nothing": "Bearer",
        "short": "Bearer never-issued",
        "half": f"Bearer {token[: len(token) // 2]}",
    }


def altered_tokens(token: str) -> list[str]:
    """Texts that differ from a valid token in ways that a careless check overlooks.

    The letter case is kept if the notation may ignore it, and nothing is appended after Base64 padding.
    """
    both_cases = token != token.lower() and token != token.upper()
    tails = [] if token.endswith("=") else [token + _TAIL]
    return [*([token.swapcase()] if both_cases else []), *tails, *_with_another_end(token)]


def _with_another_end(token: str) -> list[str]:
    """The token with another last letter or digit; in Base64 it differs in the highest bit, which is always used."""
    body = token.rstrip("=")
    last = body[-1:]
    signs = next((signs for signs in (string.hexdigits[:16], _BASE64) if set(body) <= set(signs)), _BASE64)
    if last not in signs:
        return []
    other = signs[(signs.index(last) + len(signs) // 2) % len(signs)]
    return [body[:-1] + other + token[len(body) :]]
