"""`registry-contracts sandbox`: serves the embedded service."""

from __future__ import annotations

import click

from registry_contracts.settings.embedded_sandbox import require_extra


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Serve the embedded sandbox until Ctrl-C; `registry-contracts sandbox --help` lists the options."""
    require_extra()
    from registry_contracts.sandbox.serve import main  # noqa: PLC0415 - an optional extra, and slow to import

    return main([*arguments])
