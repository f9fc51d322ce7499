"""Fixtures of several rooms: sandboxes and their clients, the program, sample runs and claims."""

import compileall
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from registry_contracts.checks.claims import Claim, Expect
from registry_contracts.checks.outcomes import Attempt
from registry_contracts.interface.catalogue import Catalogue, load_catalogue
from tests.meta import browser as chromium
from tests.meta.evidence.sample_records import BY_NAME, Story
from tests.meta.program import CHECKOUT, Launcher, Program, RunCommand, in_process, planted_checkout
from tests.meta.sandbox_client import RunningSandbox, SandboxClient, running, serving
from tests.meta.wire import Serve, answered_by

_FORKS = pytest.StashKey[dict[str, str]]()


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


def pytest_collection_finish() -> None:
    """Leave what is loaded by now out of all later rounds of the garbage collector; each run of pytest makes five."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let all workers fork from the same two processes, so that the library is loaded once for each checkout."""
    node.workerinput["forks"] = _forks(node.config)


@pytest.fixture(scope="session")
def forks(pytestconfig: pytest.Config) -> dict[str, str]:
    """The address of a launcher by its checkout, `library` or `planted`, and where the `checkout` of the latter is."""
    return getattr(pytestconfig, "workerinput", {}).get("forks") or _forks(pytestconfig)


def _forks(config: pytest.Config) -> dict[str, str]:
    if _FORKS not in config.stash:
        # Once, with all cores, rather than in each process that is about to load it.
        compileall.compile_dir(CHECKOUT / "contracts", quiet=2, workers=0)
        started = ExitStack()
        config.add_cleanup(started.close)
        checkout = planted_checkout(Path(started.enter_context(TemporaryDirectory(prefix="checkout-"))))
        library, planted = (started.enter_context(Launcher.started(each)) for each in (CHECKOUT, checkout))
        config.stash[_FORKS] = {
            "library": library.address,
            "planted": planted.address,
            "checkout": str(checkout),
        }
    return config.stash[_FORKS]


@pytest.fixture(scope="session")
def sandbox_url(library_launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve one sandbox for all tests of the session; its base address."""
    with running(library_launcher, tmp_path_factory.mktemp("sandbox")) as started:
        yield started.url


@pytest.fixture
def caller() -> Iterator[Callable[..., SandboxClient]]:
    """Return a maker of clients: ``caller(url, role, realm)``; role ``None`` is anonymous."""
    with ExitStack() as clients:
        yield lambda *about: clients.enter_context(SandboxClient(*about))


@pytest.fixture
def start_sandbox(
    library_launcher: Launcher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., RunningSandbox]]:
    """Return a starter of further sandboxes; each is stopped at the end of the test."""
    with ExitStack() as started:

        def start(*options: str) -> RunningSandbox:
            out = tmp_path_factory.mktemp("sandbox")
            return started.enter_context(running(library_launcher, out, *options))

        yield start


@pytest.fixture
def serve_app() -> Iterator[Callable[[Any], str]]:
    """Return a server of applications made in the test; it returns their base address."""
    with ExitStack() as served:
        yield lambda app: served.enter_context(serving(app))


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers: `serve(lambda request, connection: bytes)`."""
    with ExitStack() as servers:
        yield lambda respond: servers.enter_context(answered_by(respond))


@pytest.fixture(scope="session")
def library_launcher(forks: dict[str, str]) -> Launcher:
    """Return a starter of commands whose library is loaded already."""
    return Launcher(forks["library"])


@pytest.fixture
def program(tmp_path: Path, library_launcher: Launcher) -> Program:
    """Return a runner of the program in a process of its own, in an empty folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Program(folder, library_launcher)


@pytest.fixture
def run_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunCommand:
    """Return a runner of the program in this process, in an empty folder, without the user's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in [name for name in os.environ if name.startswith(("REGISTRY_", "SANDBOX_"))]:
        monkeypatch.delenv(name)
    return in_process(monkeypatch, capsys)


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
def running_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    """A headless Chromium; where none is installed, tests that need one are skipped."""
    program = chromium.installed()
    if program is None:
        pytest.skip("no Chromium is installed to open pages with")
    with chromium.browser(program, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def catalogue() -> Catalogue:
    """The suite's own catalogue."""
    return load_catalogue()


@pytest.fixture
def attempt() -> Attempt:
    """An attempt at a case."""
    return Attempt(1)


@pytest.fixture
def claims(attempt: Attempt, catalogue: Catalogue) -> Expect:
    """Expect of a case that declares every clause."""
    return Expect(attempt, catalogue, [clause.id for clause in catalogue])


@pytest.fixture
def must(claims: Expect) -> Claim:
    """A claim on a must clause."""
    return claims("draft-get-content", "getDraft")


@pytest.fixture
def should(claims: Expect) -> Claim:
    """A claim on a should clause."""
    return claims("draft-get-absent", "getDraft")
