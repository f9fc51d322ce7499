"""`registry-contracts init`: writes the settings file of a target, by questions, by reading, or from a recording."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from contracts.cli import manual_commands
from contracts.cli.doctor import diagnosis_lines
from contracts.cli.options import print_lines
from contracts.errors import EnvironmentFault, UsageError
from contracts.exchanges.har import read_har
from contracts.manual.manual_session import Leftovers, SessionOptions, open_manual_session
from contracts.manual.readiness import Readiness, examine
from contracts.manual.settings_writer import (
    RecordedSettings,
    TargetSettings,
    Value,
    default_variables,
    learn,
    settings_path,
    write_settings,
)
from contracts.plugin.preflight import State
from contracts.safe_text import json_text, many, plain_line, printable
from contracts.settings.guard import checked_base_url, refuse_production_realm
from contracts.settings.settings_reader import BASE_URL, load_target
from contracts.settings.target import ACCOUNT_ROLES, AUTHOR, DEVELOPMENT_REALMS, DOCUMENT_REALMS, REALM_HEADER

_FOLDER: Final = Path("targets")
#: How long a target is waited for that is just starting, as in a run.
_LONGEST_START_SECONDS: Final = 30


@click.command()
@click.argument("name")
@click.option("--base-url", metavar="URL", help="The address before /api/v2013.")
@click.option(
    "--realm", "realms", metavar="REALM", multiple=True, help="A realm to judge; by default all four."
)
@click.option(
    "--account",
    "accounts",
    metavar="ROLE=EMAIL_VARIABLE,PASSWORD_VARIABLE",
    multiple=True,
    help="Other names of an account's variables.",
)
@click.option(
    "--from-har", metavar="FILE", type=click.Path(path_type=Path), help="Learn from recorded traffic."
)
@click.option("--keep-personal-data", is_flag=True, help="Leave names and addresses in sample documents.")
@click.option("--no-look", is_flag=True, help="Send nothing, not even reads.")
@click.option("--force", is_flag=True, help="Replace a settings file that is there.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
def command(
    *,
    name: str,
    base_url: str | None,
    realms: tuple[str, ...],
    accounts: tuple[str, ...],
    from_har: Path | None,
    keep_personal_data: bool,
    no_look: bool,
    force: bool,
    dry_run: bool,
) -> int:
    """Write targets/NAME.toml: the address, accounts by their variables, realms, and what a recording shows.

    At a terminal it asks for what no option, variable or recording gives: the address, a recording to learn from, the
    realms. Elsewhere it asks nothing. Accounts are named by variables; a password is never asked for and never
    written. Where the author's variables are set, the target is looked at, by reading only, as `doctor` does.

    Exit codes: 0 written, 2 interrupted (it says whether anything was written), 4 usage, or written, but an
    account or a record does not fit, 6 written, but the target cannot be judged.

    \b
    Examples:
      registry-contracts init dev.local --base-url https://registry.example.test
      registry-contracts init dev.local --from-har session.har
      registry-contracts init dev.local --from-har session.har --dry-run
    """  # noqa: D301 - click's mark for lines to be left as they are
    path = settings_path(name, _FOLDER)
    with _told_if_interrupted():
        replace_it = force or (not dry_run and _may_replace(path))
        if path.exists() and not (replace_it or dry_run):
            raise UsageError(f"{path} is there already; --force replaces it, another name keeps it")
        asking = _at_a_terminal() and not (base_url or from_har or os.environ.get(BASE_URL))
        if asking:
            from_har = _asked_recording()
        variables = _variables(accounts)
        for realm in realms:
            refuse_production_realm(realm)
        learned = _learned(from_har, keep_personal_data=keep_personal_data)
        print_lines(_learned_lines(learned))
        settings = TargetSettings(
            name=path.stem,
            base_url="" if learned.production else _address(base_url, learned),
            realms=_realms(realms or (_asked_realms(learned) if asking else ()), learned),
            variables=variables,
            realm=learned.realms,
            remarks=tuple(learned.notes),
            names=learned.names,
        )
    if dry_run:
        click.echo(f"{path} is not written: a dry run", err=True)
        return manual_commands.NO_FINDING
    for written in write_settings(settings, path, replace=replace_it):
        click.echo(f"written: {written}")
    if learned.production:
        click.echo(
            "fill in base_url: the recording is one of production, so its address was not taken", err=True
        )
        return manual_commands.NO_FINDING
    if no_look or not all(os.environ.get(variable) for variable in _author(variables)):
        click.echo(
            f"next: set {' and '.join(_author(variables))}, then registry-contracts doctor --target {path.stem}"
        )
        return manual_commands.NO_FINDING
    return _look(path, settings)


@contextmanager
def _told_if_interrupted() -> Iterator[None]:
    """Say of an interruption while things are asked or read that nothing was written until then."""
    try:
        yield
    except (click.Abort, KeyboardInterrupt):
        click.echo("nothing is written", err=True)
        raise


def _variables(accounts: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    named: dict[str, tuple[str, str]] = {}
    for text in accounts:
        role, _, names = text.partition("=")
        email, _, password = names.partition(",")
        if role not in ACCOUNT_ROLES or not email.isidentifier() or not password.isidentifier():
            raise UsageError(
                f"--account must be ROLE=EMAIL_VARIABLE,PASSWORD_VARIABLE with a role of {', '.join(ACCOUNT_ROLES)}; "
                "it names variables, never an e-mail or a password"
            )
        named[role] = (email, password)
    return named


def _author(variables: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    return variables.get(AUTHOR, default_variables(AUTHOR))


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
        for setting, shown in settings.items():
            text = plain_line(json_text(shown.value))
            yield f"  realm.{realm}.{setting} = {text}  (request {shown.request})"
    for realm, spelling in sorted(learned.spellings.items()):
        yield f"  {realm} was sent as '{plain_line(spelling)}'; the interface document writes it in small letters"
    for documented, sent in learned.sent_names.items():
        yield f"  {documented} was sent as '{plain_line(sent.name)}'  (request {sent.request})"
    if learned.names.realm_header:
        yield f"  {REALM_HEADER} was sent as '{plain_line(learned.names.realm_header)}'"
    if learned.list_options:
        yield f"  options of the list of drafts in use: {plain_line(', '.join(sorted(learned.list_options)))}"
    yield from (f"  {note}" for note in learned.notes)


def _at_a_terminal() -> bool:
    """Whether there is a person to ask: what is asked is read from there, and seen there."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _may_replace(path: Path) -> bool:
    """Ask whether a settings file that is there may be replaced."""
    return (
        path.exists()
        and _at_a_terminal()
        and click.confirm(f"{path} is there already; replace it?", err=True)
    )


def _asked_recording() -> Path | None:
    """Ask for a recording until one is named that is there, or none."""
    while given := _prompt("A recording (HAR) to learn from; nothing for none", default=""):
        if Path(given).expanduser().is_file():
            return Path(given).expanduser()
        click.echo(f"there is no file '{printable(given)}'", err=True)
    return None


def _asked_realms(learned: RecordedSettings) -> tuple[str, ...]:
    """Ask for the realms until all that are named are development realms."""
    offered = " ".join(_realms((), learned))
    while True:
        given = tuple(_prompt("Realms to judge", default=offered).replace(",", " ").split())
        try:
            for realm in given:
                refuse_production_realm(realm)
            return _realms(given, learned)
        except UsageError as error:
            click.echo(str(error), err=True)


def _prompt(question: str, default: str | None = None) -> str:
    answer: str = click.prompt(question, default=default, show_default=bool(default), err=True)
    return answer.strip()


def _address(base_url: str | None, learned: RecordedSettings) -> str:
    given = base_url or learned.base_url or os.environ.get(BASE_URL)
    if given:
        return _checked_address(given)
    if not _at_a_terminal():
        empty = "; it is set, but empty" if BASE_URL in os.environ else ""
        raise UsageError(
            f"no address: give --base-url, or --from-har with a recording, or set {BASE_URL}{empty}"
        )
    while True:
        try:
            return _checked_address(_prompt("Address of the target, before /api/v2013"))
        except UsageError as error:
            click.echo(str(error), err=True)


def _checked_address(text: str) -> str:
    try:
        return checked_base_url(text.strip())
    except ValueError as error:
        raise UsageError(f"the address {error}") from None


def _examined(path: Path) -> Readiness:
    left = Leftovers()
    ready = load_target(str(path), os.environ, Path.cwd())
    with open_manual_session(SessionOptions(ready=ready), left) as session:
        readiness: Readiness = examine(session, wait_seconds=_LONGEST_START_SECONDS)
    return readiness


def _realms(realms: tuple[str, ...], learned: RecordedSettings) -> tuple[str, ...]:
    unknown = [realm for realm in realms if realm not in DEVELOPMENT_REALMS]
    if unknown:
        raise UsageError(f"unknown realm '{unknown[0]}'; known: {', '.join(DEVELOPMENT_REALMS)}")
    return (
        realms
        or tuple(realm for realm in DEVELOPMENT_REALMS if realm in learned.realms)
        or DEVELOPMENT_REALMS
    )


def _look(path: Path, settings: TargetSettings) -> int:
    """Look at the target that was written; it stays written when the environment stands in the way.

    Realms that the target knows in another spelling alone go into the settings, and it is looked at once more.
    """
    try:
        return _looked(path, settings)
    except KeyboardInterrupt:
        click.echo(f"{path} is written; the target was not looked at to the end", err=True)
        raise


def _looked(path: Path, settings: TargetSettings) -> int:
    readiness = _examined(path)
    if readiness.spellings:
        for realm, spelling in sorted(readiness.spellings.items()):
            click.echo(f"{realm} is known as '{spelling}' alone: written as its sent_as")
        others = [realm for realm in settings.realms if realm not in DOCUMENT_REALMS]
        if others:
            click.echo(f"{', '.join(others)} cannot be read: give it sent_as, too, if it is spelled so")
        given = {
            realm: {**settings.realm.get(realm, {}), "sent_as": Value(spelling, 0)}
            for realm, spelling in readiness.spellings.items()
        }
        write_settings(replace(settings, realm={**settings.realm, **given}), path, replace=True)
        readiness = _examined(path)
    print_lines(diagnosis_lines(readiness))
    if readiness.state in (State.ENVIRONMENT, State.SERVICE):
        raise EnvironmentFault(f"the settings are written, but {path.stem} cannot be judged as it is")
    if readiness.state is State.SETTINGS:
        raise UsageError("the settings are written, but do not fit the target: what to mend stands above")
    click.echo(
        f"next: registry-contracts doctor --target {path.stem}; registry-contracts run --target {path.stem}"
    )
    return manual_commands.NO_FINDING
