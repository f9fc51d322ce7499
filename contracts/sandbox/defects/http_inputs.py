"""Inputs of which no service should break: tests of requests."""

import json
import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request

from contracts.sandbox.defects.pages import query_of
from contracts.sandbox.query import header_value

Test = Callable[[Request], Awaitable[bool]]


async def _body(request: Request, test: Callable[[bytes], bool]) -> bool:
    return test(await request.body())


def raw(test: Callable[[bytes], bool]) -> Test:
    """Return the test of a request by the bytes of its body."""
    return lambda request: _body(request, test)


def malformed(raw: bytes) -> bool:
    """Tell whether a body is there and is not well-formed JSON."""
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return bool(raw)
    return False


def not_utf8(raw: bytes) -> bool:
    """Tell whether a body is not UTF-8."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def deep(raw: bytes) -> bool:
    """Tell whether a body opens more than 200 brackets."""
    return raw.count(b"[") + raw.count(b"{") > 200


def half_pair(raw: bytes) -> bool:
    """Tell whether a body holds half of a surrogate pair."""
    return re.search(rb"\\u[dD][89a-fA-F]", raw) is not None and b"\\u" in raw and not _paired(raw)


def _paired(raw: bytes) -> bool:
    try:
        json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8")
    except ValueError:
        return False
    return True


def null_character(raw: bytes) -> bool:
    """Tell whether a body holds a null character, escaped or not."""
    return b"\\u0000" in raw or b"\0" in raw


def no_object(raw: bytes) -> bool:
    """Tell whether a body is there and begins like something else than an object."""
    return raw.strip()[:1] not in {b"{", b""}


def query(name: str, test: Callable[[str], bool]) -> Test:
    """Return the test of a request by one of its query parameters; an absent one counts as empty."""

    async def meant(request: Request) -> bool:
        return test(query_of(request).get(name, ""))

    return meant


def segment(name: str, test: Callable[[str], bool]) -> Test:
    """Return the test of a request by one of its path parameters, as it came over the wire."""

    async def meant(request: Request) -> bool:
        return test(request.path_params[name])

    return meant


def header(name: str, test: Callable[[str | None], bool]) -> Test:
    """Return the test of a request by one of its headers."""

    async def meant(request: Request) -> bool:
        return test(header_value(request, name))

    return meant
