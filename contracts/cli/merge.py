"""`registry-contracts merge`: merges the reports of all shards of a run into one report with one verdict."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from contracts.cli.options import comparison_options, reports, unpacked, webhook_options
from contracts.evidence.run_comparison import Comparison
from contracts.evidence.run_folder import (
    find_folders,
    merge,
    merge_problems,
    new_folder,
    point_latest,
    read_shards,
)
from contracts.evidence.verdicts import RunVerdict
from contracts.reports.build_server import annotate
from contracts.reports.finding_files import lines_of
from contracts.reports.verdict_json import FILE_NAME as VERDICT_FILE
from contracts.reports.webhook import webhook_settings
from contracts.reports.writers import pack, write_all
from contracts.safe_text import one_line, plain_line

_USAGE = 4
_LONGEST_LINE = 2000


@click.command()
@click.argument("folders", metavar="FOLDER…", nargs=-1, required=True, type=click.Path(path_type=Path))
@reports
@unpacked
@comparison_options
@webhook_options
def command(
    *,
    folders: tuple[Path, ...],
    reports: Path,
    unpacked: bool,
    drift: str | None,
    baseline: str | None,
    history: str | None,
    notify: str | None,
    report_url: str | None,
) -> int:
    """Merge the reports of all shards of a run into one, with one verdict and its exit code.

    FOLDER is a shard's run folder, or a folder that holds some. Refused are shards that do not make one whole run:
    one missing, one there twice, one that was killed, or shards with other targets, seeds, profiles or cases.

    Exit codes: those of `run`; 4 when the shards do not fit.

    \b
    Examples:
      registry-contracts merge shards/
      registry-contracts merge reports-1/latest reports-2/latest --reports reports
    """  # noqa: D301 - click's mark for lines to be left as they are
    pieces, troubles = read_shards(find_folders(folders))
    troubles += merge_problems(pieces)
    if troubles:
        for line in troubles:
            click.echo(f"registry-contracts: {plain_line(line, _LONGEST_LINE)}", err=True)
        return _USAGE
    target = pieces[0].record.run.target
    comparison = Comparison.of_options(target, reports, drift, baseline, history)
    webhook = webhook_settings(notify, report_url, pieces[0].shard.address)
    folder = new_folder(reports, f"{target}-{pieces[0].shard.of}-shards", "write reports to")
    # Whatever becomes of this one, `latest` does not go on leading to an older run.
    point_latest(folder)
    command = shlex.join(["registry-contracts", "merge", *map(str, folders)])
    merge(pieces, folder, command)
    for complaint in comparison.note_in(folder):
        click.echo(f"history: {plain_line(complaint, _LONGEST_LINE)}")
    verdict = write_all(folder)
    comparison.add_to_history(folder)
    if not unpacked:
        pack(folder)
    path = folder / VERDICT_FILE
    delivery = webhook.send(path) if webhook and path.exists() else None
    _print_verdict(verdict, folder, len(pieces), command)
    if delivery:
        click.echo(delivery.outcome(), err=True)
    return int(verdict.exit_code)


def _print_verdict(verdict: RunVerdict, folder: Path, shards: int, command: str) -> None:
    click.echo(f"merged: {shards} shards")
    for line in lines_of(verdict, command, folder):
        click.secho(one_line(line.text), fg=line.colour or None, bold=line.bold)
    annotate(verdict)
    if verdict.environment_faults and verdict.word != "inconclusive":
        click.echo(f"environment: {plain_line(verdict.environment_faults, _LONGEST_LINE)}")
    if verdict.drift.sentence:
        click.echo(f"drift: {plain_line(verdict.drift.sentence, _LONGEST_LINE)}")
    report = folder / "index.html"
    click.echo(f"report: {report if report.exists() else folder}")
    click.echo(f"verdict: {plain_line(verdict.line, _LONGEST_LINE)}")
