"""The group of commands; each is loaded on demand, so that it starts fast."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import click

from registry_contracts.command_line import run_to_the_end
from registry_contracts.errors import UsageError, refuse_empty_values, suggestion
from registry_contracts.interface.location import keep_hypothesis_out

#: Commands that leave a verdict file, and options with which they leave none.
_RUNS: Final = frozenset({"run", "gate"})
_NO_RUN: Final = frozenset({"--from", "--plan", "--collect-only", "--co"})

#: Command → its line in the help; the module of `registry_contracts.cli` that holds it has its name.
COMMANDS: Final = {
    "init": "write the settings file of a target",
    "doctor": "check whether a target can be judged, and which settings are missing",
    "run": "judge a target; without settings, the embedded sandbox",
    "sweep": "remove what earlier runs left on a target",
    "gate": "decide whether an SDK can be released against a target",
    "drift": "compare observations at silent points with the accepted baseline",
    "explain": "describe a clause, with its cases, verdicts and faults",
    "list": "list clauses, operations, findings, runs and the like",
    "call": "send one request by hand, and judge it",
    "check": "judge recorded traffic from any tool",
    "proxy": "pass traffic between a client and a target, and judge both",
    "openapi": "write the description of the interface as one file, for other tools",
    "sandbox": "serve the embedded sandbox until Ctrl-C",
}


class _Commands(click.Group):
    """A group that imports a command's module when the command is named."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and refuse empty values of its options."""
        name, command, words = super().resolve_command(ctx, args)
        if command is not None:
            refuse_empty_values(words, {name for each in command.params for name in each.opts})
        return name, command, words

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Load one command."""
        if cmd_name not in COMMANDS:
            raise UsageError(f"there is no command '{cmd_name}'; {suggestion(cmd_name, COMMANDS)}")
        module = import_module(f"registry_contracts.cli.{cmd_name}")
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
    """Run a command and exit with its code."""
    keep_hypothesis_out()
    run_to_the_end(program, "registry-contracts", _forget_latest)


def _forget_latest() -> None:
    """Remove the link `latest` when a run is refused: a pipeline must not read an older run's verdict file."""
    # Imported here, as help and other commands do not need it.
    from registry_contracts.evidence.run_folder import forget_latest  # noqa: PLC0415

    words = [word for given in sys.argv[1:] for word in given.split("=", 1)]
    if words and words[0] in _RUNS and _NO_RUN.isdisjoint(words):
        named = words.index("--reports") + 1 if "--reports" in words else len(words)
        forget_latest(Path(next(iter(words[named : named + 1]), "") or "reports"))
