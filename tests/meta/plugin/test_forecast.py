"""What a run takes in and sends, and what it warns of before."""

import json
import re

from registry_contracts.interface.location import cases_directory
from tests.meta.program import CHECKOUT, Program


def test_smoke_takes_in_every_case_that_is_marked(program: Program) -> None:
    taken = program("run", "--collect-only", "-q", "--profile=smoke").out
    marked = [
        rf"{path.name}::{function}\[[a-z-]+{re.escape(parameter)}"
        for path in cases_directory().rglob("test_*.py")
        for words, function in re.findall(
            r"^@smoke\(([^)]*)\)(?=.*?\ndef (\w+))", path.read_text("utf-8"), re.MULTILINE | re.DOTALL
        )
        for parameter in re.findall(r'"([^"]+)"', words) or [""]
    ]
    assert len(marked) > 50, marked
    assert [each for each in marked if not re.search(each, taken)] == []


def test_smoke_sends_no_more_than_the_readme_says(program: Program) -> None:
    bar = re.search(r"at most (\d+) requests", (CHECKOUT / "README.md").read_text("utf-8"))
    assert program("run", "--profile=smoke").code == 0
    verdict = json.loads((program.folder / "reports" / "latest" / "verdict.json").read_text("utf-8"))
    assert bar is not None
    assert verdict["environment"]["requests"] <= int(bar[1])


def test_a_password_that_is_an_ordinary_word_is_warned_of(program: Program) -> None:
    words = ("run", "--plan", "--realm=abs-dev", "-k=draft", "--base-url=http://127.0.0.1:9")
    for password, times in (("draft", 1), ("hunter2-correct-horse", 0)):
        program.environment.update(REGISTRY_EMAIL="a@b.test", REGISTRY_PASSWORD=password)
        planned = program(*words)
        assert planned.code == 0, planned
        assert planned.out.count("the password of author is an ordinary word") == times
