"""A probe: one thing that the world does, and what is wrong with how a command takes it."""

import atexit
import os
import re
import resource
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.meta.program import CHECKOUT, Launched, Launcher, clean_environment, outputs

#: Seconds after which a command hangs.
PATIENCE = 240.0
#: Where the output of a command is kept in its folder, and all that this puts beside what the command itself writes.
OUTPUT = "stdout"
OURS = frozenset({*(path.name for path in outputs(Path(OUTPUT))), "tmp"})
START = ("-c", "from registry_contracts import main; main()")
#: What a terminal would obey or reorder; line ends and the colours that commands use aside.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")


class Wrong(Exception):
    """What is wrong with how a probe went."""


class Skipped(Exception):
    """Why a probe cannot be tried on this machine."""


@dataclass(frozen=True)
class Probe:
    """One probe of a class.

    Attributes:
        run: Tries it in a folder of its own, and returns what was measured, if anything was; raises `Wrong`.
    """

    group: str
    name: str
    run: Callable[[Path], str | None]


PROBES: list[Probe] = []


def probe(group: str, name: str) -> Callable[[Callable[[Path], str | None]], Callable[[Path], str | None]]:
    """Enter a function in the table of probes."""

    def entered(run: Callable[[Path], str | None]) -> Callable[[Path], str | None]:
        PROBES.append(Probe(group, name, run))
        return run

    return entered


def expect(holds: object, otherwise: str) -> None:
    """Complain unless something holds."""
    if not holds:
        raise Wrong(otherwise)


class Ended(NamedTuple):
    """A command that is over."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Everything it wrote."""
        return self.out + self.err


Running = subprocess.Popen[bytes] | Launched


#: Ends what probes share; at the latest when this process ends.
SHARED = ExitStack()
atexit.register(SHARED.close)


@cache
def loaded() -> Launcher:
    """The process that commands are forks of; it has loaded what they import."""
    return SHARED.enter_context(Launcher.started(CHECKOUT))


def command(
    folder: Path,
    *words: str,
    python: Sequence[str] = (),
    limit: Callable[[], None] | None = None,
    out: int | None = None,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    meanwhile: Callable[[Running], None] | None = None,
    patience: float = PATIENCE,
    fresh: bool = False,
    kind: str = "program",
) -> Ended:
    """Run `registry-contracts` in a folder, in a process of its own.

    Args:
        python: Options of Python.
        limit: Called in the process before it begins.
        out: A descriptor for its output; it is read otherwise.
        meanwhile: Called in a thread of its own while it runs.
        patience: Seconds after which it hangs.
        fresh: In an interpreter of its own, as whatever is done to one needs; otherwise as a fork of one.
        kind: `module` for one of the checkout in place of the program, by its name.
    """
    usual = {"TMPDIR": str(_made(folder / "tmp")), "PYTHONPATH": str(CHECKOUT)}
    ours = clean_environment(**(usual | (environment or {})))
    place, files = cwd or folder, outputs(folder / OUTPUT)
    process: Running
    if fresh or python or limit or out is not None:
        with files[0].open("wb") as output, files[1].open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, *python, *START, *words],
                cwd=place,
                env=ours,
                stdin=subprocess.DEVNULL,
                stdout=output if out is None else out,
                stderr=errors,
                preexec_fn=limit,  # noqa: PLW1509 - nothing but a system call or two
            )
    else:
        process = loaded().start(words, place, ours, files[0], kind=kind, forks_sandbox=kind == "program")
    beside = threading.Thread(target=meanwhile, args=(process,)) if meanwhile else None
    if beside:
        beside.start()
    try:
        code = process.wait(patience)
    except (subprocess.TimeoutExpired, TimeoutError):
        process.send_signal(signal.SIGKILL)
        process.wait()
        raise Wrong(f"{words[0]} hangs") from None
    finally:
        if beside:
            beside.join()
    return Ended(code, *(file.read_bytes().decode("utf-8", "surrogateescape") for file in files))


def honest(ended: Ended, *codes: int, lines: int = 1) -> Ended:
    """Complain unless a command ended with one of some codes, without a traceback, errors in so many lines at most."""
    shown = ended.all.strip().splitlines()
    last = shown[-1][:160] if shown else "silence"
    expect(ended.code in codes, f"exit {ended.code}, not {' or '.join(map(str, codes))}: {last}")
    expect("Traceback" not in ended.all, f"a traceback: {last}")
    internal = [line for line in ended.all.splitlines() if "INTERNALERROR" in line]
    expect(len(internal) <= 1, f"{len(internal)} lines about what broke pytest: {internal[:1]}")
    expect(len(ended.err.strip().splitlines()) <= lines, f"{len(ended.err.splitlines())} lines of errors")
    return shown_safely(ended)


def shown_safely(ended: Ended) -> Ended:
    """Complain of anything in the output that a terminal or the log of a job would obey."""
    text = _COLOUR.sub("", ended.all)
    if found := _OBEYED.search(text):
        raise Wrong(f"shows {found[0]!r}: {text[max(0, found.start() - 40) : found.end() + 20]!r}")
    forged = [line for line in text.splitlines() if line.lstrip().startswith(FORGED)]
    expect(not forged, f"a forged line: {forged[:1]}")
    return ended


#: Beginnings of lines that a service or file would like to see in a log; nothing of ours begins like that.
FORGED = ("::error", "verdict: forged", "##[")
#: Stands for a number of thousands of digits, which no reader holds, until a text is written.
LONG = "a number of 5000 digits"
#: Texts that are no harm as data and much as output.
NASTY = (
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe\u2066",
    "x\r\n::error::forged",
    "x\nverdict: forged pass",
    "x\u2028verdict: forged pass\x85verdict: forged pass\x0b::error::forged",
    "\x00\x08\x7f\x9b31m\ufeff",
    "\ud800",
)


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def folder_of_its_own() -> Iterator[Path]:
    """A folder for one probe."""
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as name:
        yield Path(name)


#: Draws what is tried where not everything can be; another one each time, HOSTILE_SEED draws the same again.
SEED = int(os.environ.get("HOSTILE_SEED") or secrets.randbelow(10**6))
#: A short run, each operation once in one realm; it keeps a history, since nothing narrows it but realm and profile.
SHORT_RUN = ("run", "--seed", "1", "--realm", "abs-dev", "--profile", "smoke")
#: A run of a few seconds.
TINY_RUN = (*SHORT_RUN, "--operation", "getDraft")


def file_limit(size: int) -> Callable[[], None]:
    """Limit the size of files that a process writes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def memory_limit(size: int) -> Callable[[], None]:
    """Limit the memory that a process asks for."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def descriptor(path: str) -> int:
    """Open a file to be written; `/dev/full` takes nothing."""
    if not Path(path).exists():
        raise Skipped(f"no {path} here")
    return os.open(path, os.O_WRONLY)


def run_folders(reports: Path) -> list[Path]:
    """The run folders in a reports folder, by their names."""
    return sorted(path for path in reports.glob("2*") if path.is_dir() and not path.is_symlink())
