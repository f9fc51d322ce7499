"""What a weather is, and the sky it has over it: chance, the gate, and the service below."""

import random
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.applications import Starlette
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from contracts.sandbox.service import Service
from contracts.sandbox.weather.gate import Gate

Figure = float | str
Figures = Mapping[str, Figure]
Reply = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PASSES: Final = "pass"
"""Polite retry gets through."""
STANDS_IN_THE_WAY: Final = "inconclusive"
"""Nobody could judge the service in it."""


class Sky:
    """What the weathers over one sandbox share.

    Args:
        app: the sandbox.
        seed: makes chance the same again, as long as requests arrive in the same order.

    """

    def __init__(self, app: Starlette, seed: int) -> None:
        self.app = app
        self.service: Service = app.state.service
        self.seed = seed
        self.gate = Gate()
        self.at_once: list[Callable[[], None]] = []

    def chance(self, name: str) -> random.Random:
        """Return a source of chance for one weather, so that others beside it change nothing for it."""
        return random.Random(f"{self.seed} {name}")  # noqa: S311 - nothing secret

    def operation(self, scope: Scope) -> str | None:
        """Return the operationId that a request is for, or ``None``."""
        asked = {**scope, "path": scope.get("raw_path", b"").decode("latin-1")}
        for route in self.app.routes:
            match, child = route.matches(asked)
            if match is Match.FULL:
                found = child["endpoint"].handlers.get(scope["method"])
                return None if found is None else str(found[0])
        return None

    def begin(self) -> None:
        """Do what is to happen as soon as the server listens."""
        for act in self.at_once:
            act()


class Overhead:
    """Base of the weathers: stands over an application and meets every request to it.

    Args:
        app: what stands below.
        sky: what it has in common with others.
        name: its name, for chance.
        figures: how strong it is.

    """

    def __init__(self, app: ASGIApp, sky: Sky, name: str, figures: Figures) -> None:
        self.app = app
        self.sky = sky
        self.chance = sky.chance(name)
        self.figures = figures
        self.met = 0
        self.prepare()

    def prepare(self) -> None:
        """Do once what is to be done before the first request."""

    def figure(self, name: str) -> float:
        """Return a figure that is a number."""
        return float(self.figures[name])

    def word(self, name: str) -> str:
        """Return a figure that is a word."""
        return str(self.figures[name])

    def strikes(self, share: str = "share") -> bool:
        """Tell whether chance has it that this request is met."""
        return self.chance.random() < self.figure(share)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self.met += 1
        await self.answer(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; it is the ``met``-th."""
        await self.app(scope, receive, send)


@dataclass(frozen=True)
class Weather:
    """One environment.

    Attributes:
        name: its name on the command line.
        sentence: what happens in it.
        over: stands over the application.
        figures: how strong it is, by name, where the command line says nothing else.
        expects: how a run over the faithful service ends in it.

    """

    name: str
    sentence: str
    over: type[Overhead]
    figures: Figures = field(default_factory=dict)
    expects: str = PASSES
