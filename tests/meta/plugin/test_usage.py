"""What cannot be used is told in one line, with exit code 4 or 6, and nothing is sent."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import IN_PROCESS, clean_environment, in_this_process

pytestmark = pytest.mark.usefixtures("nothing_left")


def complaint(ended: Any) -> str:
    """The only line in which a run complains."""
    assert "Traceback" not in ended.output, ended.output
    lines = [line for line in ended.output.splitlines() if line.strip()]
    assert len(lines) == 1, ended.output
    return str(lines[0])


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--profile=gat", r"unknown profile 'gat'; did you mean 'gate'\?"),
        ("--realm=abs", "production realm, which is refused"),
        ("--nonsense", "unrecognized arguments: --nonsense; .* shows the options"),
        ("--prfile=smoke", r"unrecognized arguments: --prfile=smoke; did you mean '--profile'\?"),
        ("--max-warnings=3", "--max-warnings cannot be used in a contract run"),
    ],
)
def test_unknown_words_are_answered_in_one_line(run: Any, option: str, words: str) -> None:
    (run.reports / "20200101-000000-old").mkdir(parents=True)
    (run.reports / "latest").symlink_to("20200101-000000-old")
    run.environment |= dict.fromkeys(IN_PROCESS, "")  # which would be told as a reason
    ended = run(option, program=option in ("--nonsense", "--prfile=smoke"))
    assert ended.code == 4, ended.output
    assert re.search(words, complaint(ended))
    # A pipeline may read the verdict file in place of the exit code: that of an older run would be wrong.
    assert [path.name for path in run.reports.iterdir()] == ["20200101-000000-old"]


@pytest.mark.parametrize(("wait", "code"), [("0", 6), ("20", 5)])
def test_a_starting_target_is_waited_for(run: Any, faulty: Callable[..., Any], wait: str, code: int) -> None:
    unavailable: Any = (503, [], b"")
    starting = iter([unavailable] * 6)
    service = faulty(lambda *_: next(starting, None))
    ended = run("-k", "no_case_of_this_name", f"--target={service.target}", f"--wait={wait}")
    assert ended.code == code, ended.output


def test_a_wrong_password_ends_with_6_and_is_not_shown(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty()
    run.environment["SANDBOX_AUTHOR_PASSWORD"] = "wrong-and-still-secret"
    ended = run("-k", "test_content", f"--target={service.target}", program=True)
    assert ended.code == 6, ended.output
    shown = [line for line in ended.output.splitlines() if "e-mail and password" in line]
    assert len(shown) == 1, ended.output
    assert "refuses the author's e-mail and password (status 401)" in shown[0]
    assert {path for _, path in service.app.requests} == {"/api/v2013/authentication/token"}
    assert "wrong-and-still-secret" not in ended.output


def test_what_runs_no_case_starts_nothing(run: Any, tmp_path: Path) -> None:
    assert run("--collect-only", "-q").code == run("--fixtures").code == 0
    path = tmp_path / "test_else.py"
    path.write_text("def test_else(): ...\n", encoding="utf-8")
    words = [
        str(path),
        f"--rootdir={tmp_path}",
        f"--confcutdir={tmp_path}",
        "-p",
        "registry_contracts.plugin",
    ]
    ended = in_this_process(lambda: pytest.main(words), tmp_path, clean_environment(**IN_PROCESS))
    assert ended.code == 0, ended.output
    assert "1 passed" in ended.out
    assert not run.reports.exists()
    assert not (tmp_path / "reports").exists()
