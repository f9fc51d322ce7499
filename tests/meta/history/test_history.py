"""The history file: a run a line, bounded, never lost to a damaged line; trends, and the commands that show them."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.history import runs
from registry_contracts.history.runs import Entry, History, Past, Seen
from tests.meta.program import RunCommand

PLACE = ("draft-get-content", "abs-dev")
HISTORY = Path("reports") / "history.jsonl"


def made_run(day: int, verdict: str = "pass", **more: Any) -> Entry:
    """The run of a day; `cells` for more than one clause."""
    plain: dict[str, Any] = {
        "run": f"2026-11-{day:02}-sandbox",
        "target": "sandbox",
        "profile": "gate",
        "seed": 1,
        "started": f"2026-11-{day:02}T12:00:00+00:00",
        "verdict": "fail" if verdict == "fail" else "pass",
        "exit_code": int(verdict == "fail"),
        "requests": 2000,
        "seconds": 30.5,
        "counts": {verdict: 1},
        "series": "gate",
        "comparable": True,
        "cells": {"draft-get-content": {"abs-dev": Seen(verdict, 4, 0.25)}},
    }
    return Entry(**plain | more)


def test_runs_are_appended_once_and_leave_earlier_lines_untouched(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.jsonl"
    assert runs.read(path) == History()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda day: runs.append(path, made_run(day)), range(1, 21)))
    before = path.read_text()
    runs.append(path, made_run(2))
    assert (path.read_text(), len(runs.read(path).entries), runs.read(path).damaged) == (before, 20, ())
    runs.append(path, made_run(21))
    assert path.read_text().startswith(before)


def test_a_damaged_line_costs_no_other_and_the_oldest_runs_go(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    damaged = '{"format":1,"run":"half a li'
    path.write_text(f"{runs.line_of(made_run(1))}\n{damaged}")
    runs.append(path, made_run(2), keep=3)
    assert [entry.run for entry in runs.read(path).entries] == [made_run(1).run, made_run(2).run]
    assert [where.startswith(f"{path}:2: is not JSON") for where in runs.read(path).damaged] == [True]
    for day in range(3, 9):
        runs.append(path, made_run(day), keep=3)
        runs.append(path, made_run(day, target="dev", run=f"dev-{day}"), keep=3)
    assert damaged in path.read_text().splitlines()
    assert {len(runs.read(path).of(target)) for target in ("sandbox", "dev")} == {3}


@pytest.mark.parametrize(
    ("verdicts", "green", "red", "flips"),
    [
        (("pass", "fail", "inconclusive", "error"), 1, 2, 1),
        (("pass", "fail", "pass", "fail"), 3, 4, 3),
        (("inconclusive",), None, None, 0),
    ],
)
def test_green_and_red_are_told_from_neither(
    verdicts: tuple[str, ...], green: int | None, red: int | None, flips: int
) -> None:
    made = tuple(made_run(day, verdict) for day, verdict in enumerate(verdicts, start=1))
    found = runs.past_of(History(made), "sandbox").cells[PLACE[0]][PLACE[1]]
    assert found.last_green == (made_run(green).started if green else None)
    assert found.red_since == (made_run(red).started if red else None)
    assert (found.flips, found.flaky) == (flips, flips > 1)


def test_a_finding_is_told_since_when_it_is(tmp_path: Path) -> None:
    other = {"errors-status": {"abs-dev": Seen("fail", 1, 0.1)}}
    made = (made_run(1), made_run(2), made_run(3, cells=other), made_run(4, cells=other))
    runs.write_past(tmp_path, runs.past_of(History(made), "sandbox", "gate"))
    past = runs.read_past(tmp_path)
    assert past == runs.past_of(History(made), "sandbox", "gate")
    assert past.describe("errors-status", "abs-dev") == "red since 2026-11-03 12:00, not green before"
    assert past.describe(*PLACE) == "new in this run, last green 2026-11-02 12:00"
    assert past.describe("draft-delete-removes", "abs-dev") == "not judged in earlier runs"
    assert (Past().describe(*PLACE), runs.read_past(tmp_path / "none")) == ("", Past())


def listed(run_command: RunCommand, what: str) -> list[list[str]]:
    ended = run_command("list", what)
    assert ended.code == 0, ended.err
    return [re.split(" {2,}", line) for line in ended.out.splitlines()[1:]]


def test_what_is_red_or_flaky_is_listed_with_its_trend(run_command: RunCommand) -> None:
    for day, verdict in enumerate(["pass", "fail", "fail"], start=1):
        runs.append(HISTORY, made_run(day, verdict))
    red = ["draft-get-content", "abs-dev", "pFF", "red since 2026-11-02 12:00, last green 2026-11-01 12:00"]
    assert (listed(run_command, "red"), listed(run_command, "flaky")) == ([red], [])
    for day, verdict in enumerate(["pass", "fail", "pass"], start=4):
        runs.append(HISTORY, made_run(day, verdict))
    flaky = ["draft-get-content", "abs-dev", "4", "pFFpFp", "last green 2026-11-06 12:00"]
    assert (listed(run_command, "red"), listed(run_command, "flaky")) == ([], [flaky])
