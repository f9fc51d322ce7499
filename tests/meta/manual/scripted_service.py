"""The proxy between a scripted service and a plain client, both on bare sockets: every byte is seen."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from contracts.exchanges.exchange import Exchange
from contracts.manual.proxy import ProxyHandler, listening, proxy_application
from contracts.session.relay import Relay
from contracts.settings.target import Target
from tests.meta.wire import PATIENCE, Received, Script, Wire


@dataclass
class Between:
    """The proxy, with a scripted service behind it.

    Attributes:
        address: Where the proxy takes connections.
        service: Host and port of the service, as its requests name it.
        passed: What was handed over to be judged.
    """

    address: tuple[str, int]
    service: str
    passed: list[Exchange] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def connected(self) -> Iterator[Wire]:
        """Connect to the proxy."""
        wire = Wire(socket.create_connection(self.address, PATIENCE))
        try:
            yield wire
        finally:
            wire.close()

    def ask(self, request: bytes, *, bodiless: bool = False) -> Received:
        """Send one request on a connection of its own, and read the answer."""
        with self.connected() as wire:
            wire.send(request)
            answer = wire.message(bodiless=bodiless)
        assert answer is not None, "the proxy hung up"
        return answer

    def hand_over(self, exchange: Exchange) -> None:
        """Take an exchange that ended."""
        with self.news:
            self.passed.append(exchange)
            self.news.notify_all()

    def handed(self, number: int = 1) -> Exchange:
        """The exchange of a number, once it is there."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.passed) >= number, PATIENCE), "nothing was handed over"
            return self.passed[number - 1]


@contextmanager
def between(base_url: str) -> Iterator[Between]:
    """The proxy in front of a base URL, in a thread of its own."""
    ready: list[Between] = []
    begun = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    known = Between(("", 0), urlsplit(base_url).netloc)

    async def run() -> None:
        async with Relay(Target(name="scripted", base_url=base_url)) as relay:
            passer = ProxyHandler(relay, base_url, known.hand_over)
            async with listening(proxy_application(passer), 0, "--port", auto_decompress=False) as url:
                parts = urlsplit(url)
                known.address = (str(parts.hostname), int(parts.port or 0))
                ready.append(known)
                begun.set()
                await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()
    try:
        assert begun.wait(PATIENCE), "the proxy did not begin"
        yield known
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        loop.close()


def answering(*answers: bytes, bodiless: bool = False) -> tuple[Script, list[Received]]:
    """A script that answers each request in turn, and what it received."""
    received: list[Received] = []

    def script(wire: Wire) -> None:
        for answer in answers:
            request = wire.message(bodiless=bodiless)
            if request is None:
                return
            received.append(request)
            wire.send(answer)
        wire.stream.read(1)

    return script, received
