"""The page served in this process, beside sandboxes that it sends to: a faithful one and a broken one."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from aiohttp import web

from contracts.exchanges.exchange import Body, Exchange, Headers, Response
from contracts.manual.traffic_findings import Feed, Seen, TrafficFinding
from contracts.page.server import page_application
from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered
from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, sandbox_target
from contracts.settings.target import Target
from tests.meta.program import Launcher
from tests.meta.sandbox_client import running, serving

PATIENCE = 60.0
#: What the broken sandbox does wrong.
DEFECTS = ("uid-accepts-ten", "list-top-one-more", "contact-create-without-first-name")


@dataclass
class Page:
    """A page that is served.

    Attributes:
        heard: Every answer it gave, as text.
    """

    url: str
    feed: Feed
    key: str = ""
    heard: list[str] = field(default_factory=list)

    def get(self, path: str, **more: Any) -> requests.Response:
        """Ask for something."""
        answer = requests.get(self.url + path, timeout=PATIENCE, **more)
        self.heard.append(answer.text)
        return answer

    def post(self, path: str, wish: Any, **headers: str | None) -> requests.Response:
        """Have something done; `headers` are added, or left out where None."""
        sent = {"X-Page-Key": self.key, "Content-Type": "application/json"} | headers
        body = wish if isinstance(wish, bytes) else json.dumps(wish).encode()
        answer = requests.post(self.url + path, data=body, headers=sent, timeout=PATIENCE)
        self.heard.append(answer.text)
        return answer

    def done(self, path: str, **wish: Any) -> dict[str, Any]:
        """Have something done that has to work."""
        answer = self.post(path, wish)
        assert answer.status_code == 200, answer.text
        reply: dict[str, Any] = answer.json()
        return reply

    def tried(self, operation: str, realm: str = "", role: str = "author", **wish: Any) -> dict[str, Any]:
        """Fill the form of an operation and send it as it is."""
        asked = {"operation": operation, "role": role, "realm": realm}
        filled = self.done("/api/prepare", **asked, live=True, **wish)
        return self.done("/api/send", **asked, form_number=filled["form_number"], form=filled["form"])

    def refused(self, path: str, status: int = 422, **wish: Any) -> str:
        """Have something done that must not work, and return the line that says why."""
        answer = self.post(path, wish)
        assert answer.status_code == status, answer.text
        ((name, line),) = answer.json().items()
        assert name == "error"
        assert "\n" not in line
        assert "Traceback" not in line
        return str(line)


@contextmanager
def page_of(target: Target, **options: Any) -> Iterator[Page]:
    """Serve the page of a target on a free port."""
    feed, ready, addresses = Feed(), threading.Event(), list[str]()
    loop = asyncio.new_event_loop()
    stopped = asyncio.Event()

    async def serve() -> None:
        runner = web.AppRunner(page_application(target, feed, **options), shutdown_timeout=5)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        addresses.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
        ready.set()
        await stopped.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        page = Page(addresses[0], feed)
        found = re.search(r'name="key" content="([^"]+)"', page.get("/").text)
        assert found is not None
        page.key = found[1]
        yield page
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join(PATIENCE)
        loop.close()
    assert not thread.is_alive()


class Listening:
    """An application that notes the tokens that come to it."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.tokens: set[str] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for name, value in scope.get("headers", ()):
            if name == b"authorization":
                self.tokens.add(value.decode("latin-1").partition(" ")[2])
        await self._app(scope, receive, send)


@pytest.fixture(scope="session")
def sandbox_url(library_launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a sandbox for the page alone: what is saved by hand would be in the way of other tests."""
    with running(library_launcher, tmp_path_factory.mktemp("page")) as started:
        yield started.url


@pytest.fixture(scope="session")
def sandbox_tokens() -> dict[str, str]:
    """The tokens of that sandbox by role."""
    return {}


@pytest.fixture(scope="session")
def faithful_page(sandbox_url: str) -> Iterator[Page]:
    """The page of a sandbox that keeps every clause."""
    with page_of(sandbox_target(sandbox_url, DEFAULT_SIZE_LIMIT), disposable=True) as page:
        yield page


@pytest.fixture(scope="session")
def listening() -> Listening:
    """A sandbox with `DEFECTS`, not served yet."""
    return Listening(altered(Settings(defects=DEFECTS)))


@pytest.fixture(scope="session")
def broken_url(listening: Listening) -> Iterator[str]:
    """Where the broken sandbox answers."""
    with serving(listening) as url:
        yield url


@pytest.fixture(scope="session")
def broken_page(broken_url: str) -> Iterator[Page]:
    """The page of the broken sandbox."""
    target = sandbox_target(broken_url, DEFAULT_SIZE_LIMIT)
    with page_of(target, disposable=True, client_url="http://127.0.0.1:9462") as page:
        yield page


@pytest.fixture
def passes(broken_url: str) -> Callable[..., Seen]:
    """Make something pass through the proxy of a page, as the proxy tells it."""

    def publish(
        page: Page,
        method: str,
        path: str,
        operation: str | None = None,
        body: Any = None,
        status: int = 200,
        findings: tuple[TrafficFinding, ...] = (),
        headers: dict[str, str] | None = None,
        answer: str = "{}",
    ) -> Seen:
        text = None if body is None else body if isinstance(body, str) else json.dumps(body)
        sent = {"Realm": "bch-dev", "Authorization": "Bearer [redacted]", "Content-Type": "application/json"}
        number = max((each.number for each in page.feed.since(0)), default=0) + 1
        exchange = Exchange(
            id=f"entry {number}",
            number=number,
            started=datetime(2026, 4, 2, 10, tzinfo=UTC),
            seconds=0.004,
            operation=operation,
            realm="bch-dev",
            method=method,
            url=broken_url + path,
            request_headers=Headers(headers or sent),
            request_body=Body.of((text or "").encode()),
            response=Response(
                status, "", Headers({"Content-Type": "application/json"}), Body.of(answer.encode())
            ),
        )
        seen = Seen(exchange, findings)
        page.feed.publish(seen)
        return seen

    return publish


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library and the description, with an empty folder of cases."""
    import shutil  # noqa: PLC0415 - this fixture alone copies

    root, here = tmp_path_factory.mktemp("checkout"), Path(__file__).parents[3]
    for name in ("contracts", "openapi"):
        shutil.copytree(here / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "pyproject.toml", "registry_contracts.py"):
        shutil.copy2(here / name, root / name)
    (root / "tests" / "contract" / "scenario").mkdir(parents=True)
    return root
