"""What to do next about a finding, as lines for a shell: the suite's own commands, and its requests by curl."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from contracts.evidence.causes import Cause
from contracts.evidence.findings import Finding
from contracts.evidence.record import RunFacts
from contracts.exchanges.exchange import Body, Exchange, Headers
from contracts.exchanges.redaction import TOKEN
from contracts.exchanges.transcript import (
    BODY_IN_FILE,
    BODY_MADE_UP,
    EMAIL_VARIABLE,
    PASSWORD_VARIABLE,
    TOKEN_VARIABLE,
    curl,
    in_json,
    json_of,
    variable_of,
)
from contracts.interface.description import operations_with
from contracts.session.namespace import SUITE_PREFIX
from contracts.settings.target import ACCOUNT_ROLES, AUTHOR, EMBEDDED_IN_WORDS

#: Options of a run that say where it was sent and what it left.
_WHERE: Final = ("--target", "--sandbox-arguments", "--reports")
_BASE: Final = re.compile(r"https?://[^/\s':]+(?::(?P<port>\d+))?[^\s']*?(?=/api/v20)")
#: Signs in and keeps the token in the shell.
_SIGN_IN: Final = (
    "$(curl -s {address} -H 'Accept: application/json'"
    " -H 'Content-Type: application/json' --data-binary {account}"
    """ | sed -n 's/.*"authenticationToken" *: *"\\([^"]*\\)".*/\\1/p')"""
)
_CREDENTIALS: Final = """'{{"email":"'"{email}"'","password":"'"{password}"'"}}'"""
#: Keeps a member of an answer in a variable, and shows the answer; `place` counts members of the name from 1.
_KEPT: Final = (
    """{variable}=$({line} | tee /dev/stderr | grep -o '"{member}" *: *"\\{{0,1\\}}[^",}}]*'"""
    """ | sed -n '{place}s/.*[: "]//p')"""
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_PIECES: Final = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|[^'"]+""")
#: What a script takes for an account: its own variable, or that which settings name by default.
_GIVEN: Final = '"${{{variable}:=${{{usual}:?or {variable}: that of the account {role}}}}}"'
_CURL: Final = re.compile(r"(?m)(^|\| |=\$\()curl -i ")
#: The names of commands that send requests, in the order they are pasted.
BY_HAND: Final = ("token", "before", "first", "curl", "after", "remove")


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command line to paste; `does` says what it does, and what it needs."""

    name: str
    does: str
    line: str


@dataclass(frozen=True, slots=True)
class _Step:
    """A request as a curl line; `name` is that of the command it belongs to."""

    name: str
    exchange: Exchange | None
    line: str


def own_commands(run_command: str, finding: Finding) -> tuple[NextCommand, ...]:
    """Return this program's commands about a finding, as lines that work where its run was started."""
    where = where_of(run_command)
    # The run's own files may not say where a password goes: the command does.
    given = [f"{name}={where[name]}" for name in ("--target", "--reports") if name in where]
    explain = ["registry-contracts", "explain", finding.clause]
    again = ["registry-contracts", "run", "--finding", finding.id, *given]
    return (
        NextCommand("explain", "What the clause says, and how it fared", shlex.join(explain)),
        NextCommand("again", "Run its case again, with its target, realm and seed", shlex.join(again)),
    )


def next_commands(
    run: RunFacts, cause: Cause[Finding], before: Sequence[Exchange] = (), shown: Sequence[Exchange] = ()
) -> tuple[NextCommand, ...]:
    """Return what to do next about a finding: this program's commands, and its requests by hand.

    Args:
        before: what was written earlier, on which its requests rely.
        shown: its exchanges, as far as they are known.
    """
    cases = NextCommand(
        "cases", "Run all cases of its clause, from any machine", cause.lead.reproduce.command
    )
    commands = [*own_commands(run.command, cause.lead), cases]
    if cause.curl:
        steps = _steps(cause, before, shown)
        if run.token and any(_lasts(step.exchange) for step in steps):
            commands.append(
                NextCommand("token", "By hand: names for what cannot be created twice", _NEW_NAMES)
            )
            steps = [replace(step, line=_with_new_names(step.line, run.token)) for step in steps]
        embedded = run.target_in_words == EMBEDDED_IN_WORDS
        arguments = where_of(run.command).get("--sandbox-arguments", "")
        commands += _by_hand(cause, steps, arguments if embedded else None)
    return tuple(commands)


def script(commands: Sequence[NextCommand]) -> str:
    """Return what sends the requests of a finding, as one script for a shell; empty where nothing can be sent."""
    by_hand = [command for command in commands if command.name in BY_HAND]
    if not by_hand:
        return ""
    lines = ["#!/usr/bin/env bash", "# Sends the requests of a finding, and shows the answers."]
    lines += [f"# {command.does}:\n#   {command.line}" for command in commands if command.name == "serve"]
    for command in by_hand:
        lines += [
            "",
            f"# {command.does}",
            _each_shown(command.line) if command.name != "token" else command.line,
        ]
    return "\n".join(lines) + "\n"


def _each_shown(lines: str) -> str:
    """Requests without curl's own meter, each answer with the end of a line."""
    return _CURL.sub(r"\1curl -sS -w '\\n' -i ", lines)


def _steps(cause: Cause[Finding], before: Sequence[Exchange], shown: Sequence[Exchange]) -> list[_Step]:
    """The requests in the order they were sent, each with the token of its role; what they save goes last."""
    steps = [_Step("before", exchange, curl(exchange)) for exchange in before]
    culprit = next((place for place, each in enumerate(shown) if each.id == cause.culprit), len(shown) - 1)
    names = ["first"] * culprit + ["curl"] + ["after"] * (len(shown) - culprit - 1)
    own = [_Step(name, exchange, curl(exchange)) for name, exchange in zip(names, shown, strict=False)]
    return _named([*steps, *own, *_removals([*before, *shown])])


def _removals(sent: Sequence[Exchange]) -> Iterator[_Step]:
    """Requests that delete the drafts that others leave, so that a script leaves nothing."""
    left = dict[str, Exchange]()
    for exchange in sent:
        place = exchange.url.partition("?")[0]
        done = exchange.response is not None and exchange.response.success
        if exchange.operation == "saveDraft" and done and exchange.authorization == f"Bearer {TOKEN}":
            left[place] = exchange
        elif exchange.operation == "deleteDraft" and done:
            left.pop(place, None)
    for place, saved in left.items():
        kept = (pair for pair in saved.request_headers.pairs if not pair[0].lower().startswith("content-"))
        removal = replace(
            saved, method="DELETE", url=place, request_body=Body(), request_headers=Headers(tuple(kept))
        )
        yield _Step("remove", None, curl(removal))


def _named(steps: Sequence[_Step]) -> list[_Step]:
    """Steps with variables in place of what answers gave."""
    lines = [step.line for step in steps]
    for number, step in enumerate(steps):
        for value, member, place in _given_by_answer(step, lines[number]):
            used = [later for later in range(number + 1, len(lines)) if value.search(lines[later])]
            if not used or lines[number].partition("=$(")[0].isidentifier():
                continue
            variable = f"{re.sub(r'[^A-Za-z0-9]', '_', member).upper()}_{number + 1}"
            kept = {"variable": variable, "line": lines[number], "member": member, "place": place}
            lines[number] = _KEPT.format(**kept)
            for later in used:
                lines[later] = _with_variable(lines[later], value, f"${{{variable}}}")
    return [replace(step, line=line) for step, line in zip(steps, lines, strict=True)]


def _given_by_answer(step: _Step, line: str) -> Iterator[tuple[re.Pattern[str], str, int]]:
    """What an answer gave that its request does not hold: how later lines show it, its member, and the place of it."""
    exchange = step.exchange
    if exchange is None or exchange.response is None or "\n" in line:
        return
    counts: dict[str, int] = {}
    files = exchange.operation in operations_with(stores="attachment")
    for member, value in _members(json_of(exchange.response.body)):
        counts[member] = counts.get(member, 0) + 1
        text = str(value)
        if not member.replace("_", "").isalnum() or isinstance(value, bool):
            continue
        if files and text.isdigit():
            yield re.compile(rf"(?<=/attachments/){text}(?![\w.-])"), member, counts[member]
        elif isinstance(value, str) and _IDENTIFIER.fullmatch(value) and value not in line:
            yield re.compile(rf"(?<![\w-]){text}(?![\w-])"), member, counts[member]


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """Members of an answer that hold no others, in the order they stand."""
    if isinstance(value, list):
        for item in value:
            yield from _members(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, dict | list):
                yield from _members(member)
            else:
                yield name, member


#: As many characters as the run's own token has.
_NEW_NAMES: Final = "RUN=$(printf %04x $RANDOM)"


def _lasts(exchange: Exchange | None) -> bool:
    """Whether a request may create what cannot be removed, so that it is taken under its identifier only once."""
    return exchange is not None and exchange.operation in operations_with(permanent=True, takes_record=True)


def _with_new_names(line: str, token: str) -> str:
    """A line in which identifiers of the run begin otherwise each time it is sent, in either letter case."""
    line = _with_variable(line, re.compile(rf"(?<={SUITE_PREFIX}){token}"), "${RUN}")
    return _with_variable(line, re.compile(rf"(?<={SUITE_PREFIX.upper()}){token.upper()}"), "${RUN^^}")


def _with_variable(line: str, value: re.Pattern[str], variable: str) -> str:
    """A line with a variable in place of a value, in whatever quotes it stands."""

    def filled(piece: re.Match[str]) -> str:
        written = {"'": f"""'"{variable}"'""", '"': variable}.get(piece[0][0], f'"{variable}"')
        return value.sub(lambda _: written, piece[0])

    return _PIECES.sub(filled, line)


def _by_hand(cause: Cause[Finding], steps: Sequence[_Step], sandbox: str | None) -> Iterator[NextCommand]:
    """The lines that send it without this program; `sandbox` holds the arguments of one to serve first."""
    base = _BASE.search(cause.curl)
    if sandbox is not None and base:
        line = f"registry-contracts sandbox --port {base['port'] or 8080} {sandbox}".rstrip()
        yield NextCommand("serve", "By hand: serve the sandbox again, in a terminal of its own", line)
    everything = "\n".join(step.line for step in steps)
    for role in ACCOUNT_ROLES:
        if base:
            yield from _account(role, everything, base[0], embedded=sandbox is not None)
    for name, does in _DOES.items():
        if mine := [step.line for step in steps if step.name == name]:
            lines = "\n".join(mine)
            yield NextCommand(name, f"By hand: {does}{''.join(_needs(lines))}", lines)


def _account(role: str, lines: str, base: str, *, embedded: bool) -> Iterator[NextCommand]:
    """What lines need of an account: its variables, and signing in where they show its token."""
    token, email, password = (
        variable_of(kind, role) for kind in (TOKEN_VARIABLE, EMAIL_VARIABLE, PASSWORD_VARIABLE)
    )
    signs_in = re.search(rf"\$\{{?{token}\b", lines)
    if not signs_in and not re.search(rf"\$\{{?{password}\b", lines):
        return
    if embedded:
        line = f"{email}={role}@sandbox.test {password}=sandbox-{role}"
    else:
        prefix = "REGISTRY_" if role == AUTHOR else f"REGISTRY_{role.upper()}_"
        usual = {email: f"{prefix}EMAIL", password: f"{prefix}PASSWORD"}
        given = [
            _GIVEN.format(variable=name, usual=usual[name], role=role)
            for name in ((email, password) if signs_in else (password,))
        ]
        line = " ".join([":", *given])
    if signs_in:
        address = shlex.quote(f"{base}/api/v2013/authentication/token")
        account = _CREDENTIALS.format(email=in_json(f"${email}"), password=in_json(f"${password}"))
        line += f"; {token}={_SIGN_IN.format(address=address, account=account)}"
    yield NextCommand("token", f"By hand: {'sign in as' if signs_in else 'the account'} {role}", line)


_DOES: Final = {
    "before": "what it relies on",
    "first": "the requests before it",
    "curl": "the request that shows it",
    "after": "the requests after it",
    "remove": "the drafts that it leaves",
}


def _needs(lines: str) -> Iterator[str]:
    """What lines need that they do not hold."""
    if BODY_IN_FILE in lines:
        yield "; file is the body that was sent, which traffic.har holds"
    if BODY_MADE_UP in lines:
        yield "; its body is made up, as long as the one that was sent"


def where_of(command: str) -> dict[str, str]:
    """The options of a run's command that say where it was sent and what it left, by name."""
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
