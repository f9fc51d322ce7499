"""`registry-contracts run`: the suite against a target, through pytest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
import pytest

from contracts.cli import completion
from contracts.cli.options import evidence_options, judging_options
from contracts.interface.location import cases_directory

#: Options that may be given more than once.
_REPEATED = ("realm", "clause", "operation")
#: pytest's settings of every run.
PYTEST_SETTINGS: Final = Path(__file__).parents[1] / "plugin" / "run.ini"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@judging_options(consumer="Judge only what an SDK uses, as a consumer file names it.")
@click.option("--profile", metavar="NAME", help="smoke, gate (default), nightly or full.")
@click.option(
    "--clause",
    metavar="ID",
    multiple=True,
    shell_complete=completion.clauses,
    help="Judge only this clause; may be repeated.",
)
@click.option(
    "--operation",
    metavar="ID",
    multiple=True,
    shell_complete=completion.operations,
    help="Only this operation; may be repeated.",
)
@click.option(
    "--seed", metavar="N", type=int, help="Seed of generated data; fixed by default in smoke and gate."
)
@click.option("--strict", is_flag=True, help="A must clause untested for want of a setting is not a pass.")
@click.option(
    "--shard", metavar="N/M", help="Run one of M parts of the cases; `merge` puts the reports together."
)
@evidence_options
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(workers: int | None, strict: bool, pytest_arguments: tuple[str, ...], **options: object) -> int:
    """Judge a target by every clause of the interface, and end with one verdict.

    Exit codes: 0 pass, 1 fail, 2 interrupted, 3 the suite broke, 4 usage, 5 nothing tested, 6 inconclusive.
    Further arguments go to pytest as they are.

    \b
    Examples:
      registry-contracts run
      registry-contracts run --profile smoke --realm abs-dev
      registry-contracts run --target targets/development.toml --workers 4
      registry-contracts run --shard 2/5
    """  # noqa: D301 - click's mark for lines to be left as they are
    repeated = {name: options.pop(name) for name in _REPEATED}
    words = pytest_words(options, repeated, workers, strict=strict)
    return int(pytest.main([*words, *pytest_arguments]))


def pytest_words(
    options: Mapping[str, object], repeated: Mapping[str, object], workers: int | None, *, strict: bool
) -> list[str]:
    """Word a run for pytest.

    Args:
        options: Options by name, to be handed on unless None.
        repeated: Options that may be there more than once, by name, each with a tuple of values.
        workers: Processes that run cases side by side; None for this one.
        strict: Whether a must clause untested for want of a setting is no pass.
    """
    cases = cases_directory()
    words = [str(cases), f"--rootdir={cases}", "-c", str(PYTEST_SETTINGS)]
    words += ["-p", "registry_contracts"]
    words += [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
    for name, given in repeated.items():
        words += [f"--{name}={value}" for value in given] if isinstance(given, tuple) else []
    words += ["--strict"] if strict else []
    return [*words, *(["-n", str(workers)] if workers and workers > 1 else [])]
