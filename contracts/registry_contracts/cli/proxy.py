"""`registry-contracts proxy`: passes traffic between a client and a target, and judges both."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import click

from registry_contracts.cli.check import print_report
from registry_contracts.cli.options import (
    alone,
    named_target,
    reports,
    sandbox_arguments,
    target,
)
from registry_contracts.errors import UsageError
from registry_contracts.evidence.run_folder import new_folder, remove_folder
from registry_contracts.interface.cross_origin import AllowedOrigins
from registry_contracts.settings.embedded_sandbox import DOCUMENT_SIZE_LIMIT, serve_sandbox
from registry_contracts.settings.target import Target

_FOLDER: Final = "proxy"
_PORT: Final = click.IntRange(0, 65535)


@click.command()
@target
@click.option(
    "--port", metavar="N", type=_PORT, default=8462, show_default=True, help="Proxy port; 0 picks a free one."
)
@click.option(
    "--page-port",
    metavar="N",
    type=_PORT,
    default=8463,
    show_default=True,
    help="Page port; 0 picks a free one.",
)
@click.option("--no-page", is_flag=True, help="Serve no page.")
@reports
@alone
@click.option(
    "--cors",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="Origin whose pages may use the proxy, such as http://localhost:5173; may be repeated.",
)
@sandbox_arguments
def command(
    *,
    port: int,
    page_port: int,
    no_page: bool,
    origins: tuple[str, ...],
    target: str | None,
    reports: Path,
    alone: bool,
    sandbox_arguments: str,
) -> int:
    """Pass traffic between any client and a target unchanged, and judge requests and answers.

    Point the client at the printed address. Findings are printed as they come. Ctrl-C ends the proxy: the reports
    folder then holds traffic.har and check.json, and the exit code is the verdict's.

    Exit codes: 0 nothing contradicted, 1 a finding, 3 the suite broke, 4 usage, 5 no request of the interface, 6 the
    environment.

    \b
    Examples:
      registry-contracts proxy
      registry-contracts proxy --target dev --port 9000
      registry-contracts proxy --base-url http://127.0.0.1:8080 --no-page
      registry-contracts proxy --target dev --cors http://localhost:5173
    """  # noqa: D301 - click's mark for lines to be left as they are
    try:
        from registry_contracts.traffic.proxy import serve  # noqa: PLC0415 - of an extra
        from registry_contracts.traffic.recorder import TrafficRecorder  # noqa: PLC0415 - of an extra
    except ModuleNotFoundError as error:
        raise UsageError(f"the proxy needs {error.name}: pip install 'registry-contracts[proxy]'") from error
    allowed = AllowedOrigins.of(origins) if origins else None
    settings = named_target(target, sandbox_arguments)
    with ExitStack() as stack:
        aimed = settings or stack.enter_context(
            serve_sandbox(DOCUMENT_SIZE_LIMIT, shlex.split(sandbox_arguments))
        )
        folder = new_folder(reports, _FOLDER)
        unused = stack.enter_context(ExitStack())
        # A proxy that could not start leaves no folder.
        unused.callback(remove_folder, folder)
        recorder = TrafficRecorder(aimed, folder, alone=alone or settings is None, say=click.echo)
        with recorder:
            shown = None if no_page else page_port
            serve(aimed, recorder, partial(_ready, aimed), port=port, page_port=shown, origins=allowed)
        unused.pop_all()
        recorder.end()
    click.echo()
    print_report(recorder.report, folder)
    return int(recorder.report.verdict[0])


def _ready(target: Target, proxy: str, page: str | None) -> None:
    click.echo(f"proxy ready at {proxy}, passing on to {target.name} ({target.base_url})")
    if page is not None:
        click.echo(f"page at {page}")
    click.echo("point the client's base address at the proxy; Ctrl-C ends it with a report")
