"""`registry-contracts run`: the suite against a target, through pytest."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from contracts.interface.location import cases_directory

#: Options handed on to pytest as they are.
_HANDED_ON = ("target", "profile", "seed", "reports")
_REPEATED = ("realm", "clause", "operation")


@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@click.option("--target", metavar="FILE|NAME", help="Target settings; by default REGISTRY_… or the sandbox.")
@click.option("--profile", metavar="NAME", help="smoke, gate (default), nightly or full.")
@click.option("--realm", metavar="REALM", multiple=True, help="Judge only this realm; may be repeated.")
@click.option("--clause", metavar="ID", multiple=True, help="Judge only this clause; may be repeated.")
@click.option("--operation", metavar="ID", multiple=True, help="Only this operation; may be repeated.")
@click.option("--workers", metavar="N", type=click.IntRange(1), help="Processes that run cases side by side.")
@click.option(
    "--seed", metavar="N", type=int, help="Seed of generated data; fixed by default in smoke and gate."
)
@click.option("--strict", is_flag=True, help="A must clause untested for want of a setting is not a pass.")
@click.option("--reports", metavar="DIR", help="Folder for the evidence; by default 'reports'.")
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(workers: int | None, strict: bool, pytest_arguments: tuple[str, ...], **options: object) -> int:
    r"""Judge a target by every clause of the interface, and end with one verdict.

    Exit codes: 0 pass, 1 fail, 2 interrupted, 3 the suite broke, 4 usage, 5 nothing tested, 6 inconclusive.
    Further arguments go to pytest as they are.

    \b
    Examples:
      registry-contracts run
      registry-contracts run --profile smoke --realm abs-dev
      registry-contracts run --target targets/development.toml --workers 4
    """
    return int(pytest.main(_arguments(workers, strict, pytest_arguments, options)))


def _arguments(
    workers: int | None, strict: bool, extra: tuple[str, ...], options: dict[str, object]
) -> list[str]:
    cases = cases_directory()
    words = [str(cases), f"--rootdir={cases}", "-c", str(Path(__file__).parents[1] / "plugin" / "run.ini")]
    words += ["-p", "contracts.plugin"]
    for name in _HANDED_ON:
        if options[name] is not None:
            words.append(f"--{name}={options[name]}")
    for name in _REPEATED:
        given = options[name]
        words += [f"--{name}={value}" for value in given] if isinstance(given, tuple) else []
    words += ["--strict"] if strict else []
    words += ["-n", str(workers)] if workers and workers > 1 else []
    return [*words, *extra]
