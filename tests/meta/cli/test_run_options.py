"""The options of `run` and `gate`: what they share says and completes the same in both."""

import click
import pytest
from click.shell_completion import ShellComplete

from contracts.cli.gate import command as gate
from contracts.cli.program import program
from contracts.cli.run import command as run
from contracts.cli.run import pytest_words
from contracts.errors import UsageError

#: Shared options whose help says what they are in that command.
WORDED_APART = {"strict"}


def options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by name."""
    return {str(each.name): each for each in command.params if isinstance(each, click.Option)}


def completed(command: str, option: str, incomplete: str) -> list[str]:
    """What a shell is offered for the value of an option."""
    shell = ShellComplete(program, {}, "registry-contracts", "_REGISTRY_CONTRACTS_COMPLETE")
    return [str(item.value) for item in shell.get_completions([command, option], incomplete)]


def test_a_gate_takes_what_a_run_takes_but_for_what_would_make_it_partial() -> None:
    partial = {"profile", "clause", "operation", "seed", "shard", "first"}
    assert options(run).keys() - options(gate).keys() == partial
    assert options(gate).keys() <= options(run).keys()


def test_a_shared_option_is_the_same_in_both() -> None:
    ours, theirs = options(run), options(gate)
    for name in theirs:
        one, other = (
            (each.metavar, each.multiple, each.is_flag, repr(each.type))
            for each in (ours[name], theirs[name])
        )
        assert one == other, name
        assert (ours[name].help == theirs[name].help) == (name not in WORDED_APART), name


@pytest.mark.parametrize("command", ["run", "gate"])
def test_realms_and_targets_are_completed(command: str) -> None:
    assert completed(command, "--realm", "ab") == ["abs-dev"]
    assert completed(command, "--target", "sandb") == ["sandbox"]


def test_an_address_stands_for_a_target_and_not_beside_one() -> None:
    assert "--target=https://host.example" in pytest_words(
        {"base_url": "https://Host.example/"}, None, strict=False
    )
    with pytest.raises(UsageError, match="both name a target"):
        pytest_words({"base_url": "https://host.example", "target": "dev"}, None, strict=False)
