"""`registry-contracts init`: writes the settings file of a target, by a question, by reading, or from a recording."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from contracts.cli import manual_commands
from contracts.cli.doctor import diagnosis_lines
from contracts.cli.options import address_of, file_option, known_realms, print_lines
from contracts.errors import EnvironmentFault, UsageError
from contracts.exchanges.har import read_har
from contracts.manual.manual_session import Leftovers, SessionOptions, open_manual_session
from contracts.manual.readiness import Readiness, examine
from contracts.manual.settings_writer import (
    RecordedSettings,
    TargetSettings,
    default_variables,
    learn,
    settings_path,
    write_settings,
)
from contracts.plugin.preflight import State
from contracts.safe_text import json_text, many, plain_line
from contracts.settings.guard import refuse_production_realm
from contracts.settings.settings_reader import BASE_URL, load_target
from contracts.settings.target import AUTHOR, DEVELOPMENT_REALMS, DOCUMENT_REALMS

_FOLDER: Final = Path("targets")
#: How long a target is waited for that is just starting, as in a run.
_LONGEST_START_SECONDS: Final = 30


@click.command()
@click.argument("name")
@click.option("--base-url", metavar="URL", help="Its address.")
@click.option(
    "--realm", "realms", metavar="REALM", multiple=True, help="A realm to judge; by default all four."
)
@file_option("--from-har", help="Learn from recorded traffic.")
@click.option("--keep-personal-data", is_flag=True, help="Leave names and addresses in sample documents.")
@click.option("--force", is_flag=True, help="Replace a settings file that is there.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
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
    """Write targets/NAME.toml: the address, accounts by their variables, realms, and what a recording shows.

    At a terminal it asks for an address that no option, variable or recording gives. Accounts are named by variables;
    a password is never asked for and never written. Where the author's variables are set, the target is looked at, by
    reading only, as `doctor` does.

    Exit codes: 0 written, 2 interrupted, 4 usage, or written, but an
    account or a record does not fit, 6 written, but the target cannot be judged.

    \b
    Examples:
      registry-contracts init dev.local --base-url https://registry.example.test
      registry-contracts init dev.local --from-har session.har
      registry-contracts init dev.local --from-har session.har --dry-run
    """  # noqa: D301 - click's mark for lines to be left as they are
    path = settings_path(name, _FOLDER)
    if path.exists() and not (force or dry_run):
        raise UsageError(f"{path} is there already; --force replaces it, another name keeps it")
    for realm in realms:
        refuse_production_realm(realm)
    variables = {AUTHOR: default_variables(AUTHOR)}
    learned = _learned(from_har, keep_personal_data=keep_personal_data)
    print_lines(_learned_lines(learned))
    settings = TargetSettings(
        name=path.stem,
        base_url="" if learned.production else _address(base_url or learned.base_url),
        realms=known_realms(realms, DEVELOPMENT_REALMS)
        or tuple(realm for realm in DEVELOPMENT_REALMS if realm in learned.realms)
        or DEVELOPMENT_REALMS,
        variables=variables,
        realm=learned.realms,
        remarks=tuple(learned.notes),
        names=learned.names,
    )
    if dry_run:
        click.echo(f"{path} is not written: a dry run", err=True)
        return manual_commands.NO_FINDING
    for written in write_settings(settings, path):
        click.echo(f"written: {written}")
    author = variables[AUTHOR]
    if learned.production:
        click.echo(
            "fill in base_url: the recording is one of production; its address was not taken", err=True
        )
    elif not all(os.environ.get(variable) for variable in author):
        click.echo(f"next: set {' and '.join(author)}, then registry-contracts doctor --target {path.stem}")
    else:
        _look(path, settings)
    return manual_commands.NO_FINDING


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
        yield "it is one of PRODUCTION: nothing of it is sent anywhere, and its address is not taken"
    for realm, settings in sorted(learned.realms.items()):
        yield from (f"  realm.{realm}.{name} = {_short(value)}" for name, value in settings.items())
    names = learned.names
    own = ((kind, getattr(names, kind)) for kind in ("scheme", "realm_header"))
    yield from (f"  {kind} = {_short(name)}, which is its own" for kind, name in own if name)
    yield from (f"  {note}" for note in learned.notes)


def _short(value: object) -> str:
    return plain_line(json_text(value))


def _address(given: str) -> str:
    """The address that was given or is asked for at a terminal, in normal form."""
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


def _look(path: Path, settings: TargetSettings) -> None:
    """Look at the target that was written; it stays written when something stands in the way.

    Realms that the target knows in another spelling alone go into the settings, and it is looked at once more.

    Raises:
        EnvironmentFault, UsageError: a run cannot judge it as it is.
    """
    try:
        readiness = _examined(path)
        if readiness.spellings:
            _write_spellings(path, settings, readiness.spellings)
            readiness = _examined(path)
    except KeyboardInterrupt:
        click.echo(f"{path} is written; the target was not looked at to the end", err=True)
        raise
    print_lines(diagnosis_lines(readiness))
    if readiness.state in (State.ENVIRONMENT, State.SERVICE):
        raise EnvironmentFault(f"the settings are written, but {path.stem} cannot be judged as it is")
    if readiness.state is State.SETTINGS:
        raise UsageError("the settings are written, but do not fit the target: what to mend stands above")
    name = path.stem
    click.echo(f"next: registry-contracts doctor --target {name}; registry-contracts run --target {name}")


def _examined(path: Path) -> Readiness:
    ready = load_target(str(path), os.environ, Path.cwd())
    with open_manual_session(SessionOptions(ready=ready), Leftovers()) as session:
        return examine(session, wait_seconds=_LONGEST_START_SECONDS)


def _write_spellings(path: Path, settings: TargetSettings, spellings: dict[str, str]) -> None:
    for realm, spelling in sorted(spellings.items()):
        click.echo(f"{realm} is known as '{spelling}' alone: written as its sent_as")
    others = [realm for realm in settings.realms if realm not in DOCUMENT_REALMS]
    if others:
        click.echo(f"{', '.join(others)} cannot be read: give it sent_as, too, if it is spelled so")
    given = {
        realm: {**settings.realm.get(realm, {}), "sent_as": spelling} for realm, spelling in spellings.items()
    }
    write_settings(replace(settings, realm={**settings.realm, **given}), path)
