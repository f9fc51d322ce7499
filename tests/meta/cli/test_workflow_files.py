"""The workflows that people copy pin their actions, and name options that exist; `tox -e workflows` lints them."""

import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

from contracts.cli.program import COMMANDS

CHECKOUT = Path(__file__).parents[3]
WORKFLOWS = sorted(CHECKOUT.glob(".github/workflows/*.yml"))
TEXTS = (*WORKFLOWS, CHECKOUT / "docs" / "ci.md", CHECKOUT / "Containerfile")


def test_actions_are_pinned_by_hash_with_their_release_beside() -> None:
    pinned = re.compile(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    for path in (*WORKFLOWS, CHECKOUT / "docs" / "ci.md"):
        used = re.findall(r"^\s*-? *uses: (.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert used, path
        assert all(pinned.fullmatch(each) for each in used), used


def commands(text: str) -> list[list[str]]:
    """The lines in which a text calls the program, as words."""
    lines = text.replace("\\\n", " ").splitlines()
    called = re.compile(r"(?:^|[\s/])registry-contracts (" + "|".join(COMMANDS) + r")\b(.*)")
    found = [match for line in lines if "uses:" not in line and (match := called.search(line))]
    return [
        [match[1], *shlex.split(match[2].partition("||")[0].rstrip(" `."), comments=True)] for match in found
    ]


def options_of(name: str) -> set[str]:
    """The options that a command takes."""
    command: click.Command = import_module(f"contracts.cli.{name}").command
    return {option for each in command.params for option in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_option_in_them_exists(path: Path) -> None:
    found = commands(path.read_text(encoding="utf-8"))
    assert found
    for name, *words in found:
        if name != "sandbox":  # its options are read by the sandbox itself
            used = {word.partition("=")[0] for word in words if word.startswith("-")}
            assert used <= options_of(name), (name, used)
