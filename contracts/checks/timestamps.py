"""ISO 8601 timestamps in UTC with fractional seconds: the one format that the interface document names."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from contracts.checks.outcomes import Blocked
from contracts.exchanges.exchange import Response, read_timestamp

_EXTENDED: Final = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2}|\d{4}-W\d{2}-\d|\d{4}-\d{3})"
    r"T(?P<time>\d{2}:\d{2}:\d{2})[.,]\d+(Z|\+00(:00)?)",
    re.ASCII,
)
_BASIC: Final = re.compile(r"(?P<date>\d{8}|\d{4}W\d{3}|\d{7})T(?P<time>\d{6})[.,]\d+(Z|\+00(00)?)", re.ASCII)
_LEAP_SECOND: Final = re.compile(r"(23:?59:?)60")


def is_utc_with_fraction(value: object) -> bool:
    """Whether a value is an ISO 8601 date and time of day in UTC with a fraction of a second.

    All that ISO 8601 allows is fine: basic or extended form, calendar, week or ordinal date, point or comma before
    the fraction, any number of digits in it, `Z` or an offset of zero (Authentication token response).
    """
    if not isinstance(value, str):
        return False
    match = _EXTENDED.fullmatch(value) or _BASIC.fullmatch(value)
    return match is not None and _is_date(match["date"]) and _is_time(match["time"])


def _is_date(text: str) -> bool:
    plain = text.replace("-", "")
    try:
        if len(plain) == 7 and plain.isdigit():
            first = date(int(plain[:4]), 1, 1)
            return (first + timedelta(days=int(plain[4:]) - 1)).year == first.year and plain[4:] != "000"
        date.fromisoformat(plain)
    except (ValueError, OverflowError):
        return False
    return True


def _is_time(text: str) -> bool:
    try:
        time.fromisoformat(_LEAP_SECOND.sub(r"\g<1>59", text))
    except ValueError:
        return False
    return True


def moment_of(value: object) -> datetime | None:
    """The moment a timestamp stands for, read as kindly as can be; None when it cannot be read."""
    return read_timestamp(value.replace(",", ".")) if isinstance(value, str) else None


def service_time(answer: Response) -> datetime:
    """The service's own time by its Date header, or ours when it sends none that can be read."""
    try:
        date = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def ahead(moment: datetime | None, answer: Response) -> float:
    """Seconds from the time of an answer to a moment; negative when it has passed.

    Raises:
        Blocked: the moment could not be read, which is a matter of the format's own clause.
    """
    if moment is None:
        raise Blocked("createToken", "the expiration cannot be read as a moment")
    return (moment - service_time(answer)).total_seconds()
