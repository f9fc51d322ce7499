"""Sandboxes that were altered, or stand in a bad environment, each with a client of its own."""

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import requests

from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered, make_server
from contracts.sandbox.weather import lay_over
from tests.meta.sandbox_client import TIME_LIMIT, SandboxClient


@pytest.fixture
def client_of(serve_app: Callable[[Any], str], caller: Callable[..., SandboxClient]) -> Callable[..., Any]:
    """Return a maker of clients: ``client_of("list-hal")`` serves a sandbox with that variant."""
    return lambda *names: caller(url=serve_app(altered(Settings(variants=names))))


class WeatherClient(SandboxClient):
    """A client that repeats nothing; anonymous until it has signed in."""

    def __init__(self, url: str) -> None:
        super().__init__(url, role=None)

    def list(self, **options: Any) -> requests.Response:
        """Ask for the list of drafts."""
        return self.get("/api/v2013/document-drafts", **options)

    def sign_in_again(self) -> requests.Response:
        """Send the requests that follow with a new token of the author; return the answer to the sign-in."""
        answer = self.sign_in()
        self.tokens["author"], self.role = str(answer.json()["authenticationToken"]), "author"
        return answer

    def seen(self, times: int, **options: Any) -> Counter[str]:
        """Return what came of as many lists: statuses and media types, and kinds of failures."""
        return Counter(self.came_of(lambda: self.list(**options)) for _ in range(times))

    def came_of(self, ask: Callable[[], requests.Response]) -> str:
        """Return what came of a request: its status and media type, or how it failed."""
        try:
            response = ask()
        except requests.exceptions.Timeout:
            return "silence"
        except requests.exceptions.ChunkedEncodingError:
            return "broken off"
        except requests.exceptions.ConnectionError as error:
            return "refused" if "refused" in str(error) else "reset"
        kind = response.headers.get("content-type", "").partition(";")[0].rpartition("/")[2]
        return f"{response.status_code} {kind}".strip()


@contextmanager
def in_weather(*weather: str, seed: int = 1) -> Iterator[WeatherClient]:
    app = altered(Settings())
    gate = lay_over(app, weather, seed)
    ready = threading.Event()
    server = make_server(app, ready.set)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        gate.stand_before(server, listener)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
        thread.start()
        try:
            assert ready.wait(TIME_LIMIT)
            with WeatherClient(url) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(TIME_LIMIT)
            gate.close()


@pytest.fixture
def client_in() -> Iterator[Callable[..., WeatherClient]]:
    """Return a maker of clients: ``client_in("resets:share=0.5", seed=2)``."""
    with ExitStack() as served:
        yield lambda *weather, seed=1: served.enter_context(in_weather(*weather, seed=seed))
