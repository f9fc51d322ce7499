"""`registry-contracts check`: judges recorded traffic from any tool."""

from __future__ import annotations

import json
from pathlib import Path

import click

from registry_contracts.cli.options import (
    alone,
    file_option,
    named_target,
    print_lines,
    reports,
    target_option,
    write_output,
)
from registry_contracts.errors import UsageError
from registry_contracts.evidence.run_folder import new_folder
from registry_contracts.file_formats import LARGEST
from registry_contracts.safe_text import many
from registry_contracts.settings.target import SANDBOX
from registry_contracts.traffic.check import check_archive
from registry_contracts.traffic.report import JSON_NAME, TrafficReport

_FOLDER = "traffic"
#: A larger file, in bytes, takes a while to read.
_LARGE = 10_000_000


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@target_option(help="Target whose traffic is judged; by default every address.")
@alone
@reports
@click.option("--json", "as_json", is_flag=True, help="Print check.json instead of lines.")
@file_option("--consumer-out", help="File to write the used operations to, for `gate --consumer`.")
def command(
    *, file: Path, target: str | None, alone: bool, reports: Path, as_json: bool, consumer_out: Path | None
) -> int:
    """Judge both sides of the traffic in FILE, a HAR of a browser, a proxy, a test tool or a run.

    Requests that break the interface are the client's findings, and responses the service's. Nothing is sent.

    Exit codes: 0 nothing contradicted, 1 a finding, 3 the suite broke, 4 usage, 5 no request of the interface, 6 the
    environment.

    \b
    Examples:
      registry-contracts check browser.har
      registry-contracts check sdk-tests.har --base-url http://127.0.0.1:8080 --alone
      registry-contracts check traffic.har --target dev --json
      registry-contracts check sdk-tests.har --consumer-out sdk.toml
    """  # noqa: D301 - click's mark for lines to be left as they are
    report = _report(target, alone=alone)
    if consumer_out is not None and consumer_out.exists():
        raise UsageError(
            f"'{consumer_out}' already exists; remove it, or name another file with --consumer-out"
        )
    if file.is_file() and _LARGE < (size := file.stat().st_size) <= LARGEST:
        click.echo(
            f"check: reading {file}, {size / 1e6:.0f} MB; this takes some seconds for each 10 MB", err=True
        )
    check_archive(file, str(file), report)
    folder = new_folder(reports, _FOLDER)
    content = report.write(folder)
    if consumer_out is not None:
        _write_consumer(consumer_out, report)
    if as_json:
        click.echo(json.dumps(content, indent=2, ensure_ascii=True))
    else:
        print_report(report, folder)
    return int(report.verdict[0])


def print_report(report: TrafficReport, folder: Path) -> None:
    """Print a report, the place of its file, and the verdict."""
    print_lines(report.lines())
    click.echo(f"report       {folder / JSON_NAME}")
    click.echo(report.verdict_line)


def _write_consumer(output: Path, report: TrafficReport) -> None:
    used = len(report.exercised)
    if used:
        write_output(output, report.consumer_toml(), "--consumer-out")
    requests = many(report.used.total(), "request")
    written = f"{many(used, 'operation')}, used by {requests}"
    click.echo(f"{output}: {written if used else 'not written: no operation was used'}", err=True)


def _report(target: str | None, *, alone: bool) -> TrafficReport:
    settings = None if target is None else named_target(target)
    if target is not None and settings is None:
        why = f"--target {SANDBOX} has another address in each run; name it with --base-url instead"
        raise UsageError(why)
    named = settings.name if settings and "://" not in str(target) else None
    return TrafficReport(target=named, base_url=settings.base_url if settings else None, alone=alone)
