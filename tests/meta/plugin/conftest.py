"""Runs of the plugin in processes of their own: a small checkout with planted cases, and services that misbehave."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import Launched, Launcher, clean_environment
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import settings_of

_HASTY = ("-p", "hasty")


@dataclass
class Ended:
    """A run that is over; `output` is everything that stood in the terminal."""

    code: int
    out: str
    err: str
    reports: Path

    @property
    def output(self) -> str:
        return self.out + self.err

    @property
    def folder(self) -> Path:
        """The only run folder."""
        paths = (path for path in self.reports.iterdir() if path.name[0] != "." and not path.is_symlink())
        (folder,) = filter(Path.is_dir, paths)
        return folder

    @property
    def verdict(self) -> dict[str, Any]:
        """The machine's answer."""
        found: dict[str, Any] = json.loads((self.folder / "verdict.json").read_text(encoding="utf-8"))
        assert found["exit_code"] == self.code, self.output
        return found

    def cases(self) -> dict[str, dict[str, Any]]:
        """What the journals say of each case, by its name with parameters."""
        return {event["case"].partition("::")[2]: event for event in self.journal("case")}

    def journal(self, kind: str) -> list[dict[str, Any]]:
        """What the journals say of one kind."""
        lines = [
            line for path in self.folder.glob("journal-*") for line in path.read_text("utf-8").splitlines()
        ]
        return [event for event in map(json.loads, lines) if event["kind"] == kind]

    def cells(self, member: str = "verdict") -> dict[tuple[str, str], str]:
        """Verdicts by clause and realm, or another member of the cells."""
        clauses = self.verdict["clauses"]
        return {
            (each["id"], realm): cell[member] for each in clauses for realm, cell in each["realms"].items()
        }


class Runner:
    """Starts runs in a small checkout."""

    def __init__(self, checkout: Path, scratch: Path, launcher: Launcher) -> None:
        self.checkout = checkout
        self.scratch = scratch
        self._launcher = launcher
        self.environment: dict[str, str] = {}

    def start(self, *words: str) -> Launched:
        """Start bare pytest, for tests that interfere with it; `end` waits for it."""
        given = self._words((*_HASTY, *words), None)
        return self._launcher.start(given, self.checkout, self._env(), self.scratch / "out", kind="pytest")

    def aim(self, url: str, *, only_author: bool = False, pace: str = "") -> Path:
        """Write settings that aim at an address, with more lines of pace, and tell the runs the sandbox's accounts."""
        self.environment |= account_variables(*(("author",) if only_author else ()))
        return settings_of(url, self.scratch, pace=pace)

    def enough(self) -> None:
        """Let the planted case that waits go on to its end."""
        (self.private_parent / "enough").touch()

    def end(self, process: Launched) -> Ended:
        """Wait for the end of a run that was started."""
        return Ended(*process.communicate(), self.reports)

    def __call__(self, *words: str, reports: Path | None = None, program: bool = False) -> Ended:
        """Run to the end; `program` for the command instead of bare pytest."""
        given = (["run"] if program else []) + self._words((*_HASTY, *words), reports, program=program)
        kind = "program" if program else "pytest"
        ended = self._launcher.run(given, self.checkout, self._env(), self.scratch / "out", kind=kind)
        return Ended(*ended, reports or self.reports)

    def sweep(self, *words: str) -> Ended:
        """Run `registry-contracts sweep` to its end."""
        given = ["sweep", *self._words(words, None, program=True)]
        out = self.scratch / "sweep"
        return Ended(*self._launcher.run(given, self.checkout, self._env(), out), self.reports)

    def _words(self, words: tuple[str, ...], reports: Path | None, *, program: bool = False) -> list[str]:
        plain = [] if program else ["-p", "no:cacheprovider"]
        return [*plain, f"--reports={reports or self.reports}", *words]

    def _env(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.checkout / "contracts"), str(self.checkout)])
        places = {"PYTHONPATH": path, "TMPDIR": str(self.private_parent)}
        return clean_environment(**places, **self.environment)

    @property
    def reports(self) -> Path:
        """Where runs put their evidence."""
        return self.scratch / "reports"

    @property
    def private_parent(self) -> Path:
        """Where runs make their private folders."""
        folder = self.scratch / "tmp"
        folder.mkdir(exist_ok=True)
        return folder


@pytest.fixture
def run(forks: dict[str, str], tmp_path: Path) -> Runner:
    """Runs the plugin in the small checkout, with reports of its own."""
    return Runner(Path(forks["checkout"]), tmp_path, Launcher(forks["planted"]))


Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
#: Answers in the place of a service, by method, path and how often this method and path's last step came before.
Rule = Callable[[str, str, int], Answer | None]


class Faulty:
    """A sandbox behind a rule that may answer in its place, each answer delayed; `done` are those it has answered."""

    def __init__(self, app: Any, rule: Rule, delay: float = 0.0) -> None:
        self._app, self._rule, self._delay = app, rule, delay
        self._lock = threading.Lock()
        self.requests: list[tuple[str, str]] = []
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

    def count(self, method: str, ending: str) -> int:
        """How many requests of a method came to paths that end so."""
        return sum(m == method and p.endswith(ending) for m, p in self.requests)


@dataclass
class Service:
    """A faulty service that runs, and the settings that aim at it."""

    app: Faulty
    url: str
    target: Path


@pytest.fixture
def faulty(serve_app: Callable[[Any], str], run: Runner) -> Callable[..., Service]:
    """Serves a sandbox behind a rule: `faulty(rule)`; accounts are set in the runner's environment."""

    def start(
        rule: Rule = lambda *_: None,
        *,
        only_author: bool = False,
        delay: float = 0.0,
        pace: str = "",
        **settings: Any,
    ) -> Service:
        from registry_contracts.sandbox.app import create_app  # noqa: PLC0415 - not every test serves
        from registry_contracts.sandbox.habits import Settings  # noqa: PLC0415

        app = Faulty(create_app(Settings(**settings)), rule, delay)
        url = serve_app(app)
        return Service(app, url, run.aim(url, only_author=only_author, pace=pace))

    return start


@pytest.fixture
def nothing_left(run: Runner) -> Iterator[None]:
    """After the test, no private folder is left and no sandbox of its runs."""
    yield
    assert [path for path in run.private_parent.glob("registry-contracts-*") if path.is_dir()] == []
