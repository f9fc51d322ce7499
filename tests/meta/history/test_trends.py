"""Trends: last green, first red, flips, cost; the command that shows them, and the lines of a history."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import jsonschema_rs
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


def test_every_line_fits_the_schema(made_run: Made, tmp_path: Path) -> None:
    text = files("contracts.reports").joinpath("schemas/history.schema.json").read_text("utf-8")
    validator = jsonschema_rs.Draft202012Validator(json.loads(text), validate_formats=True)
    path = tmp_path / "history.jsonl"
    for day, verdict in enumerate(["pass", "fail", "inconclusive", "observed"], start=1):
        append(path, made_run(day, verdict), keep=2)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert ["until" in line for line in lines] == [True, False, False]
    for line in lines:
        assert [error.message for error in validator.iter_errors(line)] == []
        assert not validator.is_valid({**line, "further": 1})
