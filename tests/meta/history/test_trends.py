"""Trends: last green, first red, flips, cost; the command that shows them, and the lines of a history."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.history.runs import (
    PAST_FILE_NAME,
    Entry,
    History,
    Past,
    Seen,
    Trend,
    append,
    merge,
    past_of,
    read_past,
    trends,
    write_past,
)
from tests.meta.program import RunCommand
from tests.meta.schemas import mistakes

Made = Callable[..., Entry]
PLACE = ("draft-get-content", "abs-dev")


def trend(made_run: Made, *verdicts: str, keep: int = 60) -> Trend:
    """The trend after runs that ended so, one a day."""
    runs = tuple(made_run(day, verdict) for day, verdict in enumerate(verdicts, start=1))
    return trends(merge([History(runs)], keep), "sandbox")[PLACE]


@pytest.mark.parametrize(
    ("verdicts", "green", "red", "flips"),
    [
        (("pass",), 1, None, 0),
        (("fail",), None, 1, 0),
        (("pass", "fail", "fail"), 1, 2, 1),
        (("pass", "fail", "inconclusive", "error"), 1, 2, 1),
        (("fail", "pass"), 2, None, 1),
        (("pass", "fail", "pass", "fail"), 3, 4, 3),
        (("pass", "deviation", "deviation"), 1, 2, 1),
        (("observed", "advisory"), 1, 2, 1),
        (("inconclusive",), None, None, 0),
    ],
)
def test_green_and_red_are_told_from_neither(
    made_run: Made, verdicts: tuple[str, ...], green: int | None, red: int | None, flips: int
) -> None:
    found = trend(made_run, *verdicts)
    assert found.last_green == (made_run(green).started if green else None)
    assert found.red_since == (made_run(red).started if red else None)
    assert (found.flips, found.flaky) == (flips, flips > 1)
    assert (found.requests, found.seconds) == (4.0, 0.25)


def test_folded_runs_still_say_what_was_green_last(made_run: Made) -> None:
    verdicts = ("pass", "fail", "fail", "fail")
    whole, folded = trend(made_run, *verdicts), trend(made_run, *verdicts, keep=1)
    assert (folded.last_green, folded.red_since) == (whole.last_green, whole.red_since)
    assert folded.verdicts == ("fail",)


def test_flips_are_counted_over_the_latest_runs_only(made_run: Made) -> None:
    runs = tuple(made_run(day, "fail" if day % 2 else "pass") for day in range(1, 9))
    assert trends(History(runs), "sandbox", window=3)[PLACE].flips == 2


def test_targets_are_kept_apart(made_run: Made) -> None:
    history = History((made_run(1), made_run(2, "fail", target="dev")))
    assert trends(history, "sandbox")[PLACE].red_since is None
    assert trends(history, "dev")[PLACE].last_green is None
    assert history.targets == ("dev", "sandbox")


def test_runs_of_another_series_are_not_compared(made_run: Made) -> None:
    runs = (made_run(1, series="gate in abs-dev"), made_run(2, "fail", series="gate in bch-dev"), made_run(3))
    history = History(runs)
    assert history.series_of("sandbox") == ("gate", "gate in bch-dev", "gate in abs-dev")
    assert trends(history, "sandbox")[PLACE].last_green == runs[2].started
    assert trends(history, "sandbox", series="gate in bch-dev")[PLACE].last_green is None
    assert [run.run for run in past_of(history, "sandbox", "gate in abs-dev").runs] == [runs[0].run]


def test_a_finding_is_told_since_when_it_is(made_run: Made, tmp_path: Path) -> None:
    other = {"errors-status": {"abs-dev": Seen("fail", 1, 0.1)}}
    runs = (made_run(1), made_run(2), made_run(3, cells=other), made_run(4, cells=other))
    write_past(tmp_path, past_of(History(runs), "sandbox", "gate"))
    past = read_past(tmp_path)
    assert past == past_of(History(runs), "sandbox", "gate")
    assert [run.verdict for run in past.runs] == ["pass"] * 4
    assert past.describe("errors-status", "abs-dev") == "red since 2026-11-03 12:00, never green before"
    assert past.describe(*PLACE) == "new in this run, last green 2026-11-02 12:00"
    assert past.describe("draft-delete-removes", "abs-dev") == "not judged in earlier runs"


def test_a_finding_that_comes_and_goes_is_told_so(made_run: Made) -> None:
    runs = tuple(made_run(day, "fail" if day % 2 else "pass") for day in range(1, 6))
    description = past_of(History(runs), "sandbox", "gate").describe(*PLACE)
    assert description == "red since 2026-11-05 12:00, last green 2026-11-04 12:00; changed 4 times lately"


def test_without_history_nothing_is_told(tmp_path: Path) -> None:
    assert read_past(tmp_path) == Past()
    assert Past().describe(*PLACE) == ""
    (tmp_path / PAST_FILE_NAME).write_text('{"runs": [{}], "cells": {}}')
    with pytest.raises(UsageError, match=r"past\.json: runs"):
        read_past(tmp_path)


HISTORY = Path("reports") / "history.jsonl"


def listed(run_command: RunCommand, *words: str) -> list[list[str]]:
    ended = run_command("list", *words)
    assert ended.code == 0, ended.err
    return [line.split("  ") for line in ended.out.splitlines()]


def test_runs_are_listed_and_none_is_no_error(run_command: RunCommand, made_run: Made) -> None:
    assert run_command("list", "runs") == (0, "", "0 lines\n")
    append(HISTORY, made_run(1))
    append(Path("other.jsonl"), made_run(2, "fail", target="dev", series="nightly in abs-dev"))
    (mine,) = run_command("list", "runs")[1].splitlines()
    assert mine.split() == ["2026-11-01T12:00:00+00:00", "sandbox", "pass", "0", "2000", "30.5", "gate"]
    words = ("--history", "other.jsonl", "--target", "dev", "--series", "nightly")
    assert "nightly in abs-dev" in run_command("list", "runs", *words)[1]


def test_what_is_red_or_flaky_is_listed_with_its_trend(run_command: RunCommand, made_run: Made) -> None:
    for day, verdict in enumerate(["pass", "fail", "fail"], start=1):
        append(HISTORY, made_run(day, verdict))
    red = ["draft-get-content", "abs-dev", "pFF", "red since 2026-11-02 12:00, last green 2026-11-01 12:00"]
    assert listed(run_command, "red") == [red]
    assert listed(run_command, "red", "--realm", "bch-dev") == listed(run_command, "flaky") == []
    for day, verdict in enumerate(["pass", "fail", "pass"], start=4):
        append(HISTORY, made_run(day, verdict))
    assert listed(run_command, "red") == []
    flaky = ["draft-get-content", "abs-dev", "4", "pFFpFp", "last green 2026-11-06 12:00"]
    assert listed(run_command, "flaky", "--operation", "getDraft") == [flaky]


def test_a_trend_is_that_of_the_last_series_unless_another_is_named(
    run_command: RunCommand, made_run: Made
) -> None:
    append(HISTORY, made_run(1, "fail", series="gate in abs-dev"))
    append(HISTORY, made_run(2, series="smoke in abs-dev"))
    assert listed(run_command, "red") == []
    assert len(listed(run_command, "red", "--series", "gate")) == 1


def test_explain_tells_since_when(run_command: RunCommand, made_run: Made) -> None:
    append(HISTORY, made_run(1, "fail"))
    told = json.loads(run_command("explain", "draft-get-content", "--json")[1])["history"]["abs-dev"]
    assert (told["line"], told["flips"]) == ("  [F] red since 2026-11-01 12:00, never green", 0)


def test_a_damaged_line_is_named(run_command: RunCommand, made_run: Made) -> None:
    append(HISTORY, made_run(1))
    with HISTORY.open("a") as file:
        file.write("garbage\n")
    ended = run_command("list", "runs")
    assert (ended.code, len(ended.out.splitlines())) == (0, 1)
    assert ended.err.startswith(f"{HISTORY}:2: is not JSON: ")
    assert ended.err.endswith("; passed over\n1 line\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("runs", "--target", "dev"), "no runs on 'dev' in reports/history.jsonl; it holds sandbox"),
        (("red", "--series", "nightly"), "no series 'nightly' on sandbox; there are 'gate'"),
        (("runs", "--history", "nowhere.jsonl"), "there is no history nowhere.jsonl"),
        (("runs", "--realm", "abs-dev"), "--realm says nothing about runs"),
        (("clauses", "--target", "dev"), "--target says nothing about clauses"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    run_command: RunCommand, made_run: Made, words: tuple[str, ...], why: str
) -> None:
    append(HISTORY, made_run(1))
    code, _, err = run_command("list", *words)
    assert code == 4
    (line,) = err.splitlines()
    assert why in line


def test_every_line_fits_the_schema(made_run: Made, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    for day, verdict in enumerate(["pass", "fail", "inconclusive", "observed"], start=1):
        append(path, made_run(day, verdict), keep=2)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert ["until" in line for line in lines] == [True, False, False]
    assert mistakes("history", lines) == []
    assert all(mistakes("history", [{**line, "further": 1}]) for line in lines)
