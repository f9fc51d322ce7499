"""`registry-contracts init`: writes a target's settings file from options, a question or recorded traffic."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from registry_contracts.cli.options import address_of, file_option, known_realms, print_lines
from registry_contracts.errors import ExitCode, UsageError
from registry_contracts.manual.recorded_settings import RecordedSettings, learn
from registry_contracts.manual.settings_writer import (
    default_variables,
    settings_path,
    write_settings,
)
from registry_contracts.safe_text import json_text, many, plain_line
from registry_contracts.settings.guard import refuse_production_realm
from registry_contracts.settings.settings_reader import BASE_URL
from registry_contracts.settings.target import AUTHOR, DEVELOPMENT_REALMS
from registry_contracts.traffic.archive import read_har

_FOLDER: Final = Path("targets")


@click.command()
@click.argument("name")
@click.option("--base-url", metavar="URL", help="Address of the target.")
@click.option(
    "--realm",
    "realms",
    metavar="REALM",
    multiple=True,
    help="Realm to judge; may be repeated; by default all four.",
)
@file_option("--from-har", help="Recorded traffic to learn settings from.")
@click.option("--keep-personal-data", is_flag=True, help="Keep names and addresses in sample documents.")
@click.option("--force", is_flag=True, help="Replace an existing settings file.")
@click.option("--dry-run", is_flag=True, help="Show what was learned, and write nothing.")
def command(
    *,
    name: str,
    base_url: str | None,
    realms: tuple[str, ...],
    from_har: Path | None,
    keep_personal_data: bool,
    force: bool,
    dry_run: bool,
) -> int:
    """Write targets/NAME.toml with the address, the accounts' variables, realms, and what a recording shows.

    At a terminal it asks for an address that no option, variable or recording gives. It writes the names of the
    accounts' variables, never a password. Nothing is sent; `doctor` checks the target.

    Exit codes: 0 written, 2 interrupted, 4 usage.

    \b
    Examples:
      registry-contracts init dev.local --base-url https://registry.example.test
      registry-contracts init dev.local --from-har session.har
    """  # noqa: D301 - click's mark for lines to be left as they are
    path = settings_path(name, _FOLDER)
    if path.exists() and not (force or dry_run):
        raise UsageError(f"{path} already exists; replace it with --force, or choose another name")
    for realm in realms:
        refuse_production_realm(realm)
    learned = _learned(from_har, keep_personal_data=keep_personal_data)
    print_lines(_learned_lines(learned))
    address = "" if learned.production else _address(base_url or learned.base_url)
    shown = tuple(realm for realm in DEVELOPMENT_REALMS if realm in learned.realms)
    chosen = known_realms(realms, DEVELOPMENT_REALMS) or shown or DEVELOPMENT_REALMS
    if dry_run:
        click.echo(f"{path} is not written: a dry run", err=True)
        return ExitCode.PASS
    for written in write_settings(path, address, chosen, learned):
        click.echo(f"written: {written}")
    if learned.production:
        click.echo("fill in base_url: the recording is of production, so its address was not taken", err=True)
    else:
        unset = " and ".join(
            variable for variable in default_variables(AUTHOR) if not os.environ.get(variable)
        )
        first = f"set {unset}, then " if unset else ""
        click.echo(f"next: {first}registry-contracts doctor --target {path.stem}")
    return ExitCode.PASS


def _learned(from_har: Path | None, *, keep_personal_data: bool) -> RecordedSettings:
    if from_har is None:
        return RecordedSettings()
    learned = learn(read_har(from_har, str(from_har)).exchanges, keep_personal_data=keep_personal_data)
    if not learned.requests:
        raise UsageError(f"{from_har}: holds no request of the interface; record the registry's own traffic")
    return learned


def _learned_lines(learned: RecordedSettings) -> Iterator[str]:
    if not learned.requests:
        return
    yield f"the recording holds {many(learned.requests, 'request')} of the interface"
    if learned.production:
        yield "it is of PRODUCTION: nothing in it is sent anywhere, and its address is not taken"
    for realm, settings in sorted(learned.realms.items()):
        yield from (f"  realm.{realm}.{name} = {_short(value)}" for name, value in settings.items())
    names = learned.names
    own = ((kind, getattr(names, kind)) for kind in ("scheme", "realm_header"))
    yield from (f"  {kind} = {_short(name)}, the target's own name" for kind, name in own if name)
    yield from (f"  {note}" for note in learned.notes)


def _short(value: object) -> str:
    return plain_line(json_text(value))


def _address(given: str) -> str:
    """Return the given address, or ask for one at a terminal; in normal form."""
    at_a_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    address = given or os.environ.get(BASE_URL)
    if not address and at_a_terminal:
        address = click.prompt("Address of the target, before /api/v2013", err=True)
    if not address:
        empty = "; it is set, but empty" if BASE_URL in os.environ else ""
        raise UsageError(
            f"no address: give --base-url, or --from-har with a recording, or set {BASE_URL}{empty}"
        )
    return address_of(address)
