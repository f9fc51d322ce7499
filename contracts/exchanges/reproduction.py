"""How to see a finding again: one command of the suite, and curl lines for the exchanges behind it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from contracts.exchanges.exchange import Exchange
from contracts.exchanges.redaction import REDACTED, Redactor

#: Longer bodies are left to the traffic log; a line that nobody can paste helps nobody.
_LONGEST_BODY = 4000
_LEFT_OUT = frozenset({"host", "user-agent", "accept-encoding", "connection", "content-length"})


def curl(exchange: Exchange, redactor: Redactor) -> str:
    """A line to paste: the role's token is expected in `$TOKEN`, and what was made up stands as it was sent."""
    parts = ["curl", "-i"]
    parts += ["-I"] if exchange.method == "HEAD" else ["-X", exchange.method]
    parts.append(shlex.quote(redactor.text(exchange.url)))
    for name, value in exchange.request_headers.pairs:
        if name.lower() == "authorization":
            parts += ["-H", _authorization(value, redactor)]
        elif name.lower() not in _LEFT_OUT:
            parts += ["-H", shlex.quote(redactor.text(f"{name}: {value}"))]
    parts += _body(exchange.request_body.content, redactor)
    return " ".join(parts)


def _authorization(value: str, redactor: Redactor) -> str:
    """The header as the shell builds it from `$TOKEN`: whole, or cut short as the request cut it."""
    scheme, space, rest = value.rpartition(" ")
    if redactor.begins(rest):
        return f'"Authorization: {_between_quotes(scheme + space)}${{TOKEN:0:{len(rest)}}}"'
    shown = redactor.text(value)
    if REDACTED not in shown:
        return shlex.quote(f"Authorization: {shown}" if shown else "Authorization;")
    return f'"Authorization: {_between_quotes(shown).replace(REDACTED, "$TOKEN")}"'


def _between_quotes(text: str) -> str:
    return re.sub(r'[\\"$`]', lambda found: f"\\{found[0]}", text)


def _body(body: bytes, redactor: Redactor) -> list[str]:
    if not body:
        return []
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return ["--data-binary", "@file"]
    if len(text) > _LONGEST_BODY or "\0" in text:
        return ["--data-binary", "@file"]
    return ["--data-binary", shlex.quote(redactor.text(text))]


def command(*, target: str, realm: str, clause: str, profile: str, seed: int) -> str:
    """The suite's own command for the clause in the realm; `profile` takes in the case that found it."""
    words = ["registry-contracts", "run", "--target", target, "--profile", profile]
    words += ["--clause", clause, "--seed", str(seed)]
    if realm != "any":
        words += ["--realm", realm]
    return " ".join(shlex.quote(word) for word in words)


def curls(exchanges: Iterable[Exchange], ids: Iterable[str], redactor: Redactor) -> list[str]:
    """Curl lines of the exchanges with these ids, in their order."""
    wanted = set(ids)
    return [curl(exchange, redactor) for exchange in exchanges if exchange.id in wanted]
