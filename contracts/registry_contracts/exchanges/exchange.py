"""The model of an exchange: a request with its response or fault.

The session returns exchanges, checks read them, journals and HAR files hold them; `ExchangeEntry` is the form in JSON.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from msgspec import UNSET, Meta, UnsetType
from urllib3 import HTTPHeaderDict

from registry_contracts.errors import EnvironmentFault
from registry_contracts.exchanges.intermediaries import marks
from registry_contracts.exchanges.json_bodies import read_json
from registry_contracts.file_formats import Count, Format, Moment, Name, OpenFormat, Seconds

#: How much of a body a message quotes; the traffic log has more.
QUOTED_CHARACTERS: Final = 300
_PAGE_BEGINNING: Final = 256
#: Largest size of an unpacked body, in bytes.
_UNPACKED: Final = 16 * 1024 * 1024
_HTTP_VERSION: Final = "HTTP/1.1"
#: Stands for an unknown time in files.
NO_TIME: Final = datetime.fromtimestamp(0, UTC)


class Headers(HTTPHeaderDict):
    """Headers of a message, by name in any letter case; values of a repeated header are joined by commas.

    `pairs` are the names and values of the message, in their order.
    """

    def __init__(self, pairs: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self.pairs = tuple(pairs.items() if isinstance(pairs, Mapping) else pairs)
        super().__init__(self.pairs)

    def __repr__(self) -> str:
        # Values may be credentials.
        return f"Headers({', '.join(self)})"

    def first(self, name: str) -> str | None:
        """The first value of a header, or None."""
        return next(iter(self.getlist(name)), None)


#: Note of an exchange: its token was refused before its expiration, and so were fresh ones.
TOKEN_ENDED: Final = "token ended"  # noqa: S105 - the name of a note


@dataclass(frozen=True)
class Body:
    """A body: all its bytes or, if it is not `whole`, their beginning.

    `size` counts all bytes that were read. `digest` is the SHA-256 of all of them, if it was computed; if secrets were
    removed, that of the rest.
    """

    content: bytes = b""
    size: int = 0
    whole: bool = True
    digest: str | None = None

    @classmethod
    def of(cls, content: bytes) -> Body:
        """A whole body."""
        return cls(content, len(content))

    @cached_property
    def decoded(self) -> str | None:
        """The content as UTF-8 text; None for binary content."""
        try:
            return codecs.getincrementaldecoder("utf-8")().decode(self.content, final=self.whole)
        except UnicodeDecodeError:
            return None

    @property
    def text(self) -> str:
        """The content as text; bytes that are not UTF-8 become replacement characters."""
        return self.decoded if self.decoded is not None else self.content.decode("utf-8", errors="replace")

    @property
    def json(self) -> Any:
        """The body as JSON; None if it is not JSON, or not whole."""
        return self._read_as_json[0]

    @property
    def flaw(self) -> str | None:
        """What is wrong with the body as JSON; None if nothing is, or if the body is not whole."""
        return self._read_as_json[1]

    @cached_property
    def _read_as_json(self) -> tuple[Any, str | None]:
        return read_json(self.content) if self.whole else (None, None)

    def unpacked(self, coding: str) -> Body:
        """The body without its Content-Encoding (empty for none); `UNKNOWN_BODY` if it cannot be unpacked."""
        name = coding.strip().lower()
        if name in ("", "identity") or not self.content:
            return self
        if name not in ("gzip", "x-gzip", "deflate"):
            return UNKNOWN_BODY
        unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            content = unpacking.decompress(self.content, _UNPACKED)
        except zlib.error:
            return UNKNOWN_BODY
        return Body.of(content) if unpacking.eof else UNKNOWN_BODY


NO_BODY: Final = Body()
#: A body that was not recorded, if there was one.
UNKNOWN_BODY: Final = Body(whole=False)


NO_CONTENT: Final = 204
#: Statuses that say that what was asked for is not there (RFC 9110); other refusals may concern the account.
NOT_THERE: Final = (404, 410)
_SEE_OTHER: Final = 303
_DOCUMENT_PATH: Final = "/documents/"
#: Addresses of an attachment and of its thumbnail, which a service may deliver by a redirect.
_DOWNLOAD: Final = re.compile(r"/attachments/(?!persist-temporary/)[^/]+/[^/]+(?:/thumbnail)?$")


@dataclass(frozen=True)
class Response:
    """The service's answer, from `url`, after so many redirects (`hops`).

    `realm_given` is the Realm header of the request, if the settings replace names. `charset` is that of JSON which was
    not sent in UTF-8; `body` is in UTF-8. `absent`: the answer to a read tells by a success status that nothing is
    there.
    """

    status: int
    reason: str = ""
    headers: Headers = field(default_factory=Headers)
    body: Body = NO_BODY
    url: str = ""
    hops: int = 0
    realm_given: str = ""
    charset: str = ""
    absent: bool = False

    @property
    def content(self) -> bytes:
        """The recorded bytes of the body."""
        return self.body.content

    @property
    def success(self) -> bool:
        """2xx, a redirect of a download, or a 303 that leads to a document; not of what is `absent`."""
        if not self.redirect:
            return 200 <= self.status < 300 and not self.absent
        to_document = self.status == _SEE_OTHER and _DOCUMENT_PATH in self.headers.get("location", "")
        return to_document or _DOWNLOAD.search(urlsplit(self.url).path) is not None

    @property
    def redirect(self) -> bool:
        """A redirect that was not followed; unless it is a `success`, it may lead to a sign-in page."""
        return 300 <= self.status < 400

    @property
    def refusal(self) -> bool:
        """4xx, or `absent`: the request was refused."""
        return 400 <= self.status < 500 or self.absent

    @property
    def media_type(self) -> str:
        """The media type without parameters, in lower case; empty when the response names none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def page(self) -> bool:
        """Whether the body is an HTML page, as gateways, login walls and web frameworks send them."""
        beginning = self.content[:_PAGE_BEGINNING].lstrip().lower()
        if self.media_type == "text/html":
            return beginning[:1] == b"<"
        return not self.json_labelled and beginning.startswith((b"<!doctype html", b"<html"))

    @property
    def bodiless(self) -> bool:
        """Whether it has no body; after HEAD, by its Content-Length."""
        return not self.content and self.headers.get("content-length", "0") == "0"

    @property
    def hollow_page(self) -> bool:
        """Whether it is an HTML page, or the headers of one as an answer to HEAD."""
        headers_alone = not self.content and self.headers.get("content-length", "") not in ("", "0")
        return self.page or (self.media_type == "text/html" and headers_alone)

    @property
    def json_labelled(self) -> bool:
        """Whether the response says that its body is JSON."""
        return "json" in self.media_type

    @property
    def text(self) -> str:
        """The body as text; bytes that are not UTF-8 are shown as replacement characters."""
        return self.body.text

    @property
    def json(self) -> Any:
        """The body read as JSON, or None when it is not JSON (an empty body, an image, a page)."""
        return self.body.json

    @property
    def flaw(self) -> str | None:
        """What is wrong with the body as JSON; None if nothing is, or if it is not meant to be JSON."""
        meant = self.json_labelled or self.content.lstrip()[:1] in (b"{", b"[")
        return self.body.flaw if meant and self.content else None

    def quote(self) -> str:
        """Status and beginning of the body, to be quoted in a message.

        Flaws of the body as JSON and signs of intermediaries follow.
        """
        shown = self.text[:QUOTED_CHARACTERS] + ("…" if len(self.text) > QUOTED_CHARACTERS else "")
        recoded = self.charset and f"in {self.charset} instead of UTF-8 (RFC 8259)"
        flawed = "".join(f" [the body: {flaw}]" for flaw in (self.flaw, recoded) if flaw)
        return f"{self.status} {shown}".strip() + flawed + marks(self.headers)


_CHARSET: Final = re.compile(r"charset\s*=\s*\"?(?P<name>[\w.:-]+)", re.IGNORECASE)
_UTF_8: Final = frozenset({"utf-8", "utf-8-sig", "ascii"})


def charset_of(headers: Headers) -> str | None:
    """The charset that a message names; None if it names none, or an unknown one."""
    named = _CHARSET.search(headers.get("content-type", ""))
    try:
        return codecs.lookup(named["name"]).name if named else None
    except LookupError:
        return None


def in_utf8(response: Response, *, files: bool = False) -> Response:
    """The response with JSON recoded to UTF-8, so that readers and redaction need no other charset.

    Args:
        files: Also recode downloaded files that are JSON.
    """
    body = response.body
    a_file = not files and _DOWNLOAD.search(urlsplit(response.url).path) is not None
    if a_file or not (response.json_labelled and body.whole and body.content):
        return response
    found = codecs.lookup(json.detect_encoding(body.content)).name
    charset = charset_of(response.headers) or found
    if charset in _UTF_8 or (found in _UTF_8 and body.json is not None):
        return response
    try:
        text = body.content.decode(charset).removeprefix("\ufeff")
    except (UnicodeError, LookupError):
        return response
    return replace(response, body=Body.of(text.encode("utf-8", "surrogatepass")), charset=charset)


@dataclass
class Exchange:
    """One request with its response, or with the fault that prevented one.

    Attributes:
        id: Unique within the run, or within an archive.
        url: With scheme and host, raw.
        fault: The fault of the environment, as text; None if the service answered. There may be a gateway's response.
        started: When the last try was sent; None if unknown.
        seconds: From the first byte sent to the last byte read of the last try; None if not measured.
        retries: How often the request was repeated because of the environment.
        met: The faults of all tries.
        operation: The `operationId`, or None if the path is not in the description.
        realm, role: Who sent it; empty if unknown.
        case: Node id of the case, or a word in brackets for the suite's own housekeeping.
        attempt: 1 for the first run of a case, higher for confirmations.
        authorization: The redacted Authorization header, with `$TOKEN` for the role's token (`$TOKEN[:20]` for its
            beginning); None for none.
        number: Its position in traffic or in an archive, from 1.
        overlapped: Another request that may change the same record was sent at the same time.
        unsettled: How many unanswered tries of a write may have taken effect.
        received: The service may have received it.
        blocked: Requests like this are blocked on the way, while others are answered.
        cached: The answer is from a cache, unlike others of its operation.
        undated: The answer has no Date, unlike other answers of the site.
        own: A check has shown that the service itself caused the fault.
        error_due: The document allows an error for this request.
        written: URL and headers in the names of the interface document, if the settings replace some.
    """

    id: str
    method: str
    url: str
    request_headers: Headers = field(default_factory=Headers)
    request_body: Body = NO_BODY
    response: Response | None = None
    fault: str | None = None
    started: datetime | None = None
    seconds: float | None = None
    retries: int = 0
    operation: str | None = None
    realm: str = ""
    role: str = ""
    case: str = ""
    attempt: int = 1
    authorization: str | None = None
    number: int = 0
    overlapped: bool = False
    unsettled: int = 0
    received: bool = True
    blocked: bool = False
    cached: bool = False
    undated: bool = False
    own: bool = False
    error_due: bool = False
    notes: dict[str, Any] = field(default_factory=dict)
    met: list[str] = field(default_factory=list)
    written: tuple[str, Headers] | None = None

    @property
    def documented(self) -> Exchange:
        """The exchange with its request in the names of the interface document."""
        if self.written is None:
            return self
        url, headers = self.written
        return replace(self, url=url, request_headers=headers, written=None)

    @property
    def answer(self) -> Response:
        """The service's response; raises `EnvironmentFault` if the service did not answer."""
        if not self.answered or self.response is None:
            raise EnvironmentFault(f"{self.operation or self.method}: {self.fault or 'no answer'}")
        return self.response

    @property
    def answered(self) -> bool:
        """Whether the service itself answered."""
        return self.fault is None and self.response is not None

    @property
    def status(self) -> int | None:
        """The status of the response; None without one."""
        return self.response.status if self.response else None

    @property
    def ended(self) -> datetime | None:
        """When the response ended; None if unknown."""
        if self.started is None or self.seconds is None:
            return None
        return self.started + timedelta(seconds=self.seconds)

    @property
    def doubtful(self) -> bool:
        """Whether the environment may have influenced what this exchange or later ones show."""
        return not self.own and (self.fault is not None or self.unsettled > 0)


def read_timestamp(text: str) -> datetime | None:
    """The moment of an ISO 8601 text, in UTC if it names no zone; None if it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


HeaderPairs = Annotated[
    tuple[tuple[str, str], ...], Meta(description="Names and values in their order; secrets are out.")
]


class BodyEntry(Format, frozen=True, kw_only=True):
    """The kept part of a body, as text or, if it is binary, as base64; `size` counts the bytes of the whole body."""

    size: Count
    truncated: bool | UnsetType = UNSET
    text: str | UnsetType | None = UNSET
    base64: str | UnsetType | None = UNSET
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | UnsetType = UNSET

    def body(self) -> Body:
        """The body; without text and base64 nothing was kept."""
        content = None
        if isinstance(self.text, str):
            content = self.text.encode("utf-8", "surrogatepass")
        elif isinstance(self.base64, str):
            with suppress(ValueError):
                content = base64.b64decode(self.base64)
        whole = content is not None and self.truncated is not True
        content = content or b""
        return Body(content, self.size or len(content), whole, self.sha256 or None)


class RequestEntry(Format, frozen=True, kw_only=True):
    """A request."""

    method: Name
    url: Name
    http_version: str | UnsetType = UNSET
    headers: HeaderPairs
    body: BodyEntry | None


class ResponseEntry(Format, frozen=True, kw_only=True):
    """A response; services also send statuses beyond 599."""

    status: Annotated[int, Meta(ge=100, le=999)]
    reason: str | UnsetType = UNSET
    http_version: str | UnsetType = UNSET
    headers: HeaderPairs
    body: BodyEntry | None

    def response(self, url: str) -> Response:
        """The response that came from an address."""
        body = self.body.body() if self.body else NO_BODY
        return Response(self.status, self.reason or "", Headers(self.headers), body, url)


class ExchangeEntry(OpenFormat, frozen=True, kw_only=True):
    """One request with its response.

    `case` is a word in brackets for the suite's own requests. `fault` is the fault of the environment.
    `authorization` is the header of that name with `$TOKEN` for the role's token.
    """

    id: Name
    case: Name
    attempt: Annotated[int, Meta(ge=1)]
    realm: Name
    role: str | None
    operation: str | None
    started: Moment
    seconds: Seconds
    request: RequestEntry
    response: ResponseEntry | None
    fault: str | None
    retries: Count
    authorization: str | None = None

    def exchange(self) -> Exchange:
        """The exchange."""
        sent = self.request
        return Exchange(
            **{name: getattr(self, name) for name in _SAME},
            role=self.role or "",
            started=read_timestamp(self.started),
            seconds=self.seconds,
            method=sent.method,
            url=sent.url,
            request_headers=Headers(sent.headers),
            request_body=sent.body.body() if sent.body else NO_BODY,
            response=None if self.response is None else self.response.response(sent.url),
        )


#: Members that an exchange and its entry have in common.
_SAME: Final = ("id", "case", "attempt", "realm", "operation", "fault", "retries", "authorization")


def exchange_entry(exchange: Exchange) -> ExchangeEntry:
    """Return the entry of a redacted exchange for files."""
    body, response = exchange.request_body, exchange.response
    request = RequestEntry(
        method=exchange.method,
        url=exchange.url,
        http_version=_HTTP_VERSION,
        headers=exchange.request_headers.pairs,
        body=None if body == NO_BODY else _body_entry(body),
    )
    answer = None
    if response is not None:
        answer = ResponseEntry(
            status=response.status,
            reason=response.reason,
            http_version=_HTTP_VERSION,
            headers=response.headers.pairs,
            body=_body_entry(response.body),
        )
    return ExchangeEntry(
        **{name: getattr(exchange, name) for name in _SAME},
        role=exchange.role or None,
        started=(exchange.started or NO_TIME).isoformat(),
        seconds=exchange.seconds or 0.0,
        request=request,
        response=answer,
    )


def _body_entry(body: Body) -> BodyEntry:
    binary, kept = body.decoded is None, bool(body.content) or body.whole
    return BodyEntry(
        size=body.size,
        truncated=not body.whole,
        text=body.decoded if kept and not binary else UNSET,
        base64=base64.b64encode(body.content).decode("ascii") if binary else UNSET,
        sha256=body.digest or UNSET,
    )
