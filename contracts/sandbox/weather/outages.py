"""Weathers in which the service is gone for a while, for good, or in one place; and tokens that do not last."""

import time
from datetime import timedelta

from starlette.types import Receive, Scope, Send

from contracts.errors import UsageError
from contracts.sandbox.identity import TokenBook
from contracts.sandbox.weather import wire
from contracts.sandbox.weather.model import STANDS_IN_THE_WAY, Overhead, Weather

_REFUSED, _GATEWAY, _SILENT = "refused", "gateway", "silent"
_KINDS = (_REFUSED, _GATEWAY, _SILENT)
_FOREVER = 0


class _Outage(Overhead):
    """Refused connections, a gateway's 503 in place of every answer, or no answer at all, as `as` says."""

    def prepare(self) -> None:
        if self.word("as") not in _KINDS:
            raise UsageError(f"an outage is known as {', '.join(_KINDS)}, not '{self.word('as')}'")
        self._until: float | None = None
        if self.figure("from_request") == 0:
            self.sky.at_once.append(self._begin)

    def _begin(self) -> None:
        seconds = self.figure("seconds") or None
        self._until = time.monotonic() + seconds if seconds else float("inf")
        if self.word("as") == _REFUSED:
            self.sky.gate.shut(seconds)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._until is None and self.met >= self.figure("from_request"):
            self._begin()
        if self._until is None or time.monotonic() >= self._until:
            await self.app(scope, receive, send)
        elif self.word("as") == _GATEWAY:
            await wire.page(send, 503, "503 Service Unavailable")
        elif self.word("as") == _SILENT:
            await wire.gone(receive)
        else:
            await wire.reset(scope, receive)


class _Restart(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.met % self.figure("every"):
            await self.app(scope, receive, send)
            return
        if self.word("tokens") == "forgotten":
            old = self.sky.service.identity.tokens
            fresh = TokenBook(old.clock, old.lifetime.total_seconds())
            self.sky.service.identity.tokens = fresh
        self.sky.gate.shut(self.figure("seconds"))
        await wire.reset(scope, receive)


class _Hanging(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.met >= self.figure("from_request") and self.sky.operation(scope) == self.word("operation"):
            await wire.gone(receive)
        else:
            await self.app(scope, receive, send)


class _ShortTokens(Overhead):
    def prepare(self) -> None:
        self.sky.service.identity.tokens.lifetime = timedelta(seconds=self.figure("seconds"))


WEATHERS = (
    Weather(
        "outage-from-start",
        "The service is down from the start.",
        _Outage,
        {"from_request": 0, "seconds": _FOREVER, "as": _REFUSED},
        STANDS_IN_THE_WAY,
    ),
    Weather(
        "outage-midway",
        "From some request on the service is down for good.",
        _Outage,
        {"from_request": 300, "seconds": _FOREVER, "as": _REFUSED},
        STANDS_IN_THE_WAY,
    ),
    Weather(
        "outage-ten-seconds",
        "From some request on the service is down for ten seconds.",
        _Outage,
        {"from_request": 100, "seconds": 10, "as": _REFUSED},
    ),
    Weather(
        "restart",
        "Every so often the server restarts: connections drop, new ones are refused for a moment, tokens are "
        "forgotten, data is kept.",
        _Restart,
        {"every": 400, "seconds": 1.5, "tokens": "forgotten"},
    ),
    Weather(
        "short-tokens",
        "Tokens die, as their expiration says, after five seconds.",
        _ShortTokens,
        {"seconds": 5},
    ),
    Weather(
        "hanging-operation",
        "One operation never answers.",
        _Hanging,
        {"operation": "getDraftInfo", "from_request": 0},
        STANDS_IN_THE_WAY,
    ),
)
"""Each takes the service, or a part of it, away."""
