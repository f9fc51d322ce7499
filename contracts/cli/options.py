"""Options that several commands share, groups with a default command, and the lookup of run folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from contracts.cli import completion
from contracts.errors import UsageError
from contracts.evidence.run_folder import LATEST

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Option = Callable[[Any], Any]

#: The option of every command that sends something: to whom.
target: Final = click.option(
    "--target",
    metavar="FILE|NAME",
    shell_complete=completion.targets,
    help="Target settings; by default REGISTRY_… or the sandbox.",
)


def judging_options(consumer: str) -> Callable[[_Command], _Command]:
    """Give a command the options that say what a run judges: target, realms, workers, consumer and deviations.

    Args:
        consumer: Help of `--consumer`, which is the heart of one command and a choice in another.
    """
    return _together(
        target,
        click.option(
            "--realm",
            metavar="REALM",
            multiple=True,
            shell_complete=completion.realms,
            help="Judge only this realm; may be repeated.",
        ),
        click.option(
            "--workers", metavar="N", type=click.IntRange(1), help="Processes that run cases side by side."
        ),
        click.option("--consumer", metavar="FILE", help=consumer),
        click.option(
            "--deviations",
            metavar="FILE",
            help="Accepted contradictions; by default deviations/<target>.toml.",
        ),
    )


def evidence_options(command: _Command) -> _Command:
    """Give a command the options about a run's evidence: its folder, drift, history, progress and webhook."""
    reports = click.option("--reports", metavar="DIR", help="Folder for the evidence; by default 'reports'.")
    progress = click.option(
        "--progress", metavar="WHEN", help="Show progress: auto (default; in a terminal), always, never."
    )
    return _together(reports, comparison_options, progress, webhook_options)(command)


def comparison_options(command: _Command) -> _Command:
    """Give a command the options that say what a run is compared with: drift, baseline and history."""
    return _together(
        click.option("--drift", metavar="MODE", help="Drift from the baseline: warn (default), fail or off."),
        click.option(
            "--baseline", metavar="FILE", help="Accepted observations; by default baselines/<target>.yaml."
        ),
        click.option(
            "--history", metavar="FILE", help="History of runs, or 'off'; by default in the reports."
        ),
    )(command)


def webhook_options(command: _Command) -> _Command:
    """Give a command the options that say who is told how a run ended: a webhook, and the report's address."""
    return _together(
        click.option(
            "--notify", metavar="URL", help="Webhook to tell the summary; better: REGISTRY_NOTIFY_URL."
        ),
        click.option("--report-url", metavar="URL", help="Where people find the report, for the webhook."),
    )(command)


def _together(*options: _Option) -> Callable[[_Command], _Command]:
    """Several options as one decorator, in the order of the help."""

    def decorated(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


class DefaultCommandGroup(click.Group):
    """A click group that takes its first command where the arguments begin with no command's name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the first command before arguments that name none."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands, the default one first."""
        return list(self.commands)


def run_folder(reports: Path, run: str | None) -> Path:
    """Return the folder of a run.

    Args:
        reports: folder that holds the runs.
        run: path of a run folder, or its name in `reports`; None for the latest run.

    Raises:
        UsageError: there is none; says where it was looked for.
    """
    if run is None:
        return _latest(reports)
    for folder in (Path(run), reports / run):
        if folder.is_dir():
            return folder.resolve()
    raise UsageError(f"no run '{run}': neither a folder, nor one in '{reports}'")


def _latest(reports: Path) -> Path:
    latest = reports / LATEST
    if latest.is_file():
        # A file system without links holds the folder's name in a text file.
        latest = reports / latest.read_text("utf-8").strip()
    if not latest.is_dir():
        raise UsageError(
            f"no run in '{reports}' yet; `registry-contracts run` makes one, --reports names another"
        )
    return latest.resolve()
