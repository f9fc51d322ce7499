"""Renders the reports of a run folder again: `python -m contracts.reports RUN_FOLDER`."""

import sys
from pathlib import Path

import click

from contracts.errors import RegistryContractsError, UsageError, breakdown
from contracts.evidence.record import ExitCode
from contracts.reports.writers import ALL, pack, write_all
from contracts.safe_text import plain_line

_LONGEST_LINE = 1_000


@click.command()
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option("--format", "formats", multiple=True, type=click.Choice(ALL), help="Only these; repeatable.")
@click.pass_context
def main(context: click.Context, run_folder: Path, formats: tuple[str, ...]) -> None:
    """Write the reports of RUN_FOLDER again from its journals; ends with the run's exit code.

    What `--format har` and `--format allure` write is not packed, however large.
    """
    try:
        verdict = write_all(run_folder, formats or ALL)
        if not formats:
            pack(run_folder)
    except RegistryContractsError as error:
        click.echo(f"error: {plain_line(str(error), _LONGEST_LINE)}", err=True)
        context.exit(ExitCode.USAGE if isinstance(error, UsageError) else ExitCode.ERROR)
    except Exception as error:  # noqa: BLE001 - whatever breaks must not end as 1, which is a verdict
        click.echo(f"error: {plain_line(breakdown(error), _LONGEST_LINE)}", err=True)
        context.exit(ExitCode.ERROR)
    click.echo(plain_line(verdict.sentence, _LONGEST_LINE))
    context.exit(verdict.exit_code)


def run() -> int:
    """Return the exit code of the command; a mistake in its words is one of usage, not an interruption."""
    try:
        return int(main(prog_name="python -m contracts.reports", standalone_mode=False) or 0)
    except click.ClickException as error:
        click.echo(f"error: {plain_line(error.format_message(), _LONGEST_LINE)}", err=True)
        return ExitCode.USAGE


if __name__ == "__main__":
    sys.exit(run())
