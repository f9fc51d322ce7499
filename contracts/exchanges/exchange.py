"""Reads the body of an answer as JSON, strictly and within bounds, and says what is wrong with it where it is not.

One request and its answer, as the judging side sees them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from contracts.errors import EnvironmentFault

#: Deeper than any answer of a service in its right mind; readers walk through it by recursion.
DEEPEST: Final = 300
#: More values than this take up many times the room of the text they stand in.
MOST_VALUES: Final = 1_000_000
#: Reading a longer number takes time out of all proportion.
MOST_DIGITS: Final = 4000
_TOO_DEEP: Final = f"nested deeper than {DEEPEST} levels"
_OPENINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.DOTALL)
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class _Flawed(ValueError):
    """Why a body is no JSON, in a few words."""


def read_json(content: bytes) -> tuple[Any, str | None]:
    """Read a body.

    Returns:
        The value, or None when the body is not JSON; and what is wrong with it, or None when nothing is. A member
        that stands twice is read as most readers do, the last one counts, and is named nevertheless.
    """
    doubled: list[str] = []
    try:
        value = _parsed(content, doubled)
    except _Flawed as flaw:
        return None, str(flaw)
    if doubled:
        return value, f"the member {doubled[0]!r} stands twice in one object"
    marked = content.startswith(_BYTE_ORDER_MARKS)
    return value, "a byte order mark, which JSON does not have" if marked else None


def _parsed(content: bytes, doubled: list[str]) -> Any:
    """The value of a body; names of members that stand twice in an object are put into `doubled`."""
    if not content.strip():
        raise _Flawed("an empty body")
    if _too_deep(content):
        raise _Flawed(_TOO_DEEP)

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            doubled.extend(name for name in found if names.count(name) > 1)
        return found

    try:
        return json.loads(
            content, object_pairs_hook=members, parse_constant=_no_constant, parse_int=_whole_number
        )
    except _Flawed:
        raise
    except UnicodeDecodeError:
        raise _Flawed("bytes that are not UTF-8") from None
    except RecursionError:
        raise _Flawed(_TOO_DEEP) from None
    except ValueError:
        raise _Flawed("not JSON") from None


def holds_masses(content: bytes) -> bool:
    """Whether a body holds so many values that reading them would take up all memory."""
    return content.count(b",") + content.count(b"[") + content.count(b"{") > MOST_VALUES


def _whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise _Flawed(f"a number of {len(digits)} digits")
    return int(digits)


def _no_constant(name: str) -> Any:
    raise _Flawed(f"{name}, which is no JSON value")


def _too_deep(content: bytes) -> bool:
    if content.count(b"[") + content.count(b"{") <= DEEPEST:
        return False
    depth = 0
    for sign in _OPENINGS.finditer(content):
        first = sign.group()[:1]
        depth += (first in b"[{") - (first in b"]}")
        if depth > DEEPEST:
            return True
    return False


#: How much of a body a sentence quotes; the full (bounded) body stands in the traffic log.
QUOTED_CHARACTERS = 300
_PAGE_BEGINNING = 256


@dataclass(frozen=True)
class Response:
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
    response: Response | None = None
    unsettled: int = 0
    own: bool = False
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def answer(self) -> Response:
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
