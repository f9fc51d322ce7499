"""Options and terminal lines that `call`, `doctor` and `explain` share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import click

from registry_contracts.checks.outcomes import Blocked
from registry_contracts.checks.table import Judgement
from registry_contracts.cli.options import reports, run_option, sandbox_arguments, target, together
from registry_contracts.errors import EnvironmentFault, UsageError
from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, exchange_entry
from registry_contracts.exchanges.transcript import body_text, heading, request_text, response_text
from registry_contracts.file_formats import plain
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.description import where_in_words
from registry_contracts.manual.call import CallResult
from registry_contracts.manual.manual_session import Leftovers
from registry_contracts.plugin.run_options import REALM
from registry_contracts.safe_text import many, printable
from registry_contracts.session.pipeline import UNSENT
from registry_contracts.settings.guard import GuardViolation

#: The options that choose the target, and the sandbox's and reports' places.
options: Final = together(
    target,
    run_option(REALM, multiple=False, help="Realm; by default the first with the operation."),
    click.option("--keep-drafts", "keep", is_flag=True, help="Keep the created drafts."),
    sandbox_arguments,
    reports,
)


@contextmanager
def reporting_left(left: Leftovers) -> Iterator[None]:
    """Print what stays behind when the environment stops a command.

    Raises:
        UsageError: the guard refuses a request.
        EnvironmentFault: a request cannot be judged, or what it relies on failed.
    """
    try:
        yield
    except GuardViolation as refused:
        raise UsageError(str(refused)) from None
    except (EnvironmentFault, Blocked) as obstacle:
        print_left(left)
        raise EnvironmentFault(str(obstacle)) from None


def print_left(left: Leftovers) -> None:
    """Print what stays behind on a target, a line each."""
    for entry in left.drafts:
        why = "kept; `registry-contracts sweep` removes it a day from now" if left.kept else "not removed"
        click.echo(f"left: draft {entry.identifier} in {entry.realm} ({why})", err=True)
    for entry in left.residue:
        name = entry.identifier or "without a name"
        click.echo(f"left for good: {entry.what} {name} in {entry.realm}", err=True)


_LABEL: Final = 12
_LINE_WIDTH: Final = 118
_BODY: Final = 4000


def exchange_lines(exchange: Exchange) -> Iterator[str]:
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
    if len(text) > _BODY:
        text = f"{text[:_BODY]}\n(cut; {len(text)} characters in all; --json shows more)"
    for line in [*head.splitlines(), *(["", *text.splitlines()] if text else [])]:
        yield click.style(mark if line else mark.rstrip(), dim=True) + line


def judgement_lines(judged: Judgement, *, sent: bool) -> Iterator[str]:
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
        yield unwrapped("", f"expected {printable(finding.expected)}")
        yield unwrapped("", f"seen     {printable(finding.seen)}")
    if not judged.findings:
        yield labelled("findings", click.style("none", fg="green"))
    for observation in judged.observations:
        yield labelled("observed", printable(f"{observation.clause}: {observation.seen}"))


def unwrapped(label: str, text: str) -> str:
    """Put a text behind a label, on one line, to be copied."""
    return f"{label:<{_LABEL}}{text}"


def labelled(label: str, text: str) -> str:
    """Put a text behind a label, wrapped and indented."""
    indent = " " * _LABEL
    lines = textwrap.wrap(
        click.unstyle(text), _LINE_WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False
    ) or [""]
    if len(lines) == 1:
        return f"{label:<{_LABEL}}{' '.join(text.split())}"
    return f"{label:<{_LABEL}}" + f"\n{indent}".join(lines)


def left_as_data(left: Leftovers) -> list[dict[str, str]]:
    """List what stays behind on a target, as plain data."""
    return [
        {"what": entry.what, "identifier": entry.identifier, "realm": entry.realm}
        for entry in (*left.drafts, *left.residue)
    ]


def _level(clause: str) -> str:
    return str(load_catalogue().clause(clause).level)


def as_data(result: CallResult) -> dict[str, Any]:
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
        "curl": result.curl,
    }
