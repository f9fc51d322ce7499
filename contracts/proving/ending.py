"""How the commands of this package read their seeds and end: known trouble is one line."""

from __future__ import annotations

import sys
from typing import Final, NoReturn

import click

from contracts.errors import RegistryContractsError, UsageError

_USAGE: Final = 4
_ERROR: Final = 3


def seeds_of(text: str) -> list[int]:
    """Return the seeds of `1,2,3`.

    Raises:
        UsageError: one of them is no whole number.
    """
    try:
        return [int(seed) for seed in text.split(",")]
    except ValueError:
        raise UsageError(f"--seeds must be whole numbers separated by commas, not '{text}'") from None


def end_with(command: click.Command, name: str) -> NoReturn:
    """Run a command and exit with its code.

    Args:
        name: What a line of trouble begins with.
    """
    try:
        sys.exit(int(command.main(standalone_mode=False) or 0))
    except click.ClickException as error:
        _complain(name, error.format_message(), _USAGE)
    except UsageError as error:
        _complain(name, str(error), _USAGE)
    except RegistryContractsError as error:
        _complain(name, str(error), _ERROR)


def _complain(name: str, text: str, code: int) -> NoReturn:
    click.echo(f"{name}: {text}", err=True)
    sys.exit(code)
