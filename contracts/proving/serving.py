"""A sandbox that keeps its data on disk, and runs of the suite against it as against somebody else's service."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import SuiteError
from contracts.target import sandbox

_READY: Final = "sandbox ready at "
_STOP_SECONDS: Final = 30.0
_PROGRAM: Final = "from contracts.cli import main; main()"
_ROLES: Final = ("author", "other", "restricted", "nau")


@dataclass(frozen=True)
class Served:
    """A sandbox that runs.

    Attributes:
        data: Its data folder.
        settings: A settings file that aims at it, which is not called `sandbox`: the usual manners apply.
        scratch: Where its runs keep reports and private folders.
    """

    url: str
    data: Path
    settings: Path
    scratch: Path

    @property
    def reports(self) -> Path:
        """Reports folder of its runs."""
        return self.scratch / "reports"

    @property
    def private_parent(self) -> Path:
        """Where its runs make their private folders."""
        return self.scratch / "tmp"

    def command(self, *words: str) -> list[str]:
        """The suite's program with some words, aimed at this sandbox."""
        aim = ["--target", str(self.settings), "--reports", str(self.reports)]
        return [sys.executable, "-c", _PROGRAM, words[0], *aim, *words[1:]]

    def environment(self) -> Mapping[str, str]:
        """The environment of its runs: the published accounts, and a folder of its own for private folders."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
        kept["TMPDIR"] = str(self.private_parent)
        for role in _ROLES:
            kept[f"SANDBOX_{role.upper()}_EMAIL"] = f"{role}@sandbox.test"
            kept[f"SANDBOX_{role.upper()}_PASSWORD"] = f"sandbox-{role}"
        return kept

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start the program in a session of its own, so that a signal can reach it alone or with all its workers."""
        return subprocess.Popen(  # noqa: S603 - our own interpreter and options, no shell
            self.command(*words),
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        return subprocess.run(  # noqa: S603 - as above
            self.command(*words), env=self.environment(), capture_output=True, text=True, check=False
        )


@contextmanager
def served(folder: Path, arguments: Sequence[str] = (), pace: str = "") -> Iterator[Served]:
    """Serve a sandbox for as long as the `with` block lasts.

    Args:
        folder: Fresh, or one that was served before: then the data in it is gone on with.
        arguments: More options for it, such as `--defect NAME`.
        pace: More lines for the `[pace]` table of its settings.

    Raises:
        SuiteError: it did not start.
    """
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    options = ["--port", "0", "--data", str(data), "--size-limit", str(6 * 1024**2), *arguments]
    command = [sys.executable, "-m", "contracts.sandbox", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - as above
        line = process.stdout.readline() if process.stdout else ""
        try:
            if not line.startswith(_READY):
                raise SuiteError(f"the sandbox did not start: {line.strip() or 'it said nothing'}")
            url = line.removeprefix(_READY).strip()
            yield Served(url, data, _settings(folder, url, pace), folder)
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End a sandbox politely, or for good; its database survives either."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _settings(folder: Path, url: str, pace: str) -> Path:
    source = sandbox.SANDBOX_SETTINGS
    shutil.copytree(source.parent / "samples", folder / "samples", dirs_exist_ok=True)
    text = source.read_text(encoding="utf-8").replace("http://127.0.0.1:8080", url)
    size = f"[attachments]\nsize_limit_bytes = {6 * 1024**2}\n"
    path = folder / "neighbourhood.toml"
    path.write_text(f"{text.replace('[pace]', f'[pace]{chr(10)}{pace}', 1)}\n{size}", encoding="utf-8")
    return path
