"""Starting the sandbox: options, the listening socket, the server, the line that says it is ready, and the end."""

import argparse
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import uvicorn
from starlette.types import ASGIApp

from contracts.errors import INTERRUPTING_SIGNALS, UsageError
from contracts.interface.cross_origin import AllowedOrigins
from contracts.sandbox.authentication import ACCOUNTS, SIGN_IN
from contracts.sandbox.habits import ONE_GIGABYTE, Habits, Settings, read_habits
from contracts.sandbox.http import JsonRefusals

if TYPE_CHECKING:
    from starlette.applications import Starlette


class SandboxServer(uvicorn.Server):
    """A server that says when it accepts connections, and for which a signal is a normal end."""

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


DEFAULT_PORT = 8080
USAGE_ERROR = 4
LIST = "list"
"""What takes the place of a variant's name when all of them are to be shown."""
_HIGHEST_PORT = 65535


class _Options(argparse.ArgumentParser):
    """Options whose faults are usage errors of the whole program."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see --help")


def main(argv: list[str]) -> int:
    """Serve the sandbox until SIGTERM or Ctrl-C; exit code 4 when options, port or folder cannot be used."""
    try:
        options = _parser().parse_args(argv)
        for option, (_, _, module) in _REPEATED.items():
            if LIST in getattr(options, option):
                # Loaded only when asked for.
                sys.stdout.write(import_module(module).help_text())
                return 0
        settings = _settings(options)
        with _listening(options.host, options.port) as listener:
            return _serve(settings, listener)
    except UsageError as problem:
        sys.stderr.write(f"sandbox: {problem}\n")
        return USAGE_ERROR


def serve_on(argv: list[str], listener: socket.socket) -> int:
    """Serve the sandbox on a socket that is listening already; options about the address count for nothing."""
    return _serve(_settings(_parser().parse_args(argv)), listener)


#: Options that may be repeated: what they are given, what they do, and the module whose ``help_text`` lists it all.
_REPEATED = {
    "variant": ("NAME", "fill silences of the interface otherwise", "contracts.sandbox.variants"),
    "habit": ("NAME=VALUE", "one figure or name where the document is silent", "contracts.sandbox.habits"),
    "fault": ("NAME", "break clauses of the interface", "contracts.sandbox.faults.population"),
    "defect": ("NAME", "the same as --fault", "contracts.sandbox.faults.population"),
    "weather": ("NAME[,NAME...]", "put the service into bad weather", "contracts.sandbox.weather"),
}


def _parser() -> argparse.ArgumentParser:
    parser = _Options(
        prog="registry-contracts sandbox",
        description="Serve the embedded document registry.",
        allow_abbrev=False,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    port_help = f"port; 0 takes a free one ({DEFAULT_PORT})"
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=port_help)
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep data here over a restart")
    size_help = "largest attachment (1 GB)"
    parser.add_argument("--size-limit", type=int, default=ONE_GIGABYTE, metavar="BYTES", help=size_help)
    lifetime_help = "how long a token is valid (3600)"
    parser.add_argument("--token-lifetime", type=float, default=3600, metavar="SECONDS", help=lifetime_help)
    for option, (given, does, _) in _REPEATED.items():
        text = f"{does}; may be repeated; '{LIST}' shows them all"
        parser.add_argument(f"--{option}", action="append", default=[], metavar=given, help=text)
    seed_help = "the same seed, the same weather (1)"
    parser.add_argument("--weather-seed", type=int, default=1, metavar="N", help=seed_help)
    parser.add_argument("--observed", action="store_true", help="count what is shown, for a proof")
    cors_help = "let pages of this origin use it, such as http://localhost:5173; may be repeated"
    parser.add_argument("--cors", action="append", default=[], metavar="ORIGIN", help=cors_help)
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    if not 0 <= options.port <= _HIGHEST_PORT:
        raise UsageError(f"--port must be from 0 to {_HIGHEST_PORT}, not {options.port}")
    if options.size_limit < 0:
        raise UsageError(f"--size-limit must be 0 bytes or more, not {options.size_limit}")
    if not 0 < options.token_lifetime <= 10 * 365 * 86400:
        raise UsageError(
            f"--token-lifetime must be between 0 seconds and ten years, not {options.token_lifetime}"
        )
    return Settings(
        data=options.data,
        size_limit=options.size_limit,
        token_lifetime=options.token_lifetime,
        variants=tuple(options.variant),
        habits=read_habits(options.habit),
        faults=(*options.fault, *options.defect),
        observed=options.observed,
        weather=tuple(options.weather),
        weather_seed=options.weather_seed,
        origins=AllowedOrigins.of(options.cors) if options.cors else None,
    )


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as problem:
        raise UsageError(f"--host {host} is no address of this machine: {problem.strerror}") from problem
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(2048)
        except OSError as problem:
            reason = problem.strerror
            raise UsageError(
                f"cannot listen on {host} port {port}: {reason}; choose another --port, 0 takes a free one"
            ) from problem
        yield listener


def _serve(settings: Settings, listener: socket.socket) -> int:
    # Loaded late: a wrong option is answered at once; and only what is asked for.
    from contracts.sandbox.app import create_app  # noqa: PLC0415

    differs = settings.variants or settings.habits or settings.faults or settings.observed
    app: Starlette = altered(settings) if differs else create_app(settings)
    weather = None
    if settings.weather:
        from contracts.sandbox.weather import lay_over  # noqa: PLC0415

        weather = lay_over(app, settings.weather, settings.weather_seed)
    if settings.origins is not None:
        from starlette.middleware.cors import CORSMiddleware  # noqa: PLC0415

        # Outermost: a browser hides any answer without these headers, those of faults and of the weather too.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins.names,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["*"],
            allow_private_network=True,
        )
    server = make_server(app, lambda: _announce(listener, settings))
    if weather is not None:
        weather.stand_before(server, listener)
    try:
        server.run(sockets=[listener])
    finally:
        if weather is not None:
            weather.close()
    return 0


def altered(settings: Settings) -> "Starlette":
    """Return a sandbox with the variants and the faults of its settings, which has not started yet."""
    from contracts.sandbox.app import create_app  # noqa: PLC0415 - as above
    from contracts.sandbox.variants import chosen  # noqa: PLC0415

    alteration = chosen(settings.variants)
    habits = replace(Habits(), **{**alteration.habits, **dict(settings.habits)})
    app = create_app(settings, habits, alteration.layers)
    alteration.stand_before(app)
    if settings.observed:
        from starlette.middleware import Middleware  # noqa: PLC0415

        from contracts.sandbox.faults.observer import Observer  # noqa: PLC0415

        # Appended last: nearest to the service, where bodies are neither compressed nor cut into pieces.
        app.user_middleware.append(Middleware(Observer))
    if settings.faults:
        from contracts.sandbox.faults.fault import Injector  # noqa: PLC0415
        from contracts.sandbox.faults.population import load  # noqa: PLC0415

        for fault in map(load, settings.faults):
            app.add_middleware(Injector, fault=fault, size_limit=settings.size_limit)
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
