"""Reads the exchanges of a HAR, whoever recorded it: a browser, a proxy, a test tool, a run of this suite.

Judges an archive as a whole.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from contracts.errors import UsageError
from contracts.exchanges.har_file import har_entries
from contracts.exchanges.traffic_exchange import UNKNOWN, Body, Pairs, Passed, crossed, first
from contracts.manual.check_report import Occasion
from contracts.manual.sequences import site_of
from contracts.manual.traffic_redaction import Discretion
from contracts.manual.traffic_summary import Tally, TrafficVerdict, verdict_of
from contracts.manual.traffic_watch import Watch

_WEB: Final = frozenset({"http", "https"})
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
#: How this suite says in a comment that it kept only the beginning of a body, and that it did not get its answer.
_CUT: Final = "cut;"
_FAULT: Final = re.compile(r"; fault of the environment: (?P<words>.+)$")
_NO_CONTENT: Final = frozenset({204, 304})


def read_archive(path: Path, shown: str) -> tuple[list[Passed], int]:
    """Read the exchanges of a HAR.

    Args:
        path: Where it is.
        shown: The path as messages show it.

    Returns:
        Its exchanges in their order, numbered as they stand in the file, and how many entries are none.

    Raises:
        UsageError: it cannot be read, was cut short, is no HAR, or holds nothing; one line.
    """
    entries = har_entries(path, shown)
    read = [read_entry(number, entry) for number, entry in enumerate(entries, 1)]
    found = [each for each in read if each is not None]
    return crossed(found), len(read) - len(found)


def read_entry(number: int, entry: Any) -> Passed | None:
    """Read one entry of a HAR; None when it holds no request that can be read."""
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        return None
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not method.strip() or not isinstance(url, str) or not _is_web(url):
        return None
    response = entry.get("response")
    known: Mapping[str, Any] = response if isinstance(response, dict) else {}
    status = _whole(known.get("status"))
    comment = str(entry.get("comment") or "")
    fault = _FAULT.search(comment)
    headers = tuple(_pairs(request.get("headers")))
    return Passed(
        number=number,
        at=_moment(entry.get("startedDateTime")),
        seconds=_seconds(entry.get("time")),
        method=method.strip().upper(),
        url=url,
        request_headers=headers,
        request_body=_sent(request, method.strip().upper(), headers),
        status=status if 100 <= status < 600 else 0,
        reason=str(known.get("statusText") or ""),
        answer_headers=tuple(_pairs(known.get("headers"))),
        answer_body=_answered(known, method.strip().upper(), status),
        fault=fault["words"] if fault else None if status > 0 else _why(known),
        comment=comment,
    )


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in _WEB and bool(parts.hostname) and bool(parts.path)
    except ValueError:
        return False


def _why(response: Mapping[str, Any]) -> str:
    return str(response.get("_error") or response.get("statusText") or "no answer was recorded")


def _pairs(listed: Any) -> Iterator[tuple[str, str]]:
    """Headers; names that begin with a colon are HTTP/2's own."""
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and not str(each.get("name", "")).startswith(":"):
            yield str(each.get("name", "")), str(each.get("value", ""))


def _sent(request: Mapping[str, Any], method: str, headers: Pairs) -> Body:
    data = request.get("postData")
    size = _whole(request.get("bodySize"))
    if isinstance(data, dict) and data.get("text"):
        text, comment = str(data["text"]), str(data.get("comment") or "")
        in_base64 = comment.startswith("base64") or data.get("encoding") == "base64"
        return _body(text, in_base64=in_base64, cut=_CUT in comment, size=size)
    length = first(headers, "Content-Length") or ""
    if length.isdigit():
        return Body() if int(length) == 0 else UNKNOWN
    if size > 0 or first(headers, "Transfer-Encoding"):
        return UNKNOWN
    return Body() if method in _BODILESS or size == 0 else UNKNOWN


def _answered(response: Mapping[str, Any], method: str, status: int) -> Body:
    content = response.get("content")
    known: Mapping[str, Any] = content if isinstance(content, dict) else {}
    text = known.get("text")
    size = _whole(known.get("size"))
    if isinstance(text, str) and text:
        cut = _CUT in str(known.get("comment") or "")
        return _body(text, in_base64=known.get("encoding") == "base64", cut=cut, size=size)
    if method == "HEAD" or status in _NO_CONTENT:
        return Body()
    # Some recorders leave the text out of what they did not keep, and write a size of zero all the same.
    length = first(tuple(_pairs(response.get("headers"))), "Content-Length") or ""
    if length.isdigit():
        return Body() if int(length) == 0 else UNKNOWN
    told_empty = (size == 0 and text == "") or (size == 0 and _whole(response.get("bodySize")) == 0)
    return Body() if told_empty else UNKNOWN


def _body(text: str, *, in_base64: bool, cut: bool, size: int) -> Body:
    if in_base64:
        try:
            content = base64.b64decode(text)
        except (binascii.Error, ValueError):
            return UNKNOWN
    else:
        content = text.encode("utf-8", "surrogatepass")
    return Body(content, max(size, len(content)), known=not cut)


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) < 2**53 else -1


def _seconds(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) / 1000 if usable else None


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


#: Ports that go without saying.
_PORTS: Final = {"http": ":80", "https": ":443"}


@dataclass(frozen=True)
class Asked:
    """What somebody wants to know of an archive.

    Attributes:
        base_url: Judge the requests below it only; None for whatever looks like the interface.
        realms: Judge these only; empty for all.
    """

    base_url: str | None = None
    target: str | None = None
    realms: tuple[str, ...] = ()
    alone: bool = False
    strict_client: bool = False


def check_archive(path: Path, shown: str, asked: Asked) -> tuple[Tally, TrafficVerdict, Occasion]:
    """Judge the exchanges of a HAR.

    Args:
        shown: The path as messages show it.

    Raises:
        UsageError: it cannot be read, or holds nothing to judge; one line.
    """
    entries, unreadable = read_archive(path, shown)
    watch = Watch(Discretion(), alone=asked.alone, realms=asked.realms, strict_client=asked.strict_client)
    if not entries:
        raise UsageError(f"{shown}: no entry of it is a web request; export the traffic as HAR")
    for each in entries:
        if asked.base_url is None or _below(each.url, asked.base_url):
            watch.take(each)
        else:
            watch.tally.elsewhere(site_of(each.url).partition("://")[2])
    times = sorted(each.at for each in entries if each.at is not None)
    occasion = Occasion(
        kind="archive",
        source=path.name,
        target=asked.target,
        base_url=asked.base_url,
        started=times[0].isoformat() if times else None,
        finished=times[-1].isoformat() if times else None,
        alone=asked.alone,
        strict_client=asked.strict_client,
        realms=asked.realms,
        unreadable=unreadable,
        notes=tuple(_notes(entries)),
    )
    return watch.tally, verdict_of(watch.tally), occasion


def _below(url: str, base_url: str) -> bool:
    return _plain(url).startswith(_plain(base_url).rstrip("/") + "/")


def _plain(url: str) -> str:
    """An address with scheme and host in small letters, and without the port that goes without saying."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    scheme = scheme.lower()
    return f"{scheme}://{host.lower().removesuffix(_PORTS.get(scheme, '/'))}{slash}{path}"


def _notes(entries: Iterable[Passed]) -> list[str]:
    known = list(entries)
    notes = []
    timeless = sum(each.ended is None for each in known)
    if timeless:
        notes.append(f"{timeless} of {len(known)} exchanges have no times, so no sequence was judged by them")
    return notes
