"""Defects of the answer to signing in: the token and its expiration."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request

from contracts.sandbox.defects.altering import Every, alter, edit, refuse
from contracts.sandbox.defects.groups import TOKEN
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.query import header_value
from contracts.sandbox.refusals import Reason, Refusal, bad_request
from contracts.sandbox.service import Service


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


@defect("token-refused-to-author", clause="token-issued", operations=TOKEN)
def _(service: Service) -> None:
    """The right password of the account author is refused."""

    def sign_in(faithful: Callable[..., Any], email: str, password: str) -> Any:
        if email == "author@sandbox.test":
            raise Refusal(Reason.WRONG_CREDENTIALS, "the e-mail or the password is wrong")
        return faithful(email, password)

    alter(service.identity, "sign_in", sign_in)


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
