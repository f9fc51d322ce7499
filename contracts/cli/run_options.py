"""Options of several commands about runs, each in one place: what is judged, where it is kept, who is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from contracts.cli import completion

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Option = Callable[[Any], Any]

#: The option of every command that sends something: to whom.
target: Final = click.option(
    "--target",
    metavar="FILE|NAME",
    shell_complete=completion.targets,
    help="Target settings; by default REGISTRY_… or the sandbox.",
)


def judged(consumer: str) -> Callable[[_Command], _Command]:
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


def kept(command: _Command) -> _Command:
    """Give a command the options about a run's evidence: its folder, drift, history, progress and webhook."""
    reports = click.option("--reports", metavar="DIR", help="Folder for the evidence; by default 'reports'.")
    progress = click.option(
        "--progress", metavar="WHEN", help="Show progress: auto (default; in a terminal), always, never."
    )
    return _together(reports, compared, progress, told)(command)


def compared(command: _Command) -> _Command:
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


def told(command: _Command) -> _Command:
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
