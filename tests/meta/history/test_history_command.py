"""The command: trends of a target and of a clause, and merging."""

from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.history.runs import Entry, append
from tests.meta.program import RunCommand

Made = Callable[..., Entry]
HISTORY = Path("reports") / "history.jsonl"


def test_without_runs_it_says_so(run_command: RunCommand) -> None:
    assert run_command("history") == (0, f"no runs in {HISTORY} yet\n", "")


def test_a_clause_has_its_trend_in_each_realm(run_command: RunCommand, made_run: Made) -> None:
    for day, verdict in enumerate(["pass", "fail", "fail"], start=1):
        append(HISTORY, made_run(day, verdict))
    code, out, _ = run_command("history", "draft-get-content")
    assert code == 0
    assert out.splitlines() == [
        "draft-get-content on sandbox",
        "  draft-get-content · abs-dev  pFF  red since 2026-11-02 12:00, last green 2026-11-01 12:00",
        "      1 flip; 4.0 requests and 0.25 s a run, over 3 runs",
    ]
    assert run_command("history", "list-fields")[1].splitlines()[-1] == "  no run judged it"


def test_a_target_has_its_runs_and_what_is_red_or_flaky(run_command: RunCommand, made_run: Made) -> None:
    for day, verdict in enumerate(["pass", "fail", "pass", "fail"], start=1):
        append(HISTORY, made_run(day, verdict))
    lines = run_command("history")[1].splitlines()
    assert lines[0] == "sandbox, gate: 4 runs"
    assert lines[2].split() == ["2026-11-01", "12:00", "gate", "pass", "0", "2,000", "30.5"]
    assert "red: 1:" in lines
    assert "flaky over 20 runs: 1:" in lines


def test_histories_are_merged_into_one(run_command: RunCommand, made_run: Made) -> None:
    for path, days in ((Path("a.jsonl"), (1, 2)), (Path("b.jsonl"), (2, 3))):
        for day in days:
            append(path, made_run(day))
    assert run_command("history", "merge", "a.jsonl", "b.jsonl", "-o", "c.jsonl") == (
        0,
        "3 runs in c.jsonl\n",
        "",
    )
    assert len(Path("c.jsonl").read_text().splitlines()) == 3
    assert run_command("history", "merge", "a.jsonl", "b.jsonl")[1] == "3 runs in a.jsonl\n"


def test_a_damaged_line_is_named(run_command: RunCommand, made_run: Made) -> None:
    append(HISTORY, made_run(1))
    with HISTORY.open("a") as file:
        file.write("garbage\n")
    code, out, err = run_command("history")
    assert (code, out.splitlines()[0]) == (0, "sandbox, gate: 1 run")
    assert err.startswith(f"{HISTORY}:2: is not JSON: ")
    assert err.endswith("; passed over\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("history", "draft-get-contents"), "did you mean 'draft-get-content'"),
        (("history", "--target", "dev"), "no runs on 'dev'"),
        (("history", "merge", "nowhere.jsonl"), "there is no history nowhere.jsonl"),
        (("history", "merge"), "Missing argument"),
        (("history", "--runs", "0"), "--runs"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    run_command: RunCommand, made_run: Made, words: tuple[str, ...], why: str
) -> None:
    append(HISTORY, made_run(1))
    code, _, err = run_command(*words)
    assert code == 4
    (line,) = err.splitlines()
    assert why in line
