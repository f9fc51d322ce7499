"""`registry-contracts call`: one request, as a role in a realm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from registry_contracts.cli import manual_commands
from registry_contracts.cli.options import as_json, print_lines
from registry_contracts.errors import ExitCode, UsageError, suggestion
from registry_contracts.exchanges.request_facts import body_schema
from registry_contracts.exchanges.transcript import heading
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import Operation, load_description
from registry_contracts.manual.call import CallResults, call
from registry_contracts.manual.manual_session import (
    Leftovers,
    SessionOptions,
    known_role,
    open_manual_session,
)
from registry_contracts.manual.prepared_requests import (
    RequestOptions,
    known_faults,
    read_body,
    read_setting,
    realm_for,
)
from registry_contracts.safe_text import json_text
from registry_contracts.settings.target import AUTHOR


@click.command()
@click.argument("operation")
@click.option(
    "--set", "settings", metavar="PART=VALUE", multiple=True, help="Value of one part; may be repeated."
)
@click.option("--body", metavar="@FILE|JSON", help="Body instead of the generated one.")
@click.option("--without", metavar="PART", multiple=True, help="Part to leave out; may be repeated.")
@click.option("--invalid", metavar="KIND", help="Fault to put in.")
@click.option("--list-invalid", is_flag=True, help="List the faults for --invalid, and send nothing.")
@click.option("--role", default=AUTHOR, show_default=True, help="Role of the sender.")
@click.option(
    "--repeat",
    metavar="N",
    default=1,
    type=click.IntRange(1, 100),
    help="Number of calls, each on fresh data.",
)
@click.option("--dry-run", is_flag=True, help="Show the request, and send nothing.")
@as_json
@manual_commands.options
def command(
    *,
    operation: str,
    role: str,
    realm: str | None,
    list_invalid: bool,
    dry_run: bool,
    as_json: bool,
    **further: Any,
) -> int:
    """Send one request of OPERATION, and judge it. Other parts are generated, as valid as the target's settings allow.

    A part is PLACE.NAME, and its place is path, query, header or body: header.Realm=bch-dev, query.$top=5,
    body.title.en=Seeds, body.emails.0=a@b.test; := takes JSON: body.phones:='["+1"]'. In a value, {uid} becomes a
    fresh identifier, and {prefix} the prefix of this call's identifiers. Drafts are deleted at the end.

    Exit codes: 0 nothing contradicted, 1 a finding, 4 usage (nothing was sent), 6 the environment.

    \b
    Examples:
      registry-contracts call listDrafts --set 'query.$top=5' --realm bch-dev
      registry-contracts call createContact --without firstName
      registry-contracts call saveDraft --invalid path.uid:too-short --target dev
      registry-contracts call updateWorkflowRecord --role restricted --dry-run
      registry-contracts call createAttachment --body @picture.png --set path.filename=map.png
    """  # noqa: D301 - click's mark for lines to be left as they are
    called = known_operation(operation)
    known_role(role)
    if list_invalid:
        return _list_faults(called, realm, as_json=as_json)
    options, repeat = _options(called, further), further.pop("repeat")
    session_options, left = SessionOptions(**further, dry_run=dry_run), Leftovers()
    with manual_commands.reporting_left(left), open_manual_session(session_options, left) as session:
        place = realm_for(called, realm, session.target.realms)
        if not dry_run and called.id != "createToken":
            session.sign_in(role)
        calls = call(session, called, role, place, options, repeat, live=not dry_run)
    _print(calls, left, as_json=as_json)
    return _code(calls)


def known_operation(name: str) -> Operation:
    """Return the operation with a name, in any letter case.

    Raises:
        UsageError: the name is unknown; suggests the nearest one.
    """
    operations = load_description().operations
    for known, operation in operations.items():
        if known.lower() == name.lower():
            return operation
    raise UsageError(f"unknown operation '{name}'; {suggestion(name, operations)}")


def _options(operation: Operation, given: dict[str, Any]) -> RequestOptions:
    """Take the request's options out of the command's."""
    body, settings = given.pop("body"), given.pop("settings")
    file = operation.id == "createAttachment"
    content, name = (None, None) if body is None else read_body(body, as_json=not file)
    if content is not None and not file and body_schema(operation.id) is None:
        raise UsageError(f"--body: {operation.id} has no body")
    values = tuple(map(read_setting, settings))
    return RequestOptions(values, content, name, given.pop("without"), given.pop("invalid"))


def _list_faults(operation: Operation, realm: str | None, *, as_json: bool) -> int:
    realm_for(operation, realm, operation.realms)
    faults = known_faults(operation.id)
    rows = [(fault.key, load_catalogue().for_fault(operation.id, fault.key)) for fault in faults]
    if as_json:
        listed = [{"fault": key, "clause": clause.id if clause else None} for key, clause in rows]
        click.echo(json.dumps(listed, indent=2))
        return ExitCode.PASS
    width = max((len(key) for key, _ in rows), default=0)
    for key, clause in rows:
        about = f"{clause.id} ({clause.level})" if clause else "no clause covers it"
        click.echo(f"{key:<{width}}  {about}")
    return ExitCode.PASS


def _print(calls: CallResults, left: Leftovers, *, as_json: bool) -> None:
    if not as_json:
        print_lines(_lines(calls))
        manual_commands.print_left(left)
        return
    data = {
        "calls": [manual_commands.as_data(result) for result in calls.results],
        "notes": calls.notes,
        "left": manual_commands.left_as_data(left),
        "exit_code": _code(calls),
    }
    click.echo(json_text(data, indent=2))


def _lines(calls: CallResults) -> Iterator[str]:
    yield from (f"note: {note}" for note in calls.notes)
    first, *others = calls.results
    yield from manual_commands.exchange_lines(first.recorded)
    yield ""
    for other in others:
        fault = other.recorded.fault
        yield heading(other.recorded) + (f" ({fault})" if fault else "")
    yield from manual_commands.judgement_lines(first.judged, sent=first.sent)
    for clause, number in calls.clauses.items() if others else ():
        yield manual_commands.labelled("rate", f"{clause}: {number} of {len(calls.results)}")
    yield manual_commands.unwrapped("curl", first.curl)


def _code(calls: CallResults) -> int:
    if calls.clauses:
        return ExitCode.FAIL
    return ExitCode.INCONCLUSIVE if calls.spoilt else ExitCode.PASS
