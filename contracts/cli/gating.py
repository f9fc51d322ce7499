"""`registry-contracts gate`: one verdict on what an SDK uses, for its release."""

from __future__ import annotations

import click
import pytest

from contracts.cli.run_options import judged, kept
from contracts.cli.running import pytest_words
from contracts.errors import UsageError

#: Words that would leave cases out or choose others: a gate is whole, or it is none.
_REFUSED = {
    "--profile": "a gate runs the profile gate; for another: registry-contracts run --profile",
    "--clause": "name it under clauses in the consumer file, or use registry-contracts run --clause",
    "--operation": "name it under operations in the consumer file, or use registry-contracts run --operation",
    "--seed": "a gate has a fixed seed; for another: registry-contracts run --seed",
    "-k": "a gate leaves no case out; use registry-contracts run -k",
    "-m": "a gate leaves no case out; use registry-contracts run -m",
    "--deselect": "a gate leaves no case out; use registry-contracts run --deselect",
    "--ignore": "a gate leaves no case out; use registry-contracts run --ignore",
}


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
    for word in pytest_arguments:
        _refuse(word)
    # It is there to be said; a gate is always strict.
    options.pop("strict")
    words = pytest_words({**options, "profile": "gate"}, {"realm": realm}, workers, strict=True)
    gate = _Gate()
    code = int(pytest.main([*words, *pytest_arguments], plugins=[gate]))
    if gate.says:
        click.echo(f"gate: {gate.says}")
    gate.tell()
    return code


def _refuse(word: str) -> None:
    for option, advice in _REFUSED.items():
        short = len(option) == 2 and word.startswith(option)
        if short or word == option or word.startswith(f"{option}="):
            raise UsageError(f"{option} is not for a gate: {advice}")


class _Gate:
    """Takes the verdict's line out of the session, to tell it after everything else."""

    says: str | None = None
    _config: pytest.Config | None = None

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
