"""`registry-contracts gate`: one verdict on the operations that an SDK uses, for its release.

A gate refuses options that leave cases out, choose others, or judge more leniently.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click
import pytest
from click.core import ParameterSource

from registry_contracts.cli.options import (
    address_of,
    evidence_options,
    file_option,
    judging_options,
    print_lines,
    target_option,
)
from registry_contracts.cli.run import pytest_words, run_cases
from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.evidence.kept_gate import Question, answer, length, newest_run
from registry_contracts.evidence.run_folder import collect
from registry_contracts.evidence.terms import load_terms
from registry_contracts.file_formats import read_toml_file
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.location import cases_directory
from registry_contracts.plugin.run_options import RUN_SETTINGS
from registry_contracts.safe_text import complaint
from registry_contracts.settings.settings_reader import TARGET_VARIABLES, settings_file

PROFILE: Final = "gate"
#: Refused options. pytest's parsed options are checked, which include clusters such as `-qk`, files (`@words`) and
#: PYTEST_ADDOPTS. pytest takes no abbreviations.
_REFUSED: Final = (
    *("--profile", "--clause", "--operation", "--finding", "--seed"),
    *("-k", "-m", "--deselect", "--ignore", "--ignore-glob", "--lf", "--stepwise", "--stepwise-skip"),
    # A deviation that no longer happens fails a gate; a run that ends early cannot show that.
    *("--maxfail", "--collect-only", "-c", "-o"),
)
#: Defaults of options; the default of all others is empty.
_DEFAULTS: Final[dict[str, object]] = {"--profile": PROFILE, "--seed": None, "-c": str(RUN_SETTINGS)}
#: Without this refusal, a pipeline with unset secrets would judge the embedded sandbox, and pass.
_NO_TARGET: Final = (
    "a gate needs a target: name one with --target, or set REGISTRY_BASE_URL, REGISTRY_EMAIL and REGISTRY_PASSWORD; "
    "--target sandbox is the embedded one"
)
_MAX_AGE: Final = timedelta(hours=36)
#: Options that go with --from; all others concern requests.
_OF_A_KEPT_RUN: Final = frozenset({"kept", "max_age", "target", "consumer", "deviations"})
_AGE: Final = re.compile(r"(?P<number>\d{1,6}(\.\d+)?)(?P<unit>[mhd])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}
_GAPS_AT_MOST: Final = 20
#: Settings that pytest derives from `--strict` and the like, and the place of its cache.
_HARMLESS: Final = re.compile(r"strict\w*=true|cache_dir=.*")


def refusal(config: pytest.Config) -> str | None:
    """Return the reason why a gate cannot run with pytest's options; None if it can."""
    for option in _REFUSED:
        if _was_given(option, config.getoption(option, None)):
            return (
                f"{option} is not for a gate, which judges the whole consumer file, to the end; "
                f"use registry-contracts run {option}"
            )
    if config.args != [str(cases_directory())]:
        return (
            f"'{config.args[-1]}' is not for a gate, which judges by every case; use registry-contracts run"
        )
    if config.getoption("--target") is None and not any(name in os.environ for name in TARGET_VARIABLES):
        return _NO_TARGET
    return None


def _was_given(option: str, value: Any) -> bool:
    if option == "-o":
        return any(not _HARMLESS.fullmatch(setting) for setting in value or ())
    return bool(value != _DEFAULTS[option] if option in _DEFAULTS else value)


def _age(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> timedelta | None:
    match = _AGE.fullmatch((text or "").strip())
    if text is not None and match is None:
        raise UsageError(f"--max-age takes a number with m, h or d, such as 36h; not '{text}'")
    return timedelta(**{_UNITS[match["unit"]]: float(match["number"])}) if match else None


@click.command(context_settings={"ignore_unknown_options": True})
@target_option(help="Target settings; by default REGISTRY_… variables; `sandbox` is the embedded one.")
@judging_options
@file_option(
    "--from",
    "kept",
    metavar="DIR",
    help="Folder of a kept run to answer from, such as a nightly's; nothing is sent.",
)
@click.option(
    "--max-age",
    metavar="AGE",
    callback=_age,
    help="Highest age of that run: 90m, 36h (default), 7d.",
)
@evidence_options
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    workers: int | None,
    pytest_arguments: tuple[str, ...],
    kept: Path | None,
    max_age: timedelta | None,
    **options: Any,
) -> int:
    """Decide whether an SDK can be released against a target: one exit code, with the verdict in the last line.

    Runs the profile gate, strictly: a must clause that was not judged prevents a pass, unless the consumer file
    waives it with a reason. Findings outside the consumer file are reported and do not count.

    Exit codes: 0 pass, 1 fail, 2 interrupted, 3 the suite broke, 4 usage, 5 nothing tested, 6 inconclusive.
    Further arguments are passed to pytest; those that leave cases out are refused.

    \b
    Examples:
      registry-contracts gate --target sandbox --consumer sdk.toml
      registry-contracts gate --target dev --consumer sdk.toml --workers 4
      registry-contracts gate --from nightly/ --max-age 36h --consumer sdk.toml
    """  # noqa: D301 - click's mark for lines to be left as they are
    if kept is not None:
        return _from_kept_run(kept, max_age or _MAX_AGE, **options)
    if max_age is not None:
        raise UsageError("--max-age needs --from, which names the kept run")
    words = pytest_words({**options, "profile": PROFILE}, workers, strict=True)
    gate = _Gate()
    code = run_cases([*words, *pytest_arguments], gate)
    if gate.refusal:
        raise UsageError(gate.refusal)
    return code


def _from_kept_run(
    kept: Path,
    max_age: timedelta,
    *,
    target: str | None,
    consumer: str | None,
    deviations: str | None,
    **_others: object,
) -> int:
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name not in _OF_A_KEPT_RUN:
            name = option.opts[0] if option.opts[0].startswith("-") else context.params["pytest_arguments"][0]
            raise UsageError(f"{name} has no effect with --from, which runs no case; remove it")
    by_address = target if target and "://" in target else None
    address = by_address or _address(target)
    folder, now = newest_run(kept), datetime.now(UTC)
    record = collect(folder)
    question = Question(
        terms=load_terms(consumer, deviations, target, record.run.target, Path.cwd()),
        target=None if by_address or target is None else Path(target).name.removesuffix(".toml"),
        base_url=address and address_of(address),
        max_age=max_age,
        now=now,
    )
    verdict, gaps = answer(folder, record, question, list(load_catalogue()))
    # Imported here, as these are slow to import and other gates do not need them.
    from registry_contracts.plugin.terminal import terms_lines  # noqa: PLC0415
    from registry_contracts.reports.cards import lines_of  # noqa: PLC0415

    run = record.run
    print_lines(line.text for line in lines_of(verdict, run.command, folder))
    print_lines(terms_lines(verdict))
    shown = [*gaps[:_GAPS_AT_MOST], *([f"{len(gaps) - _GAPS_AT_MOST} more"] if gaps[_GAPS_AT_MOST:] else [])]
    print_lines(f"cannot tell: {gap}" for gap in shown)
    began = f"began {length(now - run.began)} ago"
    print_lines(
        [f"kept run: {folder} ({run.profile} in {', '.join(run.realms)}; {began}; {run.target_in_words})"]
    )
    click.echo(f"gate: {complaint(verdict.line)}")
    return int(verdict.exit_code)


def _address(target: str | None) -> str | None:
    """Read the address from a target's settings, without its accounts, so that no variable has to be set."""
    path = settings_file(target, Path.cwd()) if target is not None else None
    address = read_toml_file(path, str(path)).tables.get("base_url") if path else None
    return address if isinstance(address, str) else None


class _Gate:
    """pytest plugin that refuses a run with options that are not for a gate."""

    refusal: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int | None:
        """End pytest at once if an option is refused."""
        self.refusal = refusal(config)
        return ExitCode.USAGE if self.refusal else None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Have the last line report the verdict as a gate's."""
        # pytest has to import the plugin's modules first, to rewrite their assertions.
        from registry_contracts.plugin.terminal import LAST_WORD  # noqa: PLC0415

        config.stash[LAST_WORD] = PROFILE
