"""All weathers by name, the reading of the command line, and the table of `docs/weather.md`.

`python -m contracts.sandbox.weather.registry docs/weather.md` refreshes the table; a test tells when that is due.
"""

import difflib
import math
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from contracts.errors import UsageError
from contracts.sandbox.weather.kinds import WEATHERS
from contracts.sandbox.weather.model import Environment, Figure, Figures, Weather

ALL: dict[str, Weather] = {weather.name: weather for weather in WEATHERS}
"""Every weather by its name."""


@dataclass(frozen=True)
class ChosenWeather:
    """Weathers to come, each with its figures; the first is met first."""

    weathers: Sequence[tuple[Weather, Figures]] = ()

    def lay_over(self, app: Starlette, seed: int) -> Environment:
        """Put the weathers over an application that has not started yet.

        Args:
            app: the sandbox; its parts stand at ``app.state.service``.
            seed: seed of chance.

        Raises:
            UsageError: a figure cannot be used.

        """
        environment = Environment(app, seed)
        for weather, figures in reversed(self.weathers):
            make = partial(_make, weather=weather, figures=figures, environment=environment)
            # In front: nearer to the wire than everything that is there already.
            app.user_middleware.insert(0, Middleware(make))
        # Built now, so that a figure that cannot be used is told before anything starts.
        app.middleware_stack = app.build_middleware_stack()
        return environment


def _make(app: ASGIApp, *, weather: Weather, figures: Figures, environment: Environment) -> ASGIApp:
    return weather.layer(app, environment, weather.name, figures)


def chosen_weather(texts: Iterable[str]) -> ChosenWeather:
    """Read weathers as the command line gives them.

    Args:
        texts: each ``NAME``, ``NAME:FIGURE=VALUE:…`` or several of them with commas between.

    Raises:
        UsageError: a name or a figure is unknown, or its value cannot be used; the line suggests another.

    """
    parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    return ChosenWeather(tuple(_read(part) for part in parts))


def _read(text: str) -> tuple[Weather, Figures]:
    name, *settings = text.split(":")
    if name not in ALL:
        close = difflib.get_close_matches(name, ALL, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "--weather list shows them all"
        raise UsageError(f"unknown weather '{name}'; {hint}")
    weather = ALL[name]
    return weather, {**weather.figures, **dict(_figure(weather, setting) for setting in settings)}


def _figure(weather: Weather, setting: str) -> tuple[str, Figure]:
    name, _, value = setting.partition("=")
    if name not in weather.figures:
        known = ", ".join(weather.figures)
        raise UsageError(f"the weather '{weather.name}' has no figure '{name}'; it has: {known}")
    if isinstance(weather.figures[name], str):
        return name, value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise UsageError(f"{weather.name}:{name} must be a number of 0 or more, not '{value}'")
    return name, number


def figures_text(weather: Weather) -> str:
    """Return the figures of a weather as the command line would give them."""
    return ":".join(f"{name}={value}" for name, value in weather.figures.items())


def help_text() -> str:
    """Return every weather with its sentence and figures, as ``--weather list`` prints them."""
    lines = [
        "Weathers (what happens on the way to and from the service; NAME:FIGURE=VALUE sets a figure):",
        "",
    ]
    for weather in ALL.values():
        lines.append(f"  {weather.name}")
        for text in (weather.sentence, figures_text(weather)):
            lines += textwrap.wrap(text, 100, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines) + "\n"


def table() -> str:
    """Return every weather as rows of a Markdown table, for docs/weather.md."""
    rows = ["| weather | what happens | figures | a run over the faithful service |", "|---|---|---|---|"]
    rows += [
        f"| `{weather.name}` | {weather.sentence} | `{figures_text(weather)}` | {weather.expects} |"
        for weather in ALL.values()
    ]
    return "\n".join(rows) + "\n"


START, END = "<!-- weathers: start -->", "<!-- weathers: end -->"


def with_current_table(page: str) -> str:
    """Return a page with everything between its two markers replaced by the current table.

    Raises:
        ValueError: the page lacks a marker.

    """
    before, after = page.index(START) + len(START), page.index(END)
    return f"{page[:before]}\n\n{table()}\n{page[after:]}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(with_current_table(path.read_text(encoding="utf-8")), encoding="utf-8")
