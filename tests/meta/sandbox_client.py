"""The one client of a sandbox for tests, and sandboxes to send requests to, in threads of this process."""

import asyncio
import shutil
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import requests

from registry_contracts.settings.embedded_sandbox import SANDBOX_SETTINGS
from tests.meta.program import PATIENCE
from tests.meta.samples import CONTACT_SCHEMA, TOKEN, contact, credentials, draft_path


@contextmanager
def sandbox(*options: str) -> Iterator[str]:
    """Serve a sandbox with options of the command, those about the address and `--cors` aside; yield its address."""
    from registry_contracts.sandbox.habits import Settings  # noqa: PLC0415 - most tests need no server in this process
    from registry_contracts.sandbox.serve import altered, command  # noqa: PLC0415
    from registry_contracts.sandbox.weather import lay_over  # noqa: PLC0415

    given = command.make_context("sandbox", list(options)).params
    settings = Settings(**{name: value for name, value in given.items() if name not in ("host", "port")})
    app = altered(settings)
    with (
        closing(app.state.service),
        closing(lay_over(app, settings.weather, settings.weather_seed)) as weather,
        serving(app, weather.stand_before) as url,
    ):
        yield url


@contextmanager
def serving(app: Any, prepare: Callable[[Any, socket.socket], object] = lambda *_: None) -> Iterator[str]:
    """Serve an application, after what is done with server and listener before they start; yield its address."""
    from registry_contracts.sandbox.serve import make_server  # noqa: PLC0415 - most tests need no server in this process

    ready = threading.Event()
    server = make_server(app, ready.set)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        prepare(server, listener)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
#: Answers in the place of a service, by method, path and how often this method and path's last step came before.
Rule = Callable[[str, str, int], Answer | None]
JSON = [(b"content-type", b"application/json")]
NOT_FOUND: Answer = (404, JSON, b'{"message": "none"}')


class Faulty:
    """A sandbox behind a rule that may answer in its place, each answer delayed; `done` are those it has answered.

    `given` are their Authorization headers.
    """

    def __init__(self, app: Any, rule: Rule = lambda *_: None, delay: float = 0.0) -> None:
        self._app, self._rule, self._delay = app, rule, delay
        self._lock = threading.Lock()
        self.requests: list[tuple[str, str]] = []
        self.given: list[bytes] = []
        self.done: list[tuple[str, str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method, path = scope["method"], scope["path"]
        key = (method, path.rpartition("/")[2])
        with self._lock:
            before = sum((m, p.rpartition("/")[2]) == key for m, p in self.requests)
            self.requests.append((method, path))
            self.given.append(dict(scope["headers"]).get(b"authorization", b""))
        await asyncio.sleep(self._delay)
        answer = self._rule(method, path, before)
        if answer is None:
            try:
                await self._app(scope, receive, send)
            finally:
                self.done.append((method, path))
            return
        self.done.append((method, path))
        status, headers, body = answer
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})

    def paths(self, method: str) -> set[str]:
        """Where requests of a method came to."""
        return {path for asked, path in self.requests if asked == method}

    def count(self, method: str, ending: str) -> int:
        """How many requests of a method came to paths that end so."""
        return sum(m == method and p.endswith(ending) for m, p in self.requests)


def settings_of(url: str, folder: Path, name: str = "service") -> Path:
    """Write settings that aim at a sandbox, of a target with a name, into a folder; return the file."""
    shutil.copytree(SANDBOX_SETTINGS.parent / "samples", folder / "samples", dirs_exist_ok=True)
    text = SANDBOX_SETTINGS.read_text("utf-8").replace("http://127.0.0.1:8080", url)
    path = folder / f"{name}.toml"
    path.write_text(text, "utf-8")
    return path


class SandboxClient(requests.Session):
    """A client of one sandbox; it is given paths, and signs in at once unless its role is ``None``."""

    def __init__(self, url: str, role: str | None = "author") -> None:
        super().__init__()
        self.base = url
        self.trust_env = False
        if role is not None:
            answer = self.post(TOKEN, json=credentials(role))
            answer.raise_for_status()
            self.headers["Authorization"] = f"Bearer {answer.json()['authenticationToken']}"
        self.headers["Realm"] = "abs-dev"

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        options.setdefault("timeout", PATIENCE)
        return super().request(method, self.base + url, *args, **options)

    def save(self, uid: str) -> requests.Response:
        return self.put(draft_path(uid), params=CONTACT_SCHEMA, json=contact(uid=uid))


def new_uid() -> str:
    """Return an identifier that no other test uses."""
    return f"test-{uuid.uuid4().hex}"
