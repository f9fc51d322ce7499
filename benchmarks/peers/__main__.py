"""`python -m benchmarks.peers`: the other tools and ours on the same defects; `tox -e peers` calls it."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import click

from benchmarks.peers.campaign import carry_out, planned
from benchmarks.peers.classes import Need, classed
from benchmarks.peers.measuring import Ours, Outsider, Tool
from benchmarks.peers.portman import Portman
from benchmarks.peers.report import Conditions, put_table, write
from benchmarks.peers.respect import Respect
from benchmarks.peers.results import Record
from benchmarks.peers.sample import draw
from benchmarks.peers.schemathesis_cli import SchemathesisCli
from benchmarks.peers.specmatic import Specmatic
from contracts.errors import RegistryContractsError, UsageError
from contracts.interface.catalogue import load_catalogue
from contracts.sandbox.defects import Defect

_NICENESS = 10


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--tools", type=click.Path(path_type=Path), help="Where npm installed the tools (--prefix).")
@click.option("--peer", "names", metavar="NAME", multiple=True, help="Only tools whose name holds this.")
@click.option("--per-class", default=10, show_default=True, type=click.IntRange(1), help="Defects per class.")
@click.option("--defect", "defects", metavar="NAME", multiple=True, help="Only these of all defects.")
@click.option(
    "--variants/--no-variants", default=True, show_default=True, help="Look for false alarms there."
)
@click.option("--resume", is_flag=True, help="Go on with the last measurement.")
@click.option("--results", default=Path("reports/peers"), show_default=True, type=click.Path(path_type=Path))
@click.option("--document", type=click.Path(path_type=Path), help="Write the tables here, as docs/peers.md.")
@click.option("--table", type=click.Path(path_type=Path), help="Put the first table here, as docs/proof.md.")
def command(
    *,
    tools: Path | None,
    names: tuple[str, ...],
    per_class: int,
    defects: tuple[str, ...],
    variants: bool,
    resume: bool,
    results: Path,
    document: Path | None,
    table: Path | None,
) -> None:
    """Measure the tools one after another, and report by class of defect."""
    os.nice(_NICENESS)
    results.mkdir(parents=True, exist_ok=True)
    sample = _sample(per_class, defects)
    steps = planned(sample, variants)
    record = Record(results / "runs.jsonl", resume)
    chosen = [tool for tool in _tools(tools, results.resolve()) if _asked(tool, names)]
    if not chosen:
        raise UsageError("--peer fits no tool; leave it out to see them all")
    for tool in chosen:
        if missing := tool.missing():
            click.echo(f"{tool.name}: not measured: {missing}")
        else:
            carry_out(tool, steps, record, click.echo)
    conditions = Conditions(datetime.now(UTC), per_class, os.cpu_count() or 1, bool(defects))
    for path in write(results, document, conditions, chosen, sample, record.runs):
        click.echo(f"written: {path}")
    if table is not None:
        put_table(table, conditions, chosen, sample, record.runs)
        click.echo(f"written: {table}")


def _sample(per_class: int, names: Sequence[str]) -> dict[Need, list[Defect]]:
    sorted_out = classed(load_catalogue())
    if not names:
        return draw(sorted_out, per_class)
    known = {defect.name for defects in sorted_out.values() for defect in defects}
    for name in names:
        if name not in known:
            raise UsageError(f"--defect {name}: there is no such defect of a must clause")
    return {need: [each for each in defects if each.name in names] for need, defects in sorted_out.items()}


def _tools(prefix: Path | None, results: Path) -> list[Tool]:
    modules = (prefix or Path("node_modules/..")).resolve() / "node_modules"
    # The fast ones first, so that there is something to look at early.
    peers = (Respect(modules), Portman(modules), Specmatic(modules), SchemathesisCli())
    outsiders = [Outsider(peer, results / "work" / type(peer).__name__, modules) for peer in peers]
    return [Ours(version("registry-contracts")), *outsiders]


def _asked(tool: Tool, names: Sequence[str]) -> bool:
    return not names or any(name.lower() in tool.name.lower() for name in names)


def main() -> None:
    """Run the command; known trouble is one line."""
    try:
        command.main(standalone_mode=False)
    except click.ClickException as error:
        _complain(error.format_message(), 4)
    except UsageError as error:
        _complain(str(error), 4)
    except RegistryContractsError as error:
        _complain(str(error), 3)


def _complain(text: str, code: int) -> None:
    click.echo(f"peers: {text}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
