"""`registry-contracts merge`: merges the reports of all shards of a run into one report with one verdict."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from contracts.cli.options import comparison_options, webhook_options
from contracts.errors import UsageError
from contracts.evidence import run_history
from contracts.evidence.merge import find_folders, merge, merge_problems, read_shards
from contracts.evidence.run_folder import new_folder
from contracts.evidence.run_history import realms_of_operations
from contracts.evidence.verdicts import RunVerdict
from contracts.history.baseline import path_of, save_drift_settings
from contracts.history.baseline import read as read_baseline
from contracts.history.drift_report import Mode
from contracts.history.runs import FILE_NAME, Entry, append, read_line
from contracts.history.runs import read as read_history
from contracts.history.trends import past_of, write_past
from contracts.reports.verdict_json import FILE_NAME as VERDICT_FILE
from contracts.reports.webhook import webhook_settings
from contracts.reports.writers import write_all

_USAGE = 4
_OFF = "off"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folders", metavar="FOLDER…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--reports",
    metavar="DIR",
    default="reports",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for the merged report.",
)
@comparison_options
@webhook_options
def command(
    *,
    folders: tuple[Path, ...],
    reports: Path,
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
            click.echo(f"registry-contracts: {line}", err=True)
        return _USAGE
    memory = _memory(
        pieces[0].record.run.target, reports, Mode.WARN if drift is None else drift, baseline, history
    )
    webhook = webhook_settings(notify, report_url, pieces[0].shard.address)
    shards = f"{pieces[0].record.run.target}-{pieces[0].shard.of}-shards"
    folder = new_folder(reports, shards, "write reports to")
    merge(pieces, folder, shlex.join(["registry-contracts", "merge", *map(str, folders)]))
    verdict = _judged(folder, memory)
    path = folder / VERDICT_FILE
    delivery = webhook.send(path) if webhook and path.exists() else None
    _tell(verdict, folder, len(pieces))
    if delivery:
        click.echo(delivery.outcome(), err=True)
    return int(verdict.exit_code)


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the merged run is compared with and where it is remembered; `history` None for nowhere."""

    target: str
    mode: Mode
    baseline: Path
    history: Path | None


def _memory(target: str, reports: Path, drift: str, baseline: str | None, history: str | None) -> _Memory:
    if drift not in list(Mode):
        raise UsageError(f"--drift takes {', '.join(Mode)}, not '{drift}'")
    path = Path(baseline) if baseline else path_of(target)
    if drift != Mode.OFF and baseline and read_baseline(path, realms_of_operations()) is None:
        raise UsageError(f"there is no baseline {path}; `registry-contracts drift accept` writes one")
    file = None if history == _OFF else Path(history) if history else reports / FILE_NAME
    return _Memory(target, Mode(drift), path, file)


def _judged(folder: Path, memory: _Memory) -> RunVerdict:
    """Compare the run with what is accepted and with runs before it, write its reports, and remember it."""
    save_drift_settings(folder, memory.mode, memory.baseline, realms_of_operations())
    if memory.history is not None:
        known = read_history(memory.history)
        for line in known.damaged:
            click.echo(f"history: {line}; passed over")
        write_past(folder, past_of(known, memory.target))
    verdict = write_all(folder)
    path = folder / run_history.FILE_NAME
    if memory.history is not None and path.exists():
        entry = read_line(path.read_text("utf-8"))
        if isinstance(entry, Entry):
            append(memory.history, entry)
    return verdict


def _tell(verdict: RunVerdict, folder: Path, shards: int) -> None:
    click.echo(f"merged: {shards} shards")
    for finding in verdict.findings:
        click.echo(f"{finding.clause} · {finding.operation} · {finding.realm}")
        click.echo(f"    expected {finding.expected}")
        click.echo(f"    seen     {finding.seen}")
    if verdict.weather and verdict.word != "inconclusive":
        click.echo(f"weather: {verdict.weather}")
    if verdict.drift.sentence:
        click.echo(f"drift: {verdict.drift.sentence}")
    report = folder / "index.html"
    click.echo(f"report: {report if report.exists() else folder}")
    click.echo(f"verdict: {verdict.sentence} (exit code {int(verdict.exit_code)})")
