"""Faults of signing in and of tokens: what an answer holds, which credentials are taken, whom a token opens what."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import Range
from contracts.sandbox.faults.fault import Fault, Rows, Sized
from contracts.sandbox.faults.messages import MISSING, Answer, Inject, Request
from contracts.sandbox.faults.places import ACCOUNTS, SIGN_IN, SUBMISSIONS, kebab

Choose = Callable[[Request], str | None]
#: The clause by which an operation needs a token.
NEEDS_TOKEN: Final = {
    operation: clause.id
    for clause in load_catalogue()
    for operation in clause.operations
    if clause.id.endswith("-needs-token")
}
_OUTSIDE_WORKFLOW: Final = tuple(operation for operation in NEEDS_TOKEN if operation not in SUBMISSIONS)
#: No Authorization header is there, or an empty one.
ANONYMOUS: Final = "-authorization~."


def _bearer(request: Request) -> str | None:
    """The bearer token of a request; None without one."""
    scheme, _, token = request.header("authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def as_author(request: Request) -> Answer | None:
    """Serve a request as the author's."""
    return await request.as_role("author")


async def _refused_but_done(request: Request, got: Answer) -> Answer:
    if not request.role and got.refusal:
        await request.as_role("author")
    return got


@do.effect
async def _resembling(request: Request, like: Callable[[str, str], bool]) -> Answer | None:
    """Serve a bearer token that was not issued as the one that was issued and is like it."""
    given = None if request.role else _bearer(request)
    alike = [token for token in request.memory.issued if given is not None and like(given, token)]
    return await request.ask(request.with_header("authorization", f"Bearer {alike[0]}")) if alike else None


@do.effect
async def _dies_after(request: Request, number: int) -> Answer | None:
    """Refuse a token that was used so often."""
    kept, token = request.memory.kept, request.header("authorization")
    kept[token] = kept.get(token, 0) + 1
    return Answer(401) if request.role and kept[token] > number else None


def _granted(choose: Choose) -> Inject:
    """Sign in as the account that a request chooses; None leaves the request to the service."""
    return do.send(lambda r: None if (email := choose(r)) is None else r.signing_in(email))


def _account(name: str, value: Any) -> str | None:
    """The e-mail of the account of which a credential is that value."""
    for email, (_, password) in ACCOUNTS.items():
        if isinstance(value, str) and value == {"email": email, "password": password}[name]:
            return email
    return None


def _overlooked(wrong: str, test: Callable[[Any], bool]) -> Choose:
    """Overlook one credential that passes a test, where the other one is right."""
    right = "password" if wrong == "email" else "email"
    return lambda r: _account(right, r.member.get(right)) if test(r.member.get(wrong, MISSING)) else None


def _password(same: Callable[[str, str], bool]) -> Choose:
    """Take each password that is not the right one and that `same` takes for it."""

    def choose(request: Request) -> str | None:
        email, given = _account("email", request.member.get("email")), request.member.get("password")
        right = ACCOUNTS[email or "author@sandbox.test"][1]
        return email if isinstance(given, str) and given and given != right and same(given, right) else None

    return choose


def _stranger(request: Request) -> bool:
    """Whether a body holds both credentials, and an e-mail that is no account's."""
    given = [request.member.get(name) for name in ("email", "password")]
    return all(text and isinstance(text, str) for text in given) and given[0] not in ACCOUNTS


def _if(test: Callable[[Request], bool], role: str = "author") -> Choose:
    return lambda r: f"{role}@sandbox.test" if test(r) else None


def _member(name: str, change: Callable[[Any], Any]) -> Inject:
    """Change a member of the answer to signing in; `MISSING` takes it out."""
    return do.edit(
        lambda body: {k: v for k, v in {**body, name: change(body.get(name))}.items() if v is not MISSING}
    )


def _expiring(form: Callable[[datetime], Any]) -> Inject:
    """Write the expiration of a token in another form."""
    return _member("expiration", lambda _: form(datetime.now(UTC) + timedelta(hours=1)))


# fmt: off
_GRANTED = Rows("token-", "token-", SIGN_IN, "Signing in gives a token: {}.")
_SIGN_IN = Rows("token-", "token-", SIGN_IN)
_TOKEN = Rows("token-", "token-", "listDrafts")
_ANY = Rows("", "")
#: Ways to write the expiration of a token that the document does not name.
_EXPIRATIONS: Final[tuple[tuple[str, Callable[[datetime], Any]], ...]] = (
    ("without-fraction", lambda at: f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    ("without-zone", lambda at: f"{at:%Y-%m-%dT%H:%M:%S.%f}"),
    ("with-offset", lambda at: f"{at + timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}+02:00"),
    ("number", lambda at: int(at.timestamp())),
    ("date-alone", lambda at: f"{at:%Y-%m-%d}"),
    ("as-http-date", lambda at: f"{at:%a, %d %b %Y %H:%M:%S GMT}"),
    ("impossible-day", lambda at: f"{at:%Y}-02-31T{at:%H:%M:%S.%f}Z"),
    ("empty", lambda _: ""),
    ("missing", lambda _: MISSING),
    ("past", lambda at: f"{at - timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}Z"),
)
#: What an answer to signing in holds, which credentials are taken, whom a token opens what.
TOKENS: Final[tuple[Fault, ...]] = (
    *(
        _GRANTED(name, clause, _granted(choose), says)
        for name, clause, choose, says in (
            ("any-password", "wrong-password", _password(lambda _given, _right: True),
                "a registered e-mail comes with any password that is not empty"),
            ("password-prefix", "wrong-password", _password(lambda given, right: given[:8] == right[:8]),
                "the first eight characters of the password are right"),
            ("password-letter-case", "wrong-password", _password(lambda given, right: given.lower() == right.lower()),
                "the password is right but for its letter case"),
            ("password-of-anyone", "unknown-account",
                lambda r: _account("password", r.member["password"]) if _stranger(r) else None,
                "an unknown e-mail comes with the password of some account"),
            ("unknown-account-welcome", "unknown-account", _if(_stranger, "restricted"), "no account has the e-mail"),
            *(
                (f"body-{name}", "body-kind", _if(test, role), f"the body is {what}")
                for name, what, test, role in (
                    ("array", "an array", lambda r: isinstance(r.json, list), "author"),
                    ("string", "a string", lambda r: isinstance(r.json, str), "author"),
                    ("empty-object", "an empty object", lambda r: r.json == {}, "author"),
                    ("absent", "absent", lambda r: not r.body, "restricted"),
                )
            ),
            *(
                (name.format(wrong), f"{wrong}-{clause}", _overlooked(wrong, test),
                    f"the {wrong} is {what} and the other credential right")
                for wrong in ("email", "password")
                for name, clause, what, test in (
                    ("without-{}", "missing", "absent", lambda value: value is MISSING),
                    ("empty-{}", "missing", "empty", lambda value: value == ""),
                    ("{}-array", "kind", "an array", lambda value: isinstance(value, list)),
                    ("{}-number", "kind", "a number", lambda value: type(value) is int),
                    ("{}-true", "kind", "the boolean true", lambda value: value is True),
                )
            ),
        )
    ),
    *(
        _SIGN_IN(name, "issued", _member("authenticationToken", do.always(value)),
            f"The token in the answer to signing in is {name}")
        for name, value in (("missing", MISSING), ("empty", ""), ("number", 7), ("null", None))
    ),
    *(
        _SIGN_IN(f"expiration-{name}", f"expiration-{'ahead' if name == 'past' else 'format'}",
            _expiring(form), f"The expiration of a token is written in the form '{name.replace('-', ' ')}'")
        for name, form in _EXPIRATIONS
    ),
    _SIGN_IN("refused-to-author", "issued", do.refuse_before(401), "The author's password is refused",
        "body~author@sandbox[.]test"),
    _SIGN_IN("under-another-name", "issued",
        do.edit(lambda body: {"token": body.pop("authenticationToken"), **body}), "The token stands in a member token"),
    _SIGN_IN("needs-authorization", "needs-no-token", do.refuse_before(),
        "Signing in is refused without an Authorization header", ANONYMOUS),
    *(
        _TOKEN(f"{name}-opens", "invalid-refused", _resembling(like), f"{what} is taken for the token",
            at=_OUTSIDE_WORKFLOW)
        for name, like, what in (
            ("truncated", lambda given, token: len(given) >= 8 and token.startswith(given),
                "A token whose last characters are cut off"),
            ("with-tail", str.startswith, "A token with further characters after it"),
            ("letter-case-ignored", lambda given, token: given.lower() == token.lower(),
                "A token in another letter case"),
            ("empty", lambda given, _: not given, "The word Bearer with nothing after it"),
        )
    ),
    *(
        each
        for operation, clause in NEEDS_TOKEN.items()
        for each in (
            _ANY(f"{kebab(operation)}-without-token", clause, as_author,
                f"{operation} serves a request without a token as the author's", ANONYMOUS, at=operation),
            _ANY(f"any-unknown-token-opens-{kebab(operation)}",
                ("token-invalid-refused", "workflow-invalid-token")[: 1 + (operation in SUBMISSIONS)], as_author,
                f"{operation} serves a request with an unknown token as the author's",
                lambda r: not r.role and _bearer(r) is not None, at=operation),
        )
    ),
    *(
        _ANY(f"{kebab(operation)}-without-token-done-and-refused", NEEDS_TOKEN[operation],
            do.answer(_refused_but_done), f"{operation} without a token is refused, but only after it was done",
            ANONYMOUS, at=operation)
        for operation in ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile", SUBMISSIONS[1])
    ),
    *(
        each
        for clause in ("workflow-create-rights", "workflow-update-rights")
        for each in _ANY("*-rights-not-needed", clause, as_author,
            "* does for an account without rights what it does for the author", "role~^restricted$").each()
    ),
    _TOKEN("opens-nothing", "opens-protected", do.refuse_before(401), "No token opens the list of drafts"),
    _TOKEN("opens-nothing", "serves-every-realm", do.refuse_before(401), "No token opens the list of drafts",
    ).under("in-bch-dev"),
    _TOKEN("under-basic-opens", "other-scheme",
        do.send(lambda r: r.with_header("authorization", f"Bearer {r.header('authorization')[6:].strip()}")),
        "A token sent under the scheme Basic opens the list of drafts", r"authorization~(?i)^basic\s"),
    _TOKEN("ends-early", "lasts-until-expiration", Sized(_dies_after, 2, Range(2, 10, 60)),
        "A token is refused after {} requests, long before its expiration", at=tuple(NEEDS_TOKEN)),
)
# fmt: on
