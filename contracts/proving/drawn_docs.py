"""Writes what a drawn proof draws from into docs/proof.md: the fault population, and every silence with its knobs.

``python -m contracts.proving.drawn_docs`` writes both tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from contracts.interface.catalogue import Level
from contracts.proving.proof_report import put_between
from contracts.proving.trials import UNSETTLED
from contracts.sandbox.faults.population import population
from contracts.sandbox.variants.silences import CLAUSES, FURTHER, SENTENCES, WITHOUT_KNOB

DOCUMENT: Final = Path("docs/proof.md")


def population_table() -> str:
    """The population by family: operators, places, faults, and how many of them break a must clause."""
    return "\n".join(_population_lines()) + "\n"


def _population_lines() -> Iterator[str]:
    faults = list(population().values())
    yield "| family | operators | operations | faults | … of level must |"
    yield "|---|---:|---:|---:|---:|"
    for family in sorted(Counter(fault.family for fault in faults)):
        members = [fault for fault in faults if fault.family == family]
        operators = {fault.operator for fault in members}
        operations = {operation for fault in members for operation in fault.operations}
        musts = sum(fault.level is Level.MUST for fault in members)
        yield f"| {family} | {len(operators)} | {len(operations)} | {len(members)} | {musts} |"
    musts = sum(fault.level is Level.MUST for fault in faults)
    yield f"| all | | | {len(faults)} | {musts} |"


def silences_table() -> str:
    """Every silent point with the variants that fill it otherwise, then each sentence that says "not shown"."""
    return "\n".join(_silences_lines()) + "\n"


def _silences_lines() -> Iterator[str]:
    yield "Variants on which the suite still raises a false alarm or passes falsely, as drawn services showed:"
    yield ""
    yield "| variant | clauses |"
    yield "|---|---|"
    yield from (f"| `{variant}` | {_names(clauses)} |" for variant, clauses in UNSETTLED.items())
    yield ""
    yield "| silent clause | knobs beside the faithful sandbox |"
    yield "|---|---|"
    yield from (f"| `{clause}` | {_names(names)} |" for clause, names in CLAUSES.items())
    yield from (f"| `{clause}` | none: {why} |" for clause, why in WITHOUT_KNOB.items())
    yield ""
    yield "| silent without a clause | knobs |"
    yield "|---|---|"
    yield from (f"| {point} | {_names(names)} |" for point, names in FURTHER.items())
    yield ""
    yield 'What the interface document says is "not shown", and the silent clauses that it leaves:'
    yield ""
    yield "| not shown | clauses |"
    yield "|---|---|"
    yield from (f"| {sentence} | {_names(clauses)} |" for sentence, clauses in SENTENCES.items())


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@click.command()
@click.option("--document", type=click.Path(path_type=Path), default=DOCUMENT, show_default=True)
def command(document: Path) -> None:
    """Write both tables into a document."""
    put_between(document, "population", population_table())
    put_between(document, "silences", silences_table())


if __name__ == "__main__":
    command()
