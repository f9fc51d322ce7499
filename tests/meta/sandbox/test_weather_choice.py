"""Weather on the command line: names, figures, the list, and the page that shows it."""

from pathlib import Path

import pytest

from contracts.errors import UsageError
from contracts.sandbox.app import create_app
from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import USAGE_ERROR, main
from contracts.sandbox.weather import ALL, chosen_weather
from contracts.sandbox.weather.kinds import with_current_table

PAGE = Path(__file__).parents[3] / "docs" / "weather.md"


def test_names_come_one_by_one_or_with_commas() -> None:
    told = chosen_weather(["latency,resets:share=0.5", "restart"]).weathers
    assert [weather.name for weather, _ in told] == ["latency", "resets", "restart"]
    assert told[1][1] == {"share": 0.5, "after": 0.5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("resett", "did you mean 'resets'"),
        ("fog", "--weather list shows them all"),
        ("resets:shares=1", "has no figure 'shares'; it has: share, after"),
        ("resets:share=much", "must be a number of 0 or more, not 'much'"),
        ("resets:share=-1", "must be a number of 0 or more"),
        ("resets:share", "must be a number of 0 or more, not ''"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        chosen_weather([text])


def test_a_word_that_a_figure_does_not_know_is_said_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="an outage is known as refused, gateway, silent, not 'loud'"):
        chosen_weather(["outage-midway:as=loud"]).lay_over(create_app(Settings()), 1)


def test_the_program_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--weather", "fog", "--port", "0"]) == USAGE_ERROR
    assert capsys.readouterr().err.count("\n") == 1


def test_the_list_shows_every_weather_and_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--weather", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}\n" in shown for name in ALL)
    assert "share=0.02:after=0.5" in shown


def test_every_weather_has_one_sentence() -> None:
    for weather in ALL.values():
        assert weather.sentence.endswith(".")
        assert ". " not in weather.sentence


def test_the_page_shows_the_weathers_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_current_table(text) == text, "run: python -m contracts.sandbox.weather.kinds docs/weather.md"
