"""Faults of signing in and of tokens: wrong answers, wrong credentials accepted, tokens that open too much."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from registry_contracts.interface.description import operations_with
from registry_contracts.sandbox.authentication import Account
from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import MISSING, Answer, Inject, Request
from registry_contracts.sandbox.faults.places import ACCOUNTS, SIGN_IN

Choose = Callable[[Request], Account | None]


async def as_author(request: Request) -> Answer | None:
    """Serve a request as if the author sent it."""
    return await request.ask(await request.as_role("author"))


@do.effect
async def _dies_after(request: Request, number: int) -> Answer | None:
    """Refuse a token after some uses."""
    kept, token = request.memory.kept, request.header("authorization")
    kept[token] = kept.get(token, 0) + 1
    return Answer(401) if request.role and kept[token] > number else None


def _granted(choose: Choose) -> Inject:
    """Sign in as the account that a request chooses; None leaves the request to the service."""
    return do.send(lambda r: r.signing_in(account) if (account := choose(r)) else None)


def _account(request: Request, credential: str) -> Account | None:
    """The account that a credential in the body belongs to."""
    given = request.member.get(credential)
    return next((account for account in ACCOUNTS.values() if getattr(account, credential) == given), None)


def _misspelt(password: Any) -> bool:
    known = [account.password for account in ACCOUNTS.values()]
    return password not in known and str(password).lower() in known


def _stranger(request: Request) -> Account | None:
    """An account for a body that holds both credentials, the e-mail being that of no account."""
    given = [request.member.get(name) for name in ("email", "password")]
    strange = all(text and isinstance(text, str) for text in given) and _account(request, "email") is None
    return ACCOUNTS["restricted"] if strange else None


def _member(name: str, form: Callable[[datetime], Any]) -> Inject:
    """Change a member of the answer to signing in; `form` makes it from the moment of expiration."""
    return do.success(lambda got: got.with_member(name, form(datetime.now(UTC) + timedelta(hours=1))))


# fmt: off
_GRANTED = Rows("token-", "token-", SIGN_IN, "Signing in gives a token: {}.")
_SIGN_IN = Rows("token-", "token-", SIGN_IN)
_TOKEN = Rows("token-", "token-", "listDrafts")



def _overlooked(wrong: str, passes: Callable[[Any], bool]) -> Inject:
    """Accept one wrong credential that passes a test if the other is right."""
    right = "password" if wrong == "email" else "email"
    return _granted(lambda r: _account(r, right) if passes(r.member.get(wrong)) else None)


ROWS: Final = (
    *each(lambda name, clause, choose, says: _GRANTED(name, clause, _granted(choose), says),
        ("unknown-account-welcome", "unknown-account", _stranger, "no account has the e-mail"),
        ("body-empty-object", "body-kind", lambda r: ACCOUNTS["author"] if r.json == {} else None,
            "the body is an empty object"),
    ),
    *each(lambda wrong, name, clause, passes, what: _GRANTED(name, clause, _overlooked(wrong, passes),
            f"the {wrong} is {what} and the other credential right"),
        ("password", "password-letter-case", "wrong-password", _misspelt, "in another letter case"),
        ("email", "empty-email", "email-missing", lambda v: v == "", "empty"),
        ("password", "empty-password", "password-missing", lambda v: v == "", "empty"),
        ("email", "email-true", "email-kind", lambda v: v is True, "the boolean true"),
        ("password", "password-true", "password-kind", lambda v: v is True, "the boolean true"),
    ),
    _SIGN_IN("missing", "issued", _member("authenticationToken", do.always(MISSING)),
        "The token in the answer to signing in is missing"),
    _SIGN_IN("expiration-without-zone", "expiration-format",
        _member("expiration", lambda at: f"{at:%Y-%m-%dT%H:%M:%S.%f}"), "The expiration of a token has no zone"),
    _SIGN_IN("expiration-past", "expiration-ahead",
        _member("expiration", lambda at: f"{at - timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}Z"),
        "The expiration of a token is past"),
    _SIGN_IN("needs-authorization", "needs-no-token", do.refuse_before(),
        "Signing in is refused without an Authorization header", "-authorization~."),
    _TOKEN("opens-nothing", "opens-protected", do.refuse_before(401), "No token opens the list of drafts"),
    _TOKEN("opens-nothing", "serves-every-realm", do.refuse_before(401), "No token opens the list of drafts")
        .under("in-bch-dev"),
    _TOKEN("under-basic-opens", "other-scheme",
        do.send(lambda r: r.with_header("authorization", f"Bearer {r.header('authorization')[6:].strip()}")),
        "A token sent under the scheme Basic opens the list of drafts", r"authorization~(?i)^basic\s"),
    _TOKEN("ends-early", "lasts-until-expiration", _dies_after(2),
        "A token is refused after 2 requests, long before its expiration", at=operations_with(protected=True)),
)
# fmt: on
