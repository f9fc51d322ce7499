"""What to do next about a finding, as lines for a shell: the suite's own commands, and its requests by curl."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from contracts.evidence.causes import Cause
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import REDACTED, SWAPPED, Redactor
from contracts.exchanges.transcript import BODY_IN_FILE, BODY_MADE_UP, curl, json_of, other_letter_case
from contracts.interface.description import operations_with
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
_ANY_ACCOUNT: Final = """'{{"email":"'"${email}"'","password":"'"${password}"'"}}'"""
_SANDBOX_ACCOUNT: Final = """'{{"email":"{role}@sandbox.test","password":"sandbox-{role}"}}'"""
#: Keeps a member of an answer in a variable, and shows the answer; `place` counts members of the name from 1.
_KEPT: Final = (
    """{variable}=$({line} | tee /dev/stderr | grep -o '"{member}" *: *"\\{{0,1\\}}[^",}}]*'"""
    """ | sed -n '{place}s/.*[: "]//p')"""
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_-]{11,128}")
_PIECES: Final = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|[^'"]+""")
#: The account of a target whose settings come from variables, or what is given to the script itself.
_FROM_VARIABLES: Final = (
    ': "${EMAIL:=${REGISTRY_EMAIL:?or EMAIL: that of an account}}"'
    ' "${PASSWORD:=${REGISTRY_PASSWORD:?or PASSWORD: that of the account}}"'
)
_ACCOUNT_VARIABLE: Final = re.compile(r"\$((?:EMAIL|PASSWORD)(?:_[A-Z]+)?)\b")
#: A password that was taken out of a body: in other letter case, and whose it is where not its role's.
_PASSWORD: Final = re.compile(
    rf"{re.escape(REDACTED)}(?P<swapped>{re.escape(SWAPPED)})?(?:\[of (?P<owner>[a-z]+)\])?"
)
_CURL: Final = re.compile(r"(?m)(^|\| |=\$\()curl -i ")
#: The names of commands that send requests, in the order they are pasted.
BY_HAND: Final = ("token", "before", "first", "curl", "after")


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


def next_commands(
    run_command: str,
    target: str,
    cause: Cause,
    before: Sequence[Exchange] = (),
    shown: Sequence[Exchange] = (),
) -> tuple[NextCommand, ...]:
    """Return what to do next about a finding, as lines that work where the run was started.

    Args:
        run_command: the command of the run, as `run.json` holds it.
        target: what was judged, in words.
        before: what was written earlier, on which its requests rely.
        shown: its exchanges, as far as they are known.
    """
    finding = cause.lead
    embedded = target == EMBEDDED_IN_WORDS
    where = where_of(run_command)
    reports = [f"--reports={where['--reports']}"] if "--reports" in where else []
    commands = [
        NextCommand(
            "explain",
            "What the clause says, and how it fared",
            shlex.join(["registry-contracts", "explain", finding.clause]),
        ),
        NextCommand(
            "again",
            "Run its case again, with its target, realm and seed",
            shlex.join(["registry-contracts", "run", "--finding", finding.id, *reports]),
        ),
        NextCommand("cases", "Run all cases of its clause, from any machine", finding.command),
    ]
    if cause.curl:
        steps = _steps(cause, before, shown)
        commands += _by_hand(cause, steps, where.get("--sandbox-arguments", "") if embedded else None)
    return tuple(commands)


def script(commands: Sequence[NextCommand]) -> str:
    """Return what sends the requests of a finding, as one script for a shell; empty where nothing can be sent."""
    by_hand = [command for command in commands if command.name in BY_HAND]
    if not by_hand:
        return ""
    lines = ["#!/usr/bin/env bash", "# Sends the requests of a finding, and shows the answers."]
    lines += [f"# {command.does}:\n#   {command.line}" for command in commands if command.name == "serve"]
    variables = _ACCOUNT_VARIABLE.findall("\n".join(command.line for command in by_hand))
    if {"EMAIL", "PASSWORD"} & set(variables):
        lines += [_FROM_VARIABLES]
    others = [name for name in dict.fromkeys(variables) if name not in ("EMAIL", "PASSWORD")]
    lines += [f': "${{{name}:?that of the account {name.partition("_")[2].lower()}}}"' for name in others]
    for command in by_hand:
        lines += [
            "",
            f"# {command.does}",
            _each_shown(command.line) if command.name != "token" else command.line,
        ]
    return "\n".join(lines) + "\n"


def _each_shown(lines: str) -> str:
    """Requests without curl's own meter, and an empty line behind the answers."""
    return _CURL.sub(r"\1curl -sS -i ", lines) + "\necho"


def _steps(cause: Cause, before: Sequence[Exchange], shown: Sequence[Exchange]) -> list[_Step]:
    """The requests in the order they were sent, each a line whose token is that of its role."""
    steps = [_Step("before", exchange, curl(exchange, Redactor())) for exchange in before]
    lines = cause.lead.curl
    if len(lines) != len(shown):
        return _named([*steps, _Step("curl", None, cause.curl)], cause)
    keys = cause.lead.exchanges
    culprit = keys.index(cause.culprit) if cause.culprit in keys[: len(lines)] else len(lines) - 1
    names = ["first"] * culprit + ["curl"] + ["after"] * (len(lines) - culprit - 1)
    own = [_Step(*parts) for parts in zip(names, shown, lines, strict=True)]
    return _named([*steps, *own], cause)


def _named(steps: Sequence[_Step], cause: Cause) -> list[_Step]:
    """Steps with the variables of a shell: tokens by role, and what answers give in place of recorded values."""
    usual = _signing_in(cause.lead.role)
    lines = [
        re.sub(r"\$(\{?)TOKEN\b", rf"$\1{_token_of(_role_of(step, usual), usual)}", step.line)
        for step in steps
    ]
    for number, step in enumerate(steps):
        for value, member, place in _given_by_answer(step, lines[number]):
            used = [later for later in range(number + 1, len(lines)) if value.search(lines[later])]
            if not used or lines[number].partition("=$(")[0].isidentifier():
                continue
            variable = f"{re.sub(r'[^A-Za-z0-9]', '_', member).upper()}_{number + 1}"
            kept = {"variable": variable, "line": lines[number], "member": member, "place": place}
            lines[number] = _KEPT.format(**kept)
            for later in used:
                lines[later] = _with_variable(lines[later], value, variable)
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


def _with_variable(line: str, value: re.Pattern[str], variable: str) -> str:
    """A line with a variable in place of a value, in whatever quotes it stands."""

    def filled(piece: re.Match[str]) -> str:
        quotes = {"'": f"""'"${variable}"'""", '"': f"${{{variable}}}"}
        return value.sub(quotes.get(piece[0][0], f'"${variable}"').replace("\\", "\\\\"), piece[0])

    return _PIECES.sub(filled, line)


def _by_hand(cause: Cause, steps: Sequence[_Step], sandbox: str | None) -> Iterator[NextCommand]:
    """The lines that send it without this program; `sandbox` holds the arguments of one to serve first."""
    usual = _signing_in(cause.lead.role)
    base = _BASE.search(cause.curl)
    if sandbox is not None and base:
        line = f"registry-contracts sandbox --port {base['port'] or 8080} {sandbox}".rstrip()
        yield NextCommand("serve", "By hand: serve the sandbox again, in a terminal of its own", line)
    everything = "\n".join(step.line for step in steps)
    for role in dict.fromkeys([usual, *(_role_of(step, usual) for step in steps)]):
        variable = _token_of(role, usual)
        if base is not None and re.search(rf"\$\{{?{variable}\b", everything):
            email, password = (_of_account(name, role, usual) for name in ("EMAIL", "PASSWORD"))
            account = _ANY_ACCOUNT.format(email=email, password=password)
            account = _SANDBOX_ACCOUNT.format(role=role) if sandbox is not None else account
            needs = "" if sandbox is not None else f", with {email} and {password} of the account {role}"
            address = shlex.quote(f"{base[0]}/api/v2013/authentication/token")
            line = f"{variable}={_SIGN_IN.format(address=address, account=account)}"
            yield NextCommand("token", f"By hand: sign in as {role}{needs}", line)
    for name, does in _DOES.items():
        mine = [
            _with_password(step.line, _role_of(step, usual), usual, embedded=sandbox is not None)
            for step in steps
            if step.name == name
        ]
        if mine:
            lines = "\n".join(mine)
            yield NextCommand(name, f"By hand: {does}{''.join(_needs(lines, usual))}", lines)


_DOES: Final = {
    "before": "what it relies on",
    "first": "the requests before it",
    "curl": "the request that shows it",
    "after": "the requests after it",
}


def _needs(lines: str, role: str) -> Iterator[str]:
    """What lines need that they do not hold."""
    if BODY_IN_FILE in lines:
        yield "; file is the body that was sent, which traffic.har holds"
    if BODY_MADE_UP in lines:
        yield "; its body is made up, as long as the one that was sent"
    for name in dict.fromkeys(_ACCOUNT_VARIABLE.findall(lines)):
        yield f"; {name} is that of the account {name.partition('_')[2].lower() or role}"


def _role_of(step: _Step, usual: str) -> str:
    """The account of a request; that of the finding where it needs none or none is known."""
    return step.exchange.role if step.exchange and step.exchange.role in ACCOUNT_ROLES else usual


def _signing_in(role: str | None) -> str:
    """The account whose token a request of a role may need."""
    return role if role in ACCOUNT_ROLES else AUTHOR


def _token_of(role: str, usual: str) -> str:
    """The variable that holds the token of a role, beside the one of the finding's own."""
    return _of_account("TOKEN", role, usual)


def _of_account(name: str, role: str, usual: str) -> str:
    """The variable of a role, beside the one of the finding's own."""
    return name if role == usual else f"{name}_{role.upper()}"


def _with_password(line: str, role: str, usual: str, *, embedded: bool) -> str:
    """A line with an account's password where a body held it: that of the sandbox is known to all."""

    def password(found: re.Match[str]) -> str:
        owner = found["owner"] or role
        if embedded:
            known = f"sandbox-{owner}"
            return known.swapcase() if found["swapped"] else known
        word = f'"${_of_account("PASSWORD", owner, usual)}"'
        derived = f'"{other_letter_case(word)}"' if found["swapped"] else word
        return f"'{derived}'"

    head, data, body = line.partition(" --data-binary ")
    return f"{head}{data}{_PASSWORD.sub(password, body)}"


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
