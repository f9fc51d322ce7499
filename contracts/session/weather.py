"""What is environment and not contract, and when to try again (design 4.7)."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from contracts.session.exchange import Answer

#: Statuses that a gateway, a limiter or a service under maintenance gives, whatever was asked.
GATEWAY_STATUSES = frozenset({429, 502, 503, 504})
#: Tries in all, the first included.
MOST_TRIES = 4
_FIRST_WAIT_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 30.0
#: Writes that may be sent twice without harm: they say the same thing again about the same identifier.
_REPEATABLE_WRITES = frozenset({"createToken", "saveDraft", "updateContact"})
#: Operations that may rightly answer with a page or any other media type.
_DOWNLOADS = frozenset({"getAttachment", "getAttachmentThumbnail", "attachmentExists"})


def environment_fault(answer: Answer, operation: str | None) -> str | None:
    """What the environment did in place of the service, in a few words, or None when the service answered.

    A page with status 500 is the service's own (design 4.7: a lone 500). A page with a 4xx status may come from
    either; it is a refusal where one is due, and otherwise the claim ends inconclusive (`contracts.judging.claims`).
    """
    if answer.status in GATEWAY_STATUSES:
        return f"status {answer.status}"
    if answer.page and operation not in _DOWNLOADS and (answer.success or answer.status > 500):
        return page_words(answer)
    return None


def page_words(answer: Answer) -> str:
    """What is said of an HTML page in place of an answer."""
    return f"an HTML page with status {answer.status} where JSON is due"


def may_repeat(method: str, operation: str | None, *, received: bool, status: int | None) -> bool:
    """Whether a request may be sent again without looking first whether it happened.

    Args:
        received: Whether the service may have received it.
        status: The gateway's status, if there was one; 429 says that nothing was done.
    """
    if method in ("GET", "HEAD") or operation in _REPEATABLE_WRITES:
        return True
    return not received or status == 429


def wait_before(try_number: int, answer: Answer | None) -> float | None:
    """Seconds to wait before try `try_number` (2, 3, …), at least what Retry-After asks for.

    Returns:
        None when the service asks for more than half a minute: then it is not asked again.
    """
    asked = _retry_after(answer.headers.get("retry-after", "")) if answer else None
    backoff = _FIRST_WAIT_SECONDS * float(2 ** (try_number - 2))
    wait = max(backoff, asked or 0.0)
    return wait if wait <= _LONGEST_WAIT_SECONDS else None


def _retry_after(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _seconds_until(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    wait: timedelta = moment.astimezone(UTC) - datetime.now(UTC)
    return wait.total_seconds()
