"""Every command that a run prints to be copied works as it is pasted: in the terminal, and beside the report."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.program import Program

FAULT = "--sandbox-arguments=--fault attachment-text-only"
Printed = tuple[dict[str, str], list[str]]
"""What a run printed to be copied: commands of a finding in the terminal by their labels, and those in its own file."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A runner of the program in a folder of its own, the same for these tests."""
    return Program(tmp_path_factory.mktemp("copied") / "elsewhere")


@pytest.fixture(scope="module")
def printed(program: Program) -> Printed:
    program.folder.mkdir()
    ended = program("run", "--clause", "attachment-create-accepted", "--realm", "abs-dev", FAULT)
    assert ended.code == 1, ended
    terminal = dict(re.findall(r"^   (explain|again|by hand) +(.*)$", ended.out, re.MULTILINE))
    (page,) = (program.folder / "reports" / "latest" / "findings").glob("*.md")
    return terminal, re.findall(r"^```sh\n(.*?)\n```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands(printed: Printed, word: str) -> list[str]:
    """Every printed command of the program that begins so, each once."""
    both = [*printed[0].values(), *printed[1]]
    return list(dict.fromkeys(each for each in both if each.startswith(f"registry-contracts {word} ")))


@pytest.mark.parametrize(("word", "code"), [("explain", 0), ("run", 1)])
def test_what_is_pasted_shows_something_or_finds_it_again(
    program: Program, printed: Printed, word: str, code: int
) -> None:
    assert printed[0].keys() == {"explain", "again", "by hand"}
    assert commands(printed, word)
    for command in commands(printed, word):
        ended = program(*shlex.split(command)[1:])
        assert ended.code == code, (command, ended)


def test_the_script_serves_a_sandbox_as_the_run_had_it_and_shows_the_finding_again(
    program: Program, printed: Printed
) -> None:
    words = shlex.split(printed[0]["by hand"])
    # The script finds the program as a shell does whose environment is activated.
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ended = subprocess.run(
        words, cwd=program.folder, env=os.environ | path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "It shows again."), ended


@pytest.mark.usefixtures("printed")
def test_a_finding_is_run_again_by_its_own_cases_with_what_its_run_had(
    program: Program, tmp_path: Path
) -> None:
    reports, made = tmp_path / "reports", (program.folder / "reports").glob("*/findings")
    path = shutil.copytree(sorted(made)[0].parent, reports / "20300101-000000-kept") / "verdict.json"
    verdict = json.loads(path.read_text("utf-8")) | {"seed": 7, "profile": "nightly"}
    path.write_text(json.dumps(verdict), "utf-8")
    (finding,) = verdict["findings"]
    assert program("run", "--finding", finding["id"][:6], "--reports", str(reports)).code == 1
    again = json.loads((reports / "latest" / "verdict.json").read_text("utf-8"))
    facts = [again[name] for name in ("cases", "seed", "profile", "realms")]
    assert facts == [len(finding["cases"]), 7, "nightly", ["abs-dev"]]
    assert again["findings"][0]["cases"] == finding["cases"]
