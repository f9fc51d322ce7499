"""Options that several commands share, and checks of their values."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from registry_contracts.errors import UsageError, suggestion
from registry_contracts.plugin.run_options import (
    COMPARISON,
    JUDGING,
    KEEP,
    REPORTS,
    SANDBOX_ARGUMENTS,
    SELECTION,
    TARGET,
    UNPACKED,
    WAIT,
    RunOption,
)
from registry_contracts.safe_text import one_line
from registry_contracts.settings.guard import checked_base_url
from registry_contracts.settings.settings_reader import load_target, refuse_sandbox_arguments
from registry_contracts.settings.target import ANY_REALM, DEVELOPMENT_REALMS, Target

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Option = Callable[[Any], Any]


def run_option(declared: RunOption, **changes: Any) -> _Option:
    """Make a command's option from a run option.

    Args:
        changes: Further keyword arguments of `click.option`, such as another help.
    """
    if declared.switch:
        return click.option(declared.flag, is_flag=True, **{"help": declared.help, **changes})
    arguments: dict[str, Any] = {
        "metavar": declared.metavar,
        "help": declared.help,
        "multiple": declared.repeatable,
        "type": int if declared.integer else None,
    }
    return click.option(declared.flag, **(arguments | changes))


def together(*options: _Option) -> Callable[[_Command], _Command]:
    """Combine options into one decorator, in the order of the help."""

    def decorated(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def _one_target(_ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> str | None:
    """Return a command's target: settings, a name or an address in normal form; None if not given."""
    if len(given) > 1:
        raise UsageError("--target and --base-url both name a target; remove one of them")
    return address_of(given[0]) if given and "://" in given[0] else next(iter(given), None)


def target_option(help: str = TARGET.help) -> _Option:  # noqa: A002 - click's own word
    """Make the option that names a target."""
    names = ("--target", "--base-url", "target")
    return click.option(*names, metavar="FILE|NAME|URL", multiple=True, callback=_one_target, help=help)


target: Final = target_option()
wait: Final = run_option(WAIT, default=30, type=click.IntRange(0))
sandbox_arguments: Final = run_option(SANDBOX_ARGUMENTS, default="")


def _is_there(ctx: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    """Refuse a named folder that does not exist; the default one may not exist yet."""
    named = ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    if named and not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'; --reports names the one that holds the runs")
    return folder


def _reports(**more: Any) -> _Option:
    folder, text = click.Path(path_type=Path), "Folder of the reports."
    return click.option(
        "--reports", metavar="DIR", type=folder, default="reports", show_default=True, help=text, **more
    )


reports: Final = _reports()
kept_reports: Final = _reports(callback=_is_there)


def file_option(*names: str, help: str, metavar: str = "FILE") -> _Option:  # noqa: A002 - click's own word
    """Make an option that names a file or a folder."""
    return click.option(*names, metavar=metavar, type=click.Path(path_type=Path), help=help)


as_json: Final = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
alone: Final = click.option(
    "--alone",
    is_flag=True,
    help="Judge sequences at once: no other client writes, and no request is missing.",
)
selection_options: Final = together(*map(run_option, SELECTION))
judging_options: Final = together(
    *(run_option(option) for option in JUDGING if option is not TARGET),
    run_option(SANDBOX_ARGUMENTS, default=None),
    click.option(
        "--workers", metavar="N", type=click.IntRange(1), help="Number of parallel processes for cases."
    ),
)
evidence_options: Final = together(*map(run_option, (REPORTS, KEEP, UNPACKED, *COMPARISON)))


def write_output(output: Path, text: str, option: str = "-o") -> None:
    """Write a command's output to the file that an option names.

    Raises:
        UsageError: the file cannot be written.
    """
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write '{output}': {error.strerror}; choose another place with {option}"
        ) from None


def address_of(text: str) -> str:
    """Return an address in normal form.

    Raises:
        UsageError: the address cannot be used; one line.
    """
    try:
        return checked_base_url(text.strip())
    except ValueError as error:
        raise UsageError(f"the address of the target {error}") from None


def named_target(target: str | None, sandbox_arguments: str = "") -> Target | None:
    """Load the settings of a command's target, for an address without an account; None for the sandbox.

    Raises:
        UsageError: the settings cannot be used.
    """
    if target is not None and "://" in target:
        settings: Target | None = Target(name="environment", base_url=target)
    else:
        settings = load_target(target, os.environ, Path.cwd())
    refuse_sandbox_arguments(settings, sandbox_arguments)
    return settings


def known_realms(
    names: Iterable[str], realms: Iterable[str] = (*DEVELOPMENT_REALMS, ANY_REALM)
) -> tuple[str, ...]:
    """Return the named realms, if all of them are known.

    Raises:
        UsageError: one is unknown; suggests the nearest, or lists all.
    """
    known_names = tuple(realms)
    for name in names:
        if name not in known_names:
            raise UsageError(f"unknown realm '{name}'; {suggestion(name, known_names)}")
    return tuple(names)


def print_lines(lines: Iterable[str]) -> None:
    """Print each line without line breaks in it, and without colours outside a terminal."""
    for line in lines:
        click.echo(one_line(line))


#: Width of the column of labels.
LABEL: Final = 12
_LINE_WIDTH: Final = 118


def labelled(label: str, text: str) -> str:
    """Put a text behind a label, wrapped and indented."""
    indent = " " * LABEL
    lines = textwrap.wrap(
        click.unstyle(text), _LINE_WIDTH - LABEL, break_long_words=False, break_on_hyphens=False
    ) or [""]
    if len(lines) == 1:
        return f"{label:<{LABEL}}{' '.join(text.split())}"
    return f"{label:<{LABEL}}" + f"\n{indent}".join(lines)
