"""Every command that a run prints to be copied works as it is pasted: in the terminal, and beside the report."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.meta.program import Launcher, Program
from tests.meta.sandbox_client import running

FAULT = "--sandbox-arguments=--fault draft-delete-takes-others"
Printed = tuple[dict[str, str], list[str]]
"""What a run printed to be copied: commands of a finding in the terminal by their labels, and those in its own file."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, library_launcher: Launcher) -> Program:
    """A runner of the program in a process and a folder of its own, the same for both tests."""
    return Program(tmp_path_factory.mktemp("copied") / "elsewhere", library_launcher)


@pytest.fixture(scope="module")
def printed(program: Program) -> Printed:
    program.folder.mkdir()
    ended = program("run", "--clause", "draft-delete-spares-others", "--realm", "abs-dev", FAULT)
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


@pytest.fixture
def kept(program: Program, printed: Printed, tmp_path: Path) -> Path:  # noqa: ARG001 - it makes the run
    """The verdict file of a run that is kept."""
    folder = tmp_path / "20300101-000000-kept"
    shutil.copytree(sorted((program.folder / "reports").glob("*/findings"))[0].parent, folder)
    return folder / "verdict.json"


def test_a_finding_is_run_again_by_its_own_cases_with_what_its_run_had(program: Program, kept: Path) -> None:
    verdict = json.loads(kept.read_text("utf-8")) | {"seed": 7, "profile": "nightly"}
    kept.write_text(json.dumps(verdict), "utf-8")
    (finding,) = verdict["findings"]
    reports = kept.parents[1]
    assert program("run", "--finding", finding["id"][:6], "--reports", str(reports)).code == 1
    again = json.loads((reports / "latest" / "verdict.json").read_text("utf-8"))
    facts = [again[name] for name in ("cases", "seed", "profile", "realms")]
    assert facts == [len(finding["cases"]), 7, "nightly", ["abs-dev"]]
    assert again["findings"][0]["cases"] == finding["cases"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--finding", "zz"), "no finding 'zz': the runs in"),
        (("--finding", "ID", "--realm", "bch-dev"), "finding ID is of abs-dev; take --realm away"),
    ],
)
def test_a_finding_that_cannot_be_run_again_is_one_line(
    program: Program, kept: Path, words: tuple[str, ...], why: str
) -> None:
    (finding,) = json.loads(kept.read_text("utf-8"))["findings"]
    named = [word.replace("ID", finding["id"]) for word in words]
    ended = program("run", "--reports", str(kept.parents[1]), *named, "-q")
    assert (ended.code, ended.out) == (4, "")
    (line,) = ended.err.splitlines()
    assert why.replace("ID", finding["id"]) in line


@pytest.mark.skipif(shutil.which("curl") is None, reason="this machine has no curl")
def test_a_sandbox_served_by_hand_takes_the_pasted_request(program: Program, printed: Printed) -> None:
    (serve,) = commands(printed, "sandbox")
    _, _, port_option, port, *options = shlex.split(serve)
    assert port_option == "--port"
    interpreter, script = shlex.split(printed[0]["by hand"])
    requests = [each for each in printed[1] if each.startswith(("EMAIL", "curl "))]
    by_hand = ["\n".join(requests), (program.folder / script).read_text("utf-8")]
    with running(program.launcher, program.folder, *options) as sandbox:
        # Another process may have the port of the run by now.
        pasted = [lines.replace(f"http://127.0.0.1:{port}", sandbox.url) for lines in by_hand]
        answered = [
            subprocess.run([interpreter, "-c", lines], capture_output=True, text=True, check=False)
            for lines in pasted
        ]
    assert all(re.match(r"HTTP/1\.1 20[01] ", each.stdout) for each in answered), answered
