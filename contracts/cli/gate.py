"""`registry-contracts gate`: one verdict on what an SDK uses, for its release.

A gate refuses options that would leave cases out, choose others, or judge more leniently.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final

import click
import pytest

from contracts.cli.options import evidence_options, judging_options
from contracts.cli.run import PYTEST_SETTINGS, pytest_words, run_cases
from contracts.errors import UsageError
from contracts.evidence.record import ExitCode
from contracts.settings.settings_reader import TARGET_VARIABLES

PROFILE: Final = "gate"
#: Option → what to do instead. Read from what pytest made of the command, so that it does not matter whether they
#: came as words, in a cluster such as `-qk`, in a file (`@words`), or in PYTEST_ADDOPTS. pytest takes no abbreviations.
_REFUSED: Final = {
    "--profile": "a gate runs the profile gate; for another: registry-contracts run --profile",
    "--clause": "name it under clauses in the consumer file, or use registry-contracts run --clause",
    "--operation": "name it under operations in the consumer file, or use registry-contracts run --operation",
    "--seed": "a gate has a fixed seed; for another: registry-contracts run --seed",
    "--shard": "a gate leaves no case out; use registry-contracts run --shard, and merge its reports",
    "-k": "a gate leaves no case out; use registry-contracts run -k",
    "-m": "a gate leaves no case out; use registry-contracts run -m",
    "--deselect": "a gate leaves no case out; use registry-contracts run --deselect",
    "--ignore": "a gate leaves no case out; use registry-contracts run --ignore",
    "--ignore-glob": "a gate leaves no case out; use registry-contracts run --ignore-glob",
    "--lf": "a gate leaves no case out; take it, or --last-failed, away",
    "--stepwise": "a gate leaves no case out; take it, or --sw, away",
    "--stepwise-skip": "a gate leaves no case out; take it, or --sw-skip, away",
    # A deviation that no longer happens fails a gate; no run that may end early can say that of one.
    "--maxfail": "a gate runs to its end; use registry-contracts run --maxfail, or -x",
    "--first": "a gate runs to its end; use registry-contracts run --first",
    "--collect-only": "it judges nothing; use registry-contracts run --collect-only",
    "-c": "a gate has its own settings of pytest; use registry-contracts run -c",
    "-o": "a gate has its own settings of pytest; use registry-contracts run -o",
}
#: Values of options that were not given; those of the others are empty.
_DEFAULTS: Final[dict[str, object]] = {"--profile": PROFILE, "--seed": None, "-c": str(PYTEST_SETTINGS)}
#: Without it a pipeline whose secrets are unset would pass, since the embedded sandbox is judged in place of a target.
_NO_TARGET: Final = (
    "a gate needs a target: name one with --target, or set REGISTRY_BASE_URL, REGISTRY_EMAIL and REGISTRY_PASSWORD; "
    "--target sandbox is the embedded one"
)
#: Settings that pytest itself makes of `--strict` and the like.
_STRICTER: Final = re.compile(r"strict\w*=true")


def refusal(config: pytest.Config) -> str | None:
    """Return why a gate cannot be run with what pytest was given; None when it can."""
    for option, advice in _REFUSED.items():
        if _was_given(option, config.getoption(option, None)):
            return f"{option} is not for a gate: {advice}"
    if config.getoption("--target") is None and not any(name in os.environ for name in TARGET_VARIABLES):
        return _NO_TARGET
    return None


def _was_given(option: str, value: Any) -> bool:
    if option == "-o":
        return any(not _STRICTER.fullmatch(setting) for setting in value or ())
    return bool(value != _DEFAULTS[option] if option in _DEFAULTS else value)


@click.command(context_settings={"ignore_unknown_options": True})
@judging_options
@click.option("--strict", is_flag=True, help="Without effect: a gate is always strict.")
@evidence_options
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(workers: int | None, pytest_arguments: tuple[str, ...], **options: object) -> int:
    """Decide whether an SDK can be released against a target: one verdict, one exit code, and why, in the last line.

    Runs the profile gate, strictly: a must clause that could not be judged is no pass, unless the consumer file
    waives it with a reason. What lies outside the consumer is reported and not counted.

    Exit codes: 0 pass, 1 fail, 2 interrupted, 3 the suite broke, 4 usage, 5 nothing tested, 6 inconclusive.
    Further arguments go to pytest as they are, but for those that would leave cases out.

    \b
    Examples:
      registry-contracts gate --target sandbox --consumer sdk.toml
      registry-contracts gate --target dev --consumer sdk.toml --workers 4
    """  # noqa: D301 - click's mark for lines to be left as they are
    del options["strict"]
    words = pytest_words({**options, "profile": PROFILE}, workers, strict=True)
    gate = _Gate()
    code = run_cases([*words, *pytest_arguments], gate)
    if gate.refusal:
        raise UsageError(gate.refusal)
    if gate.verdict_line:
        click.echo(f"gate: {gate.verdict_line}")
    gate.report_delivery()
    return code


class _Gate:
    """Refuses what makes no gate, and takes the verdict line from the session, to print it after everything else."""

    refusal: str | None = None
    verdict_line: str | None = None
    _config: pytest.Config | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int | None:
        """End before anything begins when the gate would not be whole."""
        self.refusal = refusal(config)
        return ExitCode.USAGE if self.refusal else None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep the verdict line and the webhook's outcome for the end."""
        # pytest has to import the plugin's modules first, to rewrite their assertions.
        from contracts.plugin.session_finish import REPORTED_BY_COMMAND  # noqa: PLC0415
        from contracts.plugin.terminal import LAST_LINE  # noqa: PLC0415

        config.stash[LAST_LINE] = self._keep_verdict_line
        config.stash[REPORTED_BY_COMMAND] = True
        self._config = config

    def report_delivery(self) -> None:
        """Print whether the webhook took the notice."""
        from contracts.plugin.session_finish import report_outcome  # noqa: PLC0415

        if self._config is not None:
            report_outcome(self._config)

    def _keep_verdict_line(self, line: str) -> None:
        self.verdict_line = line
