"""Checks for the chapter on authentication: the token, and its expiration, an ISO 8601 timestamp in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from typing import Any, Final

from registry_contracts.checks.definition import Arguments, Check, Subject
from registry_contracts.checks.outcomes import Blocked
from registry_contracts.checks.workflow import Row, carries_message
from registry_contracts.exchanges import readers
from registry_contracts.exchanges.exchange import Response, read_timestamp
from registry_contracts.session.authentication import clock_ahead, sendable

TOKEN_MEMBER: Final = "authenticationToken"  # noqa: S105 - a name, no secret
EXPIRATION_MEMBER: Final = "expiration"
_EXTENDED: Final = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2}|\d{4}-W\d{2}-\d|\d{4}-\d{3})"
    r"T(?P<time>\d{2}:\d{2}:\d{2})[.,]\d+(Z|\+00(:00)?)",
    re.ASCII,
)
_BASIC: Final = re.compile(r"(?P<date>\d{8}|\d{4}W\d{3}|\d{7})T(?P<time>\d{6})[.,]\d+(Z|\+00(00)?)", re.ASCII)
_LEAP_SECOND: Final = re.compile(r"(23:?59:?)60")


def is_utc_with_fraction(value: object) -> bool:
    """Whether a value is an ISO 8601 date and time of day in UTC with a fraction of a second.

    Everything in ISO 8601 is allowed: basic or extended form, calendar, week or ordinal date, point or comma before
    the fraction, any number of digits in it, `Z` or an offset of zero (Authentication token response).
    """
    match = (_EXTENDED.fullmatch(value) or _BASIC.fullmatch(value)) if isinstance(value, str) else None
    if match is None:
        return False
    day = match["date"].replace("-", "")
    try:
        time.fromisoformat(_LEAP_SECOND.sub(r"\g<1>59", match["time"]))
        if len(day) == 7 and day.isdigit():
            return str(datetime.strptime(day, "%Y%j").year) == day[:4]
        date.fromisoformat(day)
    except ValueError:
        return False
    return True


def moment_of(value: object) -> datetime | None:
    """The moment of a timestamp, read tolerantly; None if it cannot be read."""
    return read_timestamp(value.replace(",", ".")) if isinstance(value, str) else None


def seconds_ahead(moment: datetime | None, answer: Response) -> float:
    """Seconds from the service's time (its Date header, if readable) to a moment; negative if past.

    Raises:
        Blocked: the moment could not be read; the clause on its format covers that.
    """
    if moment is None:
        raise Blocked("createToken", "the expiration cannot be read as a moment")
    now = datetime.now(UTC)
    return (moment - now).total_seconds() - (clock_ahead(answer, now) or 0.0)


def token_in(response: Response) -> str | None:
    """The token of a sign-in answer, in the documented member; None if there is none."""
    body = response.json
    value = body.get(TOKEN_MEMBER) if response.success and isinstance(body, dict) else None
    return value if isinstance(value, str) and sendable(value) else None


def without_secrets(response: Response) -> str:
    """A sign-in answer in words: the types of its members if it has a token member, else a quotation."""
    body = response.json
    if not isinstance(body, dict) or TOKEN_MEMBER not in body:
        return response.quote()
    return f"{response.status} with members { {name: _kind(value) for name, value in body.items()} }"


def _kind(value: Any) -> str:
    broken = isinstance(value, str) and value and not sendable(value)
    return f"{type(value).__name__}{' with a line break or zero, which no header can hold' if broken else ''}"


def _tokens(response: Response) -> Iterator[str]:
    """All texts in token members, at any depth and with any status."""
    for value in readers.values(response.json):
        token = value.get(TOKEN_MEMBER) if isinstance(value, dict) else None
        if isinstance(token, str) and token:
            yield token


def _where_a_token_is_due(subject: Subject, _: str) -> Arguments | None:
    """Applies if a token was returned or the credentials are known to be right: a refusal may have status 200."""
    due = subject.success and (subject.right or token_in(subject.response) is not None)
    return {} if due else None


def _with_a_token(subject: Subject, _: str) -> Arguments | None:
    """Applies if a token was returned."""
    return {} if subject.success and token_in(subject.response) is not None else None


def _no_token_given(response: Response) -> str | None:
    return without_secrets(response) if token_in(response) is None else None


def _token_given(response: Response) -> str | None:
    return f"{response.status} with a token" if any(_tokens(response)) else None


def _another_format(response: Response) -> str | None:
    body = response.json
    value: Any = body.get(EXPIRATION_MEMBER) if isinstance(body, dict) else None
    return None if is_utc_with_fraction(value) else f"{value!r}"


def _turned_away(response: Response, *, realm: str) -> str | None:
    """The answer if it rejects the token: 401, or the message for an anonymous user."""
    away = response.status == 401 or carries_message(response, Row.ANONYMOUS, realm)
    return response.quote() if away else None


TOKEN_GIVEN: Final = Check(
    "token-given",
    f"{TOKEN_MEMBER}, a string that is not empty and that a header can hold",
    _no_token_given,
    clauses=("token-issued",),
    applies=_where_a_token_is_due,
)
EXPIRATION_FORMAT: Final = Check(
    "expiration-format",
    "an ISO 8601 timestamp in UTC with fractional seconds",
    _another_format,
    clauses=("token-expiration-format",),
    applies=_with_a_token,
)
NO_TOKEN: Final = Check("no-token", "no token", _token_given)
TOKEN_TAKEN: Final = Check("token-taken", "the token is accepted", _turned_away)
CHECKS: Final = (TOKEN_GIVEN, EXPIRATION_FORMAT, NO_TOKEN, TOKEN_TAKEN)
