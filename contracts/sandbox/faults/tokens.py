"""Faults of signing in and of tokens: what an answer holds, which credentials are taken, whom a token opens what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults.effects import edit, member, refuse_before, send, signed_in
from contracts.sandbox.faults.fault import (
    ACCOUNTS,
    MISSING,
    SINGLE,
    SUBMISSIONS,
    Answer,
    Below,
    Family,
    Fault,
    Inject,
    Memory,
    Request,
    answer_json,
    as_role,
    kebab,
    row,
    sign_in,
)
from contracts.sandbox.faults.storage import refused_but_done

_TOKENS: Final = Family("tokens")
_ANSWERS: Final = Family("answers")
_SIGN_IN: Final = "createToken"
#: The clause by which an operation needs a token.
NEEDS_TOKEN: Final[Mapping[str, str]] = MappingProxyType(
    {
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
)
_OUTSIDE_WORKFLOW: Final = tuple(operation for operation in NEEDS_TOKEN if operation not in SUBMISSIONS)
#: So many requests does a token last that dies early.
_REQUESTS_OF_TOKEN: Final = 2


def _anonymous(request: Request, _: Memory) -> bool:
    return not request.header("authorization")


def _sent(request: Request) -> tuple[str, str]:
    """The scheme of the Authorization header, and what stands behind it."""
    scheme, _, token = request.header("authorization").partition(" ")
    return scheme.lower(), token.strip()


async def missing_token_taken(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A request without a token is served as the author's."""
    return await as_role(request, below, memory, "author") if _anonymous(request, memory) else None


async def invalid_token_taken(request: Request, below: Below, memory: Memory, *, kind: str) -> Answer | None:
    """A request with a token that was never issued is served as the author's."""
    scheme, token = _sent(request)
    if scheme != "bearer" or request.role:
        return None
    matches = {"any": True, "short": len(token) < 20, "altered": len(token) >= 20}[kind]
    return await as_role(request, below, memory, "author") if matches else None


def resembling_taken(like: Callable[[str, str], bool]) -> Inject:
    """Serve a bearer token that was not issued as the one that was issued and is like it."""

    async def act(request: Request, below: Below, memory: Memory) -> Answer | None:
        scheme, given = _sent(request)
        issued = next((token for token in memory.issued if like(given, token)), None)
        if scheme != "bearer" or request.role or issued is None:
            return None
        return await below(request.with_header("authorization", f"Bearer {issued}"))

    return act


def _begins(given: str, token: str) -> bool:
    return len(given) >= 8 and token.startswith(given)


#: Tokens that were not issued and are taken outside the workflow: the test of a given one against an issued one.
_RESEMBLING: Final[Mapping[str, tuple[Callable[[str, str], bool], str]]] = MappingProxyType(
    {
        "token-truncated-opens": (
            _begins,
            "A token whose last characters are cut off is taken for the token.",
        ),
        "token-with-tail-opens": (
            lambda given, token: given.startswith(token),
            "A token with further characters after it is taken for the token.",
        ),
        "token-last-character-ignored": (
            lambda given, token: len(given) == len(token) and given[:-1] == token[:-1],
            "The last character of a token does not count.",
        ),
        "token-letter-case-ignored": (
            lambda given, token: given.lower() == token.lower(),
            "The letter case of a token does not count.",
        ),
        "token-of-the-form-opens": (
            lambda given, token: len(given) == len(token),
            "Any text as long as a token is taken for one.",
        ),
        "token-empty-opens": (
            lambda given, _: not given,
            "The word Bearer with no token after it opens what needs a token.",
        ),
    }
)


async def rights_not_checked(request: Request, below: Below, memory: Memory) -> Answer | None:
    """An account without rights may do what the author may."""
    return await as_role(request, below, memory, "author") if request.role == "restricted" else None


async def other_account_served(request: Request, below: Below, memory: Memory) -> Answer | None:
    """The author is taken for another account."""
    return await as_role(request, below, memory, "other") if request.role == "author" else None


async def token_dies_early(request: Request, _below: Below, memory: Memory) -> Answer | None:
    """A token is refused after so many requests, long before its expiration."""
    token = request.header("authorization")
    if not request.role:
        return None
    memory.kept[token] = memory.kept.get(token, 0) + 1
    early = memory.kept[token] > _REQUESTS_OF_TOKEN
    return answer_json(401, {"message": "the token is not valid"}) if early else None


def token_faults() -> Iterator[Fault]:
    """Tokens that are not asked for, not looked at, or taken for another account's; rights that are not checked."""
    for operation, clause in NEEDS_TOKEN.items():
        submits = operation in SUBMISSIONS
        conditions = SINGLE if load_description().operations[operation].takes_realm else SINGLE[:1]
        yield from _TOKENS.faults(
            operation,
            "missing-token-taken",
            (clause,),
            missing_token_taken,
            (*conditions, "in-ort-dev") if submits else conditions,
            also=f"{kebab(operation)}-without-token",
        )
        invalid = ("token-invalid-refused", "workflow-invalid-token")
        for kind in ("any", "short", "altered"):
            yield from _TOKENS.faults(
                operation,
                f"{kind}-token-taken",
                invalid if submits else invalid[:1],
                partial(invalid_token_taken, kind=kind),
                conditions,
                also=f"unknown-token-opens-{kebab(operation)}" if kind == "any" else "",
            )
    for submission in SUBMISSIONS:
        rights = (
            "workflow-update-rights" if submission == "updateWorkflowRecord" else "workflow-create-rights"
        )
        yield from _TOKENS.faults(submission, "rights-not-checked", (rights,), rights_not_checked, SINGLE)
    yield from _TOKENS.faults(
        "listDrafts",
        "other-account-served",
        ("list-my-without-others", "list-mydrafts-has-mine"),
        other_account_served,
    )
    yield from _TOKENS.faults(
        tuple(NEEDS_TOKEN),
        "token-dies-early",
        ("token-lasts-until-expiration",),
        token_dies_early,
        label="protected",
        also="token-ends-early",
    )


async def member_set(request: Request, below: Below, _: Memory, *, name: str, value: Any) -> Answer | None:
    """A member of an answer has another value, or is not there."""
    answer = await below(request)
    body = answer.json
    if not answer.success or not isinstance(body, dict):
        return answer
    rest = {k: v for k, v in body.items() if k != name}
    return answer.with_json(rest if value is MISSING else {**rest, name: value})


#: Ways to write the expiration of a token that the document does not name.
EXPIRATION_FORMS: Final[Mapping[str, Callable[[datetime], Any]]] = MappingProxyType(
    {
        "without-fraction": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "without-zone": lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%f"),
        "local-time": lambda moment: (
            (moment + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "+02:00"
        ),
        "epoch-seconds": lambda moment: int(moment.timestamp()),
        "epoch-text": lambda moment: str(int(moment.timestamp())),
        "date-alone": lambda moment: moment.strftime("%Y-%m-%d"),
        "http-date": lambda moment: moment.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "space-for-t": lambda moment: moment.strftime("%Y-%m-%d %H:%M:%S.%f"),
        "impossible-day": lambda moment: f"{moment:%Y}-02-31T{moment:%H:%M:%S.%f}Z",
        "seconds-to-live": lambda _: 3600,
        "empty": lambda _: "",
        "missing": lambda _: MISSING,
    }
)
#: Their names among the defects, where they are others.
_DEFECT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "local-time": "with-offset",
        "epoch-seconds": "number",
        "http-date": "as-http-date",
        "space-for-t": "with-blank",
    }
)


async def expiration_written(request: Request, below: Below, memory: Memory, *, form: str) -> Answer | None:
    """The expiration of a token is written in another form."""
    value = EXPIRATION_FORMS[form](datetime.now(UTC) + timedelta(hours=1))
    return await member_set(request, below, memory, name="expiration", value=value)


def issued_token_faults() -> Iterator[Fault]:
    """Tokens that are none, and expirations in another form."""
    for operator, value in (("missing", MISSING), ("empty", ""), ("number", 7), ("null", None)):
        yield from _ANSWERS.faults(
            _SIGN_IN,
            f"token-{operator}",
            ("token-issued",),
            partial(member_set, name="authenticationToken", value=value),
            ("always", "every-third"),
            also=f"token-{operator}",
        )
    for operator in EXPIRATION_FORMS:
        yield from _ANSWERS.faults(
            _SIGN_IN,
            f"expiration-{operator}",
            ("token-expiration-format",),
            partial(expiration_written, form=operator),
            ("always", "every-second", "every-third"),
            also=f"token-expiration-{_DEFECT_NAMES.get(operator, operator)}",
        )


Choose = Callable[[Any], str | None]


def granted(choose: Choose, status: int = 200) -> Inject:
    """Sign in as the account that a body chooses; None leaves the request to the service."""

    async def act(request: Request, below: Below, _: Memory) -> Answer | None:
        email = choose(request.json)
        if email is None:
            return None
        answer = await below(sign_in(request, email))
        return answer_json(status, answer.json) if status != 200 else answer

    return act


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
    return (
        isinstance(body, dict)
        and all(isinstance(body.get(name), str) and body[name] for name in ("email", "password"))
        and body["email"] not in ACCOUNTS
    )


def _if(test: Callable[[Any], bool], role: str) -> Choose:
    return lambda body: f"{role}@sandbox.test" if test(body) else None


# fmt: off
#: Credentials that have to be refused and buy a token.
_GRANTED: Final[tuple[Fault, ...]] = (
    row("token-any-password", "token-wrong-password", _SIGN_IN,
        granted(_password(lambda _given, _right: True)),
        "A registered e-mail gets a token with any password that is not empty."),
    row("token-password-prefix", "token-wrong-password", _SIGN_IN,
        granted(_password(lambda given, right: given[:8] == right[:8])),
        "Only the first eight characters of the password are compared."),
    row("token-password-longer", "token-wrong-password", _SIGN_IN, granted(_password(str.startswith)),
        "The right password with more characters after it gets a token."),
    row("token-password-letter-case", "token-wrong-password", _SIGN_IN,
        granted(_password(lambda given, right: given.lower() == right.lower())),
        "The letter case of the password does not count."),
    row("token-password-of-anyone", "token-unknown-account", _SIGN_IN,
        granted(lambda body: _account("password", body["password"]) if _stranger(body) else None),
        "An unknown e-mail gets a token with the password of some account."),
    row("token-unknown-account-welcome", "token-unknown-account", _SIGN_IN,
        granted(_if(_stranger, "restricted")),
        "An unknown e-mail with any password signs in as the restricted account."),
    row("token-body-array", "token-body-kind", _SIGN_IN,
        granted(_if(lambda body: isinstance(body, list), "author")),
        "A sign-in request whose body is an array gets a token."),
    row("token-body-string", "token-body-kind", _SIGN_IN,
        granted(_if(lambda body: isinstance(body, str), "author")),
        "A sign-in request whose body is a string gets a token."),
    row("token-body-empty-object", "token-body-kind", _SIGN_IN,
        granted(_if(lambda body: body == {}, "restricted")),
        "A sign-in request with an empty object gets the token of a guest."),
    *(
        row(name.format(wrong), f"token-{wrong}-{clause}", _SIGN_IN, granted(_overlooked(wrong, test)),
            f"A sign-in request whose {wrong} is {what} gets a token when the other credential is right.")
        for wrong in ("email", "password")
        for name, clause, what, test in (
            ("token-without-{}", "missing", "absent", lambda value: value is MISSING),
            ("token-empty-{}", "missing", "empty", lambda value: value == ""),
            ("token-{}-array", "kind", "an array", lambda value: isinstance(value, list)),
            ("token-{}-number", "kind", "a number", lambda value: type(value) is int),
            ("token-{}-true", "kind", "the boolean true", lambda value: value is True),
        )
    ),
)
# fmt: on


def _holds_credentials(request: Request, _: Memory) -> bool:
    """Whether a body is not well formed and holds an e-mail and its password all the same."""
    text = request.body.decode("utf-8", "replace")
    email = re.search(r"[a-z]+@sandbox\.test", text)
    known = email is not None and email[0] in ACCOUNTS and ACCOUNTS[email[0]][1] in text
    return bool(text) and request.json is None and text.strip() != "null" and known


def _whatever(_request: Request, _memory: Memory) -> bool:
    return True


def _by_author(request: Request, _: Memory) -> bool:
    return b"author@sandbox.test" in request.body


def _past(_: Any) -> str:
    return f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S.%f}Z"


def _sent_before(request: Request, memory: Memory) -> bool:
    """Whether a good token was sent to this operation before."""
    seen: bool = ("sent", request.header("authorization")) in memory.kept
    memory.kept["sent", request.header("authorization")] = True
    return seen and signed_in(request)


def token_rows() -> Iterator[Fault]:
    """Each clause of signing in and of tokens, broken alone."""
    yield from _GRANTED
    yield from _ISSUED
    for name, (like, says) in _RESEMBLING.items():
        yield row(name, "token-invalid-refused", _OUTSIDE_WORKFLOW, resembling_taken(like), says)
    for submission in SUBMISSIONS:
        says = f"A bearer token whose end is cut off opens {submission}."
        name = f"cut-token-opens-{kebab(submission)}"
        yield row(name, "token-invalid-refused", submission, resembling_taken(_begins), says)
    for operation in ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile"):
        says = f"{operation} without a token is refused, but only after it was done."
        name = f"{kebab(operation)}-without-token-done-and-refused"
        yield row(name, NEEDS_TOKEN[operation], operation, refused_but_done, says, where=_anonymous)
    for name, clause, where, when, whose in (
        ("token-opens-nothing", "token-opens-protected", _whatever, "always", "No token"),
        (
            "token-of-other-opens-nothing",
            "token-opens-protected",
            _of_other,
            "always",
            "No second author's token",
        ),
        ("token-opens-once", "token-opens-protected", _sent_before, "always", "No token that was used there"),
        ("token-not", "token-serves-every-realm", _whatever, "in-bch-dev", "No token"),
    ):
        says = f"{whose} opens the list of drafts."
        yield row(name, clause, "listDrafts", refuse_before(status=401), says, when, where=where)
    yield row(
        "token-under-basic-opens",
        "token-other-scheme",
        "listDrafts",
        send(lambda request: request.with_header("authorization", f"Bearer {_sent(request)[1]}")),
        "A token sent under the scheme Basic opens the list of drafts.",
        where=lambda request, _: _sent(request)[0] == "basic",
    )


def _of_other(request: Request, _: Memory) -> bool:
    return request.role == "other"


# fmt: off
#: The other rows of signing in.
_ISSUED: Final[tuple[Fault, ...]] = (
    row("token-in-refusal", "token-wrong-password", _SIGN_IN,
        granted(_password(lambda _given, _right: True), 401),
        "A wrong password is refused with 401, yet the body of the refusal carries a valid token."),
    row("token-body-absent", "token-body-kind", _SIGN_IN, granted(_if(lambda _: True, "restricted")),
        "No body gets the token of a guest.", where=lambda request, _: not request.body),
    row("token-malformed-accepted", "malformed-json-refused", _SIGN_IN,
        granted(_if(lambda _: True, "author")),
        "A body that is not well formed gets a token when it holds a known e-mail and its password.",
        where=_holds_credentials),
    row("token-refused-to-author", "token-issued", _SIGN_IN, refuse_before(status=401),
        "The author's password is refused.", where=_by_author),
    row("token-under-another-name", "token-issued", _SIGN_IN,
        edit(lambda body: {"token": body["authenticationToken"], "expiration": body["expiration"]}),
        "The member of the token is named token."),
    row("token-expiration-past", "token-expiration-ahead", _SIGN_IN, edit(member("expiration", _past)),
        "The expiration of a fresh token lies an hour in the past, though the token works."),
    row("token-needs-authorization", "token-needs-no-token", _SIGN_IN, refuse_before(),
        "Signing in is refused without an Authorization header.", where=_anonymous),
)
# fmt: on
