"""One process's share of a run: where its redirects may lead, and how it cleans up."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from contracts.cases.marks import Profile
from contracts.checks.outcomes import Attempt
from contracts.plugin.plan import Plan, Selection
from contracts.plugin.worker import Worker
from contracts.settings.target import Account, Secret, Target


class Stub(BaseHTTPRequestHandler):
    """Gives tokens, takes drafts, deletes none, and redirects every read where the test says."""

    protocol_version = "HTTP/1.1"
    location = ""

    def _answer(self, status: int, body: bytes = b"{}", **headers: str) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers)))  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """A token."""
        self._answer(
            200, b'{"authenticationToken": "token-of-the-stub", "expiration": "2999-01-01T00:00:00.000Z"}'
        )

    def do_PUT(self) -> None:
        """A draft is taken."""
        self._answer(201)

    def do_DELETE(self) -> None:
        """A draft is not deleted."""
        self._answer(403)

    def do_GET(self) -> None:
        """A redirect, and what stands behind it."""
        location = self.server.location  # type: ignore[attr-defined]
        self._answer(302, Location=location) if "/draft" in self.path else self._answer(200)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def stub() -> Iterator[Any]:
    """The stub, with `seen` requests and the `location` of its redirects."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Stub)
    server.seen, server.location = [], "/elsewhere"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def make_worker(tmp_path: Path, stub: Any) -> Iterator[Callable[[], Worker]]:
    """A worker aimed at the stub."""
    made: list[Worker] = []

    def make() -> Worker:
        for name in ("run", "private"):
            (tmp_path / name).mkdir()
        account = Account("author", "author@x.test", Secret("secret-of-author"))
        target = Target("stub", f"http://127.0.0.1:{stub.server_port}", accounts={"author": account})
        selection = Selection(None, Profile.GATE, (), (), (), 1, strict=False, reports=tmp_path)
        plan = Plan(str(tmp_path / "run"), str(tmp_path / "private"), "test", "2026-01-01", None, 1)
        made.append(Worker("main", plan, target, selection))
        return made[-1]

    yield make
    for worker in made:
        worker.finish()
        worker.close()


@pytest.mark.parametrize(
    "location", ["/x?realm=abs", "/x?Realm=%41BS", "http://elsewhere.invalid/?Realm=bch"]
)
def test_a_redirect_into_production_is_not_followed(
    make_worker: Callable[[], Worker], stub: Any, location: str
) -> None:
    stub.location = location
    author = make_worker().actor("author", "abs-dev", "c", Attempt(1))
    assert author.send("getDraft", path={"uid": "rc-test00000001"}).answer.status == 302
    assert [path.rpartition("/")[2] for _, path, _ in stub.seen] == ["token", "draft"]


def test_a_redirect_on_the_target_is_followed(make_worker: Callable[[], Worker], stub: Any) -> None:
    author = make_worker().actor("author", "abs-dev", "c", Attempt(1))
    assert author.send("getDraft", path={"uid": "rc-test00000001"}).answer.status == 200
    assert stub.seen[-1][1] == "/elsewhere"
    assert stub.seen[-1][2]["Authorization"] == "Bearer token-of-the-stub"


def test_a_draft_that_cannot_be_deleted_is_tried_once_more_at_the_end(
    make_worker: Callable[[], Worker], stub: Any, tmp_path: Path
) -> None:
    worker = make_worker()
    author = worker.actor("author", "abs-dev", "c", Attempt(1))
    author.send("saveDraft", path={"uid": "rc-test00000001"}, json={})
    for _ in range(3):
        worker.clean()
    assert [method for method, _, _ in stub.seen].count("DELETE") == 1
    worker.finish()
    assert [method for method, _, _ in stub.seen].count("DELETE") == 2
    assert '"leftover"' in (tmp_path / "run" / "journal-main.jsonl").read_text(encoding="utf-8")
