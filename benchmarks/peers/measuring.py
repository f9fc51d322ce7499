"""One run of one tool against one sandbox."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchmarks.peers.peer import LONGEST_RUN_SECONDS, Measured, Peer, Service, ToolBroke, run
from benchmarks.peers.serving import CountedSandbox
from contracts.errors import SuiteError
from contracts.interface.location import python_command
from contracts.proving.processes import RunOutcome, read_outcome

_TOKEN_PATH = "/api/v2013/authentication/token"  # noqa: S105 - a path
_CREDENTIALS = {"email": "author@sandbox.test", "password": "sandbox-author"}
_SIGN_IN_SECONDS = 10.0
#: A run that takes longer hangs.
_LONGEST_GATE_SECONDS = 3600.0


class Tool(Protocol):
    """A tool that is measured.

    Attributes:
        name: As the table shows it.
        version: The one measured.
        configuration: In words: what it is given and told.
        confirms: Whether it sees a failure twice before it reports it; for one that does not, the benchmark does.

    """

    name: str
    version: str
    configuration: str
    confirms: bool

    def missing(self) -> str:
        """Say what has to be installed first; empty when nothing is missing."""
        ...

    def measure(self, arguments: Sequence[str], realm: str) -> Measured:
        """Run once against a fresh sandbox.

        Args:
            arguments: how the sandbox is altered, such as `--defect draft-lost`; empty for the faithful one.
            realm: the one realm the tool is pointed at.

        """
        ...

    def command(self) -> str:
        """Return its command lines, with words in capitals for what differs from run to run."""
        ...


class Outsider:
    """A peer, given a sandbox that counts what it is sent.

    Args:
        peer: how the tool is set up, called and read.
        folder: for what its runs share and leave.
        modules: folder of the npm packages, which the command lines need not tell.

    """

    confirms = False

    def __init__(self, peer: Peer, folder: Path, modules: Path) -> None:
        self.peer = peer
        self.name, self.version, self.configuration = peer.name, peer.version, peer.configuration
        self._folder = folder
        self._modules = modules
        self._prepared: dict[str, Path] = {}

    def missing(self) -> str:
        """As the peer says."""
        return self.peer.missing()

    def measure(self, arguments: Sequence[str], realm: str) -> Measured:
        """Run the peer once."""
        try:
            shared = self._shared(realm)
        except ToolBroke as error:
            return Measured(frozenset(), 0, 0.0, str(error))
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            return self._measure(arguments, realm, shared, Path(name))

    def _measure(self, arguments: Sequence[str], realm: str, shared: Path, folder: Path) -> Measured:
        failures, trouble = frozenset[str](), ""
        with CountedSandbox(arguments, folder / "requests.txt") as sandbox:
            service = Service(sandbox.base_url, sign_in(sandbox.base_url), realm)
            started = time.monotonic()
            try:
                for command in self.peer.commands(service, shared, folder):
                    run(command, folder, LONGEST_RUN_SECONDS)
                failures = self.peer.read(folder)
            except ToolBroke as error:
                trouble = str(error)
            seconds = time.monotonic() - started
        return Measured(failures, sandbox.requests - 1, seconds, trouble)

    def _shared(self, realm: str) -> Path:
        if realm not in self._prepared:
            folder = self._folder / f"shared-{realm}"
            folder.mkdir(parents=True, exist_ok=True)
            self.peer.prepare(realm, folder)
            self._prepared[realm] = folder
        return self._prepared[realm]

    def command(self) -> str:
        """Return the peer's command lines."""
        service = Service("URL", "TOKEN", "REALM")
        lines = [shlex.join(words) for words in self.peer.commands(service, Path("SHARED"), Path("RUN"))]
        programs = f"{Path(sys.executable).parent}{os.sep}"
        return "\n".join(lines).replace(str(self._modules), "node_modules").replace(programs, "")


class Ours:
    """The suite itself, on the same sandboxes: a whole gate run in one realm.

    Args:
        version: of the suite.

    """

    name = "registry-contracts"
    confirms = True
    configuration = "the profile gate, whole, in the one realm; the sandbox's start counts among its seconds"

    def __init__(self, version: str) -> None:
        self.version = version

    def missing(self) -> str:
        """Nothing."""
        return ""

    def measure(self, arguments: Sequence[str], realm: str) -> Measured:
        """Run the suite once; an advisory is no failure, and a run without a verdict is trouble."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = _gate(arguments, realm, Path(folder))
            except SuiteError as error:
                return Measured(frozenset(), 0, 0.0, str(error))
        findings = [each for each in outcome.findings if each["standing"] != "advisory"]
        failures = frozenset(f"{each['operation']}: {each['clause']}" for each in findings)
        trouble = "; ".join(outcome.inconclusive[:2]) if outcome.verdict == "inconclusive" else ""
        return Measured(failures, outcome.requests, outcome.seconds, trouble)

    def command(self) -> str:
        """Return its command line."""
        return (
            "registry-contracts run --profile gate --seed 1 --realm REALM --sandbox-arguments='--defect NAME'"
        )


def _gate(arguments: Sequence[str], realm: str, reports: Path) -> RunOutcome:
    """Run the suite against an embedded sandbox that is started with more options.

    Args:
        reports: An empty folder for the evidence.

    Raises:
        SuiteError: the run left no verdict; the message holds its last words.
    """
    words = ["run", "--profile=gate", "--seed=1", f"--realm={realm}", f"--reports={reports}"]
    words += [f"--sandbox-arguments={shlex.join(arguments)}", "-q", "--no-header"]
    # The first line counts: a run on another target than the embedded sandbox would prove nothing.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
    started = time.monotonic()
    done = subprocess.run(
        [*python_command(), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=_LONGEST_GATE_SECONDS,
        env=environment,
    )
    seconds = time.monotonic() - started
    verdicts = [path for path in reports.glob("*/verdict.json") if not path.parent.is_symlink()]
    if not verdicts:
        said = " | ".join([*done.stdout.splitlines(), *done.stderr.splitlines()][-3:])
        raise SuiteError(f"the run ended with {done.returncode} and left no verdict; its last words: {said}")
    return read_outcome(verdicts[0], done.returncode, seconds)


def sign_in(base_url: str) -> str:
    """Return the author's token, or a word that is none where the sandbox gives none: the tools shall see it."""
    request = Request(  # noqa: S310 - our own loopback server
        base_url + _TOKEN_PATH,
        json.dumps(_CREDENTIALS).encode(),
        {"Content-Type": "application/json", "Accept": "application/json"},
    )
    try:
        with urlopen(request, timeout=_SIGN_IN_SECONDS) as answer:  # noqa: S310 - as above
            token = json.load(answer).get("authenticationToken")
    except (URLError, ValueError, AttributeError, TimeoutError):
        token = None
    return token if isinstance(token, str) and token.strip() else "no-token"
