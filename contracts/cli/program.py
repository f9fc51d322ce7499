"""The program: commands loaded on demand, so that each starts fast, and the exit codes of known errors."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Final

import click

from contracts.cli.removed import refuse_removed
from contracts.errors import (
    INTERRUPTING_SIGNALS,
    EnvironmentFault,
    RefusedRunError,
    RegistryContractsError,
    UsageError,
    breakdown,
    discard_unwritten,
)
from contracts.interface.location import keep_hypothesis_out
from contracts.safe_text import SafeOutput, plain_line

#: Exit codes of design section 3 that known errors end with.
_INTERRUPTED: Final = 2
_ERROR: Final = 3
_USAGE: Final = 4
_INCONCLUSIVE: Final = 6
_LONGEST_LINE: Final = 2000
#: Commands that judge a target and leave a verdict file.
_RUNS: Final = frozenset({"run", "gate"})
#: By kind of error; the others are errors of the suite.
_EXIT_CODES: Final = {UsageError: _USAGE, EnvironmentFault: _INCONCLUSIVE}

#: Command → its line in the help; the module of `contracts.cli` that holds it has its name.
COMMANDS: Final = {
    "init": "write the settings file of a target",
    "doctor": "look whether a target can be judged, and what its settings still lack",
    "run": "judge a target; without settings, the embedded sandbox",
    "merge": "put the reports of a run's shards together",
    "prove": "show that the suite finds what is broken, and only that",
    "sweep": "remove what earlier runs left on a target",
    "gate": "one verdict on what an SDK uses, for its release",
    "site": "a static site over the kept runs, for a team's morning",
    "drift": "compare what was observed at silent points with what was accepted",
    "history": "show the verdicts of earlier runs",
    "explain": "describe a clause or an operation, and its status",
    "list": "list clauses, operations, cases, defects, findings and the like",
    "call": "send one request by hand, and judge it",
    "replay": "send what a finding or a HAR recorded once more",
    "check": "judge recorded traffic from any tool",
    "proxy": "stand between a client and a target, and judge both",
    "openapi": "write the description of the interface as one file, for other tools",
    "completion": "print the line that makes a shell complete",
    "sandbox": "serve the embedded sandbox until Ctrl-C",
}


class _Commands(click.Group):
    """A group that imports a command's module when the command is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"contracts.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, line in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="registry-contracts")
def program() -> None:
    """Prove, against a live environment, whether the document registry keeps its interface."""


def main() -> None:
    """Run a command and exit with its code; every error is one line on stderr."""
    _open_closed_streams()
    keep_hypothesis_out()
    with _safe_output():
        code = _guarded()
    gc.freeze()  # nothing is left to collect for a process that ends
    sys.exit(code)


def _open_closed_streams() -> None:
    """Let nothing stand where an input or output was closed from the beginning.

    The next file that is opened, a journal or a connection, would have its number otherwise, and take what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


@contextmanager
def _safe_output() -> Iterator[None]:
    """Let nothing out that a terminal or the log of a job would obey, wherever in the program it is printed."""
    usual = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (SafeOutput(stream) if hasattr(stream, "buffer") else stream for stream in usual)
    try:
        yield
    finally:
        for ours in (sys.stdout, sys.stderr):
            if isinstance(ours, SafeOutput):
                discard_unwritten(ours)
                ours.detach()
        sys.stdout, sys.stderr = usual


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let signals interrupt the command; Ctrl-C at any other time is left to what was there before."""
    before = signal.getsignal(signal.SIGINT)
    for number in INTERRUPTING_SIGNALS:
        # A signal that is ignored, as under nohup, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _guarded() -> int:
    try:
        with _interruptible():
            return _run()
    except KeyboardInterrupt:
        return _complain("interrupted", _INTERRUPTED)


def _run() -> int:
    try:
        refuse_removed(sys.argv[1:])
        code = int(program.main(prog_name="registry-contracts", standalone_mode=False) or 0)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return _USAGE
    except click.ClickException as error:
        _note_refused_run(error.format_message())
        return _complain(error.format_message(), _USAGE)
    except RegistryContractsError as error:
        if isinstance(error, UsageError) and not isinstance(error, RefusedRunError):
            _note_refused_run(str(error))
        codes = (code for kind, code in _EXIT_CODES.items() if isinstance(error, kind))
        return _complain(str(error), next(codes, _ERROR))
    except click.Abort:
        return _complain("interrupted", _INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - whatever breaks must not end as 1, which is a verdict
        return _complain(breakdown(error), _ERROR)
    return code


def _note_refused_run(reason: str) -> None:
    """Leave a verdict file of a run that is refused, which a pipeline may read in place of the exit code."""
    words = sys.argv[1:]
    if words and words[0] in _RUNS:
        # Only now: nothing else here needs the modules of a run.
        from contracts.plugin.refused_run import write_refused_words  # noqa: PLC0415

        write_refused_words(words, plain_line(reason, _LONGEST_LINE))


def _complain(text: str, code: int) -> int:
    with suppress(OSError, ValueError):
        click.echo(f"registry-contracts: {plain_line(text, _LONGEST_LINE)}", err=True)
    for stream in (sys.stdout, sys.stderr):
        discard_unwritten(stream)
    return code
