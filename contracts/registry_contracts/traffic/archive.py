"""Reads HAR files (HTTP Archive 1.2) of browsers, proxies and test tools.

Requests keep the order of the file, unless their times contradict it and come from one clock: then they are sorted by
time. A body counts as unknown if its size, length, encoding or media type contradicts it. Answers of caches, service
workers and stubs are not judged.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from registry_contracts.errors import UsageError
from registry_contracts.exchanges.exchange import (
    NO_TIME,
    UNKNOWN_BODY,
    Exchange,
    Headers,
    Response,
    read_timestamp,
)
from registry_contracts.exchanges.har import FAULT
from registry_contracts.file_formats import is_file, json_value, read_bytes
from registry_contracts.traffic.recorded_bodies import (
    ANY_TYPE,
    not_of_the_service,
    request_body,
    response_body,
    whole_number,
)

_WEB: Final = ("http", "https")
#: Case of an exchange that another program recorded.
_RECORDED: Final = "recorded"
#: Setting the clock makes times go back once or twice; entries out of order do so more often.
_MOST_STEPS_OF_A_CLOCK: Final = 2
#: A Date header has whole seconds, and may be made a second or two before the answer is sent.
_DATE_SECONDS: Final = 4.0
#: A request's time is the sum of these.
_PARTS: Final = ("blocked", "dns", "connect", "send", "wait", "receive")

_BY_TIME: Final = (
    "the entries are not in the order of their times: their requests are judged and numbered by their times"
)
_CLOCK_TURNED: Final = (
    "the times of the entries go back, since a clock was set or recordings were joined: no sequence was judged; "
    "record again, or check each recording by itself"
)


@dataclass(frozen=True)
class Archive:
    """A recording.

    Attributes:
        exchanges: The web requests of the file, in file order or by their times; see `notes`.
        entries: Number of its entries.
        unordered: The order of the requests is unknown, or a lost entry may have been a write.
        notes: Say so, and whether the entries were sorted.
    """

    exchanges: list[Exchange]
    entries: int
    unordered: bool
    notes: tuple[str, ...]

    @classmethod
    def of(cls, entries: list[Any]) -> Archive:
        """Read the entries of a HAR, and free them."""
        exchanges, lost = list[Exchange](), 0
        for number, entry in enumerate(entries, 1):
            read = read_entry(number, entry)
            exchanges += [read] if read else []
            lost += _is_lost(entry)
            entries[number - 1] = None
        times = [each.started for each in exchanges if each.started]
        steps = sum(later < earlier for earlier, later in pairwise(times))
        by_time = steps > _MOST_STEPS_OF_A_CLOCK and _one_clock([each for each in exchanges if each.started])
        clock_turned = steps > 0 and not by_time
        notes = [_BY_TIME] * by_time + [_CLOCK_TURNED] * clock_turned
        if lost:
            without = f"{lost} of {len(entries)} entries have no request, and may be writes"
            notes.append(f"{without}: no sequence was judged")
        if by_time:
            # Entries without a time come last.
            exchanges.sort(key=lambda each: (each.started is None, each.started or NO_TIME))
            exchanges = [replace(each, id=f"entry {at}", number=at) for at, each in enumerate(exchanges, 1)]
        return cls(exchanges, len(entries), clock_turned or lost > 0, tuple(notes))


def _is_lost(entry: Any) -> bool:
    """Whether an entry has lost its request."""
    request = _member(entry, "request")
    return not all(isinstance(_member(request, name), str) for name in ("method", "url"))


def _ahead(exchange: Exchange) -> tuple[float, float] | None:
    """By how many seconds at least and at most the service's clock is ahead; None if unknown."""
    date = exchange.response.headers.first("Date") if exchange.response is not None else None
    try:
        moment = parsedate_to_datetime(date or "")
        ahead = (moment - exchange.started).total_seconds() if exchange.started else None
    except (ValueError, TypeError):
        return None
    return None if ahead is None else (ahead - (exchange.seconds or 0.0), ahead)


def _one_clock(exchanges: Sequence[Exchange]) -> bool:
    """Whether one clock gave the times of all requests, compared with the service's Date headers."""
    ahead = [each for each in map(_ahead, exchanges) if each is not None]
    least, most = max((low for low, _ in ahead), default=0.0), min((high for _, high in ahead), default=0.0)
    return 2 * len(ahead) > len(exchanges) and least - most <= _DATE_SECONDS


def read_har(path: Path, shown: str) -> Archive:
    """Read a HAR file, called `shown` in messages.

    Raises:
        UsageError: the file cannot be read, was cut short, is not a HAR, or has no web request; one line.
    """
    content = _content(path, shown)
    entries = _member(_member(_parsed(content, shown), "log"), "entries")
    if not isinstance(entries, list):
        raise UsageError(
            f"{shown}: is JSON, but not a HAR: it has no list log.entries; export the traffic as HAR"
        )
    if not entries:
        raise UsageError(f"{shown}: holds no request; record some traffic first, with the recorder running")
    archive = Archive.of(entries)
    if not archive.exchanges:
        raise UsageError(f"{shown}: has no web request; export the traffic as HAR")
    return archive


def _content(path: Path, shown: str) -> bytes:
    if not is_file(path):
        raise UsageError(f"no HAR file '{shown}': name an existing file")
    try:
        return read_bytes(path).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror}; check its permissions") from None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _parsed(content: bytes, shown: str) -> Any:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(
            f"{shown}: is not a HAR: it is not UTF-8 text; name it .gz if it is packed by gzip, or unpack it"
        ) from None
    if not text.strip():
        raise UsageError(f"{shown}: is empty; record the traffic again, and export it as HAR")
    try:
        return json_value(text)
    except json.JSONDecodeError as error:
        raise _fault(shown, text, error) from None
    except RecursionError:
        raise UsageError(f"{shown}: is not a HAR: it nests too deep") from None


def _fault(shown: str, text: str, error: json.JSONDecodeError) -> UsageError:
    if not text.lstrip().startswith("{"):
        return UsageError(
            f"{shown}: is not a HAR: a HAR is JSON and begins with a brace; export the traffic as HAR"
        )
    # For a string that was cut, Python names the place where it begins.
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        last = text.count("\n", 0, len(text.rstrip())) + 1
        return UsageError(f"{shown}: was cut short: it ends in the middle, at line {last}; export it again")
    return UsageError(
        f"{shown}:{error.lineno}: is not a HAR: not JSON at column {error.colno}: {error.msg}; export it again"
    )


def read_entry(number: int, entry: Any) -> Exchange | None:
    """Read an entry of a HAR, with its number from 1; None if it has no readable request."""
    request = _member(entry, "request")
    if not isinstance(request, dict):
        return None
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not method.strip() or not isinstance(url, str) or not _is_web(url):
        return None
    method = method.strip().upper()
    answer = entry.get("response")
    answer = answer if isinstance(answer, dict) else {}
    status = whole_number(answer.get("status"))
    response = _response(answer, status, method, url) if 100 <= status < 600 else None
    headers = Headers(_pairs(request.get("headers")))
    # In this suite's own archives the comment holds the fault.
    fault = str(entry.get("comment") or "").partition(FAULT)[2]
    return Exchange(
        id=f"entry {number}",
        number=number,
        case=_RECORDED,
        started=read_timestamp(str(entry.get("startedDateTime"))),
        seconds=_seconds(entry),
        method=method,
        url=url,
        request_headers=headers,
        request_body=request_body(request, method, headers),
        response=response,
        fault=fault or _why_not_judged(entry, answer, response),
    )


def _is_web(url: str) -> bool:
    """Whether an address is one of the web; without a host it is unknown which service was asked."""
    try:
        parts = urlsplit(url)
        return parts.scheme in _WEB and bool(parts.hostname and parts.path)
    except ValueError:
        return False


def _response(answer: Mapping[str, Any], status: int, method: str, url: str) -> Response:
    content = answer.get("content")
    fields: Mapping[str, Any] = content if isinstance(content, dict) else {}
    pairs, media = tuple(_pairs(answer.get("headers"))), str(fields.get("mimeType") or "")
    if media not in ANY_TYPE and not any(name.lower() == "content-type" for name, _ in pairs):
        pairs = (*pairs, ("Content-Type", media))
    headers = Headers(pairs)
    body = response_body(answer, fields, method, status, headers, url) if pairs else UNKNOWN_BODY
    return Response(status, str(answer.get("statusText") or ""), headers, body, url)


def _why_not_judged(
    entry: Mapping[str, Any], answer: Mapping[str, Any], response: Response | None
) -> str | None:
    """Return the reason why an entry cannot show the service's behaviour; None if it can."""
    if response is None:
        return str(answer.get("_error") or answer.get("statusText") or "no answer was recorded")
    if not any(_pairs(entry["request"].get("headers"))):
        return "the recording has no header of the request"
    return not_of_the_service(entry, response.headers)


def _pairs(listed: Any) -> Iterator[tuple[str, str]]:
    """Yield headers, without HTTP/2's own, whose names begin with a colon."""
    for header in listed if isinstance(listed, list) else ():
        if isinstance(header, dict) and not str(header.get("name", "")).startswith(":"):
            yield str(header.get("name", "")), str(header.get("value", ""))


def _seconds(entry: Mapping[str, Any]) -> float | None:
    """Return the longest time that a request may have taken, by `time` and `timings`; None if unknown or zero."""
    timings = entry.get("timings")
    parts = [timings.get(name) for name in _PARTS] if isinstance(timings, dict) else []
    whole = max(_milliseconds(entry.get("time")), sum(map(_milliseconds, parts))) / 1000
    # A start in whole seconds may be a second too early.
    unsure = 0.0 if "." in str(entry.get("startedDateTime")) else 1.0
    return whole + unsure if whole and entry.get("time") is not None else None


def _milliseconds(value: Any) -> float:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if usable else 0.0
