"""`registry-contracts consumer`: makes the file that tells a gate what an SDK uses."""

from __future__ import annotations

from pathlib import Path

import click

from contracts.cli.options import write_output
from contracts.errors import UsageError
from contracts.evidence.terms import as_toml, notes, unknown_lines, usage_of
from contracts.exchanges.har import read_har
from contracts.interface.description import load_description
from contracts.safe_text import many


@click.group()
def command() -> None:
    """Make a consumer file: what an SDK uses of the interface, for `registry-contracts gate --consumer`."""


@command.command("from-har")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write it; by default here.",
)
@click.option("--force", is_flag=True, help="Replace the output file if it is there.")
def from_har(file: Path, output: Path | None, force: bool) -> int:
    """Make a consumer file from recorded traffic: a HAR of a browser, a proxy, or the SDK's own tests.

    Requests are matched by method and path, whatever the base URL; what is no operation is named.

    \b
    Examples:
      registry-contracts consumer from-har sdk-tests.har -o sdk.toml
    """  # noqa: D301 - click's mark for lines to be left as they are
    if output is not None and output.exists() and not force:
        raise UsageError(f"'{output}' is there already; choose another name, or replace it with --force")
    usage = usage_of(read_har(file, str(file)), load_description())
    if not usage.operations:
        raise UsageError(_nothing(str(file), unknown_lines(usage), sum(usage.elsewhere.values())))
    text = as_toml(usage, file.name)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text)
    requests = sum(usage.operations.values())
    where = f"{output}: " if output else ""
    found = f"{many(len(usage.operations), 'operation')}, used by {many(requests, 'request')}"
    click.echo(f"{where}{found}", err=True)
    for note in notes(usage):
        click.echo(note, err=True)
    return 0


def _nothing(file: str, unknown: list[str], elsewhere: int) -> str:
    seen = (
        f"it has {', '.join(unknown[:3])}"
        if unknown
        else f"{many(elsewhere, 'request')} in it went to other paths"
    )
    return f"{file}: no request in it is an operation of the interface; {seen}"
