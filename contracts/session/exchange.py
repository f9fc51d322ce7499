"""One request and its answer, as the judging side sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from contracts.errors import EnvironmentFault
from contracts.session.reading import read_json

#: How much of a body a sentence quotes; the full (bounded) body stands in the traffic log.
QUOTED_CHARACTERS = 300
_PAGE_BEGINNING = 256


@dataclass(frozen=True)
class Answer:
    """What the service sent back: status, headers by lower-case name, and the body's bytes.

    Attributes:
        digest: SHA-256 of the whole body where only its beginning was kept, for bodies too large to hold.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes
    url: str
    hops: int = 0
    digest: str | None = None

    @property
    def success(self) -> bool:
        """2xx, or an unfollowed redirect, which some services use for downloads (design 4.2)."""
        return 200 <= self.status < 400

    @property
    def refusal(self) -> bool:
        """4xx: the request was turned down."""
        return 400 <= self.status < 500

    @property
    def media_type(self) -> str:
        """The media type without parameters, in lower case; empty when the answer names none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def page(self) -> bool:
        """Whether the body is an HTML page, as gateways, login walls and web frameworks send them."""
        beginning = self.content[:_PAGE_BEGINNING].lstrip().lower()
        if self.media_type == "text/html":
            return beginning[:1] == b"<"
        return not self.json_labelled and beginning.startswith((b"<!doctype html", b"<html"))

    @property
    def hollow_page(self) -> bool:
        """Whether it is an HTML page, or the headers of one, as the answer to HEAD holds them."""
        headers_alone = not self.content and self.headers.get("content-length", "") not in ("", "0")
        return self.page or (self.media_type == "text/html" and headers_alone)

    @property
    def json_labelled(self) -> bool:
        """Whether the answer says that its body is JSON."""
        return "json" in self.media_type

    @cached_property
    def text(self) -> str:
        """The body as text; bytes that are not UTF-8 are shown as replacement characters."""
        return self.content.decode("utf-8", errors="replace")

    @cached_property
    def json(self) -> Any:
        """The body read as JSON, or None when it is not JSON (an empty body, an image, a page)."""
        return self._read_as_json[0]

    @property
    def flaw(self) -> str | None:
        """What is wrong with the body as JSON, in a few words; None when nothing is, or when it says it is no JSON."""
        meant = self.json_labelled or self.content.lstrip()[:1] in (b"{", b"[")
        return self._read_as_json[1] if meant and self.content else None

    @cached_property
    def _read_as_json(self) -> tuple[Any, str | None]:
        return read_json(self.content)

    def quote(self) -> str:
        """Status and the beginning of the body, fit for a sentence, and what is wrong with the body as JSON."""
        shown = self.text[:QUOTED_CHARACTERS] + ("…" if len(self.text) > QUOTED_CHARACTERS else "")
        flawed = f" [the body: {self.flaw}]" if self.flaw else ""
        return f"{self.status} {shown}".strip() + flawed


@dataclass
class Exchange:
    """One request with its answer or the fault that stood in its way.

    Attributes:
        id: Unique within the run.
        case: Node id of the case, or a word in brackets for the suite's own housekeeping.
        attempt: 1 for the first run of a case, higher for confirmations.
        operation: The `operationId`, or None when the path is not in the description.
        retries: How often the request was repeated because of the environment.
        seconds: From the first byte sent to the last byte read, of the last try.
        fault: What the environment did, in a few words; None when the service answered.
        unsettled: Tries of a write that the service may have done although it answered none of them.
        own: A judge has shown that the fault is the service's own doing.
    """

    id: str
    case: str
    attempt: int
    realm: str
    role: str
    operation: str | None
    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes | None
    seconds: float = 0.0
    retries: int = 0
    fault: str | None = None
    response: Answer | None = None
    unsettled: int = 0
    own: bool = False
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def answer(self) -> Answer:
        """The service's answer.

        Raises:
            EnvironmentFault: when the environment gave none (design 4.7).
        """
        if self.fault is not None or self.response is None:
            raise EnvironmentFault(f"{self.operation or self.method}: {self.fault or 'no answer'}")
        return self.response

    @property
    def doubtful(self) -> bool:
        """Whether the environment may have a hand in what this exchange, or one after it, shows."""
        return not self.own and (self.fault is not None or self.unsettled > 0)

    @property
    def label(self) -> str:
        """`PUT saveDraft` and the like, for sentences."""
        return f"{self.method} {self.operation or self.url}"
