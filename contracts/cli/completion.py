"""`registry-contracts completion`: prints the line that enables shell completion, and completes values of options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from contracts.errors import RegistryContractsError
from contracts.evidence.run_folder import LATEST
from contracts.interface.catalogue import load_catalogue
from contracts.interface.description import load_description
from contracts.interface.operations import WORKFLOW_REALMS
from contracts.reports.finding_files import FOLDER_NAME
from contracts.settings.settings_reader import TARGETS_FOLDER
from contracts.settings.target import ACCOUNT_ROLES, ANONYMOUS, SANDBOX

#: The program sets this variable to ask itself for a script (click's own mechanism).
_VARIABLE = "_REGISTRY_CONTRACTS_COMPLETE"
_PROGRAM = "registry-contracts"
_LINES = {
    "bash": (f'eval "$({_VARIABLE}=bash_source {_PROGRAM})"', "~/.bashrc"),
    "zsh": (f'eval "$({_VARIABLE}=zsh_source {_PROGRAM})"', "~/.zshrc"),
    "fish": (f"{_VARIABLE}=fish_source {_PROGRAM} | source", f"~/.config/fish/completions/{_PROGRAM}.fish"),
}


@click.command()
@click.argument("shell", type=click.Choice(list(_LINES)))
def command(shell: str) -> int:
    """Print the line that makes a shell complete commands, options, clauses, operations, realms and targets.

    The file to put it in is printed on standard error, so that the line alone can be appended to it.

    \b
    Examples:
      registry-contracts completion bash >> ~/.bashrc
      registry-contracts completion zsh >> ~/.zshrc
      registry-contracts completion fish > ~/.config/fish/completions/registry-contracts.fish
    """  # noqa: D301 - click's mark for lines to be left as they are
    line, place = _LINES[shell]
    click.echo(line)
    click.echo(f"put this line into {place}, and start a new shell", err=True)
    return 0


def clauses(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ids of clauses."""
    return _matching(((clause.id, clause.wording) for clause in load_catalogue()), incomplete)


def operations(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete operations."""
    described = load_description().operations.values()
    return _matching(((operation.id, operation.summary) for operation in described), incomplete)


def clauses_and_operations(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete either."""
    return [*operations(ctx, param, incomplete), *clauses(ctx, param, incomplete)]


def realms(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete development realms."""
    return _matching(((realm, "") for realm in WORKFLOW_REALMS), incomplete)


def roles(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete account roles."""
    return _matching(((role, "") for role in (*ACCOUNT_ROLES, ANONYMOUS)), incomplete)


def targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names in `targets/`, then files."""
    names = [SANDBOX, *sorted(path.stem for path in Path(TARGETS_FOLDER).glob("*.toml"))]
    items = _matching(((name, "") for name in names), incomplete)
    return items or [CompletionItem(incomplete, type="file")]


def findings(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete findings of the latest run, then files."""
    paths = sorted((Path("reports") / LATEST / FOLDER_NAME).glob("*.json"))
    items = _matching(((path.stem, "") for path in paths), incomplete)
    return items or [CompletionItem(incomplete, type="file")]


def _matching(candidates: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    try:
        return [CompletionItem(name, help=text) for name, text in candidates if name.startswith(incomplete)]
    except RegistryContractsError:
        return []  # a damaged installation is for the command to complain about
