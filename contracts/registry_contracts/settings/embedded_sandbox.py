"""The embedded sandbox: its process, and the target that describes it.

The process never outlives the run: it ends when its stdin closes, which a killed run causes too.
"""

import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Self

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.settings.settings_reader import read_target
from registry_contracts.settings.target import ACCOUNT_ROLES, SANDBOX, AttachmentSettings, Target

SANDBOX_SETTINGS = Path(__file__).with_name("sandbox.toml")


def sandbox_target(base_url: str, size_limit: int) -> Target:
    """Return the target of a sandbox that this suite has started with an upload limit in bytes."""
    target = read_target(SANDBOX_SETTINGS, _published_accounts())
    return replace(
        target,
        name=SANDBOX,
        base_url=base_url.rstrip("/"),
        attachments=AttachmentSettings(size_limit_bytes=size_limit),
    )


def _published_accounts() -> dict[str, str]:
    """Return the sandbox's public accounts, by the variables that its settings file names."""
    emails = {f"SANDBOX_{role.upper()}_EMAIL": f"{role}@sandbox.test" for role in ACCOUNT_ROLES}
    return emails | {f"SANDBOX_{role.upper()}_PASSWORD": f"sandbox-{role}" for role in ACCOUNT_ROLES}


DEFAULT_SIZE_LIMIT = 6 * 1024 * 1024
"""Upload limit in bytes that makes the limit's clauses cheap to judge."""

DOCUMENT_SIZE_LIMIT = 1024**3
"""The interface document's 1 GB in bytes, for the profile `full`."""

#: A sandbox usually starts in a second; a busy machine may take many times as long.
_READY_SECONDS = 60.0
_STOP_SECONDS = 5.0
_LAST_LINES = 3
_LONGEST_OUTPUT = 100_000
_POLL_SECONDS = 0.02
_USAGE = 4
_READY = re.compile(r"^sandbox ready at (http://127\.0\.0\.1:\d+)\s*\n", re.MULTILINE)
_EXTRA = ("starlette", "uvicorn", "odata_query", "PIL", "flask_swagger_ui")


class EmbeddedSandbox:
    """Serves a sandbox in a process of its own during the `with` block.

    `size_limit` is the largest upload in bytes, and `arguments` are further options of `registry-contracts sandbox`.
    Tests start another `command`.
    """

    def __init__(
        self,
        size_limit: int = DEFAULT_SIZE_LIMIT,
        arguments: Sequence[str] = (),
        command: Sequence[str] | None = None,
    ) -> None:
        self.size_limit = size_limit
        #: Its address, such as `http://127.0.0.1:40123`; only inside the `with` block.
        self.base_url = ""
        self._command = list(command) if command else _sandbox_command(size_limit, arguments)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it and wait until it is ready.

        Raises:
            UsageError: the `sandbox` extra is not installed, or its options cannot be used.
            SuiteError: it ended for another reason, or was not ready in time; one line with its last output.
        """
        require_extra()
        # A file takes any amount of output; a full pipe would block the sandbox.
        with tempfile.TemporaryFile() as output:
            try:
                self._process = self._start(output)
                self.base_url = self._wait_until_ready(self._process, output)
            except BaseException:
                self.stop()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Terminate the process, and kill it if it does not end in time; a second call does nothing."""
        process, self._process = self._process, None
        self.base_url = ""
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _start(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C must reach only the run, which still needs the sandbox to clean up.
        return subprocess.Popen(  # noqa: S603 (our own interpreter and options, no shell)
            self._command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_child_environment(),
            start_new_session=True,
        )

    def _wait_until_ready(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> str:
        """Wait until the process prints its address, and return it."""
        end = time.monotonic() + _READY_SECONDS
        while True:
            code = process.poll()
            written = os.pread(output.fileno(), _LONGEST_OUTPUT, 0).decode("utf-8", "replace")
            if match := _READY.search(written):
                return match[1]
            lines = [line.strip() for line in written.splitlines() if line.strip()]
            last_words = " | ".join(lines[-_LAST_LINES:]) or "nothing"
            if code == _USAGE:
                raise UsageError(last_words)
            if code == 0:
                raise UsageError(
                    "with these options the sandbox prints something and ends; "
                    "use them with `registry-contracts sandbox`"
                )
            if code is not None or time.monotonic() > end:
                what = "ended before it was ready" if code else f"is not ready after {_READY_SECONDS:g} s"
                raise SuiteError(f"the embedded sandbox {what}; its last output: {last_words}")
            time.sleep(_POLL_SECONDS)


@contextmanager
def serve_sandbox(size_limit: int, arguments: Sequence[str]) -> Iterator[Target]:
    """Serve a sandbox during the `with` block, and yield its target."""
    with EmbeddedSandbox(size_limit, arguments) as served:
        yield sandbox_target(served.base_url, size_limit)


def _sandbox_command(size_limit: int, arguments: Sequence[str]) -> list[str]:
    options = ["--port", "0", "--size-limit", str(size_limit), *arguments]
    code = f"from {__name__} import {serve_as_child.__name__} as serve; serve()"
    return [sys.executable, "-P", "-c", code, *options]


def require_extra() -> None:
    """Raise `UsageError`, which says what to install, where the extra `sandbox` is missing."""
    if any(find_spec(name) is None for name in _EXTRA):
        raise UsageError("the embedded sandbox needs the extra: pip install 'registry-contracts[sandbox]'")


def _child_environment() -> dict[str, str]:
    """Return the environment without the credentials of live targets, which the sandbox does not need."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
    return {**kept, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


def serve_as_child() -> None:
    """Serve the sandbox, with the options of `registry-contracts sandbox`, until a signal or the end of stdin."""
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    sys.argv[0] = "registry_contracts.sandbox"
    # By its name: nothing on this side imports the sandbox.
    runpy.run_module("registry_contracts.sandbox", run_name="__main__", alter_sys=True)


def _end_with_stdin() -> None:
    # The raw descriptor: a buffered reader's lock would block the interpreter's exit.
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
