"""Weathers of the answer: it comes late, or something else comes in its place."""

import asyncio
import time

from starlette.types import Receive, Scope, Send

from contracts.sandbox.weather import wire
from contracts.sandbox.weather.model import Overhead, Weather


class _Latency(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(self.figure("seconds"))
        await self.app(scope, receive, send)


class _Jitter(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        usual = self.chance.uniform(0, self.figure("seconds"))
        await asyncio.sleep(self.figure("longest") if self.strikes() else usual)
        await self.app(scope, receive, send)


def _retry_after(seconds: float) -> tuple[bytes, bytes]:
    return b"retry-after", f"{seconds:.0f}".encode()


class _Sporadic503(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.strikes():
            await self.app(scope, receive, send)
            return
        again = _retry_after(self.figure("retry_after"))
        if self.chance.random() < 0.5:
            await wire.page(send, 503, "Service Temporarily Unavailable", again)
        else:
            await wire.reply(send, 503, b"application/json", b'{"message":"try again later"}', again)


class _RateLimit(Overhead):
    def prepare(self) -> None:
        self._left = self.figure("burst")
        self._since = time.monotonic()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        now = time.monotonic()
        gained = (now - self._since) * self.figure("per_second")
        self._left, self._since = min(self.figure("burst"), self._left + gained), now
        if self._left >= 1:
            self._left -= 1
            await self.app(scope, receive, send)
            return
        again = _retry_after(self.figure("retry_after"))
        await wire.reply(send, 429, b"application/json", b'{"message":"too many requests"}', again)


class _GatewayHtml(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.strikes():
            await self.app(scope, receive, send)
            return
        if self.chance.random() < 0.5:
            # The gateway lost the answer, not the request.
            await self.app(scope, receive, wire.nobody)
        if self.chance.random() < 0.5:
            await wire.page(send, 502, "502 Bad Gateway")
        else:
            await wire.page(send, 504, "504 Gateway Time-out")


class _LostRoute(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.strikes():
            await wire.page(send, 404, "404 Not Found")
        else:
            await self.app(scope, receive, send)


class _Maintenance(Overhead):
    def prepare(self) -> None:
        self._until: float | None = None

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._until is None and self.met >= self.figure("from_request"):
            self._until = time.monotonic() + self.figure("seconds")
        if self._until is not None and time.monotonic() < self._until:
            await wire.page(send, 200, "We are down for maintenance and will be back in a moment")
        else:
            await self.app(scope, receive, send)


WEATHERS = (
    Weather("latency", "Every answer takes a while longer.", _Latency, {"seconds": 0.05}),
    Weather(
        "jitter",
        "Answers take now more, now less time, and a few take long.",
        _Jitter,
        {"seconds": 0.06, "share": 0.01, "longest": 1.0},
    ),
    Weather(
        "sporadic-503",
        "Now and then a request is answered 503 with Retry-After and reaches nobody.",
        _Sporadic503,
        {"share": 0.02, "retry_after": 1},
    ),
    Weather(
        "rate-limit",
        "Requests above a rate are answered 429 with Retry-After.",
        _RateLimit,
        {"per_second": 60, "burst": 60, "retry_after": 1},
    ),
    Weather(
        "gateway-html",
        "Now and then a gateway answers with an HTML page, 502 or 504, before or after the request was done.",
        _GatewayHtml,
        {"share": 0.02},
    ),
    Weather(
        "lost-route",
        "Now and then a gateway knows no route and answers with an HTML page, 404.",
        _LostRoute,
        {"share": 0.01},
    ),
    Weather(
        "maintenance",
        "From some request on, everything is answered 200 with a maintenance page, for a few seconds.",
        _Maintenance,
        {"from_request": 100, "seconds": 6},
    ),
)
"""Each lets a request or its answer come late, or not through."""
