"""The program in this process, aimed at sandboxes that all these tests share: a faithful one and a broken one."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.cli import main
from contracts.settings.embedded_sandbox import SANDBOX_SETTINGS

READY = "sandbox ready at "
#: What the broken sandbox does wrong.
DEFECTS = ("uid-accepts-ten", "list-top-one-more", "contact-create-without-first-name")


@dataclass(frozen=True)
class Ended:
    """How the program ended."""

    code: int
    out: str
    err: str


Program = Callable[..., Ended]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Program:
    """Return a runner of the program in this process, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for role in ("author", "other", "restricted", "nau"):
        monkeypatch.setenv(f"SANDBOX_{role.upper()}_EMAIL", f"{role}@sandbox.test")
        monkeypatch.setenv(f"SANDBOX_{role.upper()}_PASSWORD", f"sandbox-{role}")

    def run(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["registry-contracts", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        written = capsys.readouterr()
        return Ended(int(str(ended.value.code)), written.out, written.err)

    return run


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Path]:
    """Serve a sandbox, and give the settings file that aims at it."""
    command = [sys.executable, "-m", "contracts.sandbox", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(READY), line
        try:
            shutil.copytree(SANDBOX_SETTINGS.parent / "samples", folder / "samples")
            text = SANDBOX_SETTINGS.read_text(encoding="utf-8")
            path = folder / f"{folder.name}.toml"
            path.write_text(text.replace("http://127.0.0.1:8080", line.removeprefix(READY).strip()), "utf-8")
            yield path
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="session")
def faithful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the settings file of a sandbox that keeps every clause."""
    with served(tmp_path_factory.mktemp("faithful")) as path:
        yield path


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the settings file of a sandbox with `DEFECTS`."""
    options = [word for name in DEFECTS for word in ("--defect", name)]
    with served(tmp_path_factory.mktemp("broken"), *options) as path:
        yield path
