"""What counts as a fault of the environment and not of the service (design 4.7)."""

from __future__ import annotations

from contracts.exchanges.exchange import Response

#: Statuses that a gateway, a limiter or a service under maintenance gives, whatever was asked.
GATEWAY_STATUSES = frozenset({429, 502, 503, 504})
#: Operations that may rightly answer with a page or any other media type.
_DOWNLOADS = frozenset({"getAttachment", "getAttachmentThumbnail", "attachmentExists"})


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
    """Whether JSON ends in its middle although the head gave no length, as a lost connection leaves it."""
    sized = "content-length" in answer.headers or "chunked" in answer.headers.get("transfer-encoding", "")
    if sized or not answer.body.whole or "json" not in answer.media_type or answer.json is not None:
        return False
    text = answer.text.strip()
    return text[:1] in ("{", "[") and text[-1:] not in ("}", "]")


def page_words(answer: Response) -> str:
    """Words for an HTML page in place of an answer."""
    return f"an HTML page with status {answer.status} where JSON is due"
