"""Runs a command of this suite: safe output, signals, and every error as one line with its exit code."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import click

from registry_contracts.errors import (
    INTERRUPTING_SIGNALS,
    ExitCode,
    RegistryContractsError,
    UsageError,
    breakdown,
    discard_unwritten,
)
from registry_contracts.safe_text import SafeOutput, complaint


def run_to_the_end(command: click.Command, name: str, refused: Callable[[], object] = lambda: None) -> None:
    """Run a command and exit with its code; every error is one line on stderr.

    Args:
        name: The program's name in messages.
        refused: Called after a usage error.
    """
    _open_closed_streams()
    with _safe_output():
        try:
            with _interruptible():
                code = _run(command, name, refused)
        except KeyboardInterrupt:  # a second signal, while the first is told
            code = _complain("interrupted", ExitCode.INTERRUPTED)
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open the null device for each standard stream that was closed at the start.

    Otherwise the next opened file, such as a journal or a connection, would get its number, and receive the output.
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
    """Escape all output that a terminal or the log of a job would obey."""
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
    """Let signals interrupt the command; restore the handler of Ctrl-C afterwards."""
    before = signal.getsignal(signal.SIGINT)
    for number in INTERRUPTING_SIGNALS:
        # A signal that is ignored, as under nohup, stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run(command: click.Command, name: str, refused: Callable[[], object]) -> int:
    try:
        code = int(command.main(prog_name=name, standalone_mode=False) or 0)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return ExitCode.USAGE
    except click.ClickException as error:
        refused()
        return _complain(error.format_message(), ExitCode.USAGE)
    except RegistryContractsError as error:
        if isinstance(error, UsageError):
            refused()
        return _complain(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", ExitCode.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - whatever breaks must not end as 1, which is a verdict
        return _complain(breakdown(error), ExitCode.ERROR)
    return code


def _complain(text: str, code: int) -> int:
    with suppress(OSError, ValueError):
        click.echo(f"registry-contracts: {complaint(text)}", err=True)
    for stream in (sys.stdout, sys.stderr):
        discard_unwritten(stream)
    return code
