"""Options, exit codes and output that the commands for requests by hand share."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from contracts.checks.outcomes import Blocked
from contracts.cli.options import reports, run_option, sandbox_arguments, target, together
from contracts.errors import EnvironmentFault, UsageError
from contracts.manual.manual_session import Leftovers, SessionOptions
from contracts.plugin.run_options import REALM
from contracts.settings.guard import GuardViolation

#: Exit codes of commands that send by hand: nothing contradicted, a finding, settings or options, the environment.
NO_FINDING: Final = 0
FINDING: Final = 1
INCONCLUSIVE: Final = 6

#: The options that say where to send.
options: Final = together(
    target,
    run_option(REALM, multiple=False, help="By default the first that has it."),
    click.option("--keep", is_flag=True, help="Leave the drafts that were created."),
    sandbox_arguments,
    reports,
)


def session_options(
    *, target: str | None, sandbox_arguments: str, reports: Path, keep: bool, seed: str | None = None
) -> SessionOptions:
    """Read the options that say where to send."""
    return SessionOptions(target, tuple(shlex.split(sandbox_arguments)), seed, reports, keep)


@contextmanager
def reporting_left(left: Leftovers) -> Iterator[None]:
    """Print what stays behind when the environment stops a command; a refused request is a usage error."""
    try:
        yield
    except GuardViolation as refused:
        raise UsageError(str(refused)) from None
    except (EnvironmentFault, Blocked) as obstacle:
        print_left(left)
        raise EnvironmentFault(str(obstacle)) from None


def print_left(left: Leftovers) -> None:
    """Print what stays behind on a target, a line each."""
    for entry in left.drafts:
        why = "kept; `registry-contracts sweep` removes it a day from now" if left.kept else "not removed"
        click.echo(f"left: draft {entry.identifier} in {entry.realm} ({why})", err=True)
    for entry in left.residue:
        name = entry.identifier or "without a name"
        click.echo(f"left for good: {entry.what} {name} in {entry.realm}", err=True)
