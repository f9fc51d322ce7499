"""Renders the reports of a run folder again: `python -m contracts.reports RUN_FOLDER`."""

from pathlib import Path

import click

from contracts.errors import SuiteError, UsageError
from contracts.evidence.record import ExitCode
from contracts.reports.writers import ALL, pack, write_all
from contracts.safe_text import printable


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
    except UsageError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(ExitCode.USAGE)
    except SuiteError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(ExitCode.ERROR)
    click.echo(printable(verdict.sentence))
    context.exit(verdict.exit_code)


if __name__ == "__main__":
    main(prog_name="python -m contracts.reports")
