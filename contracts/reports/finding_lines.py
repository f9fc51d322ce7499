"""A finding in lines for a terminal: the sentence, where, how often, what follows from it, and what to do next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.evidence.causes import Cause
from contracts.evidence.findings import Finding, Standing
from contracts.evidence.verdicts import RunVerdict
from contracts.safe_text import cut, many, plain_line
from contracts.settings.target import EMBEDDED_IN_WORDS, SANDBOX

#: Findings that are told one by one; the report holds them all.
_FINDINGS_AT_MOST: Final = 40
_FOLLOWING_AT_MOST: Final = 3
_LONGEST: Final = 400
#: Options of a run that say where it was sent, which a replay of its findings takes, too.
_WHERE: Final = ("--target", "--sandbox-arguments", "--reports")
_PORT: Final = re.compile(r"https?://[^/\s]+:(?P<port>\d+)/")
#: A longer line cannot be pasted from a terminal.
_LONGEST_CURL: Final = 600
_COLOURS: Final[Mapping[Standing, str]] = {
    Standing.FAIL: "red",
    Standing.ADVISORY: "yellow",
    Standing.DEVIATION: "yellow",
    Standing.UNCONFIRMED: "yellow",
    Standing.OBSERVED: "cyan",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line for a terminal; `colour` is empty for none."""

    text: str
    colour: str = ""
    bold: bool = False


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command line to paste; `does` says what it does, and what it needs."""

    name: str
    does: str
    line: str


def next_commands(run_command: str, target: str, finding: Finding) -> tuple[NextCommand, ...]:
    """Return what to do next about a finding, as lines that work where the run was started.

    Args:
        run_command: the command of the run, as `run.json` holds it.
        target: what was judged, in words.
    """
    embedded = target == EMBEDDED_IN_WORDS
    where = ({"--target": SANDBOX} if embedded else {}) | _given(run_command)
    given = (f"{name}={value}" for name, value in where.items())
    commands = [
        NextCommand(
            "explain",
            "What the clause says, and how it fared",
            shlex.join(["registry-contracts", "explain", finding.clause]),
        ),
        NextCommand(
            "replay",
            "Send it again on fresh data",
            shlex.join(["registry-contracts", "replay", finding.id, *given]),
        ),
        NextCommand("cases", "Run its cases again", finding.command),
    ]
    if finding.curl:
        served = _served(finding.curl[0], where.get("--sandbox-arguments", "")) if embedded else ""
        does = "; ".join(["By hand", *_needs(finding), *filter(None, [served])])
        commands.append(NextCommand("curl", does, "\n".join(finding.curl)))
    return tuple(commands)


def _needs(finding: Finding) -> Iterator[str]:
    """What the curl lines need that no line can hold."""
    lines = "\n".join(finding.curl)
    if "$TOKEN" in lines or "${TOKEN" in lines:
        yield f"set TOKEN to a token of the account {finding.role or 'author'}, which createToken gives"
    if "@file" in lines:
        yield "file is the body that was sent, which traffic.har holds"


def _served(curl: str, arguments: str) -> str:
    """How the sandbox is served again that was there for the run alone."""
    address = _PORT.search(curl)
    port = f" --port {address['port']}" if address else ""
    return f"serve the sandbox again: registry-contracts sandbox{port} {arguments}".rstrip()


def _given(command: str) -> dict[str, str]:
    """The options of a run that a replay takes, by name."""
    try:
        words = shlex.split(command)
    except ValueError:
        return {}
    given = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        name, sign, value = word.partition("=")
        if name in _WHERE:
            given[name] = value if sign else after
    return given


def lines_of(verdict: RunVerdict, run_command: str) -> Iterator[Line]:
    """Tell the findings of a run by cause, numbered, the worst first; at most about a dozen lines for each."""
    for number, cause in enumerate(verdict.causes[:_FINDINGS_AT_MOST], start=1):
        yield from _finding(number, cause)
        yield from _next(next_commands(run_command, verdict.target, cause.lead), cause.id)
        yield Line("")
    more = verdict.causes[_FINDINGS_AT_MOST:]
    if more:
        yield Line(f"{many(len(more), 'finding')} more in the report")


def _finding(number: int, cause: Cause) -> Iterator[Line]:
    lead, colour = cause.lead, _COLOURS[cause.lead.standing]
    yield Line(f"{number}. {lead.standing}: {plain_line(cause.should, _LONGEST)}", colour, bold=True)
    yield Line(f"   {plain_line(cause.was, _LONGEST)}", colour)
    yield Line(f"   {cause.place} · {lead.clause} · {lead.rate}")
    yield from (Line(f"   {told}") for told in [*_state(lead), *filter(None, [cause.stood_in_the_way])])
    if cause.follows:
        yield Line(f"   from it follows: {following(cause.follows)}")


def _next(commands: Iterable[NextCommand], finding: str) -> Iterator[Line]:
    for command in commands:
        last = command.line.splitlines()[-1]
        if command.name in {"explain", "replay"}:
            yield Line(f"   {command.name:<9}{last}", "cyan")
        elif command.name == "curl" and len(last) <= _LONGEST_CURL:
            yield Line(f"   {command.name:<9}{last}", "cyan")
            yield from (Line(f"            {need}") for need in command.does.split("; ")[1:])
        elif command.name == "curl":
            yield Line(
                f"   {command.name:<9}{len(last):,} characters, in findings/{finding}.md beside the report"
            )


def following(causes: Sequence[Cause]) -> str:
    """What only follows from a finding, in a few words."""
    named = list(dict.fromkeys(f"{each.lead.clause} ({each.lead.operation})" for each in causes))
    more = len(named) - _FOLLOWING_AT_MOST
    return cut(", ".join(named[:_FOLLOWING_AT_MOST]) + (f" and {more} more" if more > 0 else ""), _LONGEST)


def _state(finding: Finding) -> Iterable[str]:
    """What keeps a finding from failing the run, and whom it concerns."""
    if not finding.counted:
        yield "outside the consumer, not counted"
    if finding.accepted:
        yield f"accepted until {finding.accepted.expires}, {finding.accepted.place}"
    if finding.methods:
        yield f"used by {', '.join(finding.methods)}"
