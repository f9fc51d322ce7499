"""Reports what stays behind on a target after `call` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from registry_contracts.checks.outcomes import Blocked
from registry_contracts.errors import EnvironmentFault, UsageError
from registry_contracts.manual.manual_session import Leftovers
from registry_contracts.settings.guard import GuardViolation


@contextmanager
def reporting_left(left: Leftovers) -> Iterator[None]:
    """Print what stays behind when the environment stops a command.

    Raises:
        UsageError: the guard refuses a request.
        EnvironmentFault: a request cannot be judged, or what it relies on failed.
    """
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


def left_as_data(left: Leftovers) -> list[dict[str, str]]:
    """List what stays behind on a target, as plain data."""
    return [
        {"what": entry.what, "identifier": entry.identifier, "realm": entry.realm}
        for entry in (*left.drafts, *left.residue)
    ]
