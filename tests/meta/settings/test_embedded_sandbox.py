"""The embedded sandbox is ready or says why, and never outlives the run."""

import contextlib
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from registry_contracts.errors import SuiteError
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox
from tests.meta.program import PATIENCE

READY = "print('sandbox ready at http://127.0.0.1:4321', flush=True);"
WAIT = "import sys; sys.stdin.read()"

# Prints the sandbox's address, then ends in the way that the argument says, without leaving the with block.
OWNER = """
import os, signal, sys
from registry_contracts.settings.embedded_sandbox import EmbeddedSandbox
sandbox = EmbeddedSandbox().__enter__()
print(sandbox.base_url, flush=True)
sys.stdin.readline()
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def fake(code: str) -> EmbeddedSandbox:
    return EmbeddedSandbox(command=[sys.executable, "-c", code])


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (r"sys.stderr.write('one\n\ntwo\nthree\nno module named x\n')", "two | three | no module named x"),
        ("sys.exit(str([name for name in os.environ if 'REGISTRY' in name]))", "[]"),
    ],
    ids=["quoted", "told nothing"],
)
def test_one_that_ends_early_is_quoted_on_one_line_and_hears_no_credentials_of_live_targets(
    monkeypatch: pytest.MonkeyPatch, code: str, told: str
) -> None:
    monkeypatch.setenv("REGISTRY_PASSWORD", "hunter2")
    with pytest.raises(SuiteError) as caught:
        fake(f"import os, sys; {code}; sys.exit(3)").__enter__()
    says = "the embedded sandbox ended before it was ready; its last output: "
    assert str(caught.value) == says + told


def test_ctrl_c_in_the_terminal_does_not_reach_it() -> None:
    """A signal of the terminal goes to a whole session; the run still needs the sandbox to clean up."""
    with fake(READY + WAIT) as sandbox:
        assert sandbox._process is not None
        assert os.getsid(sandbox._process.pid) == sandbox._process.pid


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
