"""What is environment and not contract, and when to try again (design 4.7)."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from contracts.exchanges.exchange import Response

#: Statuses that a gateway, a limiter or a service under maintenance gives, whatever was asked.
GATEWAY_STATUSES = frozenset({429, 502, 503, 504})
#: Tries in all, the first included.
MOST_TRIES = 4
_FIRST_WAIT_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 30.0
#: Leaves nothing behind, so that a second one does no harm.
_SIGN_IN = "createToken"
#: Operations that may rightly answer with a page or any other media type.
_DOWNLOADS = frozenset({"getAttachment", "getAttachmentThumbnail", "attachmentExists"})
_SAFE = ("GET", "HEAD")


def environment_fault(answer: Response, operation: str | None) -> str | None:
    """What the environment did in place of the service, in a few words, or None when the service answered.

    A page with status 500 is the service's own (design 4.7: a lone 500). A page with a 4xx status may come from
    either; it is a refusal where one is due, and otherwise the claim ends inconclusive (`contracts.checks.claims`).
    """
    if answer.status in GATEWAY_STATUSES:
        return f"status {answer.status}"
    if answer.page and operation not in _DOWNLOADS and (answer.success or answer.status > 500):
        return page_words(answer)
    if _broken_off(answer):
        return "the answer broke off in the middle of its JSON"
    return None


def _broken_off(answer: Response) -> bool:
    """Whether JSON ends in its middle although nothing told where it should end, as a lost connection leaves it."""
    told = "content-length" in answer.headers or "chunked" in answer.headers.get("transfer-encoding", "")
    if told or answer.digest is not None or "json" not in answer.media_type or answer.json is not None:
        return False
    text = answer.text.strip()
    return text[:1] in ("{", "[") and text[-1:] not in ("}", "]")


def page_words(answer: Response) -> str:
    """What is said of an HTML page in place of an answer."""
    return f"an HTML page with status {answer.status} where JSON is due"


def may_be_a_gateways(answer: Response, method: str, operation: str | None, *, refuses_in_json: bool) -> bool:
    """Whether a 4xx page is worth asking again, since the service's own refusals look different.

    Args:
        refuses_in_json: The operation has refused in JSON before.
    """
    return (
        harmless(method, operation)
        and answer.refusal
        and answer.hollow_page
        and (refuses_in_json or operation == _SIGN_IN)
    )


def may_repeat(method: str, operation: str | None, *, received: bool, answer: Response | None) -> bool:
    """Whether a request may be sent again without looking first whether it happened.

    Args:
        received: Whether the service may have received it.
        answer: What a gateway or a limiter answered, if there was anything.
    """
    return harmless(method, operation) or not received or turned_away(answer)


def harmless(method: str, operation: str | None) -> bool:
    """Whether a request leaves nothing behind, however often it is sent."""
    return method in _SAFE or operation == _SIGN_IN


def turned_away(answer: Response | None) -> bool:
    """Whether an answer says that nothing was done: 429, or 503 with the invitation to come again later."""
    return answer is not None and (
        answer.status == 429 or (answer.status == 503 and "retry-after" in answer.headers)
    )


def wait_before(try_number: int, answer: Response | None) -> float | None:
    """Seconds to wait before try `try_number` (2, 3, …), at least what Retry-After asks for.

    Returns:
        None when the service asks for more than half a minute: then it is not asked again.
    """
    asked = _retry_after(answer.headers.get("retry-after", "")) if answer else None
    backoff = _FIRST_WAIT_SECONDS * float(2 ** (try_number - 2))
    wait = max(backoff, asked or 0.0)
    return wait if wait <= _LONGEST_WAIT_SECONDS else None


def asked_wait(answer: Response | None) -> float:
    """Seconds for which an answer asks to be left alone (Retry-After); 0 when it asks for nothing."""
    asked = _retry_after(answer.headers.get("retry-after", "")) if answer else None
    return max(asked or 0.0, 0.0)


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
