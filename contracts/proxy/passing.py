"""Passes one request on and its answer back, copies them to be judged, and answers itself only when it must."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from typing import Final

from aiohttp import web
from multidict import CIMultiDict

from contracts.proxy.copying import Copy
from contracts.session.passage import Onward, Passage, PassageFault, decoded
from contracts.target.guard import GuardViolation
from contracts.traffic.crossing import Crossings
from contracts.traffic.passed import UNKNOWN, Passed

#: Marks an answer as the proxy's own (RFC 9209); nothing of it is the service's.
OWN: Final = "Proxy-Status"
_BAD_GATEWAY: Final = 502
_FORBIDDEN: Final = 403
#: What the server adds to every answer, whether the service sent it or not.
_ADDED: Final = ("Date", "Server", "Content-Type")
#: How the server writes bytes of an address that are not UTF-8.
_NO_TEXT: Final = re.compile("[\udc80-\udcff]")
_GONE: Final = "the client went away before the answer ended"


class PassedBack(web.StreamResponse):
    """An answer of the service on its way to the client.

    Attributes:
        given: Names of the headers that the service sent, in small letters.
    """

    def __init__(self, onward: Onward) -> None:
        super().__init__(status=onward.status, reason=onward.reason, headers=CIMultiDict(onward.headers))
        self.given = frozenset(name.lower() for name, _ in onward.headers)


class Passer:
    """Handles the requests of the proxy.

    Args:
        base_url: Of the target; what is judged is what the service got.
        hand_over: Takes each exchange that ended.
    """

    def __init__(self, passage: Passage, base_url: str, hand_over: Callable[[Passed], None]) -> None:
        self._passage = passage
        self._base_url = base_url
        self._hand_over = hand_over
        self._numbers = count(1)
        self._crossings = Crossings()
        #: Requests under way, and when the last one came or ended (monotonic seconds).
        self.under_way = 0
        self.last = time.monotonic()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request on."""
        passing = _Passing(request, next(self._numbers), self._base_url)
        self.under_way += 1
        self._crossings.begin(passing.number, request.method, passing.url)
        try:
            return await self._pass_on(request, passing)
        finally:
            crossed = self._crossings.end(passing.number)
            self.under_way -= 1
            self.last = time.monotonic()
            self._hand_over(passing.ended(crossed=crossed))

    async def _pass_on(self, request: web.BaseRequest, passing: _Passing) -> web.StreamResponse:
        headers = passing.request_headers
        body = passing.sent.along(request.content.iter_any()) if request.body_exists else None
        if body is None:
            passing.sent.end()
        passing.fault = _GONE
        try:
            async with self._passage.send(request.method, passing.target, headers, body) as onward:
                return await self._pass_back(request, passing, onward)
        except GuardViolation as refused:
            return await self._own(request, passing, _FORBIDDEN, str(refused), "http_request_denied")
        except PassageFault as fault:
            return await self._own(
                request,
                passing,
                _BAD_GATEWAY,
                f"{self._base_url} gave no answer: {fault}",
                "destination_unavailable",
                str(fault),
            )

    async def _pass_back(
        self, request: web.BaseRequest, passing: _Passing, onward: Onward
    ) -> web.StreamResponse:
        passing.onward = onward
        response = PassedBack(onward)
        passing.response = response
        await response.prepare(request)
        if request.method == "HEAD":
            passing.answered.end()
        else:
            async for piece in passing.answered.along(onward.body):
                await response.write(piece)
        passing.fault = None
        await response.write_eof()
        return response

    async def _own(
        self, request: web.BaseRequest, passing: _Passing, status: int, line: str, error: str, fault: str = ""
    ) -> web.StreamResponse:
        """Answer in place of the target; where its answer has begun already, break it off as it did."""
        passing.fault = fault or line
        if passing.response is not None and passing.response.prepared:
            if request.transport is not None:
                request.transport.abort()
            return passing.response
        text = f"registry-contracts proxy: {line}\n"
        return web.Response(
            status=status, text=text, headers={OWN: f"registry-contracts-proxy; error={error}"}
        )


class _Passing:
    """One exchange while it passes."""

    def __init__(self, request: web.BaseRequest, number: int, base_url: str) -> None:
        self.number = number
        self.target = raw_target(request)
        self.url = base_url + self.target
        self.request_headers = tuple(decoded(request.raw_headers))
        self.sent, self.answered = Copy(), Copy()
        self.onward: Onward | None = None
        self.response: web.StreamResponse | None = None
        self.fault: str | None = None
        self._method = request.method
        self._at = datetime.now(UTC)
        self._began = time.perf_counter()

    def ended(self, *, crossed: bool) -> Passed:
        """The exchange as it is judged."""
        onward = self.onward if self.fault is None else None
        return Passed(
            number=self.number,
            at=self._at,
            seconds=time.perf_counter() - self._began,
            method=self._method,
            url=self.url,
            request_headers=self.request_headers,
            # A target may answer before it has read everything.
            request_body=self.sent.body,
            status=onward.status if onward else 0,
            reason=onward.reason if onward else "",
            answer_headers=tuple(onward.headers) if onward else (),
            answer_body=self.answered.body if onward else UNKNOWN,
            fault=self.fault,
            crossed=crossed,
        )


async def without_additions(_: web.Request, response: web.StreamResponse) -> None:
    """Take out what the server adds to an answer of the service (a signal handler of the application)."""
    if isinstance(response, PassedBack):
        for name in _ADDED:
            if name.lower() not in response.given:
                response.headers.popall(name, None)


def raw_target(request: web.BaseRequest) -> str:
    """Path and query as the client wrote them; bytes that are no text are escaped."""
    raw = _NO_TEXT.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", request.raw_path)
    if raw.startswith("/"):
        return raw
    _, slashes, rest = raw.partition("://")
    return "/" + rest.partition("/")[2] if slashes else "/" + raw.lstrip("*")
