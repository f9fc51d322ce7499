"""`traffic.har`: every exchange of the run as an HTTP Archive 1.2, for the network panel of a browser."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from harfile import Content, Creator, HarFile, PostData, Record, Request, Response, Timings

from contracts.evidence.record import RecordedExchange, RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.transcript import header, version

FILE_NAME = "traffic.har"
_UNKNOWN_TYPE = "application/octet-stream"
_URL_CHARACTERS = "%:/?#[]@!$&'()*+,;="


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `traffic.har`, exchanges in the order they were sent, each with its case in the comment."""
    path = folder / FILE_NAME
    creator = Creator(name="registry-contracts", version=record.run.versions.get("suite", "unknown"))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        comment = f"{record.run.target}: {verdict.sentence}"
        with HarFile.open(file, creator=creator, comment=comment) as archive:
            for exchange in record.exchanges.values():
                add(archive, exchange)
    return path


def add(archive: HarFile, exchange: RecordedExchange, comment: str | None = None) -> None:
    """Add an exchange to an archive.

    Args:
        archive: one that is open.
        exchange: what was recorded.
        comment: in place of the one that names case, role and attempt.
    """
    milliseconds = round(exchange.seconds * 1000, 3)
    archive.add_entry(
        startedDateTime=exchange.started,
        time=milliseconds,
        request=_request(exchange.request),
        response=_response(exchange),
        # Only the whole is measured; the format wants the parts to add up to it.
        timings=Timings(send=0, wait=milliseconds, receive=0),
        comment=_comment(exchange) if comment is None else comment,
    )


def as_entry(exchange: RecordedExchange) -> dict[str, Any]:
    """Return an exchange as an entry of an archive, as plain data."""
    milliseconds = round(exchange.seconds * 1000, 3)
    return {
        "startedDateTime": exchange.started,
        "time": milliseconds,
        "request": _request(exchange.request).asdict(),
        "response": _response(exchange).asdict(),
        "timings": Timings(send=0, wait=milliseconds, receive=0).asdict(),
        "cache": {},
    }


def _comment(exchange: RecordedExchange) -> str:
    parts = [
        exchange.id,
        exchange.operation or "no operation of the description",
        f"{exchange.role or 'nobody'} in {exchange.realm}",
        f"attempt {exchange.attempt} of {exchange.case}",
    ]
    if exchange.retries:
        parts.append(f"sent again {exchange.retries} times")
    if exchange.fault:
        parts.append(f"fault of the environment: {exchange.fault}")
    return "; ".join(parts)


def _request(request: Mapping[str, Any]) -> Request:
    query = parse_qsl(urlsplit(request["url"]).query, keep_blank_values=True)
    return Request(
        method=request["method"],
        # A URL that was sent malformed on purpose must still be one for the readers of the archive.
        url=quote(request["url"], safe=_URL_CHARACTERS),
        httpVersion=f"HTTP/{version(request)}",
        headers=_records(request["headers"]),
        queryString=_records(query),
        postData=_post_data(request),
        bodySize=_size(request["body"]),
    )


def _post_data(request: Mapping[str, Any]) -> PostData | None:
    body = request["body"]
    if not _size(body):
        return None
    kind = header(request["headers"], "content-type") or _UNKNOWN_TYPE
    if body.get("text") is not None:
        return PostData(mimeType=kind, text=body["text"], comment=_cut(body))
    # The format has no encoding for what is sent, so the comment says what the text is.
    return PostData(mimeType=kind, text=body.get("base64") or "", comment=f"base64{_cut(body) or ''}")


def _response(exchange: RecordedExchange) -> Response:
    response = exchange.response
    if response is None:
        # Status 0 is how browsers write a request that got no response.
        return Response(status=0, statusText=exchange.fault or "", httpVersion="HTTP/1.1")
    body, headers = response["body"] or {}, response["headers"]
    return Response(
        status=response["status"],
        statusText=response["reason"] or "",
        httpVersion=f"HTTP/{version(response)}",
        headers=_records(headers),
        content=_content(body, header(headers, "content-type") or _UNKNOWN_TYPE),
        redirectURL=header(headers, "location") or "",
        bodySize=_size(body),
    )


def _content(body: Mapping[str, Any], kind: str) -> Content:
    content = Content(size=_size(body), mimeType=kind, comment=_cut(body))
    if body.get("text") is not None:
        content.text = body["text"]
    elif body.get("base64") is not None:
        content.text, content.encoding = body["base64"], "base64"
    return content


def _records(pairs: Iterable[Iterable[str]]) -> list[Record]:
    return [Record(name=name, value=value) for name, value in pairs]


def _size(body: Mapping[str, Any] | None) -> int:
    return int((body or {}).get("size") or 0)


def _cut(body: Mapping[str, Any]) -> str | None:
    return f", cut; {body['size']} bytes in all" if body.get("truncated") else None
