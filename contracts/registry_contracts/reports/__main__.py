"""Writes the reports of a run folder again: `python -m registry_contracts.reports RUN_FOLDER`."""

from pathlib import Path

import click

from registry_contracts.command_line import run_to_the_end
from registry_contracts.reports.writers import ALL, pack, write_all
from registry_contracts.safe_text import plain_line

_LONGEST_LINE = 1_000


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option("--format", "formats", multiple=True, type=click.Choice(ALL), help="Only these; repeatable.")
def command(run_folder: Path, formats: tuple[str, ...]) -> int:
    """Write the reports of RUN_FOLDER again from its journals; exit with the run's exit code.

    A file of `--format har` is never packed.
    """
    verdict = write_all(run_folder, formats or ALL)
    if not formats:
        pack(run_folder)
    click.echo(plain_line(verdict.sentence, _LONGEST_LINE))
    return int(verdict.exit_code)


def main() -> None:
    """Run the command and exit with its code."""
    run_to_the_end(command, "python -m registry_contracts.reports")


if __name__ == "__main__":
    main()
