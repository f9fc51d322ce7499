"""A name that a person mistypes is a usage error in every command, never an empty answer."""

from collections.abc import Iterator
from importlib import import_module

import click
import pytest

from contracts.cli.program import COMMANDS
from tests.meta.program import RunCommand

#: What stands before an option, so that nothing but its value is wrong; by default the command alone.
FIRST = {
    "init": ("dev", "--base-url", "https://h.example"),
    "can-release": ("reports", "--target", "dev", "--base-url", "https://h.example"),
    "explain": ("uid-too-short",),
    "list": ("clauses",),
    "call": ("listDrafts",),
    "replay": ("abcdef0123",),
    "check": ("traffic.har",),
    "prove": ("--part", "drawn"),
}
#: Options that name what has to be there: all with these words in the help, and these files.
NAMES = {"REALM", "ID", "FILE|NAME"}
FILES = {"--consumer", "--deviations", "--baseline", "--from-har", "--family", "--fault", "--service"}
#: `run` and `gate` are pytest's, in a process of their own: `test_run_options` has theirs. What is left needs a run
#: or a recording before its name is looked at.
ELSEWHERE = {
    *(("drift " + each, "--baseline") for each in ("show", "accept")),
    *(("can-release", each) for each in ("--target", "--consumer", "--deviations", "--realm")),
    *(("replay", each) for each in ("--finding", "--target", "--realm")),
    ("merge", "--baseline"),
    ("consumer from-har", "-o"),
}


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command, or those of a group, by their words."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    for each, below in command.commands.items():
        yield from commands(f"{name} {each}", below)


def mistyped() -> Iterator[tuple[str, ...]]:
    """Every command with each option that names something, and a name that is none."""
    for name in COMMANDS:
        if name in ("run", "gate"):
            continue
        command = import_module(f"contracts.cli.{name.replace('-', '_')}").command
        for words, each in commands(name, command):
            for option in each.params:
                told = isinstance(option, click.Option) and (
                    option.metavar in NAMES or option.opts[0] in FILES
                )
                if told and (words, option.opts[0]) not in ELSEWHERE:
                    yield (*words.split(), *FIRST.get(words, ()), option.opts[0], "zz")


ARGUMENTS = [
    ("explain", "zz"),
    ("call", "zz"),
    ("replay", "zz"),
    ("merge", "zz"),
    ("history", "zz"),
    ("history", "--history", "zz"),
    ("history", "merge", "zz"),
    ("drift", "zz"),
    ("check", "zz"),
    ("consumer", "from-har", "zz"),
    ("can-release", "zz", "--target", "dev"),
    ("site", "zz", "-o", "site"),
    ("list", "zz"),
    ("completion", "zz"),
    ("drift", "--reports", "zz"),
    ("call", "listDrafts", "--body", "@zz"),
    ("sandbox", "--variant", "zz"),
    ("sandbox", "--like", "zz"),
]


@pytest.mark.parametrize("words", [*mistyped(), *ARGUMENTS], ids=" ".join)
def test_a_name_that_is_none_is_refused(run_command: RunCommand, words: tuple[str, ...]) -> None:
    ended = run_command(*words)
    assert (ended.code, ended.err.count("\n")) == (4, 1), ended
    assert "zz" in ended.err


@pytest.mark.parametrize("option", ["--family", "--fault", "--service", "--drawn-realm"])
def test_what_is_drawn_is_named_only_where_something_is(run_command: RunCommand, option: str) -> None:
    ended = run_command("prove", option, "abs-dev")
    assert (ended.code, ended.err) == (
        4,
        f"registry-contracts: {option} is for what is drawn; give --part drawn, too\n",
    )
