"""The embedded sandbox's launcher: it is ready or says why, and never outlives the run."""

import contextlib
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.settings import embedded_sandbox
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox
from registry_contracts.settings.settings_reader import read_target
from registry_contracts.settings.target import ACCOUNT_ROLES
from tests.meta.program import PATIENCE

READY = "print('sandbox ready at http://127.0.0.1:4321', flush=True);"
WAIT = "import sys; sys.stdin.read()"

# Prints the sandbox's address, then ends in the way that the argument says, without leaving the with block.
OWNER = """
import os, signal, sys
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox
from registry_contracts.settings.settings_reader import read_target
from registry_contracts.settings.target import ACCOUNT_ROLES
sandbox = EmbeddedSandbox().__enter__()
print(sandbox.base_url, flush=True)
sys.stdin.readline()
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def fake(code: str, ready_seconds: float = 15.0) -> EmbeddedSandbox:
    return EmbeddedSandbox(command=[sys.executable, "-c", code], ready_seconds=ready_seconds)


def process_of(sandbox: EmbeddedSandbox) -> subprocess.Popen[bytes]:
    assert sandbox._process is not None
    return sandbox._process


def test_one_that_ignores_the_polite_signal_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_sandbox, "STOP_SECONDS", 0.2)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    with fake(deaf + READY + "signal.pause()") as sandbox:
        process = process_of(sandbox)
    assert process.returncode == -9


def test_one_that_ends_early_is_quoted_on_one_line() -> None:
    code = "import sys; sys.stderr.write('one\\n\\ntwo\\nthree\\nno module named x\\n'); sys.exit(3)"
    with pytest.raises(SuiteError) as caught:
        fake(code).__enter__()
    assert str(caught.value) == (
        "the embedded sandbox ended before it was ready; its last words: two | three | no module named x"
    )


@pytest.mark.parametrize("arguments", [("-h",), ("--help",)])
def test_options_that_only_show_something_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="shows something and serves nothing"):
        EmbeddedSandbox(arguments=arguments).__enter__()


def test_one_that_stays_silent_is_given_up_and_stopped() -> None:
    sandbox = fake(WAIT, ready_seconds=0.3)
    with pytest.raises(SuiteError, match=r"is not ready after 0\.3 s; its last words: nothing"):
        sandbox.__enter__()
    assert sandbox._process is None


def test_it_does_not_hear_the_credentials_of_live_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_PASSWORD", "hunter2")
    code = "import os, sys; sys.exit(str([name for name in os.environ if 'REGISTRY' in name]))"
    with pytest.raises(SuiteError, match=r"last words: \[\]$"):
        fake(code).__enter__()


def test_ctrl_c_in_the_terminal_does_not_reach_it() -> None:
    """A signal of the terminal goes to a whole session; the run still needs the sandbox to clean up."""
    with fake(READY + WAIT) as sandbox:
        assert os.getsid(process_of(sandbox).pid) == process_of(sandbox).pid


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_sandbox, "find_spec", lambda name: None if name == "uvicorn" else object())
    with pytest.raises(UsageError, match=r"pip install 'registry-contracts\[sandbox\]'"):
        EmbeddedSandbox().__enter__()


@pytest.mark.parametrize("end", ["exit", "killed"])
def test_it_never_outlives_the_run(end: str) -> None:
    """A connection held open to the sandbox ends when, and only when, its process does."""
    command = [sys.executable, "-c", OWNER, end]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as owner:
        assert owner.stdout is not None
        address = urlsplit(owner.stdout.readline().strip())
        assert address.port is not None
        with socket.create_connection(("127.0.0.1", address.port), timeout=PATIENCE) as connection:
            owner.communicate("\n", timeout=PATIENCE)
            # A reset is just as ended.
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", address.port), timeout=PATIENCE)


def test_one_that_somebody_serves_has_another_name_than_the_embedded_one() -> None:
    accounts = {
        f"SANDBOX_{role.upper()}_{what}": "author@sandbox.test"
        for role in ACCOUNT_ROLES
        for what in ("EMAIL", "PASSWORD")
    }
    served = read_target(embedded_sandbox.SANDBOX_SETTINGS, accounts)
    assert served.in_words == "sandbox-by-hand at http://127.0.0.1:8080"
    assert embedded_sandbox.sandbox_target("http://127.0.0.1:8080", 1).is_sandbox
    assert not served.is_sandbox
