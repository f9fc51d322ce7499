"""Weathers of the connection: resets before and after the work is done, and answers that break off."""

from starlette.types import Message, Receive, Scope, Send

from contracts.sandbox.weather import wire
from contracts.sandbox.weather.model import Overhead, Weather

_BODY = "http.response.body"


class _Resets(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.strikes():
            await self.app(scope, receive, send)
            return
        if self.strikes("after"):
            await self.app(scope, receive, wire.nobody)
        await wire.reset(scope, receive)


class _Truncated(Overhead):
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD" or not self.strikes():
            await self.app(scope, receive, send)
            return
        cut = False

        async def halved(message: Message) -> None:
            nonlocal cut
            if message["type"] != _BODY or not message.get("body"):
                await send(message)
                return
            if not cut:
                cut = True
                body = message["body"]
                await send({"type": _BODY, "body": body[: len(body) // 2], "more_body": True})
                transport = wire.transport_of(scope)
                if transport is not None:
                    transport.close()

        await self.app(scope, receive, halved)
        if cut:
            await wire.gone(receive)


WEATHERS = (
    Weather(
        "resets",
        "Now and then the connection is reset, before the request was done or after.",
        _Resets,
        {"share": 0.02, "after": 0.5},
    ),
    Weather(
        "truncated",
        "Now and then the body of an answer breaks off in its middle.",
        _Truncated,
        {"share": 0.02},
    ),
)
"""Each breaks connections."""
