"""Sandboxes that were altered, or stand in a bad environment, each with a client of its own."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
import requests

from registry_contracts.sandbox.habits import Settings
from registry_contracts.sandbox.serve import altered
from registry_contracts.sandbox.weather import lay_over
from tests.meta.sandbox_client import SandboxClient, serving


@pytest.fixture
def client_of(serve_app: Callable[[Any], str], caller: Callable[..., SandboxClient]) -> Callable[..., Any]:
    """Return a maker of clients: ``client_of("list-hal")`` serves a sandbox with that variant."""
    return lambda *names: caller(serve_app(altered(Settings(variants=names))))


class WeatherClient(SandboxClient):
    """A client that repeats nothing; anonymous until it has signed in."""

    def __init__(self, url: str) -> None:
        super().__init__(url, role=None)

    def list(self, **options: Any) -> requests.Response:
        """Ask for the list of drafts."""
        return self.get("/api/v2013/document-drafts", **options)

    def seen(self, times: int, **options: Any) -> Counter[str]:
        """Return what came of as many lists: statuses and media types, and kinds of failures."""
        return Counter(self._came_of_a_list(**options) for _ in range(times))

    def _came_of_a_list(self, **options: Any) -> str:
        try:
            response = self.list(**options)
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
    with closing(gate), serving(app, gate.stand_before) as url, WeatherClient(url) as client:
        yield client


@pytest.fixture
def client_in() -> Iterator[Callable[..., WeatherClient]]:
    """Return a maker of clients: ``client_in("resets:share=0.5", seed=2)``."""
    with ExitStack() as served:
        yield lambda *weather, seed=1: served.enter_context(in_weather(*weather, seed=seed))
