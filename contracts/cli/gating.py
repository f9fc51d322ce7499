"""`registry-contracts gate`: one verdict on what an SDK uses, for its release."""

from __future__ import annotations

import click
import pytest

from contracts.cli.gate_refusals import PROFILE, refusal
from contracts.cli.run_options import judged, kept
from contracts.cli.running import pytest_words
from contracts.errors import UsageError
from contracts.evidence.outcomes import ExitCode


@click.command(context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True})
@judged(consumer="What the SDK uses; without it, the whole interface.")
@click.option("--strict", is_flag=True, help="Said for clearness only: a gate is always strict.")
@kept
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
        from contracts.plugin.notices import AWAITED_BY_COMMAND  # noqa: PLC0415
        from contracts.plugin.terminal import LAST_LINE  # noqa: PLC0415

        config.stash[LAST_LINE] = self._hear
        config.stash[AWAITED_BY_COMMAND] = True
        self._config = config

    def tell(self) -> None:
        """Say after the verdict what became of the notice to a webhook."""
        from contracts.plugin.notices import tell  # noqa: PLC0415

        if self._config is not None:
            tell(self._config)

    def _hear(self, line: str) -> None:
        self.says = line
