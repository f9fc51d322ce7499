"""Defects of signing in, and of the Authorization header of protected operations."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.authentication import Account, Token
from contracts.sandbox.defects.declaration import (
    PROTECTED,
    UPDATE,
    WORKFLOW,
    Change,
    Every,
    Handler,
    Operations,
    When,
    alter,
    alteration,
    alteration_at,
    always,
    answered,
    answers,
    defects,
    edit,
    every,
    in_realm,
    json_of,
    kebab,
    refuse,
    replaces,
)
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, header_value
from contracts.sandbox.service import Service
from contracts.sandbox.workflow import Row


def _member(name: str, change: Callable[[Any], Any]) -> Change:
    return edit(lambda body: {**body, name: change(body[name])})


def _token(change: Callable[[str], Any]) -> Change:
    return _member("authenticationToken", change)


def _expiration(change: Callable[[str], Any]) -> Change:
    return _member("expiration", change)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _whole_seconds(text: str) -> str:
    return f"{_moment(text):%Y-%m-%dT%H:%M:%SZ}"


def _whole_seconds_at_times(second: Every) -> Change:
    return _expiration(lambda text: _whole_seconds(text) if second() else text)


def _without(header: str) -> When:
    return lambda request: header_value(request, header) is None


@replaces("identity.sign_in", "token-refused-to-author")
def _(_service: Service, faithful: Callable[..., Any], email: str, password: str) -> Any:
    if email == "author@sandbox.test":
        raise Refusal(Reason.WRONG_CREDENTIALS, "the e-mail or the password is wrong")
    return faithful(email, password)


defects(
    {
        "token-empty": _token(lambda _: ""),
        "token-number": _token(lambda token: sum(token.encode())),
        "token-under-another-name": edit(
            lambda body: {"token": body["authenticationToken"], "expiration": body["expiration"]}
        ),
        "token-expiration-without-fraction": _expiration(_whole_seconds),
        "token-expiration-fraction-at-times": every(2, _whole_seconds_at_times),
        "token-expiration-with-offset": _expiration(
            lambda text: f"{_moment(text) + timedelta(hours=2):%Y-%m-%dT%H:%M:%S.%f}+02:00"
        ),
        "token-expiration-without-zone": _expiration(lambda text: text.removesuffix("Z")),
        "token-expiration-number": _expiration(lambda text: _moment(text).timestamp()),
        "token-expiration-as-http-date": _expiration(
            lambda text: f"{_moment(text):%a, %d %b %Y %H:%M:%S GMT}"
        ),
        "token-expiration-with-blank": _expiration(lambda text: f"{_moment(text):%Y-%m-%d %H:%M:%S.%f} UTC"),
        "token-expiration-impossible-day": _expiration(lambda text: f"{text[:5]}02-31{text[10:]}"),
        "token-expiration-empty": _expiration(lambda _: ""),
        "token-expiration-missing": edit(lambda body: {"authenticationToken": body["authenticationToken"]}),
        "token-expiration-past": _expiration(
            lambda _: f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%S.%f}Z"
        ),
        "token-needs-authorization": refuse(bad_request, _without("authorization")),
        "token-needs-realm": refuse(bad_request, _without("realm")),
    }
)


def _account_with(service: Service, **credential: object) -> Account | None:
    """Return the account whose e-mail or password is that one, or ``None``."""
    [(name, value)] = credential.items()
    return next((account for account in service.identity.accounts if getattr(account, name) == value), None)


@alteration
def _also_password(service: Service, same: Callable[[str, str], bool]) -> None:
    """Let a registered e-mail sign in with each password that ``same`` takes for the right one."""

    def sign_in(faithful: Callable[..., Account], email: str, password: str) -> Account:
        account = _account_with(service, email=email)
        if account is not None and same(password, account.password):
            return account
        return faithful(email, password)

    alter(service.identity, "sign_in", sign_in)


def granted(service: Service, account: Account, status: int = 200) -> Response:
    """Return an answer that carries a valid token of an account."""
    token = service.identity.tokens.issue(account)
    written = service.clock.written(token.expires)
    return JSONResponse({"authenticationToken": token.text, "expiration": written}, status)


def _lenient(choose: Callable[[Service, Any], Account | None]) -> Change:
    """Return the change that grants a token to the account that ``choose`` gives for a body that was refused."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        value = await json_of(request)
        try:
            return await faithful(request)
        except Refusal:
            account = choose(service, value)
            if account is None:
                raise
            return granted(service, account)

    return answered(answer)


def _stranger(service: Service, value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) and value[name] for name in ("email", "password"))
        and _account_with(service, email=value["email"]) is None
    )


def _overlooked(wrong: str, test: Callable[[Any], bool]) -> Change:
    """Return the change that overlooks one credential that passes a test when the other one is right.

    Args:
        wrong: name of the credential that is overlooked.
        test: of its value; an absent one is the ellipsis.

    """
    right = "password" if wrong == "email" else "email"

    def choose(service: Service, value: Any) -> Account | None:
        meant = isinstance(value, dict) and test(value.get(wrong, ...))
        return _account_with(service, **{right: value.get(right)}) if meant else None

    return _lenient(choose)


def _account_for(number: int, test: Callable[[Any], bool]) -> Change:
    """Return the change that grants a token of an account to a body that passes a test."""
    return _lenient(lambda service, value: service.identity.accounts[number] if test(value) else None)


_AUTHOR, _GUEST = 0, 2
_CREDENTIALS = ("email", "password")
defects(
    {
        "token-any-password": _also_password(lambda given, _: bool(given)),
        "token-password-prefix": _also_password(lambda given, right: given[:8] == right[:8]),
        "token-password-longer": _also_password(lambda given, right: given.startswith(right)),
        "token-password-letter-case": _also_password(lambda given, right: given.lower() == right.lower()),
        "token-password-of-anyone": _lenient(
            lambda service, value: (
                _account_with(service, password=value["password"]) if _stranger(service, value) else None
            )
        ),
        "token-unknown-account-welcome": _lenient(
            lambda service, value: service.identity.accounts[_GUEST] if _stranger(service, value) else None
        ),
        **{f"token-without-{name}": _overlooked(name, lambda value: value is ...) for name in _CREDENTIALS},
        **{f"token-empty-{name}": _overlooked(name, lambda value: value == "") for name in _CREDENTIALS},
        **{
            f"token-{name}-array": _overlooked(name, lambda value: type(value) is list)
            for name in _CREDENTIALS
        },
        **{
            f"token-{name}-number": _overlooked(name, lambda value: type(value) is int)
            for name in _CREDENTIALS
        },
        "token-password-true": _overlooked("password", lambda value: value is True),
        "token-body-array": _account_for(_AUTHOR, lambda value: isinstance(value, list)),
        "token-body-string": _account_for(_AUTHOR, lambda value: isinstance(value, str)),
        "token-body-empty-object": _account_for(_GUEST, lambda value: value == {}),
    }
)


@answers("token-in-refusal")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    value = await json_of(request)
    try:
        return await faithful(request)
    except Refusal:
        account = _account_with(service, email=value.get("email")) if isinstance(value, dict) else None
        if account is None or not isinstance(value.get("password"), str) or not value["password"]:
            raise
        return granted(service, account, status=401)


@answers("token-body-absent")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    if not await request.body():
        return granted(service, service.identity.accounts[_GUEST])
    return await faithful(request)


_EMAIL = re.compile(rb"[a-z]+@sandbox\.test")


@answers("token-malformed-accepted")
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    raw = await request.body()
    try:
        return await faithful(request)
    except Refusal:
        email = _EMAIL.search(raw)
        account = _account_with(service, email=email[0].decode()) if email else None
        if account is None or await json_of(request) is not None or account.password.encode() not in raw:
            raise
        return granted(service, account)


Require = Callable[[Request], Account]
Caller = Callable[[Request], Account | None]


def _sent(request: Request) -> tuple[str, str]:
    scheme, _, token = (header_value(request, "authorization") or "").partition(" ")
    return scheme.lower(), token.strip()


def _anonymous(request: Request) -> bool:
    return not header_value(request, "authorization")


def _unauthenticated() -> Refusal:
    return Refusal(Reason.UNAUTHENTICATED, "the Authorization header must hold a valid bearer token")


@alteration_at
def _opens_not(service: Service, operations: Operations, when: Callable[[Request, Account], bool]) -> None:
    """Refuse the callers of the defect's operations that are meant, whatever token they sent."""

    def require(faithful: Require, request: Request) -> Account:
        account = faithful(request)
        if request.scope["operation_id"] in operations and when(request, account):
            raise Refusal(Reason.UNAUTHENTICATED, "the token is not valid")
        return account

    alter(service.identity, "require", require)


@alteration_at
def _opens_once(service: Service, operations: Operations) -> None:
    """Refuse a token where it was sent before."""
    used: set[str] = set()

    def used_before(request: Request, _account: Account) -> bool:
        token = _sent(request)[1]
        seen = token in used
        used.add(token)
        return seen

    _opens_not(used_before)(service, operations)


@alteration_at
def _also_caller(
    service: Service, operations: Operations, other: Callable[[Service, Request], Account | None]
) -> None:
    """Take callers of the defect's operations for the account that ``other`` gives, if it gives one."""

    def caller(faithful: Caller, request: Request) -> Account | None:
        meant = request.scope["operation_id"] in operations
        return (other(service, request) if meant else None) or faithful(request)

    alter(service.identity, "caller", caller)


def _author_for_unknown_token(service: Service, request: Request) -> Account | None:
    scheme, token = _sent(request)
    if scheme != "bearer" or not token or service.identity.tokens.holder(token) is not None:
        return None
    return service.identity.accounts[_AUTHOR]


def _author_for_token_of_the_form(service: Service, request: Request) -> Account | None:
    """Take what looks like a token for one."""
    _, token = _sent(request)
    issued = len(service.identity.tokens.issue(service.identity.accounts[_AUTHOR]).text)
    return _author_for_unknown_token(service, request) if len(token) == issued else None


def _open(when: When = always) -> Change:
    """Return the change that takes anonymous callers for the author."""
    return _also_caller(
        lambda service, request: (
            service.identity.accounts[_AUTHOR] if when(request) and _anonymous(request) else None
        )
    )


@alteration_at
def _cut_opens(service: Service, operations: Operations) -> None:
    """Take the beginning of a token for the token."""
    tokens, issued = service.identity.tokens, list[str]()

    def issue(faithful: Callable[[Account], Token], account: Account) -> Token:
        token = faithful(account)
        issued.append(token.text)
        return token

    def holder(service: Service, request: Request) -> Account | None:
        scheme, given = _sent(request)
        if scheme != "bearer" or len(given) < 8:
            return None
        whole = (token for token in issued if token.startswith(given))
        return service.identity.tokens.holder(next(whole, given))

    alter(tokens, "issue", issue)
    _also_caller(holder)(service, operations)


@alteration
def _resembling_opens(service: Service, like: Callable[[str, str], bool]) -> None:
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


@replaces("identity.require", "token-empty-opens")
def _(service: Service, faithful: Require, request: Request) -> Account:
    return service.identity.accounts[_AUTHOR] if _sent(request) == ("bearer", "") else faithful(request)


@replaces("identity.require", "token-under-basic-opens")
def _(service: Service, faithful: Require, request: Request) -> Account:
    scheme, token = _sent(request)
    holder = service.identity.tokens.holder(token)
    if scheme == "basic" and holder is not None and request.scope["operation_id"] == "listDrafts":
        return holder
    return faithful(request)


def _done_and_refused(refusal: Callable[[], Refusal]) -> Change:
    """Return the change that does what an anonymous caller asks for, and refuses only then."""

    async def answer(service: Service, faithful: Handler, request: Request) -> Response:
        if not _anonymous(request):
            return await faithful(request)
        token = service.identity.tokens.issue(service.identity.accounts[_AUTHOR])
        headers = [*request.scope["headers"], (b"authorization", f"Bearer {token.text}".encode())]
        await faithful(Request({**request.scope, "headers": headers}, request.receive))
        raise refusal()

    return answered(answer)


_WRITES = ("saveDraft", "deleteDraft", "createAttachment", "persistTemporaryFile")


@alteration
def _short_lived(service: Service) -> None:
    """Forget every token once it was used twice, whatever its expiration says."""
    uses: Counter[str] = Counter()

    def holder(faithful: Callable[[str], Account | None], text: str) -> Account | None:
        uses[text] += 1
        return faithful(text) if uses[text] <= 2 else None

    alter(service.identity.tokens, "holder", holder)


defects(
    {
        "token-ends-early": _short_lived(),
        "token-opens-nothing": _opens_not(lambda _request, _account: True),
        "token-of-other-opens-nothing": _opens_not(lambda _, account: account.name == "other"),
        "token-not-in-bch": _opens_not(lambda request, _: in_realm("bch-dev")(request)),
        "token-opens-once": _opens_once(),
        **{
            f"unknown-token-opens-{kebab(operation)}": _also_caller(_author_for_unknown_token)
            for operation in PROTECTED
        },
        "token-of-the-form-opens": _also_caller(_author_for_token_of_the_form),
        **{f"cut-token-opens-{kebab(operation)}": _cut_opens() for operation in WORKFLOW},
        "token-truncated-opens": _resembling_opens(
            lambda given, token: len(given) >= 8 and token.startswith(given)
        ),
        "token-with-tail-opens": _resembling_opens(lambda given, token: given.startswith(token)),
        "token-last-character-ignored": _resembling_opens(
            lambda given, token: len(given) == len(token) and given[:-1] == token[:-1]
        ),
        "token-letter-case-ignored": _resembling_opens(lambda given, token: given.lower() == token.lower()),
        **{f"{kebab(operation)}-without-token": _open() for operation in PROTECTED},
        "get-draft-without-token-in-bch": _open(in_realm("bch-dev")),
        "save-draft-without-token-in-chm": _open(in_realm("chm-dev")),
        f"{kebab(UPDATE)}-without-token-in-ort": _open(in_realm("ort-dev")),
        **{
            f"{kebab(operation)}-without-token-done-and-refused": _done_and_refused(_unauthenticated)
            for operation in _WRITES
        },
        "workflow-without-token-done-and-refused": _done_and_refused(Row.ANONYMOUS.refusal),
    }
)
