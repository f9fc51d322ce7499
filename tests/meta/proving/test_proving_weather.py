"""The proof of the weather: what is run, how each run has to end, and the table."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from contracts.errors import UsageError
from contracts.proving import weather
from contracts.proving.processes import RunOutcome
from contracts.proving.weather import (
    CLOSE,
    CLOSER,
    FAIR,
    WeatherTrial,
    lines,
    markdown,
    trials,
)
from contracts.sandbox.defects import load
from contracts.sandbox.weather import ALL, chosen_weather

FINDING = {
    "clause": "draft-get-content",
    "realm": "abs-dev",
    "operation": "getDraft",
    "expected": "the document",
    "seen": "500",
    "standing": "fail",
}


def outcome(verdict: str, *findings: Any) -> RunOutcome:
    return RunOutcome(verdict, 0, findings, ("a clause: why",), 12, 1.5, Path("x"), "", 2, {"a fault": 3})


def test_every_weather_runs_on_every_seed() -> None:
    planned = list(trials((), (), [1, 2], close=False))
    assert len(planned) == 2 * (1 + len(ALL))
    assert len({trial.key for trial in planned}) == len(planned)
    assert planned[0].arguments == ()
    assert planned[3].arguments == ("--weather", "latency", "--weather-seed", "2")


@pytest.mark.parametrize("figures", [CLOSE, CLOSER])
def test_closer_figures_are_figures_of_their_weathers(figures: dict[str, str]) -> None:
    assert len(chosen_weather(f"{name}:{printed}" for name, printed in figures.items()).weathers) == len(
        figures
    )


def test_a_defect_lies_beneath_the_weather_and_its_clause_is_judged_alone() -> None:
    (trial,) = trials(["resets"], ["draft-content-texts-cut"], [1], close=True)
    assert (trial.clause, trial.arguments[-2:]) == (
        "draft-get-content",
        ("--defect", "draft-content-texts-cut"),
    )
    assert trial.arguments[1] == f"resets:{CLOSER['resets']}"


@pytest.mark.parametrize(
    ("name", "defect", "ended", "right"),
    [
        ("resets", "", outcome("pass"), True),
        ("resets", "", outcome("inconclusive"), False),
        ("outage-midway", "", outcome("inconclusive"), True),
        ("outage-midway", "", outcome("fail", FINDING), False),
        ("resets", "draft-content-texts-cut", outcome("fail", FINDING), True),
        ("resets", "draft-content-texts-cut", outcome("pass"), False),
        ("resets", "draft-content-texts-cut", outcome("fail", {**FINDING, "clause": "another"}), False),
        ("outage-midway", "draft-content-texts-cut", outcome("inconclusive"), True),
        (FAIR, "", None, False),
    ],
)
def test_how_a_run_has_to_end(name: str, defect: str, ended: RunOutcome | None, right: bool) -> None:
    (trial,) = trials([name], [defect] if defect else [], [1], close=False)
    assert trial.as_it_should(ended) is right


def test_a_line_tells_the_figures_and_what_is_wrong() -> None:
    (trial,) = trials(["resets"], (), [1], close=False)
    printed = list(lines(trial, outcome("fail", FINDING)))
    assert printed[0].split() == ["resets", "-", "1", "fail", "12", "2", "3", "1.5"]
    assert "draft-get-content abs-dev getDraft: the document | '500'" in printed[1]
    assert "inconclusive: a clause: why" in printed[2]
    assert len(list(lines(trial, outcome("pass")))) == 1
    assert "no verdict" in next(lines(trial, None))


def test_the_ten_defects_are_of_ten_families() -> None:
    clauses = [load(name).clause for name in weather.DEFECTS]
    assert len({clause.partition("-")[0] for clause in clauses}) == len(weather.DEFECTS) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--weather", "fog"), "unknown weather 'fog'"),
        (("--defect", "fog"), "fog"),
        (("--seeds", "one"), "--seeds must be"),
    ],
)
def test_what_cannot_be_run_is_a_usage_error(arguments: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(weather.command, arguments, standalone_mode=False)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_a_run_without_a_verdict_has_its_line_too() -> None:
    planned = list(trials(["fair"], [], [1], close=False))
    results: dict[WeatherTrial, RunOutcome | None] = dict.fromkeys(planned)
    assert list(markdown(results))[2:] == ["| `fair` | nothing | 1 | no verdict | | | | |"]
