"""Fixtures of several rooms: sandboxes and their clients, the program, sample runs and claims."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, sync_playwright

from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt
from registry_contracts.interface.catalogue import Catalogue, load_catalogue
from tests.meta.evidence.sample_records import BY_NAME, Story
from tests.meta.program import Program, RunCommand, in_process
from tests.meta.sandbox_client import serving
from tests.meta.wire import Serve, answered_by


def pytest_configure(config: pytest.Config) -> None:
    """Let this process and those that tests start keep compiled modules, and take Ctrl-C; no example has a deadline.

    Without the first, each run compiles 250 modules. The second is ignored in the background of a script. On a busy
    machine any example may take its time. A warning fails a test of the suite's own, and no run of its users.
    """
    config.addinivalue_line("filterwarnings", "error")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")


@pytest.fixture
def serve_app() -> Iterator[Callable[[Any], str]]:
    """Return a server of applications made in the test; it returns their base address."""
    with ExitStack() as served:
        yield lambda app: served.enter_context(serving(app))


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers that answer byte by byte: `serve(lambda request, connection: bytes)`."""
    with ExitStack() as servers:
        yield lambda respond: servers.enter_context(answered_by(respond))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Return a runner of the program in an empty folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Program(folder)


@pytest.fixture
def run_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Return a runner of the program in this process, in an empty folder, without the user's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith(("REGISTRY_", "SANDBOX_"))]:
        monkeypatch.delenv(name)
    return in_process(monkeypatch)


@pytest.fixture
def story() -> Story:
    """A run in which nothing happened yet."""
    return Story()


@pytest.fixture
def whole() -> Story:
    """A run in which everything held."""
    made = Story()
    made.holds(*BY_NAME)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, headless; where none is installed, tests that need one are skipped.

    For a module and no longer: while Playwright is there, nothing else may run an event loop in this thread.
    """
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium is installed to open pages with")
    words = ["--no-sandbox", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=[*words, "--disable-quic"])
        yield running
        running.close()


@pytest.fixture
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture
def attempt() -> Attempt:
    return Attempt(1)


@pytest.fixture
def claims(attempt: Attempt, catalogue: Catalogue) -> Expect:
    """Expect of a case that declares every clause."""
    return Expect(attempt, catalogue, [clause.id for clause in catalogue])


@pytest.fixture
def must(claims: Expect) -> Claim:
    """A claim on a must clause."""
    return claims("draft-get-content", "getDraft")
