"""Trends: last green, first red, flips, cost; and what a run knows of those before it."""

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
    merge,
    past_of,
    read_past,
    trends,
    write_past,
)

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
    told = past_of(History(runs), "sandbox", "gate").describe(*PLACE)
    assert told == "red since 2026-11-05 12:00, last green 2026-11-04 12:00; changed 4 times lately"


def test_without_history_nothing_is_told(tmp_path: Path) -> None:
    assert read_past(tmp_path) == Past()
    assert Past().describe(*PLACE) == ""
    (tmp_path / PAST_FILE_NAME).write_text('{"runs": [{}], "cells": {}}')
    with pytest.raises(UsageError, match=r"past\.json: runs"):
        read_past(tmp_path)
