"""`registry-contracts run`: runs the suite against a target, through pytest."""

from __future__ import annotations

import difflib
import os
import sys
from argparse import ArgumentError
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Final

import click
import pytest

from registry_contracts.cli.options import evidence_options, judging_options, selection_options, target
from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.interface.location import cases_directory
from registry_contracts.plugin.forecast import Forecast
from registry_contracts.plugin.run_options import REPORTS, RUN_SETTINGS
from registry_contracts.safe_text import SafeOutput


@click.command(context_settings={"ignore_unknown_options": True})
@target
@judging_options
@selection_options
@click.option("--strict", is_flag=True, help="No pass if a missing setting leaves a must clause untested.")
@evidence_options
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(workers: int | None, strict: bool, pytest_arguments: tuple[str, ...], **options: object) -> int:
    """Judge a target by every clause of the interface, and end with one verdict.

    Exit codes: 0 pass, 1 fail, 2 interrupted, 3 the suite broke, 4 usage, 5 nothing tested, 6 inconclusive.
    Further arguments are passed to pytest; a FILE of cases limits the run to these.

    \b
    Examples:
      registry-contracts run
      registry-contracts run --profile smoke --realm abs-dev
      registry-contracts run --base-url https://… --plan
      registry-contracts run --target targets/development.toml --workers 4
      registry-contracts run --target dev.local --plan
    """  # noqa: D301 - click's mark for lines to be left as they are
    return run_cases([*pytest_words(options, workers, strict=strict), *pytest_arguments])


class _Refusals:
    """pytest plugin that turns pytest's usage errors into the suite's own, with advice."""

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_parse(self) -> Generator[None, object, object]:
        try:
            return (yield)
        except pytest.UsageError as error:
            # The parser's usage lines come before its error.
            refused = str(error).partition("error: ")[2].partition("\n")[0] or str(error)
            advice = (
                _variables() or _near_miss(refused) or "`registry-contracts run --help` shows the options"
            )
            raise UsageError(f"{refused}; {advice}") from error
        except ArgumentError as error:
            why = f"another plugin of pytest has an option of the same name: {error}; leave that plugin out"
            raise UsageError(why) from None
        except (ImportError, ValueError) as error:  # of -p or a variable: no such plugin, or no shell words
            raise UsageError(f"{error}; {_variables() or 'leave the plugin out'}") from None

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_main(self) -> Generator[None, object, object]:
        try:
            return (yield)
        except pytest.UsageError as error:
            raise UsageError(str(error)) from error


#: Variables from which pytest takes arguments and plugins; a job may set them for another suite.
_ADDING: Final = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")


def _variables() -> str:
    """Return advice on variables that change pytest's arguments; empty if none is set."""
    given = [name for name in _ADDING if os.environ.get(name)]
    return (
        f"pytest also reads {' and '.join(given)}, which is set here: unset it for this command"
        if given
        else ""
    )


def _near_miss(refused: str) -> str:
    """Return advice on the option that the first unknown one resembles; empty if there is none."""
    word = next((word[2:].partition("=")[0] for word in refused.split() if word.startswith("--")), "")
    names = [name.removeprefix("--") for each in command.params for name in each.opts]
    close = difflib.get_close_matches(word, names, n=1)
    return f"did you mean '--{close[0]}'?" if close else ""


def run_cases(words: list[str], *plugins: object) -> int:
    """Run the cases that pytest's arguments choose, and return the exit code.

    Raises:
        UsageError: pytest does not take the arguments.
    """
    if isinstance(sys.stdout, SafeOutput):
        # A closed terminal must not stop the cases, the clean-up and the reports.
        sys.stdout.expendable = True
    return int(pytest.main(words, plugins=[_Refusals(), *plugins]))


class _Forecasts:
    """pytest plugin that keeps the forecast of a plan."""

    kept: Forecast | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        # pytest has to import the plugin's modules first, to rewrite their assertions.
        from registry_contracts.plugin.collection import forecast  # noqa: PLC0415

        self.kept = forecast(session.config, session.items)


def forecast_of_gate(target: str | None, reports: Path) -> Forecast:
    """Forecast what a gate would send to a target and leave on it; nothing is sent.

    Args:
        target: Settings file or name; None for the variables or else the sandbox.
        reports: Folder with the records of what earlier runs used up.

    Raises:
        SuiteError: the cases could not be collected.
    """
    forecasts = _Forecasts()
    words = pytest_words({"target": target, "plan": True, "reports": reports}, None, strict=False)
    code = pytest.main([*words, "-p", "no:terminal"], plugins=[forecasts])
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if forecasts.kept is None or code:
        raise SuiteError(f"the cases of a run could not be collected (pytest's exit code {int(code)})")
    return forecasts.kept


def pytest_words(options: Mapping[str, object], workers: int | None, *, strict: bool) -> list[str]:
    """Make pytest's arguments for a run.

    Args:
        options: Values by option; None for an option that was not given, a tuple for one that is repeatable.
        workers: Number of processes that run cases in parallel; None for this process alone.
        strict: Whether a must clause that a missing setting leaves untested prevents a pass.
    """
    cases = cases_directory()
    words = [str(cases), f"--rootdir={cases}", "-c", str(RUN_SETTINGS), "-p", "registry_contracts.plugin"]
    plan = bool(options.get("plan"))
    cache = Path.cwd() / str(options.get("reports") or REPORTS.default) / ".pytest_cache"
    words += ["-p", "no:cacheprovider"] if plan else ["-o", f"cache_dir={cache}"]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [flag] if value else []
            continue
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        words += [f"{flag}={one}" for one in values]
    words += ["--strict"] if strict else []
    # xdist is named, as plugins may be kept from loading by themselves.
    return [*words, *(["-p", "xdist", "-n", str(workers)] if workers and workers > 1 and not plan else [])]
