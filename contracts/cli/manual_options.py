"""Options, exit codes and output that the commands for requests by hand share."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from contracts.cli import completion
from contracts.cli.options import target as target_option
from contracts.manual.manual_session import Leftovers, SessionOptions

#: Exit codes of commands that send by hand: nothing contradicted, a finding, settings or options, the environment.
NO_FINDING: Final = 0
FINDING: Final = 1
INCONCLUSIVE: Final = 6


def options(function: Callable[..., int]) -> Callable[..., int]:
    """Put the options that say where to send onto a command."""
    for option in (
        click.option(
            "--reports", metavar="DIR", default="reports", show_default=True, help="Folder of the runs."
        ),
        click.option(
            "--sandbox-arguments",
            metavar="TEXT",
            default="",
            help='More options for the embedded sandbox, as in "--defect uid-accepts-ten".',
        ),
        click.option("--keep", is_flag=True, help="Leave the drafts that were created."),
        click.option(
            "--realm",
            metavar="REALM",
            shell_complete=completion.realms,
            help="By default the first that has it.",
        ),
        target_option,
    ):
        function = option(function)
    return function


def session_options(
    *, target: str | None, sandbox_arguments: str, reports: str, keep: bool, seed: str | None = None
) -> SessionOptions:
    """Put what the options say together."""
    return SessionOptions(target, tuple(shlex.split(sandbox_arguments)), seed, Path(reports), keep)


def print_left(left: Leftovers) -> None:
    """Say what stays behind on a target, a line each."""
    for entry in left.drafts:
        why = "kept; `registry-contracts sweep` removes it a day from now" if left.kept else "not removed"
        click.echo(f"left: draft {entry.identifier} in {entry.realm} ({why})", err=True)
    for entry in left.residue:
        name = entry.identifier or "without a name"
        click.echo(f"left for good: {entry.what} {name} in {entry.realm}", err=True)


def print_lines(lines: Any) -> None:
    """Print lines; colours are left out where there is no terminal."""
    for line in lines:
        click.echo(line)
