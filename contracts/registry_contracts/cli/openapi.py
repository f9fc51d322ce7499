"""`registry-contracts openapi`: writes the description of the interface as one file, for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import click

from registry_contracts.cli.options import file_option, write_output
from registry_contracts.interface.description import as_yaml, load_description
from registry_contracts.safe_text import many


@click.command()
@file_option("-o", "--output", help="Output file; by default standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["yaml", "json"]),
    help="Format; by default JSON for a .json file, else YAML.",
)
def command(*, output: Path | None, form: str | None) -> int:
    """Write the description of the interface as one OpenAPI 3.1 file.

    It is no stricter than the interface document. The extension `x-judged-as` holds what the suite judges by.

    \b
    Examples:
      registry-contracts openapi -o registry.yaml
      registry-contracts openapi -o registry.json
    """  # noqa: D301 - click's mark for lines to be left as they are
    document = load_description().published
    as_json = form == "json" or (form is None and output is not None and output.suffix.lower() == ".json")
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n" if as_json else as_yaml(document)
    if output is None:
        click.echo(text, nl=False)
        return 0
    write_output(output, text)
    operations = many(len(load_description().operations), "operation")
    click.echo(f"{output}: {operations}, OpenAPI {document['openapi']}", err=True)
    return 0
