"""Defects of signing in, and of the Authorization header of protected operations."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.authentication import Account, Token
from contracts.sandbox.defects.declaration import (
    CREATE,
    CREATE_WITH,
    LIST,
    PROTECTED,
    TOKEN,
    UPDATE,
    WORKFLOW,
    Every,
    Handler,
    alter,
    answers,
    around,
    defect,
    edit,
    json_of,
    kebab,
    refuse,
    replaces,
)
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, header_value
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row


def _told(service: Service, member: str, change: Callable[[Any], Any]) -> None:
    edit(service, TOKEN, lambda body: {**body, member: change(body[member])})


@defect("token-empty", clause="token-issued", operations=TOKEN)
def _(service: Service) -> None:
    """The authenticationToken of a sign-in is an empty string."""
    _told(service, "authenticationToken", lambda _: "")


@defect("token-number", clause="token-issued", operations=TOKEN)
def _(service: Service) -> None:
    """The authenticationToken of a sign-in is a number."""
    _told(service, "authenticationToken", lambda token: sum(token.encode()))


@defect("token-under-another-name", clause="token-issued", operations=TOKEN)
def _(service: Service) -> None:
    """The token stands in a member named token, and there is no authenticationToken."""
    edit(
        service,
        TOKEN,
        lambda body: {"token": body["authenticationToken"], "expiration": body["expiration"]},
    )


@replaces("identity.sign_in", "token-refused-to-author", clause="token-issued", operations=TOKEN)
def _(_service: Service, faithful: Callable[..., Any], email: str, password: str) -> Any:
    """The right password of the account author is refused."""
    if email == "author@sandbox.test":
        raise Refusal(Reason.WRONG_CREDENTIALS, "the e-mail or the password is wrong")
    return faithful(email, password)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


_WRITTEN: dict[str, tuple[str, Callable[[str], Any]]] = {
    "token-expiration-without-fraction": (
        "The expiration has no fractional seconds.",
        lambda text: f"{_moment(text):%Y-%m-%dT%H:%M:%SZ}",
    ),
    "token-expiration-with-offset": (
        "The expiration is written in the time of a zone two hours ahead of UTC.",
        lambda text: f"{_moment(text) + timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}+02:00",
    ),
    "token-expiration-without-zone": (
        "The expiration names no zone: its Z is missing.",
        lambda text: text.removesuffix("Z"),
    ),
    "token-expiration-number": (
        "The expiration is a number of seconds since 1970.",
        lambda text: _moment(text).timestamp(),
    ),
    "token-expiration-as-http-date": (
        "The expiration is written like an HTTP date.",
        lambda text: f"{_moment(text):%a, %d %b %Y %H:%M:%S GMT}",
    ),
    "token-expiration-with-blank": (
        "Date and time of the expiration are separated by a blank and followed by the word UTC.",
        lambda text: f"{_moment(text):%Y-%m-%d %H:%M:%S.%f} UTC",
    ),
    "token-expiration-impossible-day": (
        "The expiration names the 31st of February.",
        lambda text: f"{text[:5]}02-31{text[10:]}",
    ),
    "token-expiration-empty": ("The expiration is an empty string.", lambda _: ""),
}


def _written(change: Callable[[str], Any]) -> Callable[[Service], None]:
    return lambda service: _told(service, "expiration", change)


for _name, (_sentence, _change) in _WRITTEN.items():
    defect(_name, clause="token-expiration-format", operations=TOKEN, sentence=_sentence)(_written(_change))


@defect("token-expiration-missing", clause="token-expiration-format", operations=TOKEN)
def _(service: Service) -> None:
    """No expiration comes with a token."""
    edit(service, TOKEN, lambda body: {"authenticationToken": body["authenticationToken"]})


@defect("token-expiration-fraction-at-times", clause="token-expiration-format", operations=TOKEN)
def _(service: Service) -> None:
    """Every second token comes with an expiration without fractional seconds."""
    second = Every(2)
    _told(service, "expiration", lambda text: f"{_moment(text):%Y-%m-%dT%H:%M:%SZ}" if second() else text)


@defect("token-expiration-past", clause="token-expiration-ahead", operations=TOKEN)
def _(service: Service) -> None:
    """The expiration of a fresh token lies an hour in the past, though the token works."""
    _told(service, "expiration", lambda _: f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S.%f}Z")


@defect("token-needs-authorization", clause="token-needs-no-token", operations=TOKEN)
def _(service: Service) -> None:
    """Signing in is refused without an Authorization header."""
    refuse(service, TOKEN, bad_request, lambda request: _without(request, "authorization"))


@defect("token-needs-realm", clause="token-needs-no-token", operations=TOKEN)
def _(service: Service) -> None:
    """Signing in is refused without a Realm header."""
    refuse(service, TOKEN, bad_request, lambda request: _without(request, "realm"))


def _without(request: Request, header: str) -> bool:
    return header_value(request, header) is None


Choose = Callable[[Service, Any], Account | None]


def _by_email(service: Service, email: object) -> Account | None:
    return next((account for account in service.identity.accounts if account.email == email), None)


def _by_password(service: Service, password: object) -> Account | None:
    return next((account for account in service.identity.accounts if account.password == password), None)


def _also(service: Service, same: Callable[[str, str], bool]) -> None:
    """Let a registered e-mail sign in with each password that ``same`` finds like the right one."""

    def sign_in(faithful: Callable[..., Account], email: str, password: str) -> Account:
        account = _by_email(service, email)
        if account is not None and same(password, account.password):
            return account
        return faithful(email, password)

    alter(service.identity, "sign_in", sign_in)


@defect("token-any-password", clause="token-wrong-password", operations=TOKEN)
def _(service: Service) -> None:
    """A registered e-mail gets a token with any password that is not empty."""
    _also(service, lambda given, _: bool(given))


@defect("token-password-prefix", clause="token-wrong-password", operations=TOKEN)
def _(service: Service) -> None:
    """Only the first eight characters of the password are compared."""
    _also(service, lambda given, right: given[:8] == right[:8])


@defect("token-password-longer", clause="token-wrong-password", operations=TOKEN)
def _(service: Service) -> None:
    """The right password with more characters after it gets a token."""
    _also(service, lambda given, right: given.startswith(right))


@defect("token-password-letter-case", clause="token-wrong-password", operations=TOKEN)
def _(service: Service) -> None:
    """The letter case of the password does not count."""
    _also(service, lambda given, right: given.lower() == right.lower())


@answers("token-in-refusal", clause="token-wrong-password", operations=TOKEN)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A wrong password is refused with 401, yet the body of the refusal carries a valid token."""
    value = await json_of(request)
    try:
        return await faithful(request)
    except Refusal:
        account = _by_email(service, value.get("email")) if isinstance(value, dict) else None
        if account is None or not isinstance(value.get("password"), str) or not value["password"]:
            raise
        return granted(service, account, status=401)


@defect("token-password-of-anyone", clause="token-unknown-account", operations=TOKEN)
def _(service: Service) -> None:
    """An unknown e-mail gets a token with the password of some account."""
    _lenient(
        service,
        lambda service, value: (
            _by_password(service, value.get("password")) if _stranger(service, value) else None
        ),
    )


@defect("token-unknown-account-welcome", clause="token-unknown-account", operations=TOKEN)
def _(service: Service) -> None:
    """An unknown e-mail with any password signs in as the restricted account."""
    _lenient(
        service, lambda service, value: service.identity.accounts[2] if _stranger(service, value) else None
    )


def _stranger(service: Service, value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) and value[name] for name in ("email", "password"))
        and _by_email(service, value["email"]) is None
    )


def granted(service: Service, account: Account, status: int = 200) -> Response:
    """Return an answer that carries a valid token of an account."""
    token = service.identity.tokens.issue(account)
    written = service.clock.written(token.expires)
    return JSONResponse({"authenticationToken": token.text, "expiration": written}, status)


def _lenient(service: Service, choose: Choose) -> None:
    """Grant a token to the account that ``choose`` finds for a body that was refused."""

    async def answer(faithful: Handler, request: Request) -> Response:
        value = await json_of(request)
        try:
            return await faithful(request)
        except Refusal:
            account = choose(service, value)
            if account is None:
                raise
            return granted(service, account)

    around(service, TOKEN, answer)


def _when(wrong: str, test: Callable[[dict[str, Any]], bool]) -> Callable[[Service], None]:
    """Return the change that overlooks what is wrong with one credential when the other is right."""
    find, right = (_by_password, "password") if wrong == "email" else (_by_email, "email")

    def choose(service: Service, value: Any) -> Account | None:
        return find(service, value.get(right)) if isinstance(value, dict) and test(value) else None

    return lambda service: _lenient(service, choose)


for _wrong in ("email", "password"):
    defect(
        f"token-without-{_wrong}",
        clause=f"token-{_wrong}-missing",
        operations=TOKEN,
        sentence=f"A sign-in request without {_wrong} gets a token when the other credential is right.",
    )(_when(_wrong, lambda value, wrong=_wrong: wrong not in value))  # type: ignore[misc]
    defect(
        f"token-empty-{_wrong}",
        clause=f"token-{_wrong}-missing",
        operations=TOKEN,
        sentence=f"A sign-in request with an empty {_wrong} gets a token when the other credential is right.",
    )(_when(_wrong, lambda value, wrong=_wrong: value.get(wrong) == ""))  # type: ignore[misc]
    defect(
        f"token-{_wrong}-array",
        clause=f"token-{_wrong}-kind",
        operations=TOKEN,
        sentence=f"A sign-in request whose {_wrong} is an array gets a token when the other is right.",
    )(_when(_wrong, lambda value, wrong=_wrong: isinstance(value.get(wrong), list)))  # type: ignore[misc]
    defect(
        f"token-{_wrong}-number",
        clause=f"token-{_wrong}-kind",
        operations=TOKEN,
        sentence=f"A sign-in request whose {_wrong} is a number gets a token when the other is right.",
    )(
        _when(
            _wrong,
            lambda value, wrong=_wrong: type(value.get(wrong)) is int,  # type: ignore[misc]
        )
    )


@defect("token-password-true", clause="token-password-kind", operations=TOKEN)
def _(service: Service) -> None:
    """A sign-in request whose password is the boolean true gets a token."""
    _lenient(
        service,
        lambda service, value: (
            _by_email(service, value.get("email"))
            if isinstance(value, dict) and value.get("password") is True
            else None
        ),
    )


@defect("token-body-array", clause="token-body-kind", operations=TOKEN)
def _(service: Service) -> None:
    """A sign-in request whose body is an array gets a token."""
    _lenient(
        service, lambda service, value: service.identity.accounts[0] if isinstance(value, list) else None
    )


@defect("token-body-string", clause="token-body-kind", operations=TOKEN)
def _(service: Service) -> None:
    """A sign-in request whose body is a string gets a token."""
    _lenient(service, lambda service, value: service.identity.accounts[0] if isinstance(value, str) else None)


@defect("token-body-empty-object", clause="token-body-kind", operations=TOKEN)
def _(service: Service) -> None:
    """A sign-in request with an empty object gets the token of a guest."""
    _lenient(service, lambda service, value: service.identity.accounts[2] if value == {} else None)


@answers("token-body-absent", clause="token-body-kind", operations=TOKEN)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A sign-in request without a body gets the token of a guest."""
    if not await request.body():
        return granted(service, service.identity.accounts[2])
    return await faithful(request)


_CREDENTIAL = re.compile(rb"[a-z]+@sandbox\.test")


@answers("token-malformed-accepted", clause="malformed-json-refused", operations=TOKEN)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A sign-in body that is not well formed gets a token when it holds a known e-mail and its password."""
    raw = await request.body()
    try:
        return await faithful(request)
    except Refusal:
        found = _CREDENTIAL.search(raw)
        account = _by_email(service, found[0].decode()) if found else None
        if account is None or await json_of(request) is not None or account.password.encode() not in raw:
            raise
        return granted(service, account)


_PLAIN = tuple(operation for operation in PROTECTED if operation not in WORKFLOW)
Require = Callable[[Request], Account]
Caller = Callable[[Request], Account | None]


def _sent(request: Request) -> tuple[str, str]:
    scheme, _, token = (header_value(request, "authorization") or "").partition(" ")
    return scheme.lower(), token.strip()


def _operation(request: Request) -> str:
    return str(request.scope["operation_id"])


def _refused() -> Refusal:
    return Refusal(Reason.UNAUTHENTICATED, "the token is not valid")


@replaces("identity.require", "token-opens-nothing", clause="token-opens-protected", operations=LIST)
def _(_service: Service, faithful: Require, request: Request) -> Account:
    """No token opens the list of drafts."""
    if _operation(request) == "listDrafts":
        raise _refused()
    return faithful(request)


@defect("token-opens-once", clause="token-opens-protected", operations=LIST)
def _(service: Service) -> None:
    """A token opens the list of drafts once and is refused there from then on."""
    used: set[str] = set()

    def require(faithful: Require, request: Request) -> Account:
        account = faithful(request)
        token = _sent(request)[1]
        if _operation(request) == "listDrafts":
            if token in used:
                raise _refused()
            used.add(token)
        return account

    alter(service.identity, "require", require)


@replaces("identity.require", "token-of-other-opens-nothing", clause="token-opens-protected", operations=LIST)
def _(_service: Service, faithful: Require, request: Request) -> Account:
    """The token of the second author does not open the list of drafts."""
    account = faithful(request)
    if account.name == "other" and _operation(request) == "listDrafts":
        raise _refused()
    return account


@replaces(
    "identity.require",
    "token-not-in-bch",
    clause="token-serves-every-realm",
    operations=LIST,
    realms=["bch-dev"],
)
def _(_service: Service, faithful: Require, request: Request) -> Account:
    """No token opens the list of drafts in bch-dev."""
    if header_value(request, "realm") == "bch-dev" and _operation(request) == "listDrafts":
        raise _refused()
    return faithful(request)


def _unknown_opens(operation: str) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        def caller(faithful: Caller, request: Request) -> Account | None:
            scheme, token = _sent(request)
            if _operation(request) == operation and scheme == "bearer" and token:
                return faithful(request) or service.identity.accounts[0]
            return faithful(request)

        alter(service.identity, "caller", caller)

    return change


for _name in _PLAIN:
    defect(
        f"unknown-token-opens-{kebab(_name)}",
        clause="token-invalid-refused",
        operations=[_name],
        sentence=f"A bearer token that was never issued opens {_name}.",
    )(_unknown_opens(_name))

for _name in WORKFLOW:
    defect(
        f"unknown-token-opens-{kebab(_name)}",
        clause="workflow-invalid-token",
        operations=[_name],
        sentence=f"A bearer token that was never issued opens {_name}.",
    )(_unknown_opens(_name))


def _cut_opens(operation: str) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        tokens, issued = service.identity.tokens, list[str]()

        def issue(faithful: Callable[[Account], Token], account: Account) -> Token:
            token = faithful(account)
            issued.append(token.text)
            return token

        def caller(faithful: Caller, request: Request) -> Account | None:
            scheme, given = _sent(request)
            if _operation(request) == operation and scheme == "bearer" and len(given) >= 8:
                whole = (token for token in issued if token.startswith(given))
                return tokens.holder(next(whole, given))
            return faithful(request)

        alter(tokens, "issue", issue)
        alter(service.identity, "caller", caller)

    return change


for _name in WORKFLOW:
    defect(
        f"cut-token-opens-{kebab(_name)}",
        clause="token-invalid-refused",
        operations=[_name],
        sentence=f"A bearer token whose end is cut off opens {_name}.",
    )(_cut_opens(_name))


def _remembering(service: Service, like: Callable[[str, str], bool]) -> None:
    """Accept what is ``like`` a token that was valid in an earlier request; workflow operations excepted."""
    seen: dict[str, Account] = {}

    def require(faithful: Require, request: Request) -> Account:
        scheme, given = _sent(request)
        try:
            account = faithful(request)
        except Refusal:
            for token, holder in seen.items():
                if scheme == "bearer" and like(given, token):
                    return holder
            raise
        seen[given] = account
        return account

    alter(service.identity, "require", require)


@defect("token-truncated-opens", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service) -> None:
    """A token whose last characters are cut off is still taken for the token."""
    _remembering(service, lambda given, token: len(given) >= 8 and token.startswith(given))


@defect("token-with-tail-opens", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service) -> None:
    """A token with further characters after it is still taken for the token."""
    _remembering(service, lambda given, token: given.startswith(token))


@defect("token-letter-case-ignored", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service) -> None:
    """The letter case of a token does not count."""
    _remembering(service, lambda given, token: given.lower() == token.lower())


@replaces("identity.require", "token-empty-opens", clause="token-invalid-refused", operations=_PLAIN)
def _(service: Service, faithful: Require, request: Request) -> Account:
    """The word Bearer with no token after it opens the operations, the workflow's excepted."""
    if _sent(request) == ("bearer", ""):
        return service.identity.accounts[0]
    return faithful(request)


@replaces("identity.require", "token-under-basic-opens", clause="token-other-scheme", operations=LIST)
def _(service: Service, faithful: Require, request: Request) -> Account:
    """A token sent under the scheme Basic opens the list of drafts."""
    scheme, token = _sent(request)
    holder = service.identity.tokens.holder(token)
    if scheme == "basic" and holder is not None and _operation(request) == "listDrafts":
        return holder
    return faithful(request)


CLAUSES = {
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
    CREATE: "workflow-create-needs-token",
    CREATE_WITH: "workflow-create-with-identifier-needs-token",
    UPDATE: "workflow-update-needs-token",
}
"""The clause that closes each protected operation to requests without a token."""


def _anonymous(request: Request) -> bool:
    return not header_value(request, "authorization")


def _open(operation: str, *realms: str) -> Callable[[Service], None]:
    """Return the change that takes anonymous callers of an operation for the author."""

    def change(service: Service) -> None:
        def caller(faithful: Callable[[Request], Account | None], request: Request) -> Account | None:
            meant = request.scope["operation_id"] == operation
            if realms and header_value(request, "realm") not in realms:
                meant = False
            return service.identity.accounts[0] if meant and _anonymous(request) else faithful(request)

        alter(service.identity, "caller", caller)

    return change


for _openings_operation, _clause in CLAUSES.items():
    defect(
        f"{kebab(_openings_operation)}-without-token",
        clause=_clause,
        operations=[_openings_operation],
        sentence=f"{_openings_operation} works without a token, as for the author.",
    )(_open(_openings_operation))

for _openings_operation, _realm in (("getDraft", "bch-dev"), ("saveDraft", "chm-dev"), (UPDATE, "ort-dev")):
    defect(
        f"{kebab(_openings_operation)}-without-token-in-{_realm[:3]}",
        clause=CLAUSES[_openings_operation],
        operations=[_openings_operation],
        realms=[_realm],
        sentence=f"In {_realm} alone {_openings_operation} works without a token, as for the author.",
    )(_open(_openings_operation, _realm))


def _late(operation: str, refusal: Callable[[], Refusal]) -> Callable[[Service], None]:
    """Return the change that does what an anonymous caller asks for, and refuses only then."""

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            if not _anonymous(request):
                return await faithful(request)
            token = service.identity.tokens.issue(service.identity.accounts[0])
            headers = [*request.scope["headers"], (b"authorization", f"Bearer {token.text}".encode())]
            await faithful(Request({**request.scope, "headers": headers}, request.receive))
            raise refusal()

        around(service, [operation], answer)

    return change


def _unauthenticated() -> Refusal:
    return Refusal(Reason.UNAUTHENTICATED, "the Authorization header must hold a valid bearer token")


for _openings_operation in ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile"):
    defect(
        f"{kebab(_openings_operation)}-without-token-done-and-refused",
        clause=CLAUSES[_openings_operation],
        operations=[_openings_operation],
        sentence=f"{_openings_operation} without a token is refused, but only after it was done.",
    )(_late(_openings_operation, _unauthenticated))

defect(
    "workflow-without-token-done-and-refused",
    clause=CLAUSES[CREATE_WITH],
    operations=[CREATE_WITH],
    sentence="A submission without a token is refused with the right row, but its identifier is taken.",
)(_late(CREATE_WITH, Row.ANONYMOUS.refusal))
