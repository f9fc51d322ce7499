"""Unusable options and targets end a run with one line and exit code 4 or 6; also the size of a smoke run."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.interface.location import cases_directory
from registry_contracts.sandbox.app import create_app
from registry_contracts.sandbox.habits import Settings
from tests.meta.program import CHECKOUT, IN_PROCESS, Program, clean_environment, in_this_process
from tests.meta.sandbox_client import JSON

PLUGIN = "registry_contracts.plugin"
REALMS = ("abs-dev", "bch-dev", "chm-dev")
PAGE = (404, [(b"content-type", b"text/html")], b"<!doctype html><title>Sign in</title>")


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
    run.environment |= dict.fromkeys(IN_PROCESS, "")  # the line would name them as a reason
    ended = run(option, program=option in ("--nonsense", "--prfile=smoke"))
    assert ended.code == 4, ended.output
    (line,) = [line for line in ended.output.splitlines() if line.strip()]
    assert re.search(words, line)
    # A pipeline may read the verdict file instead of the exit code; an older run's would be wrong.
    assert [path.name for path in run.reports.iterdir()] == ["20200101-000000-old"]


@pytest.mark.parametrize(("wait", "code"), [("0", 6), ("20", 5)])
def test_a_starting_target_is_waited_for(run: Any, faulty: Any, wait: str, code: int) -> None:
    unavailable: Any = (503, [], b"")
    starting = iter([unavailable] * 6)
    service = faulty(lambda *_: next(starting, None))
    ended = run("-k", "no_case_of_this_name", f"--target={service.target}", f"--wait={wait}")
    assert ended.code == code, ended.output


def test_a_wrong_password_ends_with_6_and_is_not_shown(run: Any, faulty: Any) -> None:
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
    words = [str(path), f"--rootdir={tmp_path}", f"--confcutdir={tmp_path}", "-p", PLUGIN]
    ended = in_this_process(lambda: pytest.main(words), tmp_path, clean_environment(**IN_PROCESS))
    assert ended.code == 0, ended.output
    assert "1 passed" in ended.out
    assert not run.reports.exists()
    assert not (tmp_path / "reports").exists()


def test_realms_by_other_names_are_one_finding_with_them(run: Any, serve_app: Callable[[Any], str]) -> None:
    sandbox = create_app(Settings())
    known = {realm.upper().encode(): realm.encode() for realm in REALMS}

    async def renamed(scope: Any, receive: Any, send: Any) -> None:
        """The sandbox, which knows a realm only by its name in capitals."""
        headers = [
            (name, known.get(value, b"not-known-here") if name == b"realm" else value)
            for name, value in scope.get("headers", ())
        ]
        await sandbox({**scope, "headers": headers}, receive, send)

    ended = run(f"--target={run.aim(serve_app(renamed))}")
    assert ended.code == 1, ended.output
    findings = ended.verdict["findings"]
    assert {(each["clause"], each["realm"], each["confirmed"]) for each in findings} == {
        ("realm-document-realms", realm, True) for realm in REALMS
    }
    assert "'ABS-DEV' is accepted" in findings[0]["seen"]
    assert "'ABS-DEV' is accepted instead of 'abs-dev'" in ended.output
    assert 'sent_as = "ABS-DEV" in [realm.abs-dev]' in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["requests"] <= 12
    assert "refuses every realm" in ended.verdict["environment"]["breaker"]


def test_a_wrong_path_of_the_address_is_told_in_one_line(run: Any, faulty: Any) -> None:
    service = faulty(lambda *_: (404, JSON, b"{}"))
    ended = run(f"--target={service.target}", program=True)
    assert ended.code == 6, ended.output
    assert "/api/v2013/authentication/token is answered with status 404: check the path" in ended.output
    assert not re.search("password|not judged|Exit|drift", ended.output), ended.output


@pytest.mark.parametrize(
    ("lists", "schema", "told"),
    [
        (PAGE, r"\1", "is a proxy or a login page in between?"),
        (None, '"invented"', "realm.abs-dev.workflow_schema names a schema that is not known"),
    ],
)
def test_where_no_case_could_get_anywhere_the_cause_is_told_within_twelve_requests(
    run: Any, faulty: Any, lists: Any, schema: str, told: str
) -> None:
    service = faulty(lambda _, path, __: lists if path.endswith("/document-drafts") else None)
    text = re.sub(r'(?<=workflow_schema = )("[^"]*")', schema, service.target.read_text("utf-8"))
    service.target.write_text(text, "utf-8")
    ended = run(f"--target={service.target}")
    assert (ended.code, ended.verdict["findings"]) == (6, []), ended.output
    assert told in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["requests"] <= 12


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
