"""`registry-contracts gate`: one verdict on what an SDK uses, for its release.

A gate refuses options that would leave cases out, choose others, or judge more leniently.
"""

from __future__ import annotations

import re
from typing import Any, Final

import click
import pytest

from contracts.cli.options import evidence_options, judging_options
from contracts.cli.run import PYTEST_SETTINGS, pytest_words
from contracts.errors import UsageError
from contracts.evidence.outcomes import ExitCode

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
    "--collect-only": "it judges nothing; use registry-contracts run --collect-only",
    "-c": "a gate has its own settings of pytest; use registry-contracts run -c",
    "-o": "a gate has its own settings of pytest; use registry-contracts run -o",
}
#: What options hold that nobody gave; the others hold nothing.
_UNASKED: Final[dict[str, object]] = {"--profile": PROFILE, "--seed": None, "-c": str(PYTEST_SETTINGS)}
#: Settings that pytest itself makes of `--strict` and the like.
_STRICTER: Final = re.compile(r"strict\w*=true")


def refusal(config: pytest.Config) -> str | None:
    """Return why a gate cannot be run with what pytest was given; None when it can."""
    for option, advice in _REFUSED.items():
        if _asked(option, config.getoption(option, None)):
            return f"{option} is not for a gate: {advice}"
    return None


def _asked(option: str, value: Any) -> bool:
    if option == "-o":
        return any(not _STRICTER.fullmatch(each) for each in value or ())
    return bool(value != _UNASKED[option] if option in _UNASKED else value)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@judging_options(consumer="What the SDK uses; without it, the whole interface.")
@click.option("--strict", is_flag=True, help="Said for clearness only: a gate is always strict.")
@evidence_options
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    realm: tuple[str, ...], workers: int | None, pytest_arguments: tuple[str, ...], **options: object
) -> int:
    """Decide whether an SDK can be released against a target: one verdict, one exit code, and why, in the last line.

    Runs the profile gate, strictly: a must clause that could not be judged is no pass, unless the consumer file
    waives it with a reason. What lies outside the consumer is reported and not counted.

    Exit codes: 0 pass, 1 fail, 2 interrupted, 3 the suite broke, 4 usage, 5 nothing tested, 6 inconclusive.
    Further arguments go to pytest as they are, but for those that would leave cases out.

    \b
    Examples:
      registry-contracts gate --consumer sdk.toml
      registry-contracts gate --target dev --consumer sdk.toml --workers 4
    """  # noqa: D301 - click's mark for lines to be left as they are
    # It is there to be said; a gate is always strict.
    options.pop("strict")
    words = pytest_words({**options, "profile": PROFILE}, {"realm": realm}, workers, strict=True)
    gate = _Gate()
    code = int(pytest.main([*words, *pytest_arguments], plugins=[gate]))
    if gate.refused:
        raise UsageError(gate.refused)
    if gate.says:
        click.echo(f"gate: {gate.says}")
    gate.tell()
    return code


class _Gate:
    """Refuses what makes no gate, and takes the verdict's line out of the session, to tell it after everything else."""

    refused: str | None = None
    says: str | None = None
    _config: pytest.Config | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int | None:
        """End before anything begins when the gate would not be whole."""
        self.refused = refusal(config)
        return ExitCode.USAGE if self.refused else None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep the line for the end, and what comes after it."""
        # Imported once pytest is under way: it has to see the plugin's modules before anybody else.
        from contracts.plugin.terminal import LAST_LINE  # noqa: PLC0415
        from contracts.plugin.webhook_notice import AWAITED_BY_COMMAND  # noqa: PLC0415

        config.stash[LAST_LINE] = self._hear
        config.stash[AWAITED_BY_COMMAND] = True
        self._config = config

    def tell(self) -> None:
        """Say after the verdict what became of the notice to a webhook."""
        from contracts.plugin.webhook_notice import tell  # noqa: PLC0415

        if self._config is not None:
            tell(self._config)

    def _hear(self, line: str) -> None:
        self.says = line
