"""One exchange as JSON files hold it: journals, finding files and saved calls."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from contracts.exchanges.exchange import Exchange
from contracts.file_formats import Count, Format, Moment, Name, OpenFormat, Seconds

Headers = Annotated[
    tuple[tuple[str, str], ...], Meta(description="Names and values in their order; secrets are out.")
]


class BodyEntry(Format, frozen=True, kw_only=True):
    """What was kept of a body: as text, or as base64 where it is none; `size` counts bytes."""

    size: Count
    truncated: bool | UnsetType = UNSET
    text: str | UnsetType | None = UNSET
    base64: str | UnsetType | None = UNSET
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | UnsetType = UNSET


class RequestEntry(Format, frozen=True, kw_only=True):
    """A request."""

    method: Name
    url: Name
    http_version: str | UnsetType = UNSET
    headers: Headers
    body: BodyEntry | None


class ResponseEntry(Format, frozen=True, kw_only=True):
    """A response; services send statuses beyond 599, too."""

    status: Annotated[int, Meta(ge=100, le=999)]
    reason: str | UnsetType = UNSET
    http_version: str | UnsetType = UNSET
    headers: Headers
    body: BodyEntry | None


class ExchangeEntry(OpenFormat, frozen=True, kw_only=True):
    """One request with its response.

    `case` is a word in brackets for the suite's own requests. `fault` is what the environment did in place of a
    response. `authorization` is the header of that name with `$TOKEN` in place of the role's token.
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


def exchange_entry(exchange: Exchange) -> ExchangeEntry:
    """Return a recorded exchange as files hold it."""
    return msgspec.convert(exchange.to_record(), ExchangeEntry)
