"""Serves the proxy and its page on loopback until Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from registry_contracts.errors import INTERRUPTING_SIGNALS, UsageError
from registry_contracts.interface.cross_origin import AllowedOrigins
from registry_contracts.safe_text import plain_line
from registry_contracts.settings.target import Target
from registry_contracts.traffic.handler import ProxyHandler
from registry_contracts.traffic.page import page_application
from registry_contracts.traffic.recorder import TrafficRecorder
from registry_contracts.traffic.relay import LONGEST_LINE, open_relay

_HOST: Final = "127.0.0.1"
#: Longer than clients usually keep an idle connection, so that the client closes it, not the proxy.
_KEEP_ALIVE_SECONDS: Final = 75.0
_GRACE_SECONDS: Final = 2.0


def serve(
    target: Target,
    recorder: TrafficRecorder,
    ready: Callable[[str, str | None], None],
    *,
    port: int,
    page_port: int | None,
    origins: AllowedOrigins | None,
) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        recorder: Takes each exchange that has ended.
        ready: Called with the addresses of the proxy and the page once both take connections.
        port, page_port: Of the proxy and of its page, 0 for a free one; None for no page.
        origins: Pages of these origins may use the proxy; None leaves that to the target.

    Raises:
        UsageError: a port is in use.
        EnvironmentFault: no server listens at the target.
    """

    async def served() -> None:
        async with AsyncExitStack() as stack:
            relay = await stack.enter_async_context(open_relay(target))
            await relay.reach()
            proxy, page_url = ProxyHandler(relay, target.base_url, recorder.hand_over, origins), None
            application = web.Application(middlewares=[proxy.handle])
            application.on_response_prepare.append(proxy.prepare)
            client_url = await stack.enter_async_context(
                listening(application, port, "--port", auto_decompress=False)
            )
            if page_port is not None:
                page = page_application(proxy, client_url, target, recorder.since)
                page_url = await stack.enter_async_context(listening(page, page_port, "--page-port"))
            stop = _stopping(asyncio.get_running_loop())
            ready(client_url, page_url)
            await stop.wait()

    asyncio.run(served())


@asynccontextmanager
async def listening(
    application: web.Application, port: int, option: str, *, auto_decompress: bool = True
) -> AsyncIterator[str]:
    """Serve an application on loopback, and yield its address.

    Args:
        port: 0 for a free one.
        option: The port's name in messages.

    Raises:
        UsageError: the port is in use.
    """
    log = logging.getLogger(f"{__name__}{option}")
    log.setLevel(logging.DEBUG)
    log.addFilter(_in_one_line)
    runner = web.AppRunner(
        application,
        handler_cancellation=True,
        access_log=None,
        logger=log,
        keepalive_timeout=_KEEP_ALIVE_SECONDS,
        shutdown_timeout=_GRACE_SECONDS,
        max_line_size=LONGEST_LINE,
        max_field_size=LONGEST_LINE,
        auto_decompress=auto_decompress,
    )
    with closing(_listener(port, option)) as listener:
        await runner.setup()
        try:
            await web.SockSite(runner, listener).start()
            yield f"http://{_HOST}:{listener.getsockname()[1]}"
        finally:
            await runner.cleanup()
            log.removeFilter(_in_one_line)


def _in_one_line(record: logging.LogRecord) -> bool:
    """Shorten a log record to one line: aiohttp's own text quotes the request, credentials included."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        reason = error.message.partition("\n")[0].partition(": b'")[0].partition(': b"')[0].strip(" :")
        record.msg = f"refused a malformed request: {plain_line(reason, 120)}"
        record.levelno = logging.WARNING
    elif error is not None:
        record.msg = f"a request could not be handled: {type(error).__name__}"
    record.args, record.exc_info, record.exc_text = None, None, None
    return record.levelno >= logging.WARNING


def _listener(port: int, option: str) -> socket.socket:
    try:
        return socket.create_server((_HOST, port), backlog=512)
    except OSError as error:
        raise UsageError(
            f"{option} {port} cannot be used: {(error.strerror or 'no such port').lower()}; "
            "choose another, or 0 for a free one"
        ) from None


def _stopping(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    """Return an event that a signal sets; a second signal has its default effect."""
    stop = asyncio.Event()

    def on_signal(number: signal.Signals) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in INTERRUPTING_SIGNALS:
        if signal.getsignal(number) is signal.SIG_IGN:
            continue
        try:
            loop.add_signal_handler(number, on_signal, number)
        except (RuntimeError, ValueError):  # not the main thread, as in tests, which stop it themselves
            continue
    return stop
