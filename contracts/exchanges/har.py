"""HAR files (HTTP Archive 1.2): reads those of browsers, proxies and test tools, and writes our own."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlsplit

import msgspec
from harfile import Content, Creator, HarFile, PostData, Record, Request, Timings
from harfile import Response as HarResponse

from contracts.errors import UsageError
from contracts.exchanges.exchange import (
    NO_BODY,
    NO_TIME,
    UNKNOWN_BODY,
    Body,
    Exchange,
    Headers,
    Response,
    read_timestamp,
)
from contracts.file_formats import is_file, json_value, read_bytes
from contracts.interface.description import where_in_words

#: Name of the file of all exchanges in a run folder.
FILE_NAME: Final = "traffic.har"
_WEB: Final = ("", "http", "https")
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_NO_CONTENT: Final = frozenset({204, 304})
#: How this suite says in a comment that it kept only the beginning of a body, who sent a request, and that it got no
#: answer of the service.
_CUT: Final = "cut;"
_SENDER: Final = re.compile(
    r"; (?P<role>\w+) in (?P<realm>[\w-]+); attempt (?P<attempt>\d+) of (?P<case>.+?)(?:;|$)"
)
_FAULT: Final = re.compile(r"; fault of the environment: (?P<words>.+)$")
#: Case of an exchange that another program recorded.
RECORDED: Final = "recorded"


class _Log(msgspec.Struct):
    entries: list[msgspec.Raw]


class _File(msgspec.Struct):
    log: _Log


_FILE_DECODER: Final = msgspec.json.Decoder(_File)
_ENTRY_DECODER: Final = msgspec.json.Decoder()


class Archive:
    """What a HAR file holds; an entry takes up its room while it is read, and is read anew each time.

    Args:
        entries: As they stand in the file, `Raw` or plain data.
        shown: The path as messages show it.
    """

    def __init__(self, entries: Sequence[Any], shown: str) -> None:
        self._entries = entries
        self._shown = shown

    def __len__(self) -> int:
        """How many entries there are, those included that are no request."""
        return len(self._entries)

    def __iter__(self) -> Iterator[Exchange]:
        """The exchanges in their order, numbered as their entries stand in the file.

        Raises:
            UsageError: an entry cannot be read.
        """
        for number, entry in enumerate(self._entries, 1):
            exchange = read_entry(number, self._plain(entry) if isinstance(entry, msgspec.Raw) else entry)
            if exchange is not None:
                yield exchange

    def _plain(self, entry: msgspec.Raw) -> Any:
        try:
            return _ENTRY_DECODER.decode(entry)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _parsed(bytes(entry), self._shown)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All of them at once."""
        return tuple(self)


def read_har(path: Path, shown: str) -> Archive:
    """Read a HAR file.

    Args:
        shown: The path as messages show it.

    Raises:
        UsageError: it cannot be read, was cut short, is no HAR, or holds no request; one line.
    """
    content = _content(path, shown)
    entries = _raw_entries(content) or _entries(_parsed(content, shown))
    if not isinstance(entries, list):
        raise UsageError(
            f"{shown}: is JSON, but no HAR: it has no list log.entries; export the traffic as HAR"
        )
    if not entries:
        raise UsageError(f"{shown}: holds no request; record some traffic first, with the recorder running")
    return Archive(entries, shown)


def _content(path: Path, shown: str) -> bytes:
    if not is_file(path):
        raise UsageError(f"no HAR file '{shown}': name a file that is there")
    try:
        return read_bytes(path).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}; check its permissions") from None


def _raw_entries(content: bytes) -> list[msgspec.Raw] | None:
    """The entries without what stands in them; None for a file that only a more lenient reader takes, if any does."""
    try:
        return _FILE_DECODER.decode(content).log.entries
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _entries(content: Any) -> Any:
    log = content.get("log") if isinstance(content, dict) else None
    return log.get("entries") if isinstance(log, dict) else None


def _parsed(content: bytes, shown: str) -> Any:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(
            f"{shown}: is no HAR: it is not UTF-8 text; name it .gz if it is packed by gzip, or unpack it"
        ) from None
    if not text.strip():
        raise UsageError(f"{shown}: is empty; record the traffic again, and export it as HAR")
    try:
        return json_value(text)
    except json.JSONDecodeError as error:
        raise _fault(shown, text, error) from None
    except RecursionError:
        raise UsageError(f"{shown}: is no HAR: it nests too deep") from None


def _fault(shown: str, text: str, error: json.JSONDecodeError) -> UsageError:
    if not text.lstrip().startswith("{"):
        return UsageError(
            f"{shown}: is no HAR: a HAR is JSON and begins with a brace; export the traffic as HAR"
        )
    # A string that was cut is reported where it starts.
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        last = text.count("\n", 0, len(text.rstrip())) + 1
        return UsageError(f"{shown}: was cut short: it ends in the middle, at line {last}; export it again")
    return UsageError(
        f"{shown}:{error.lineno}: is no HAR: not JSON at column {error.colno}: {error.msg}; export it again"
    )


def read_entry(number: int, entry: Any) -> Exchange | None:
    """Read one entry of a HAR.

    Args:
        number: Its place in the file, counted from one.

    Returns:
        The exchange; one of our own archives also with case, attempt, realm and role. None when the entry holds no
        request that can be read.
    """
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        return None
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not method.strip() or not isinstance(url, str) or not _is_web(url):
        return None
    method = method.strip().upper()
    answer = entry.get("response")
    answer = answer if isinstance(answer, dict) else {}
    status = _whole_number(answer.get("status"))
    comment = str(entry.get("comment") or "")
    fault, sender = _FAULT.search(comment), _SENDER.search(comment)
    headers = Headers(_pairs(request.get("headers")))
    return Exchange(
        id=f"entry {number}",
        number=number,
        case=sender["case"] if sender else RECORDED,
        attempt=int(sender["attempt"]) if sender else 1,
        realm=sender["realm"] if sender else "",
        role=sender["role"] if sender else "",
        started=read_timestamp(str(entry.get("startedDateTime"))),
        seconds=_seconds(entry.get("time")),
        method=method,
        url=url,
        request_headers=headers,
        request_body=_request_body(request, method, headers),
        response=_response(answer, status, method, url) if 100 <= status < 600 else None,
        fault=fault["words"] if fault else None if status > 0 else _why(answer),
        comment=comment,
    )


def _is_web(url: str) -> bool:
    """Whether an address is one of the web; one without a host is written by some tools."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return False
    return parts.scheme in _WEB and bool(parts.path)


def _response(answer: Mapping[str, Any], status: int, method: str, url: str) -> Response:
    headers = Headers(_pairs(answer.get("headers")))
    body = _response_body(answer, method, status, headers)
    return Response(status, str(answer.get("statusText") or ""), headers, body, url)


def _why(answer: Mapping[str, Any]) -> str:
    return str(answer.get("_error") or answer.get("statusText") or "no answer was recorded")


def _pairs(listed: Any) -> Iterator[tuple[str, str]]:
    """Headers; names that begin with a colon are HTTP/2's own."""
    for header in listed if isinstance(listed, list) else ():
        if isinstance(header, dict) and not str(header.get("name", "")).startswith(":"):
            yield str(header.get("name", "")), str(header.get("value", ""))


def _request_body(request: Mapping[str, Any], method: str, headers: Headers) -> Body:
    data = request.get("postData")
    size = _whole_number(request.get("bodySize"))
    if isinstance(data, dict) and data.get("text"):
        text, comment = str(data["text"]), str(data.get("comment") or "")
        in_base64 = comment.startswith("base64") or data.get("encoding") == "base64"
        body = _body(text, in_base64=in_base64, cut=_CUT in comment, size=size)
        return body if in_base64 or _agrees(body, headers, size) else UNKNOWN_BODY
    length = headers.first("Content-Length") or ""
    if length.isdigit():
        return NO_BODY if int(length) == 0 else UNKNOWN_BODY
    if size > 0 or headers.first("Transfer-Encoding"):
        return UNKNOWN_BODY
    return NO_BODY if method in _BODILESS or size == 0 else UNKNOWN_BODY


def _response_body(answer: Mapping[str, Any], method: str, status: int, headers: Headers) -> Body:
    content = answer.get("content")
    fields: Mapping[str, Any] = content if isinstance(content, dict) else {}
    text = fields.get("text")
    size = _whole_number(fields.get("size"))
    if isinstance(text, str) and text:
        cut, in_base64 = _CUT in str(fields.get("comment") or ""), fields.get("encoding") == "base64"
        body = _body(text, in_base64=in_base64, cut=cut, size=size)
        return body if in_base64 or _agrees(body, headers, size) else UNKNOWN_BODY
    if method == "HEAD" or status in _NO_CONTENT:
        return NO_BODY
    # Some recorders leave the text out of what they did not keep, and write a size of zero all the same.
    length = headers.first("Content-Length") or ""
    if length.isdigit():
        return NO_BODY if int(length) == 0 else UNKNOWN_BODY
    told_empty = (size == 0 and text == "") or (size == 0 and _whole_number(answer.get("bodySize")) == 0)
    return NO_BODY if told_empty else UNKNOWN_BODY


def _body(text: str, *, in_base64: bool, cut: bool, size: int) -> Body:
    if in_base64:
        try:
            content = base64.b64decode(text)
        except (binascii.Error, ValueError):
            return UNKNOWN_BODY
    else:
        content = text.encode("utf-8", "surrogatepass")
    return Body(content, max(size, len(content)), whole=not cut)


def _agrees(body: Body, headers: Headers, size: int) -> bool:
    """Whether a text that is no JSON has a size that the archive tells of it.

    Some recorders write binary content as one character per byte, or text in the encoding that a page had; what bytes
    were sent cannot be told from that.
    """
    if not body.whole or "json" in (headers.first("Content-Type") or "").lower():
        return True
    packed, length = bool(headers.first("Content-Encoding")), headers.first("Content-Length") or ""
    sizes = [size] if size > 0 else []
    sizes += [int(length)] if length.isdigit() and not packed else []
    return not sizes or len(body.content) in sizes


def _whole_number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) < 2**53 else -1


def _seconds(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) / 1000 if usable else None


_PROGRAM: Final = "registry-contracts"
_UNKNOWN_TYPE: Final = "application/octet-stream"
_URL_CHARACTERS: Final = "%:/?#[]@!$&'()*+,;="
_HTTP_VERSION: Final = "HTTP/1.1"


@contextmanager
def har_writer(path: Path, version: str, comment: str) -> Iterator[HarFile]:
    """Open an archive to be written, for as long as the `with` block lasts.

    Args:
        version: Of the suite.
        comment: Of the archive as a whole.
    """
    creator = Creator(name=_PROGRAM, version=version)
    with (
        path.open("w", encoding="utf-8", newline="\n") as file,
        HarFile.open(file, creator=creator, comment=comment) as archive,
    ):
        yield archive


def add(archive: HarFile, exchange: Exchange, comment: str | None = None) -> None:
    """Add an exchange to an archive.

    Args:
        archive: One that is open.
        exchange: Without secrets.
        comment: In place of the one that names case, role and attempt.
    """
    milliseconds = round((exchange.seconds or 0.0) * 1000, 3)
    archive.add_entry(
        startedDateTime=(exchange.started or NO_TIME).isoformat(),
        time=milliseconds,
        request=_har_request(exchange),
        response=_har_response(exchange),
        # Only the whole is measured; the format wants the parts to add up to it.
        timings=Timings(send=0, wait=milliseconds, receive=0),
        comment=_comment(exchange) if comment is None else comment,
    )


def _comment(exchange: Exchange) -> str:
    parts = [
        exchange.id,
        exchange.operation or "no operation of the description",
        f"{exchange.role or 'no role'} {where_in_words(exchange.operation, [exchange.realm])}",
        f"attempt {exchange.attempt} of {exchange.case}",
    ]
    if exchange.retries:
        parts.append(f"sent again {exchange.retries} times")
    if exchange.fault:
        parts.append(f"fault of the environment: {exchange.fault}")
    return "; ".join(parts)


def _har_request(exchange: Exchange) -> Request:
    query = parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)
    return Request(
        method=exchange.method,
        # A URL that was sent malformed on purpose must still be one for the readers of the archive.
        url=quote(exchange.url, safe=_URL_CHARACTERS),
        httpVersion=_HTTP_VERSION,
        headers=_records(exchange.request_headers.pairs),
        queryString=_records(query),
        postData=_post_data(exchange),
        bodySize=exchange.request_body.size,
    )


def _post_data(exchange: Exchange) -> PostData | None:
    body = exchange.request_body
    if not body.size:
        return None
    kind = exchange.request_headers.first("Content-Type") or _UNKNOWN_TYPE
    if body.decoded is not None:
        return PostData(mimeType=kind, text=body.decoded, comment=_cut(body))
    # The format has no encoding for what is sent, so the comment says what the text is.
    return PostData(mimeType=kind, text=_in_base64(body), comment=f"base64{_cut(body) or ''}")


def _har_response(exchange: Exchange) -> HarResponse:
    response = exchange.response
    if response is None:
        # Status 0 is how browsers write a request that got no response.
        return HarResponse(status=0, statusText=exchange.fault or "", httpVersion=_HTTP_VERSION)
    return HarResponse(
        status=response.status,
        statusText=response.reason,
        httpVersion=_HTTP_VERSION,
        headers=_records(response.headers.pairs),
        content=_har_content(response),
        redirectURL=response.headers.first("Location") or "",
        bodySize=response.body.size,
    )


def _har_content(response: Response) -> Content:
    body, kind = response.body, response.headers.first("Content-Type") or _UNKNOWN_TYPE
    content = Content(size=body.size, mimeType=kind, comment=_cut(body))
    if body.decoded is None:
        content.text, content.encoding = _in_base64(body), "base64"
    elif body.content or body.whole:
        content.text = body.decoded
    return content


def _in_base64(body: Body) -> str:
    return base64.b64encode(body.content).decode("ascii")


def _records(pairs: Iterable[tuple[str, str]]) -> list[Record]:
    return [Record(name=name, value=value) for name, value in pairs]


def _cut(body: Body) -> str | None:
    return None if body.whole else f", cut; {body.size} bytes in all"
