"""A hostile service on loopback: a sandbox whose answers are altered on their way, or a script of raw bytes."""

import http.client
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, SANDBOX_SETTINGS
from tests.meta.hostile.probe import loaded
from tests.meta.sandbox_client import running
from tests.meta.wire import Wire, serving

_PATIENCE: Final = 60.0


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def sign_in(self) -> bool:
        """Whether it asks for a token."""
        return self.path.partition("?")[0].endswith("/authentication/token")


@dataclass(frozen=True)
class Given:
    """An answer of the sandbox on its way."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def with_headers(self, *lines: tuple[str, str]) -> "Given":
        """The answer with further headers."""
        return replace(self, headers=[*self.headers, *lines])

    def raw(self, method: str) -> bytes:
        """The answer as it goes over the wire."""
        lines = [f"HTTP/1.1 {self.status} Answer", *(f"{name}: {value}" for name, value in self.headers)]
        length = [f"Content-Length: {len(self.body)}"] if self.body or self.status not in (204, 304) else []
        head = "\r\n".join([*lines, *length, "Connection: close", "", ""])
        return head.encode("utf-8", "surrogateescape") + (b"" if method == "HEAD" else self.body)


def answered(body: bytes = b"[]", *, kind: str = "application/json", status: int = 200) -> Given:
    """An answer that a script makes up."""
    return Given(status, [("Content-Type", kind)], body)


TOKEN: Final = answered(
    b'{"authenticationToken": "token-of-the-author-0001", "expiration": "2999-01-01T00:00:00.0Z"}'
)


def empty_lists(asked: Asked) -> bytes:
    """Answer a sign-in with a token, and any other request with an empty list."""
    return (TOKEN if asked.sign_in else answered()).raw(asked.method)


def drip(_: Asked) -> Iterator[bytes]:
    """Give one byte a second."""
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n["
    while True:
        time.sleep(1)
        yield b" "


Alter = Callable[[Asked, Given], Given | bytes]
Script = Callable[[Asked], bytes | Iterator[bytes]]
_NOT_PASSED: Final = frozenset({"content-length", "transfer-encoding", "connection"})


@dataclass
class Service:
    """What serves."""

    url: str
    asked: list[Asked] = field(default_factory=list)

    def settings(self, folder: Path) -> Path:
        """Write the settings of a target that is this service; the accounts are the sandbox's."""
        lines = SANDBOX_SETTINGS.read_text("utf-8").replace(
            'document = "', f'document = "{SANDBOX_SETTINGS.parent}/'
        )
        path = folder / "hostile.toml"
        kept = [line for line in lines.splitlines() if not line.startswith(("base_url", "kind"))]
        kept += ["[attachments]", f"size_limit_bytes = {DEFAULT_SIZE_LIMIT}"]
        path.write_text(f'base_url = "{self.url}"\nkind = "development"\n' + "\n".join(kept) + "\n", "utf-8")
        return path

    def wrote(self) -> list[Asked]:
        """Requests that may change something, signing in aside."""
        return [each for each in self.asked if each.method not in ("GET", "HEAD") and not each.sign_in]


def accounts() -> dict[str, str]:
    """The sandbox's accounts under the variables that the settings name."""
    roles = ("author", "restricted", "nau", "other")
    emails = {f"SANDBOX_{role.upper()}_EMAIL": f"{role}@sandbox.test" for role in roles}
    return emails | {f"SANDBOX_{role.upper()}_PASSWORD": f"sandbox-{role}" for role in roles}


@contextmanager
def scripted(script: Script, secure: ssl.SSLContext | None = None) -> Iterator[Service]:
    """Serve whatever a script says to a request; each connection carries one answer.

    Args:
        secure: Serves over TLS.
    """
    service = Service("")
    lock = threading.Lock()

    def follow(wire: Wire) -> None:
        head = wire.head()
        if head is None:
            return
        if head.value("Expect"):
            wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        asked = Asked(head.method, head.target, head.headers, wire.body(head))
        with lock:
            service.asked.append(asked)
        answer = script(asked)
        for piece in [answer] if isinstance(answer, bytes) else answer:
            wire.send(piece)

    with serving(follow, secure) as service.url:
        yield service


@contextmanager
def altered(alter: Alter) -> Iterator[Service]:
    """Serve a sandbox of its own whose answers are altered."""
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as folder,
        running(loaded(), Path(folder), "--size-limit", str(DEFAULT_SIZE_LIMIT)) as sandbox,
    ):
        host = sandbox.url.removeprefix("http://")

        def relay(asked: Asked) -> bytes:
            upstream = http.client.HTTPConnection(host, timeout=_PATIENCE)
            upstream.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
            for name, value in asked.headers:
                if name.lower() not in _NOT_PASSED:
                    upstream.putheader(name, value.encode("latin-1", "replace"))
            upstream.putheader("Content-Length", str(len(asked.body)))
            upstream.endheaders(asked.body)
            came = upstream.getresponse()
            kept = [(name, value) for name, value in came.getheaders() if name.lower() not in _NOT_PASSED]
            given = alter(asked, Given(came.status, kept, came.read()))
            upstream.close()
            return given if isinstance(given, bytes) else given.raw(asked.method)

        with scripted(relay) as service:
            yield service
