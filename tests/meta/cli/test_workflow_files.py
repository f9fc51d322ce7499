"""The workflows that people copy pin their actions, and name options that exist; `tox -e workflows` lints them."""

import os
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import click
import pytest
import yaml

from registry_contracts.cli.program import COMMANDS

CHECKOUT = Path(__file__).parents[3]
WORKFLOWS = sorted(CHECKOUT.glob(".github/workflows/*.yml"))
TEXTS = (*WORKFLOWS, CHECKOUT / "docs" / "ci.md", CHECKOUT / "Containerfile")


def test_actions_are_pinned_by_hash_with_their_release_beside() -> None:
    pinned = re.compile(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    for path in (*WORKFLOWS, CHECKOUT / "docs" / "ci.md"):
        used = re.findall(r"^\s*-? *uses: (.*)$", path.read_text("utf-8"), re.MULTILINE)
        assert used, path
        assert all(pinned.fullmatch(each) for each in used), used


@pytest.mark.parametrize(
    ("package", "code"),
    [
        ("registry-contracts==0.1.0", 0),
        ("dist/registry_contracts-0.1.0-py3-none-any.whl", 0),
        (f"registry-contracts @ git+https://example.test/x@{'a' * 40}", 0),
        ("registry-contracts", 4),
        ("git+https://example.test/x@main", 4),
        ("", 4),
    ],
)
def test_a_job_with_secrets_installs_only_what_is_one_thing(tmp_path: Path, package: str, code: int) -> None:
    workflow = yaml.safe_load((CHECKOUT / ".github" / "workflows" / "gate.yml").read_text("utf-8"))
    given = workflow[True]["workflow_call"]["inputs"]["package"]
    assert (given.get("default"), given["required"]) == (None, True)
    script = next(
        each["run"] for each in workflow["jobs"]["gate"]["steps"] if "install" in each.get("run", "")
    )
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\n", "utf-8")
    pip.chmod(0o755)
    environment = {"PACKAGE": package, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(
        [str(shutil.which("bash")), "-eo", "pipefail", "-c", script], env=environment, check=False
    )
    assert ended.returncode == code


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
    command: click.Command = import_module(f"registry_contracts.cli.{name}").command
    return {option for each in command.params for option in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_option_in_them_exists(path: Path) -> None:
    found = commands(path.read_text(encoding="utf-8"))
    assert found
    for name, *words in found:
        if name != "sandbox":  # its options are read by the sandbox itself
            used = {word.partition("=")[0] for word in words if word.startswith("-")}
            assert used <= options_of(name), (name, used)
