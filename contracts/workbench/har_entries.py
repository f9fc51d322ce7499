"""Requests of a HAR file as a sequence to be sent again, whoever recorded it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from contracts.checking.request_facts import ROOT, realm_of
from contracts.errors import UsageError
from contracts.evidence.record import RecordedExchange
from contracts.gating.har import har_entries
from contracts.interface.description import load_description
from contracts.interface.operations import ANY_REALM
from contracts.target.model import ANONYMOUS, AUTHOR
from contracts.workbench.telling import Telling

Entries = tuple[int, int]
"""First and last request of a HAR, counted from 1."""

#: More requests are a whole run, and nobody means to send that again by hand.
MOST: Final = 200
#: How the suite's own archives say who sent a request.
_SENDER: Final = re.compile(r"; (?P<role>\w+) in (?P<realm>[\w-]+); attempt \d+ of (?P<case>.+?)(?:;|$)")
_HOUSEKEEPING: Final = "["


def read_entries(text: str) -> Entries:
    """Read `--entries`: `3`, `3-7`.

    Raises:
        UsageError: it is neither.
    """
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    first = int(found[1]) if found else 0
    last = int(found[2] or first) if found else 0
    if not 0 < first <= last:
        raise UsageError(f"--entries must be a number or a range such as 3-7, counted from 1, not '{text}'")
    return first, last


def read_archive(path: Path, shown: str, entries: Entries | None) -> Telling:
    """Read the requests of a HAR that are operations of the interface.

    Raises:
        UsageError: it cannot be read, holds none, or holds too many to be meant; one line.
    """
    everything = har_entries(path, shown)
    first, last = entries or (1, len(everything))
    if first > len(everything):
        raise UsageError(f"{shown}: holds {len(everything)} requests, so there is no request {first}")
    read = [_exchange(number, entry) for number, entry in enumerate(everything[first - 1 : last], first)]
    found = [each for each in read if each is not None and not each.case.startswith(_HOUSEKEEPING)]
    if not found:
        raise UsageError(f"{shown}: no request in it is an operation of the interface")
    if len(found) > MOST:
        raise UsageError(
            f"{shown}: holds {len(found)} requests of the interface; choose up to {MOST} with --entries FIRST-LAST"
        )
    realms = {each.realm for each in found} - {ANY_REALM}
    return Telling(
        source=shown,
        target="",
        base_url=_base_url(str(found[0].request["url"])),
        realm=realms.pop() if len(realms) == 1 else ANY_REALM,
        shown=tuple(found),
        left_out=len(read) - len(found),
    )


def _exchange(number: int, entry: Any) -> RecordedExchange | None:
    request = entry.get("request") if isinstance(entry, dict) else None
    if not isinstance(request, dict):
        return None
    method, url = str(request.get("method", "")).upper(), str(request.get("url", ""))
    at = urlsplit(url).path.find(ROOT)
    match = load_description().match(method, urlsplit(url).path[at:]) if at >= 0 else None
    if match is None:
        return None
    headers = list(_pairs(request.get("headers")))
    named = dict(headers)
    query = tuple(_pairs(request.get("queryString")))
    sender = _SENDER.search(str(entry.get("comment", "")))
    carries = any(name.lower() == "authorization" and value.strip() for name, value in headers)
    realm = realm_of(named, query, match[0]) or ANY_REALM
    return RecordedExchange(
        id=f"entry {number}",
        case=sender["case"] if sender else "recorded",
        attempt=1,
        realm=sender["realm"] if sender else realm,
        role=sender["role"] if sender else AUTHOR if carries or match[0].id == "createToken" else ANONYMOUS,
        operation=match[0].id,
        started=str(entry.get("startedDateTime", "")),
        seconds=float(entry.get("time") or 0) / 1000,
        request={
            "method": method,
            "url": url,
            "headers": [[name, value] for name, value in headers],
            "body": _sent(request.get("postData")),
        },
        response=_answered(entry.get("response")),
        fault=None,
        retries=0,
        authorization="Bearer $TOKEN" if carries else None,
    )


def _pairs(listed: Any) -> Iterator[tuple[str, str]]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict) and not str(each.get("name", "")).startswith(":"):
            yield str(each.get("name")), str(each.get("value", ""))


def _sent(data: Any) -> dict[str, Any] | None:
    if not isinstance(data, dict) or not data.get("text"):
        return None
    text, comment = str(data["text"]), str(data.get("comment", ""))
    key = "base64" if comment.startswith("base64") else "text"
    return _body(text, key, truncated="cut;" in comment)


def _answered(response: Any) -> dict[str, Any] | None:
    if not isinstance(response, dict) or not response.get("status"):
        return None
    content = response.get("content")
    known: Mapping[str, Any] = content if isinstance(content, dict) else {}
    key = "base64" if known.get("encoding") == "base64" else "text"
    return {
        "status": int(response["status"]),
        "reason": str(response.get("statusText", "")),
        "headers": [[name, value] for name, value in _pairs(response.get("headers"))],
        "body": _body(str(known.get("text") or ""), key, truncated="cut;" in str(known.get("comment", ""))),
    }


def _body(text: str, key: str, *, truncated: bool) -> dict[str, Any]:
    raw = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(raw).hexdigest()
    return {key: text, "size": len(raw), "truncated": truncated, "sha256": digest}


def _base_url(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path[: parts.path.find(ROOT)]}"
