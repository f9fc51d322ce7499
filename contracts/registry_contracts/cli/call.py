"""`registry-contracts call`: one request, as a role in a realm."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import click

from registry_contracts.checks.table import Judgement
from registry_contracts.cli.leftovers import left_as_data, print_left, reporting_left
from registry_contracts.cli.options import (
    LABEL,
    as_json,
    labelled,
    print_lines,
    reports,
    run_option,
    sandbox_arguments,
    target,
)
from registry_contracts.errors import ExitCode, UsageError, suggestion
from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, exchange_entry
from registry_contracts.exchanges.request_facts import body_schema
from registry_contracts.exchanges.transcript import body_text, curl, heading, request_text, response_text
from registry_contracts.file_formats import plain
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import Operation, load_description, where_in_words
from registry_contracts.manual.manual_session import (
    Leftovers,
    SessionOptions,
    open_manual_session,
    refuse_unknown_role,
)
from registry_contracts.manual.prepared_requests import (
    Call,
    RequestOptions,
    call,
    known_faults,
    read_body,
    read_setting,
    realm_for,
)
from registry_contracts.plugin.run_options import REALM
from registry_contracts.safe_text import json_text, many, printable
from registry_contracts.session.pipeline import UNSENT
from registry_contracts.settings.target import AUTHOR

#: Most characters of a body that are shown.
_BODY_SHOWN: Final = 4000


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
@target
@run_option(REALM, multiple=False, help="Realm; by default the first with the operation.")
@click.option("--keep-drafts", "keep", is_flag=True, help="Keep the created drafts.")
@sandbox_arguments
@reports
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
    refuse_unknown_role(role)
    if list_invalid:
        return _list_faults(called, realm, as_json=as_json)
    options, repeat = _options(called, further), further.pop("repeat")
    session_options, left = SessionOptions(**further, dry_run=dry_run), Leftovers()
    with reporting_left(left), open_manual_session(session_options, left) as session:
        place = realm_for(called, realm, session.target.realms)
        if not dry_run and called.id != "createToken":
            session.sign_in(role)
        calls = [call(session, called, role, place, options, live=not dry_run) for _ in range(repeat)]
    clauses = Counter(clause for each in calls for clause in {found.clause for found in each.judged.findings})
    spoilt = any(each.sent and each.recorded.fault for each in calls)
    code = ExitCode.FAIL if clauses else ExitCode.INCONCLUSIVE if spoilt else ExitCode.PASS
    notes = list(dict.fromkeys(note for each in calls for note in each.notes))
    if as_json:
        data = {"calls": [_as_data(each) for each in calls], "notes": notes, "left": left_as_data(left)}
        click.echo(json_text(data | {"exit_code": code}, indent=2))
    else:
        print_lines(f"note: {note}" for note in notes)
        print_lines(_lines(calls, clauses))
        print_left(left)
    return code


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


def _lines(calls: list[Call], clauses: Counter[str]) -> Iterator[str]:
    first, *others = calls
    yield from _exchange_lines(first.recorded)
    yield ""
    for other in others:
        fault = other.recorded.fault
        yield heading(other.recorded) + (f" ({fault})" if fault else "")
    yield from _judgement_lines(first.judged, sent=first.sent)
    for clause, number in clauses.items() if others else ():
        yield labelled("rate", f"{clause}: {number} of {len(calls)}")
    yield _unwrapped("curl", curl(first.recorded))


def _exchange_lines(exchange: Exchange) -> Iterator[str]:
    """Yield an exchange as it went over the wire, secrets blanked."""
    if exchange.fault == UNSENT:
        where = where_in_words(exchange.operation, [exchange.realm])
        yield click.style(f"{exchange.operation} as {exchange.role} {where}: {UNSENT}", bold=True)
    else:
        yield click.style(heading(exchange), bold=True)
    yield ""
    head = request_text(replace(exchange, request_body=NO_BODY))
    yield from _marked("> ", head, exchange.request_body)
    if exchange.fault == UNSENT:
        return
    yield ""
    response = exchange.response
    head = response_text(replace(exchange, response=response and replace(response, body=NO_BODY)))
    yield from _marked("< ", head, response.body if response else NO_BODY)


def _marked(mark: str, head: str, body: Body) -> Iterator[str]:
    text = printable(body_text(body))
    if len(text) > _BODY_SHOWN:
        text = f"{text[:_BODY_SHOWN]}\n(cut; {len(text)} characters in all; --json shows more)"
    for line in [*head.splitlines(), *(["", *text.splitlines()] if text else [])]:
        yield click.style(mark if line else mark.rstrip(), dim=True) + line


def _judgement_lines(judged: Judgement, *, sent: bool) -> Iterator[str]:
    """Yield the clauses that held, and the findings; for an unsent request only its faults."""
    if judged.facts is None:
        yield labelled("request", "no operation of the interface, so nothing is judged")
        return
    for fault in judged.request_faults:
        yield labelled("request", click.style(f"breaks the interface: {fault}", fg="yellow"))
    if not sent:
        return
    held = many(len(judged.held), "clause")
    yield labelled("clauses", f"{held} held{': ' if judged.held else ''}{', '.join(judged.held)}")
    yield from (labelled("not judged", printable(obstacle)) for obstacle in judged.obstacles)
    for finding in judged.findings:
        clause = load_catalogue().clause(finding.clause)
        colour = "red" if clause.level == "must" else "yellow"
        yield labelled("finding", click.style(f"{clause.id} ({clause.level})", fg=colour, bold=True))
        yield labelled("", clause.wording)
        yield _unwrapped("", f"expected {printable(finding.expected)}")
        yield _unwrapped("", f"seen     {printable(finding.seen)}")
    if not judged.findings:
        yield labelled("findings", click.style("none", fg="green"))
    for observation in judged.observations:
        yield labelled("observed", printable(f"{observation.clause}: {observation.seen}"))


def _unwrapped(label: str, text: str) -> str:
    """Put a text behind a label, on one line, to be copied."""
    return f"{label:<{LABEL}}{text}"


def _level(clause: str) -> str:
    return str(load_catalogue().clause(clause).level)


def _as_data(result: Call) -> dict[str, Any]:
    """Return a judged exchange as plain data."""
    judged, exchange = result.judged, plain(exchange_entry(result.recorded))
    kept = ("id", "operation", "role", "realm", "seconds", "fault", "request", "response")
    return {
        **{name: exchange[name] for name in kept},
        "request_faults": list(judged.request_faults),
        "clauses": {name: _level(name) for name in judged.touched},
        "held": list(judged.held),
        "findings": [
            {"clause": finding.clause, "level": _level(finding.clause), "operation": finding.operation}
            | {"expected": finding.expected, "seen": finding.seen}
            for finding in judged.findings
        ],
        "obstacles": list(judged.obstacles),
        "curl": curl(result.recorded),
    }
