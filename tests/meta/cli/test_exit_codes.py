"""However its output or its words are spoilt, a command ends with its own code, in one line that says why."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.meta.program import CHECKOUT, Ended, Program, RunCommand, assert_safe, clean_environment, finished
from tests.meta.samples import account_variables

TINY_RUN = ("run", "--realm=abs-dev", "--profile=smoke", "--operation=getDraft", "--seed=1")
#: Texts that are no harm as words and much as output.
NASTY = (
    "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u2066x\r\n::error::forged\nx\u2028verdict: forged pass\x9b31m\udced"
)


def fresh(folder: Path, *words: str, environment: dict[str, str] | None = None, **how: Any) -> Ended:
    """Run a command in an interpreter of its own."""
    variables = clean_environment(PYTHONPATH=str(CHECKOUT / "contracts"), **environment or {})
    return finished([sys.executable, "-m", "registry_contracts", *words], folder, variables, **how)


def test_what_only_prints_ends_with_3_where_the_output_takes_nothing(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = fresh(tmp_path, "list", "clauses", stdout=full.fileno())
    assert (ended.code, ended.err.count("\n")) == (3, 1), ended


def _closed() -> None:
    for descriptor in (0, 1, 2):
        os.close(descriptor)


@pytest.mark.parametrize("output", ["unread", "closed"])
def test_a_run_counts_though_its_output_takes_nothing(tmp_path: Path, output: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = fresh(tmp_path, *TINY_RUN, stdout=writing, preexec_fn=_closed if output == "closed" else None)
    os.close(writing)
    assert ended.code == 0, ended
    assert (tmp_path / "reports" / "latest" / "index.html").exists()


def test_a_current_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = fresh(gone, *TINY_RUN, preexec_fn=gone.rmdir)
    assert ended.code in (3, 4), ended
    assert len(ended.err.splitlines()) == 1


def test_without_assertions_nothing_is_judged(tmp_path: Path) -> None:
    ended = fresh(tmp_path, *TINY_RUN, environment={"PYTHONOPTIMIZE": "1"})
    assert (ended.code, "assertions" in ended.err) == (4, True), ended


@pytest.mark.parametrize("words", ["run --realm", "gate --consumer", "check"])
def test_a_nasty_text_among_the_words_is_shown_safely(program: Program, words: str) -> None:
    ended = program(*words.split(), NASTY)
    assert ended.code == 4, ended
    assert len(ended.output.splitlines()) <= 4
    assert_safe(ended)


def test_an_interruption_while_the_sandbox_starts_is_one_line(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from registry_contracts.cli import main; sys.argv[0] = 'registry-contracts'; "
        "sys.addaudithook(lambda event, _: event == 'subprocess.Popen' and os.kill(os.getpid(), signal.SIGINT)); "
        "main()"
    )
    ended = finished([sys.executable, "-P", "-c", code, "run"], tmp_path, os.environ)
    assert ended == (2, "", "interrupted before anything was sent\n")
    assert list(tmp_path.iterdir()) == []


#: By what the line says: commands that are answered so; `zz` is a name that is none.
REFUSED = {
    "there is no command 'rnu'; did you mean 'run'?": ["rnu"],
    "there is no list of 'fauls'; did you mean 'faults'?": ["list fauls"],
    "zz": [
        *("explain zz", "explain uid-too-short --reports zz", "list zz", "list clauses --reports zz"),
        *("list clauses --family zz", "list clauses --operation zz", "list red --target zz"),
        *("list flaky --series zz", "call zz", "call listDrafts --realm zz", "call listDrafts --body @zz"),
        *("check zz", "check x.har --target zz", "drift zz", "drift --reports zz", "drift --clause zz"),
        *("init dev --base-url https://h.example --from-har zz", "sandbox --port 0 --variant zz"),
        *("gate --target zz", "run --workers zz", "run --seed zz"),
    ],
    "did you mean 'saveDraft'?": ["call saveDrft", "gate --target sandbox --consumer sdk.toml"],
    "did you mean 'uid-too-short'": ["explain uid-to-short", "run --clause uid-to-short"],
    "list clauses --operation saveDraft": ["explain saveDraft"],
    "'--port': 99999 is not in the range": ["sandbox --port 99999"],
    "both name a target": ["run --base-url=https://h.example --target=dev"],
    "is a production realm": [
        "call saveDraft --realm abs --dry-run",
        "init dev --base-url https://h.test --realm abs",
    ],
    "selects a production realm": ["call listDrafts --set header.Realm=bch --dry-run"],
    "which is outside this run's namespace": ["call saveDraft --set path.uid=somebodys-record --dry-run"],
    "--body: is not JSON: Expecting property name": ["call saveDraft --body '{a' --dry-run"],
    "the body has no such place": ["call saveDraft --set body.emails.7=x --dry-run"],
    "did you mean 'firstName'?": ["call saveDraft --without fristName --dry-run"],
    "saveDraft has no such fault": ["call saveDraft --invalid odd --dry-run"],
    "holds the interface's own /api/v": ["init dev --base-url https://h.example/api/v2013"],
    "cannot name a target": ["init ../dev --base-url https://h.example"],
    "a gate needs a target": ["gate"],
    "no consumer file 'nowhere.toml'": ["gate --target sandbox --consumer nowhere.toml"],
    "no deviations file 'nowhere.toml'": ["gate --target sandbox --deviations nowhere.toml"],
    "-k is not for a gate": ["gate --target sandbox -k draft"],
    "no kept run in 'nowhere'": ["gate --from nowhere"],
    "--max-age takes a number with m, h or d": ["gate --from kept --max-age 36"],
    "--workers has no effect with --from": ["gate --from kept --workers 2"],
    "kept/20260510-080000-dev/run.json": ["gate --from kept"],
    "--base-url is empty; give it a value, or leave the option out": ["run --base-url ''", "run --base-url="],
    "--consumer is empty": ["gate --consumer ''", "gate --consumer="],
    "--reports is empty": ["list runs --reports ''", "list runs --reports=", "doctor --reports="],
}


@pytest.mark.parametrize(
    ("why", "words"), [(why, words) for why, commands in REFUSED.items() for words in commands]
)
def test_what_it_cannot_use_is_one_line(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, why: str, words: str
) -> None:
    for name, value in account_variables().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "x.har").write_text('{"log": {"entries": []}}', "utf-8")
    (tmp_path / "sdk.toml").write_text('operations = ["saveDrafts"]', "utf-8")
    kept = tmp_path / "kept" / "20260510-080000-dev"
    kept.mkdir(parents=True)
    (kept / "run.json").write_text('{"target": "dev"', "utf-8")
    code, out, err = run_command(*shlex.split(words))
    assert (code, out, err.count("\n")) == (4, "", 1), err
    assert why in err
    assert not list(tmp_path.glob("*reports*")), "nothing was sent"


def test_a_variable_of_pytest_that_cannot_be_used_is_named(
    run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_PLUGINS", "nowhere")
    code, out, err = run_command("run")
    (line,) = err.splitlines()
    assert (code, out) == (4, "")
    assert "No module named 'nowhere'" in line
    assert "pytest also reads PYTEST_PLUGINS" in line
