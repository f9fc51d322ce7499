"""uvicorn, set up for the sandbox: quiet, a word when it is ready, and a clean end on a signal."""

import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from contracts.sandbox.connection import JsonRefusals

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class SandboxServer(uvicorn.Server):
    """A server that says when it accepts connections, and for which a signal is a normal end.

    Args:
        config: uvicorn's settings.
        ready: called once, when connections are accepted.

    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        for listener in sockets or ():
            # Connections inherit it. Without, the body of an answer waits until the client has acknowledged its head:
            # forty milliseconds each, wherever the socket was made without naming its protocol.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End on SIGTERM and Ctrl-C without raising the signal again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(app: ASGIApp, ready: Callable[[], None]) -> SandboxServer:
    """Return a server for an application; ``server.run(sockets=[listener])`` serves until it is told to end.

    Args:
        app: the application.
        ready: called once, when connections are accepted.

    """
    config = uvicorn.Config(
        app,
        http=JsonRefusals,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Longer than clients usually keep an idle connection, so that it is they who close it.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=256 * 1024,
    )
    return SandboxServer(config, ready)
