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
_BASE: Final = re.compile(r"https?://[^/\s':]+(?::(?P<port>\d+))?[^\s']*?(?=/api/v20)")
#: Signs in and keeps the token in the shell.
_SIGN_IN: Final = (
    "TOKEN=$(curl -s {base}/api/v2013/authentication/token -H 'Accept: application/json'"
    " -H 'Content-Type: application/json' --data-binary {account}"
    """ | sed 's/.*"authenticationToken" *: *"\\([^"]*\\)".*/\\1/')"""
)
_ANY_ACCOUNT: Final = """'{"email":"'"$EMAIL"'","password":"'"$PASSWORD"'"}'"""
_SANDBOX_ACCOUNT: Final = """'{{"email":"{role}@sandbox.test","password":"sandbox-{role}"}}'"""
#: A longer line cannot be pasted from a terminal.
_LONGEST_CURL: Final = 600
_IN_TERMINAL: Final = ("explain", "replay", "serve", "token", "curl")
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


def next_commands(run_command: str, target: str, cause: Cause) -> tuple[NextCommand, ...]:
    """Return what to do next about a finding, as lines that work where the run was started.

    Args:
        run_command: the command of the run, as `run.json` holds it.
        target: what was judged, in words.
        cause: the finding; its own requests come last.
    """
    finding = cause.lead
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
    if cause.curl:
        commands += _by_hand(cause, where.get("--sandbox-arguments", "") if embedded else None)
    return tuple(commands)


def _by_hand(cause: Cause, sandbox: str | None) -> Iterator[NextCommand]:
    """The lines that send it without this program; `sandbox` holds the arguments of one to serve first."""
    finding, lines = cause.lead, "\n".join(cause.lead.curl)
    base = _BASE.search(cause.curl)
    if sandbox is not None and base:
        line = f"registry-contracts sandbox --port {base['port'] or 8080} {sandbox}".rstrip()
        yield NextCommand("serve", "By hand: serve the sandbox again, in a terminal of its own", line)
    if base and "TOKEN" in lines:
        role = finding.role or "author"
        account = _SANDBOX_ACCOUNT.format(role=role) if sandbox is not None else _ANY_ACCOUNT
        needs = "" if sandbox is not None else f", with EMAIL and PASSWORD of the account {role}"
        line = _SIGN_IN.format(base=base[0], account=account)
        yield NextCommand("token", f"By hand: sign in as {role}{needs}", line)
    needs = "; file is the body that was sent, which traffic.har holds" if "@file" in lines else ""
    others = [line for line in finding.curl if line != cause.curl]
    yield NextCommand("curl", f"By hand: the request that shows it{needs}", cause.curl)
    if others:
        yield NextCommand("curls", "By hand: the requests beside it", "\n".join(others))


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
        yield from _next(next_commands(run_command, verdict.target, cause), cause.id)
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
        if command.name not in _IN_TERMINAL:
            continue
        if len(command.line) <= _LONGEST_CURL and "\n" not in command.line:
            yield Line(f"   {command.name:<9}{command.line}", "cyan")
        else:
            place = f"findings/{finding}.md beside the report"
            yield Line(f"   {command.name:<9}{len(command.line):,} characters, in {place}")


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
