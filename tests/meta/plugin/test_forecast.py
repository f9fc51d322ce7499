"""What a run takes in and sends, and what it warns of before."""

import ast
import json
import re
from collections.abc import Iterator

from registry_contracts.interface.location import cases_directory
from tests.meta.program import CHECKOUT, Program


def decorators() -> Iterator[tuple[str, list[ast.Call]]]:
    """The marks of each case, by file and function."""
    for path in cases_directory().rglob("test_*.py"):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = [call for call in function.decorator_list if isinstance(call, ast.Call)]
            if any(ast.unparse(call.func) == "contract" for call in calls):
                yield f"{path.relative_to(cases_directory()).as_posix()}::{function.name}", calls


def test_smoke_takes_in_every_case_that_is_marked(program: Program) -> None:
    taken = program("run", "--collect-only", "-q", "--profile=smoke").out
    marked = [
        (function, parameter)
        for function, calls in decorators()
        for call in calls
        if ast.unparse(call.func) == "smoke"
        for parameter in map(ast.literal_eval, call.args or [ast.Constant("")])
    ]
    left_out = [
        (function, parameter)
        for function, parameter in marked
        if not re.search(rf"{re.escape(function)}\[[a-z-]+{re.escape(parameter)}", taken)
    ]
    assert len(marked) > 50, marked
    assert not left_out


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
