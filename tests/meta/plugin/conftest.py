"""Runs of planted cases, and services that misbehave."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from registry_contracts.cli import main
from registry_contracts.plugin import collection, worker
from registry_contracts.sandbox.app import create_app
from registry_contracts.sandbox.habits import Settings
from tests.meta.program import CHECKOUT, IN_PROCESS, Process, clean_environment, in_this_process
from tests.meta.samples import account_variables
from tests.meta.sandbox_client import NOT_FOUND, Answer, Faulty, Rule, settings_of

PLANTED = CHECKOUT / "tests" / "planted"
#: Planted, and the suite's own that reads the description.
PLANTED_CASES = (PLANTED / "cases.py", CHECKOUT / "tests/contract/property/test_generated_faults.py")


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
        texts = (path.read_text("utf-8") for path in self.folder.glob("journal-*"))
        events = (json.loads(line) for text in texts for line in text.splitlines())
        return {event["case"].partition("::")[2]: event for event in events if event["kind"] == "case"}

    def cells(self, member: str = "verdict") -> dict[tuple[str, str], str]:
        """Verdicts by clause and realm, or another member of the cells."""
        clauses = self.verdict["clauses"]
        return {
            (each["id"], realm): cell[member] for each in clauses for realm, cell in each["realms"].items()
        }


class Runner:
    """Starts runs of planted cases: in this process, or in one of their own where a test interferes with it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.environment: dict[str, str] = {}

    def start(self, *words: str) -> Process:
        """Start a run in a process of its own; `end` waits for it."""
        command = [sys.executable, "-m", "pytest", *self._words(words)]
        return Process(command, CHECKOUT, self._env(), self.scratch / "out")

    def aim(self, url: str, *, only_author: bool = False) -> Path:
        """Write settings that aim at an address, and tell the runs the sandbox's accounts."""
        self.environment |= account_variables(*(("author",) if only_author else ()))
        return settings_of(url, self.scratch)

    def enough(self) -> None:
        """Let the planted case that waits go on to its end."""
        (self.private_parent / "enough").touch()

    def end(self, process: Process) -> Ended:
        return Ended(*process.communicate(), self.reports)

    def apart(self, *words: str) -> Ended:
        """Run to the end in a process of its own."""
        return self.end(self.start(*words))

    def __call__(self, *words: str, program: bool = False) -> Ended:
        """Run to the end in this process; `program` for the command instead of bare pytest."""
        given = self._words(words, program=program)
        return self._command("run", *given) if program else self._here(partial(pytest.main, given))

    def sweep(self, *words: str) -> Ended:
        return self._command("sweep", f"--reports={self.reports}", *words)

    def _command(self, *words: str) -> Ended:
        with mock.patch.object(sys, "argv", ["registry-contracts", *words]):
            return self._here(main)

    def _here(self, call: Callable[[], object]) -> Ended:
        with mock.patch.object(sys, "path", [str(PLANTED), *sys.path]):
            return Ended(*in_this_process(call, CHECKOUT, {**IN_PROCESS, **self._env()}), self.reports)

    def _words(self, words: tuple[str, ...], *, program: bool = False) -> list[str]:
        own = any(word.endswith(".py") or word.startswith("tests/") for word in words)
        aimed = program or any(word.startswith("--target") for word in words)
        plain = [] if program else ["-p", "no:cacheprovider"]
        where = [] if own else [*map(str, PLANTED_CASES)]
        target = [] if aimed else ["--target=sandbox"]
        return [*plain, "-p", "hasty", f"--reports={self.reports}", *target, *where, *words]

    def _env(self) -> dict[str, str]:
        places = {"PYTHONPATH": str(PLANTED), "TMPDIR": str(self.private_parent)}
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
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs planted cases, with reports of their own; a deployment, as tests play it, is over within a second."""
    monkeypatch.setattr(worker, "ROLLING_SECONDS", 1.0)
    # A run of the planted cases leaves none out.
    monkeypatch.setattr(collection, "cases_directory", lambda: PLANTED_CASES[0])
    return Runner(tmp_path)


def hiding(answer: Answer = NOT_FOUND) -> Rule:
    """Hide every draft at its reads."""
    return lambda method, path, _: answer if method == "GET" and path.endswith("/versions/draft") else None


@dataclass
class Service:
    """A faulty service that runs, and the settings that aim at it."""

    app: Faulty
    url: str
    target: Path


@pytest.fixture
def faulty(serve_app: Callable[[Any], str], run: Runner) -> Callable[..., Service]:
    """Serves a sandbox behind a rule: `faulty(rule)`; accounts are set in the runner's environment."""

    def start(rule: Rule = lambda *_: None, *, only_author: bool = False, delay: float = 0.0) -> Service:
        app = Faulty(create_app(Settings()), rule, delay)
        url = serve_app(app)
        return Service(app, url, run.aim(url, only_author=only_author))

    return start


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """After each test, no private folder is left and no sandbox of its runs."""
    yield
    assert [path for path in tmp_path.glob("tmp/registry-contracts-*") if path.is_dir()] == []
