"""Claims about answers to the request for a token: whether one was given, and what it opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange, Response
from contracts.session.actor import Actor

TOKEN_MEMBER: Final = "authenticationToken"  # noqa: S105 - a name, no secret
EXPIRATION_MEMBER: Final = "expiration"
#: Credentials are lacking, or are none (RFC 9110, 15.5.2).
_UNAUTHENTICATED: Final = 401


def token_in(answer: Response) -> str | None:
    """The token of a sign-in answer, where the document says it stands; None when there is none."""
    value = answer.json.get(TOKEN_MEMBER) if answer.success and isinstance(answer.json, dict) else None
    return value if isinstance(value, str) and value else None


def token_of(actor: Actor, body: Mapping[str, Any]) -> str:
    """A fresh token.

    Raises:
        Blocked: the service gave none.
    """
    exchange = actor.send("createToken", json=body)
    token = token_in(usable(exchange))
    if token is None:
        raise Blocked("createToken", f"gave no token: {exchange.answer.status}")
    return token


def expiration_of(exchange: Exchange) -> Any:
    """What stands in the expiration of a sign-in answer.

    Raises:
        Blocked: there is no token, so nothing that could expire.
    """
    answer = usable(exchange)
    if token_in(answer) is None:
        raise Blocked("createToken", f"gave no token: {answer.status}")
    return answer.json.get(EXPIRATION_MEMBER)


def gives_token(claim: Claim, exchange: Exchange, other_ways: Iterable[Callable[[], Exchange]] = ()) -> None:
    """Claim that signing in gave a token.

    Args:
        other_ways: Tried when it did not: ways of asking that go beyond what the document lists. When one of them
            gives a token, what the plain request lacks is the fault, and that has a clause of its own.

    Raises:
        Contradiction: no token in any way.
        Blocked: a token only in another way.
    """
    given = token_in(usable(exchange)) is not None
    if not given and any(token_in(usable(way())) for way in other_ways):
        raise Blocked(
            "createToken", "gives a token only to requests with more headers than the document lists"
        )
    claim.holds(
        given,
        exchange,
        expected=f"{TOKEN_MEMBER}, a string that is not empty",
        seen=_without_secrets(exchange.answer),
    )


def needs_no_more(claim: Claim, exchange: Exchange, with_more: Callable[[], Exchange]) -> None:
    """Claim that signing in needs no more headers than the document lists.

    Raises:
        Contradiction: a token is given with more headers only.
        Blocked: no token either way.
    """
    given = token_in(usable(exchange)) is not None
    if not given and token_in(usable(with_more())) is None:
        raise Blocked("createToken", f"gave no token: {exchange.answer.status}")
    claim.holds(
        given,
        exchange,
        expected="a token without Realm and Authorization",
        seen=_without_secrets(exchange.answer),
    )


def no_token_from(claim: Claim, exchanges: Iterable[Exchange]) -> None:
    """Claim that none of these requests yields a token, whatever their status: it is not shown."""
    for exchange in exchanges:
        tokens = list(_tokens(usable(exchange)))
        claim.holds(not tokens, exchange, expected="no token", seen=f"{exchange.answer.status} with a token")


def _tokens(answer: Response) -> Iterable[str]:
    """Every text that stands under the name of a token, however deep, whatever the status."""
    for value in readers.values(answer.json):
        found = value.get(TOKEN_MEMBER) if isinstance(value, dict) else None
        if isinstance(found, str) and found:
            yield found


def _without_secrets(answer: Response) -> str:
    kinds = (
        {name: type(value).__name__ for name, value in answer.json.items()} if _is_object(answer) else None
    )
    return f"{answer.status} with members {kinds}" if kinds is not None else answer.quote()


def _is_object(answer: Response) -> bool:
    return isinstance(answer.json, dict) and TOKEN_MEMBER in answer.json


def opens(claim: Claim, tries: Iterable[Callable[..., Exchange]]) -> None:
    """Claim that a token opens one of the protected operations it is tried on, in turn, and does so again.

    That it opens each of them is told by the operations' own clauses, unless one is refused for its credentials.

    Args:
        tries: Requests with the token; each takes another one by the argument `token`.
    """
    asked: list[Exchange] = []
    for ask in tries:
        asked.append(ask())
        if usable(asked[-1]).success:
            asked.append(ask())
            break
        _claim_no_stranger(claim, asked[-1], partial(ask, token=None))
    claim.holds(
        usable(asked[-1]).success,
        *asked,
        expected="a protected operation opens, the second time too",
        seen=asked[-1].answer.quote(),
    )


def opens_here(claim: Claim, ask: Callable[..., Exchange], elsewhere: str) -> None:
    """Claim that a token which another realm takes is not refused in the case's own as if there were none.

    Args:
        ask: A request with the token; takes another one, and another realm, by the arguments `token` and `realm`.
        elsewhere: The other realm.

    Raises:
        Blocked: refused for something else, or in the other realm too.
    """
    here = ask()
    if usable(here).success:
        return
    if usable(ask(realm=elsewhere)).success:
        _claim_no_stranger(claim, here, partial(ask, token=None))
    raise Blocked(here.operation or "", f"answered {here.answer.quote()}")


def _claim_no_stranger(claim: Claim, refused: Exchange, stranger: Callable[[], Exchange]) -> None:
    """Claim that a request with a token was not refused for its credentials, as it is without one."""
    if refused.answer.status != _UNAUTHENTICATED:
        return
    plain = stranger()
    claim.holds(
        usable(plain).status != _UNAUTHENTICATED,
        refused,
        plain,
        expected="a fresh token is taken for credentials",
        seen=refused.answer.quote(),
    )
