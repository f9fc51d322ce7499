"""Serves the proxy, and the page beside it, on loopback until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from contracts.errors import UsageError
from contracts.proxy.passing import Passer, without_additions
from contracts.session.passage import Passage
from contracts.target.model import Target
from contracts.traffic.passed import Passed

HOST: Final = "127.0.0.1"
#: Longer than clients usually keep an idle connection, so that it is they who close it.
_KEEP_ALIVE_SECONDS: Final = 75.0
_LONGEST_LINE: Final = 64 * 1024
_GRACE_SECONDS: Final = 2.0
_LOOKS_SECONDS: Final = 0.1
#: Judging shares the interpreter with the traffic; it gives way this often.
_SWITCH_SECONDS: Final = 0.0005
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Plan:
    """What is served.

    Attributes:
        port: Of the proxy; 0 for a free one.
        page: Makes the page's application from the proxy's address; None for no page.
        page_port: Its port; 0 for a free one.
        until_idle: Seconds without traffic after which it stops by itself; None for never.
    """

    target: Target
    port: int = 0
    page: Callable[[str], web.Application] | None = None
    page_port: int = 0
    until_idle: float | None = None


def serve(plan: Plan, hand_over: Callable[[Passed], None], ready: Callable[[str, str | None], None]) -> None:
    """Serve until Ctrl-C, SIGTERM, or silence.

    Args:
        hand_over: Takes each exchange that ended.
        ready: Called with the addresses of the proxy and the page once both take connections.

    Raises:
        UsageError: a port is in use.
        EnvironmentFault: nobody listens at the target.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        asyncio.run(_serve(plan, hand_over, ready))
    finally:
        sys.setswitchinterval(usual)


async def _serve(
    plan: Plan, hand_over: Callable[[Passed], None], ready: Callable[[str, str | None], None]
) -> None:
    async with AsyncExitStack() as stack:
        passage = await stack.enter_async_context(Passage(plan.target))
        await passage.reach()
        passer = Passer(passage, plan.target.base_url, hand_over)
        client_url = await stack.enter_async_context(
            listening(proxy_application(passer), plan.port, "--port", auto_decompress=False)
        )
        page_url = None
        if plan.page is not None:
            page = plan.page(client_url)
            page_url = await stack.enter_async_context(listening(page, plan.page_port, "--page-port"))
        stop = _stopping(asyncio.get_running_loop())
        ready(client_url, page_url)
        await _until(stop, passer, plan.until_idle)


def proxy_application(passer: Passer) -> web.Application:
    """The proxy as an aiohttp application: every method and path goes to the target."""

    @web.middleware
    async def everything(request: web.Request, handler: Handler) -> web.StreamResponse:  # noqa: ARG001 - aiohttp's
        return await passer.handle(request)

    application = web.Application(middlewares=[everything])
    application.on_response_prepare.append(without_additions)
    return application


@asynccontextmanager
async def listening(
    application: web.Application, port: int, option: str, *, auto_decompress: bool = True
) -> AsyncIterator[str]:
    """Serve an application on loopback, and give its address.

    Args:
        port: 0 for a free one.
        option: How messages call the port.

    Raises:
        UsageError: the port is in use.
    """
    runner = web.AppRunner(
        application,
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=_KEEP_ALIVE_SECONDS,
        shutdown_timeout=_GRACE_SECONDS,
        max_line_size=_LONGEST_LINE,
        max_field_size=_LONGEST_LINE,
        auto_decompress=auto_decompress,
    )
    with closing(_listener(port, option)) as listener:
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield f"http://{HOST}:{listener.getsockname()[1]}"
        finally:
            await runner.cleanup()


def _listener(port: int, option: str) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=512)
    except OSError as error:
        raise UsageError(
            f"{option} {port} cannot be used: {(error.strerror or 'no such port').lower()}; "
            "choose another, or 0 for a free one"
        ) from None


def _stopping(loop: asyncio.AbstractEventLoop, signals: Sequence[signal.Signals] = _SIGNALS) -> asyncio.Event:
    """An event that a signal sets; a second one acts as it would without us."""
    stop = asyncio.Event()

    def told(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in signals:
        try:
            loop.add_signal_handler(number, told, number)
        except (RuntimeError, ValueError):  # not the main thread, as in tests: who started it stops it
            continue
    return stop


async def _until(stop: asyncio.Event, passer: Passer, idle: float | None) -> None:
    if idle is None:
        await stop.wait()
        return
    passer.last = time.monotonic()
    while not stop.is_set():
        quiet = 0.0 if passer.under_way else time.monotonic() - passer.last
        if quiet >= idle:
            return
        try:
            await asyncio.wait_for(stop.wait(), max(_LOOKS_SECONDS, idle - quiet))
        except TimeoutError:
            continue
