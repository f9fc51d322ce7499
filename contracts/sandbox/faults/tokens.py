"""Faults of signing in and of tokens: what an answer holds, which credentials are taken, whom a token opens what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.fault import Fault, row
from contracts.sandbox.faults.messages import (
    ACCOUNTS,
    MISSING,
    SUBMISSIONS,
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    kebab,
    sign_in,
)

SIGN_IN: Final = "createToken"
Choose = Callable[[Any], str | None]
#: The clause by which an operation needs a token.
NEEDS_TOKEN: Final = {
    "createContact": "contact-create-needs-token",
    "updateContact": "contact-update-needs-token",
    "saveDraft": "draft-save-needs-token",
    "getDraft": "draft-get-needs-token",
    "getDraftInfo": "draft-info-needs-token",
    "draftExists": "draft-exists-needs-token",
    "deleteDraft": "draft-delete-needs-token",
    "listDrafts": "list-needs-token",
    "createAttachment": "attachment-create-needs-token",
    "persistTemporaryFile": "attachment-persist-needs-token",
    "listAttachments": "attachment-list-needs-token",
    "createWorkflowRecord": "workflow-create-needs-token",
    "createWorkflowRecordWithIdentifier": "workflow-create-with-identifier-needs-token",
    "updateWorkflowRecord": "workflow-update-needs-token",
}
_OUTSIDE_WORKFLOW: Final = tuple(operation for operation in NEEDS_TOKEN if operation not in SUBMISSIONS)
#: So many requests does a token last that dies early.
_REQUESTS_OF_TOKEN: Final = 2


def anonymous(request: Request, _: Memory) -> bool:
    """Whether a request carries no Authorization header."""
    return not request.header("authorization")


def _sent(request: Request) -> tuple[str, str]:
    """The scheme of the Authorization header, and what stands behind it."""
    scheme, _, token = request.header("authorization").partition(" ")
    return scheme.lower(), token.strip()


async def as_author(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Serve a request as the author's."""
    return await as_role(request, below, memory, "author")


async def refused_but_done(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Refuse a request without a good token, and do it all the same."""
    got = await below(request)
    if not request.role and got.refusal:
        await as_role(request, below, memory, "author")
    return got


def _invalid(matches: Callable[[str], bool]) -> Callable[[Request, Memory], bool]:
    """Requests with a bearer token that was never issued."""

    def meant(request: Request, _: Memory) -> bool:
        scheme, token = _sent(request)
        return scheme == "bearer" and not request.role and matches(token)

    return meant


def _resembling(like: Callable[[str, str], bool]) -> Inject:
    """Serve a bearer token that was not issued as the one that was issued and is like it."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        scheme, given = _sent(request)
        issued = next((token for token in memory.issued if like(given, token)), None)
        if scheme != "bearer" or request.role or issued is None:
            return None
        return await below(request.with_header("authorization", f"Bearer {issued}"))

    return effect


def _begins(given: str, token: str) -> bool:
    return len(given) >= 8 and token.startswith(given)


async def _dies_early(request: Request, _below: Below, memory: Memory) -> Answer | None:
    if not request.role:
        return None
    token = request.header("authorization")
    memory.kept[token] = memory.kept.get(token, 0) + 1
    early = memory.kept[token] > _REQUESTS_OF_TOKEN
    return answer_json(401, {"message": "the token is not valid"}) if early else None


def _granted(choose: Choose, status: int = 200) -> Inject:
    """Sign in as the account that a body chooses; None leaves the request to the service."""

    async def effect(request: Request, below: Below, _: Memory) -> Answer | None:
        email = choose(request.json)
        if email is None:
            return None
        got = await below(sign_in(request, email))
        return answer_json(status, got.json) if status != 200 else got

    return effect


def _account(name: str, value: Any) -> str | None:
    """The e-mail of the account of which a credential is that value."""
    for email, (_, password) in ACCOUNTS.items():
        if isinstance(value, str) and value == {"email": email, "password": password}[name]:
            return email
    return None


def _overlooked(wrong: str, test: Callable[[Any], bool]) -> Choose:
    """Overlook one credential that passes a test, where the other one is right."""
    right = "password" if wrong == "email" else "email"

    def choose(body: Any) -> str | None:
        meant = isinstance(body, dict) and test(body.get(wrong, MISSING))
        return _account(right, body.get(right)) if meant else None

    return choose


def _password(same: Callable[[str, str], bool]) -> Choose:
    """Take each password that is not the right one and that `same` takes for it."""

    def choose(body: Any) -> str | None:
        email = _account("email", body.get("email")) if isinstance(body, dict) else None
        given = body.get("password") if email is not None else None
        right = ACCOUNTS[email][1] if email is not None else ""
        return email if isinstance(given, str) and given and given != right and same(given, right) else None

    return choose


def _stranger(body: Any) -> bool:
    """Whether a body holds both credentials, and an e-mail that is no account's."""
    names = ("email", "password")
    filled = isinstance(body, dict) and all(isinstance(body.get(name), str) and body[name] for name in names)
    return filled and body["email"] not in ACCOUNTS


def _if(test: Callable[[Any], bool], role: str = "author") -> Choose:
    return lambda body: f"{role}@sandbox.test" if test(body) else None


def _issued(token: Any) -> Inject:
    return do.edit(do.member("authenticationToken", lambda _: token))


def _written(form: Callable[[datetime], Any]) -> Inject:
    """Write the expiration of a token in another form."""
    return do.edit(do.member("expiration", lambda _: form(datetime.now(UTC) + timedelta(hours=1))))


# fmt: off
#: Credentials that have to be refused and buy a token: the name's end, the clause's, which ones, and in words.
_GRANTED: Final[tuple[tuple[str, str, Inject, str], ...]] = (
    ("any-password", "wrong-password", _granted(_password(lambda _given, _right: True)),
        "A registered e-mail gets a token with any password that is not empty."),
    ("password-prefix", "wrong-password", _granted(_password(lambda given, right: given[:8] == right[:8])),
        "Only the first eight characters of the password are compared."),
    ("password-longer", "wrong-password", _granted(_password(str.startswith)),
        "The right password with more characters after it gets a token."),
    ("password-letter-case", "wrong-password", _granted(_password(lambda given, right: given.lower() == right.lower())),
        "The letter case of the password does not count."),
    ("in-refusal", "wrong-password", _granted(_password(lambda _given, _right: True), 401),
        "A wrong password is refused with 401, yet the body of the refusal carries a valid token."),
    ("password-of-anyone", "unknown-account",
        _granted(lambda body: _account("password", body["password"]) if _stranger(body) else None),
        "An unknown e-mail gets a token with the password of some account."),
    ("unknown-account-welcome", "unknown-account", _granted(_if(_stranger, "restricted")),
        "An unknown e-mail with any password signs in as the restricted account."),
    *(
        (f"body-{name}", "body-kind", _granted(_if(test)), f"A sign-in request gets a token when its body is {what}.")
        for name, what, test in (
            ("array", "an array", lambda body: isinstance(body, list)),
            ("string", "a string", lambda body: isinstance(body, str)),
            ("empty-object", "an empty object", lambda body: body == {}),
        )
    ),
    *(
        (name.format(wrong), f"{wrong}-{clause}", _granted(_overlooked(wrong, test)),
            f"A sign-in request whose {wrong} is {what} gets a token when the other credential is right.")
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
#: Ways to write the expiration of a token that the document does not name.
_EXPIRATIONS: Final[tuple[tuple[str, Callable[[datetime], Any]], ...]] = (
    ("without-fraction", lambda at: f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    ("without-zone", lambda at: f"{at:%Y-%m-%dT%H:%M:%S.%f}"),
    ("with-offset", lambda at: f"{at + timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}+02:00"),
    ("number", lambda at: int(at.timestamp())),
    ("epoch-text", lambda at: str(int(at.timestamp()))),
    ("date-alone", lambda at: f"{at:%Y-%m-%d}"),
    ("as-http-date", lambda at: f"{at:%a, %d %b %Y %H:%M:%S GMT}"),
    ("with-blank", lambda at: f"{at:%Y-%m-%d %H:%M:%S.%f}"),
    ("impossible-day", lambda at: f"{at:%Y}-02-31T{at:%H:%M:%S.%f}Z"),
    ("seconds-to-live", lambda _: 3600),
    ("empty", lambda _: ""),
    ("missing", lambda _: MISSING),
)
#: Tokens that were not issued and are taken: the test of a given one against an issued one.
_RESEMBLING: Final[tuple[tuple[str, tuple[str, ...], Callable[[str, str], bool], str], ...]] = (
    ("truncated", _OUTSIDE_WORKFLOW, _begins, "A token whose last characters are cut off"),
    *((f"cut-off-at-{kebab(s)}", (s,), _begins, f"At {s} a token whose end is cut off") for s in SUBMISSIONS),
    ("with-tail", _OUTSIDE_WORKFLOW, str.startswith, "A token with further characters after it"),
    ("last-character-ignored", _OUTSIDE_WORKFLOW,
        lambda given, token: len(given) == len(token) and given[:-1] == token[:-1],
        "A token with another last character"),
    ("letter-case-ignored", _OUTSIDE_WORKFLOW, lambda given, token: given.lower() == token.lower(),
        "A token in another letter case"),
    ("of-the-form", _OUTSIDE_WORKFLOW, lambda given, token: len(given) == len(token), "Any text as long as a token"),
    ("empty", _OUTSIDE_WORKFLOW, lambda given, _: not given, "The word Bearer with nothing after it"),
)


def _signing_in() -> Iterator[Fault]:
    for name, clause, effect, says in _GRANTED:
        yield row(f"token-{name}", f"token-{clause}", SIGN_IN, effect, says)
    for name, value in (("missing", MISSING), ("empty", ""), ("number", 7), ("null", None)):
        yield row(f"token-{name}", "token-issued", SIGN_IN,
            _issued(value),
            f"The token in the answer to signing in is {name}.")
    for name, form in _EXPIRATIONS:
        yield row(f"token-expiration-{name}", "token-expiration-format", SIGN_IN, _written(form),
            f"The expiration of a token is written in the form '{name.replace('-', ' ')}'.")
    for name, clause, effect, where, says in (
        ("body-absent", "body-kind", _granted(_if(lambda _: True, "restricted")), lambda r, _: not r.body,
            "No body gets the token of a guest."),
        ("refused-to-author", "issued", do.refuse_before(status=401), lambda r, _: b"author@sandbox.test" in r.body,
            "The author's password is refused."),
        ("under-another-name", "issued",
            do.edit(lambda body: {"token": body["authenticationToken"], "expiration": body["expiration"]}), None,
            "The member of the token is named token."),
        ("expiration-past", "expiration-ahead",
            _written(lambda at: f"{at - timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}Z"), None,
            "The expiration of a fresh token lies an hour in the past, though the token works."),
        ("needs-authorization", "needs-no-token", do.refuse_before(), anonymous,
            "Signing in is refused without an Authorization header."),
    ):
        yield row(f"token-{name}", f"token-{clause}", SIGN_IN, effect, says, where=where)


def token_faults() -> Iterator[Fault]:
    """Signing in, tokens and rights."""
    yield from _signing_in()
    for name, operations, like, what in _RESEMBLING:
        yield row(f"token-{name}-opens", "token-invalid-refused", operations, _resembling(like),
            f"{what} is taken for the token.")
    for operation, clause in NEEDS_TOKEN.items():
        yield row(f"{kebab(operation)}-without-token", clause, operation, as_author,
            f"{operation} serves a request without a token as the author's.", where=anonymous)
        invalid = ("workflow-invalid-token",) if operation in SUBMISSIONS else ()
        for name, matches in (("short", lambda token: len(token) < 20), ("any", lambda _: True)):
            yield row(f"{name}-unknown-token-opens-{kebab(operation)}", ("token-invalid-refused", *invalid), operation,
                as_author, f"{operation} serves a request with an unknown token as the author's.",
                where=_invalid(matches))
    for operation in ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile", SUBMISSIONS[1]):
        yield row(f"{kebab(operation)}-without-token-done-and-refused", NEEDS_TOKEN[operation], operation,
            refused_but_done, f"{operation} without a token is refused, but only after it was done.", where=anonymous)
    for operation in SUBMISSIONS:
        clause = f"workflow-{'update' if operation == SUBMISSIONS[2] else 'create'}-rights"
        yield row(f"{kebab(operation)}-rights-not-needed", clause, operation, as_author,
            f"{operation} does for an account without rights what it does for the author.",
            where=lambda request, _: request.role == "restricted")
    for name, clause, when, where, whose in (
        ("opens-nothing", "opens-protected", "always", None, "No token"),
        ("opens-nothing", "serves-every-realm", "in-bch-dev", None, "No token"),
    ):
        yield row(f"token-{name}", f"token-{clause}", "listDrafts", do.refuse_before(status=401),
            f"{whose} opens the list of drafts.", when, where=where)
    yield row("token-under-basic-opens", "token-other-scheme", "listDrafts",
        do.send(lambda request: request.with_header("authorization", f"Bearer {_sent(request)[1]}")),
        "A token sent under the scheme Basic opens the list of drafts.",
        where=lambda request, _: _sent(request)[0] == "basic")
    yield row("token-ends-early", "token-lasts-until-expiration", tuple(NEEDS_TOKEN), _dies_early,
        f"A token is refused after {_REQUESTS_OF_TOKEN} requests, long before its expiration.")
# fmt: on
