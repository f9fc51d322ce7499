"""The program: its lists, its help, its options, and one clear line for a variable that cannot be used."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from registry_contracts.cli.program import COMMANDS
from tests.meta.program import RunCommand


def test_a_variable_of_pytest_that_cannot_be_used_is_named(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_PLUGINS", "nowhere")
    code, out, err = run_command("run")
    (line,) = err.splitlines()
    assert (code, out) == (4, "")
    assert "No module named 'nowhere'" in line
    assert "pytest also reads PYTEST_PLUGINS" in line


def test_an_interruption_while_the_sandbox_starts_is_one_line(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from registry_contracts.cli import main; sys.argv[0] = 'registry-contracts'; "
        "sys.addaudithook(lambda event, _: event == 'subprocess.Popen' and os.kill(os.getpid(), signal.SIGINT)); "
        "main()"
    )
    interrupted = [sys.executable, "-P", "-c", code, "run"]
    ended = subprocess.run(interrupted, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "interrupted before anything was sent\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["operations", "clauses", "faults", "variants", "habits", "weathers"])
def test_everything_is_listed_for_people_and_for_programs(run_command: RunCommand, what: str) -> None:
    head, *lines = run_command("list", what).out.splitlines()
    assert head.startswith("id  ")
    assert len(lines) == len(json.loads(run_command("list", what, "--json").out)) > 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_in_its_help(run_command: RunCommand, name: str) -> None:
    ended = run_command(name, "-h")
    assert ended.code == 0
    assert f"Examples:\n    registry-contracts {name}" in ended.out
