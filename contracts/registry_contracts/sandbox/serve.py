"""Starts and ends the sandbox: its options, socket, server, and the lines that say that it is ready."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from registry_contracts.errors import INTERRUPTING_SIGNALS, UsageError, refuse_empty_values
from registry_contracts.interface.cross_origin import AllowedOrigins
from registry_contracts.sandbox.app import create_app
from registry_contracts.sandbox.authentication import ACCOUNTS, SIGN_IN
from registry_contracts.sandbox.faults.effects import judged
from registry_contracts.sandbox.faults.fault import Injector
from registry_contracts.sandbox.faults.messages import Between
from registry_contracts.sandbox.faults.observer import Observer
from registry_contracts.sandbox.faults.population import load
from registry_contracts.sandbox.habits import ONE_GIGABYTE, Habits, Settings
from registry_contracts.sandbox.http import Connection
from registry_contracts.sandbox.variants import chosen
from registry_contracts.sandbox.weather import lay_over


class SandboxServer(uvicorn.Server):
    """A server that reports when it accepts connections, and for which a signal is a normal end."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report it."""
        for listener in sockets or ():
            # Connections inherit this. Without it the body of an answer waits 40 ms until the client has acknowledged
            # the head.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End on SIGTERM and Ctrl-C without raising the signal again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit)
            for number in INTERRUPTING_SIGNALS
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(app: ASGIApp, ready: Callable[[], None]) -> SandboxServer:
    """Return a server for an application; ``server.run(sockets=[listener])`` serves until it is told to end."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Longer than clients usually keep an idle connection, so that clients close it.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=256 * 1024,
    )
    return SandboxServer(config, ready)


_USAGE: Final = 4


def _repeated(flag: str, name: str, words: str, value: str = "NAME") -> Callable[[Any], Any]:
    """An option that may be repeated."""
    return click.option(flag, name, metavar=value, multiple=True, help=f"{words}; may be repeated.")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0 takes a free one."
)
@click.option("--data", metavar="DIR", type=click.Path(path_type=Path), help="Keep data here over a restart.")
@click.option(
    "--size-limit", metavar="BYTES", type=click.IntRange(0), default=ONE_GIGABYTE, help="Largest attachment."
)
@_repeated("--variant", "variants", "Server variant, as `list variants` shows")
@_repeated("--fault", "faults", "Break clauses of the interface, as `list faults` shows")
@_repeated("--weather", "weather", "Network fault, as `list weathers` shows")
@click.option("--weather-seed", type=int, default=1, show_default=True, help="Seed of the network faults.")
@click.option("--observed", is_flag=True, help="Count what is shown, for a proof.")
@_repeated("--cors", "origins", "Let pages of this origin use it, such as http://localhost:5173", "ORIGIN")
def command(*, host: str, port: int, **settings: Any) -> int:
    """Serve the embedded document registry until SIGTERM or Ctrl-C.

    `registry-contracts list` shows the names that the options take.

    \b
    Examples:
      registry-contracts sandbox --port 8080
      registry-contracts sandbox --data sandbox-data --cors http://localhost:5173
      registry-contracts sandbox --fault list-top-one-more --variant list-hal
    """  # noqa: D301 - click's mark for lines to be left as they are
    with _listening(host, port) as listener:
        return _serve(Settings(**settings), listener)


def main(argv: list[str]) -> int:
    """Serve the sandbox; exit code 4 when options, port or folder cannot be used."""
    try:
        refuse_empty_values(argv, {name for each in command.params for name in each.opts})
        return int(command.main(argv, "registry-contracts sandbox", standalone_mode=False) or 0)
    except (UsageError, click.ClickException) as problem:
        said = problem.format_message() if isinstance(problem, click.ClickException) else str(problem)
        sys.stderr.write(f"sandbox: {said}\n")
        return _USAGE


def serve_on(argv: list[str], listener: socket.socket) -> int:
    """Serve the sandbox on a socket that listens already; options about the address are ignored."""
    options = command.make_context("sandbox", argv).params
    del options["host"], options["port"]
    return _serve(Settings(**options), listener)


def _listening(host: str, port: int) -> socket.socket:
    try:
        # Without this, an empty host would mean all addresses of this machine.
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as problem:
        raise UsageError(f"--host {host!r} is no address of this machine") from problem
    try:
        return socket.create_server(address[:2], family=family, backlog=2048)
    except OSError as problem:
        why = os.strerror(problem.errno or 0)
        raise UsageError(
            f"cannot listen on {host} port {port}: {why}; choose another --port, 0 takes a free one"
        ) from problem


def _serve(settings: Settings, listener: socket.socket) -> int:
    app = altered(settings)
    with (
        closing(app.state.service),
        closing(lay_over(app, settings.weather, settings.weather_seed)) as weather,
    ):
        if settings.origins:
            # Outermost: a browser hides every answer without these headers, also those of faults and network faults.
            app.add_middleware(
                CORSMiddleware,
                allow_origins=AllowedOrigins.of(settings.origins).names,
                allow_methods=["*"],
                allow_headers=["*"],
                expose_headers=["*"],
                allow_private_network=True,
            )
        server = make_server(app, lambda: _announce(listener, settings))
        weather.stand_before(server, listener)
        server.run(sockets=[listener])
    return 0


def altered(settings: Settings) -> Starlette:
    """Return a sandbox with the variants and the faults of its settings, which has not started yet."""
    variants, faults = chosen(settings.variants), [load(name) for name in settings.faults]
    # Of two variants that change one habit, the later one counts.
    changed = {name: value for variant in variants for name, value in variant.habits.items()}
    app = create_app(settings, replace(Habits(), **changed))
    if faults:
        app.state.service.judged = judged
    # Appended: nearer to the service than what undoes the encoding of paths.
    for variant in sorted(variants, key=lambda variant: -variant.layer):
        if variant.wrap is not None:
            app.user_middleware.append(Middleware(variant.wrap))
    if settings.observed:
        # Nearest to the service, where bodies are neither compressed nor chunked.
        app.user_middleware.append(Middleware(Between, act=Observer().meet))
    for fault in faults:
        app.add_middleware(Between, act=Injector(fault).meet)
    return app


def _announce(listener: socket.socket, settings: Settings) -> None:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}"
    lines = [
        f"sandbox ready at {address}",
        f"  to try        {address}/docs",
        f"  description   {address}/openapi.json, {address}/openapi.yaml",
        f"  sign in at    {address}{SIGN_IN}",
        *(f"  account       {account.email} / {account.password} ({account.may})" for account in ACCOUNTS),
        *(f"  differs by    {name}" for name in (*settings.variants, *settings.faults, *settings.weather)),
    ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
