"""Writes exchanges as a HAR file (HTTP Archive 1.2)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

from harfile import Content, Creator, HarFile, PostData, Record, Request, Timings
from harfile import Response as HarResponse

from registry_contracts.exchanges.exchange import NO_TIME, Body, Exchange
from registry_contracts.interface.description import where_in_words

#: Name of the file of all exchanges in a run folder.
FILE_NAME: Final = "traffic.har"
#: In a comment: only the beginning of a body was kept; the service did not answer.
CUT: Final = "cut;"
FAULT: Final = "; fault of the environment: "
_PROGRAM: Final = "registry-contracts"
_UNKNOWN_TYPE: Final = "application/octet-stream"
_URL_CHARACTERS: Final = "%:/?#[]@!$&'()*+,;="
_HTTP_VERSION: Final = "HTTP/1.1"


@contextmanager
def har_writer(path: Path, version: str, comment: str) -> Iterator[HarFile]:
    """Open an archive for writing, for the duration of the `with` block; `version` is the suite's."""
    creator = Creator(name=_PROGRAM, version=version)
    with (
        path.open("w", encoding="utf-8", newline="\n") as file,
        HarFile.open(file, creator=creator, comment=comment) as archive,
    ):
        yield archive


def add(archive: HarFile, exchange: Exchange, comment: str | None = None) -> None:
    """Add a redacted exchange to an open archive; by default the comment names case, role and attempt."""
    milliseconds = round((exchange.seconds or 0.0) * 1000, 3)
    archive.add_entry(
        startedDateTime=(exchange.started or NO_TIME).isoformat(),
        time=milliseconds,
        request=_har_request(exchange),
        response=_har_response(exchange),
        # Only the total is measured; in the format the parts must add up to it.
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
    return "; ".join(parts) + (f"{FAULT}{exchange.fault}" if exchange.fault else "")


def _har_request(exchange: Exchange) -> Request:
    query = parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)
    return Request(
        method=exchange.method,
        # Readers of the archive need a valid URL, even if a malformed one was sent on purpose.
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
    kind, (text, encoding) = exchange.request_headers.first("Content-Type") or _UNKNOWN_TYPE, _kept(body)
    # The format has no encoding for request bodies, so the comment names it.
    return PostData(mimeType=kind, text=text, comment=f"{encoding or ''}{_cut(body) or ''}" or None)


def _har_response(exchange: Exchange) -> HarResponse:
    response = exchange.response
    if response is None:
        # Status 0 is how browsers write a request that got no response.
        return HarResponse(status=0, statusText=exchange.fault or "", httpVersion=_HTTP_VERSION)
    body, kind = response.body, response.headers.first("Content-Type") or _UNKNOWN_TYPE
    content = Content(size=body.size, mimeType=kind, comment=_cut(body))
    if body.content or body.whole:
        content.text, content.encoding = _kept(body)
    return HarResponse(
        status=response.status,
        statusText=response.reason,
        httpVersion=_HTTP_VERSION,
        headers=_records(response.headers.pairs),
        content=content,
        redirectURL=response.headers.first("Location") or "",
        bodySize=body.size,
    )


def _kept(body: Body) -> tuple[str, str | None]:
    """The kept part of a body as text, and its encoding: None for plain text, else base64."""
    if body.decoded is not None:
        return body.decoded, None
    return base64.b64encode(body.content).decode("ascii"), "base64"


def _records(pairs: Iterable[tuple[str, str]]) -> list[Record]:
    return [Record(name=name, value=value) for name, value in pairs]


def _cut(body: Body) -> str | None:
    return None if body.whole else f", {CUT} {body.size} bytes in all"
