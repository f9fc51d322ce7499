"""`registry-contracts consumer`: makes the file that tells a gate what an SDK uses, from its recorded traffic."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import click

from contracts.cli.options import write_output
from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.har import Archive, read_har
from contracts.interface.description import Description, load_description
from contracts.interface.operations import Operation, segments
from contracts.safe_text import cut, many
from contracts.settings.target import DEVELOPMENT_REALMS, PRODUCTION_REALMS

#: A browser asks before it calls; no SDK does, and the interface document lists no OPTIONS.
_PREFLIGHT = "OPTIONS"
_REALMS = frozenset((*DEVELOPMENT_REALMS, *PRODUCTION_REALMS))
_SHOWN = 20
_LONGEST = 160


@dataclass(frozen=True)
class Usage:
    """What recorded traffic uses of the interface.

    Args:
        operations: Requests by operation, in the order of the description.
        unknown: Requests below the interface's paths that are no operation, as "METHOD path", the most frequent first.
        elsewhere: Requests to other paths, by host.
        preflights: Requests with OPTIONS, which browsers send by themselves.
        realms: Requests by the realm they named, where it is one.
        unreadable: Entries of the file that are no request.
    """

    operations: dict[str, int]
    unknown: dict[str, int]
    elsewhere: dict[str, int]
    preflights: int
    realms: dict[str, int]
    unreadable: int


def usage_of(traffic: Archive, description: Description) -> Usage:
    """Match requests with operations by method and path, whatever prefix the base URL puts before the path."""
    operations: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    elsewhere: Counter[str] = Counter()
    realms: Counter[str] = Counter()
    preflights = read = 0
    roots = {segments(operation.path)[:3] for operation in description.operations.values()}
    for read, exchange in enumerate(traffic, 1):  # noqa: B007 - how many there are is wanted behind it
        address = urlsplit(exchange.url)
        below = _below_prefix(address.path, roots)
        if below is None:
            elsewhere[address.hostname or "no host"] += 1
            continue
        if exchange.method == _PREFLIGHT:
            preflights += 1
            continue
        operation = _match(exchange.method, below, description)
        if operation is None:
            unknown[f"{exchange.method} {below}"] += 1
            continue
        operations[operation.id] += 1
        realm = _realm(exchange, address.query)
        realms.update([realm] if realm in _REALMS else [])
    return Usage(
        operations={name: operations[name] for name in description.operations if name in operations},
        unknown=dict(unknown.most_common()),
        elsewhere=dict(elsewhere.most_common()),
        preflights=preflights,
        realms=dict(realms.most_common()),
        unreadable=len(traffic) - read,
    )


def _realm(exchange: Exchange, query: str) -> str | None:
    named = exchange.request_headers.first("Realm")
    return named if named is not None else next(iter(parse_qs(query).get("Realm", [])), None)


def _below_prefix(raw: str, roots: set[tuple[str, ...]]) -> str | None:
    """The path from `/api/v…` on; None where the interface has no such root."""
    parts = segments(raw)
    plain = [unquote(part, errors="replace") for part in parts]
    for start in range(1, len(parts) - 1):
        if ("", *plain[start : start + 2]) in roots:
            return "/" + "/".join(parts[start:])
    return None


def _match(method: str, path: str, description: Description) -> Operation | None:
    """The operation of a request; a closing slash, which many clients add, is no difference."""
    match = description.match(method, path) or description.match(method, path.rstrip("/"))
    return match[0] if match else None


def as_toml(usage: Usage, source: str) -> str:
    """Return the consumer file that says what traffic used.

    Args:
        usage: What was used; at least one operation.
        source: Name of the file the traffic was recorded in.
    """
    width = max(len(name) for name in usage.operations)
    lines = [f"# What {_comment(source)} uses of the interface.", "operations = ["]
    for name, number in usage.operations.items():
        quoted = f"{json.dumps(name)},"
        lines.append(f"    {quoted:<{width + 3}}  # {number}")
    lines.append("]")
    if usage.realms:
        seen = ", ".join(f"{realm} ({number})" for realm, number in usage.realms.items())
        lines += [
            "",
            f"# Realms seen: {seen}. To gate some realms only, name development realms:",
            '# realms = ["abs-dev"]',
        ]
    if usage.unknown:
        lines += ["", "# No operation of the interface, so not gated:"]
        lines += [f"#   {line}" for line in unknown_lines(usage)]
    return "\n".join(lines) + "\n"


def unknown_lines(usage: Usage) -> list[str]:
    """Name the requests that are no operation, a line each, with their number."""
    lines = [f"{_comment(name)} ({number})" for name, number in list(usage.unknown.items())[:_SHOWN]]
    more = len(usage.unknown) - _SHOWN
    return [*lines, f"and {more} more"] if more > 0 else lines


def notes(usage: Usage) -> Iterator[str]:
    """Say what the traffic held besides operations, a line each."""
    if usage.unknown:
        number = many(sum(usage.unknown.values()), "request")
        yield f"no operation of the interface, so not gated: {number}"
        yield from (f"  {line}" for line in unknown_lines(usage))
    if usage.elsewhere:
        hosts = ", ".join(
            f"{_comment(host)} ({number})" for host, number in list(usage.elsewhere.items())[:3]
        )
        more = len(usage.elsewhere) - 3
        hosts += f" and {more} more" if more > 0 else ""
        yield f"to other paths than the interface's: {many(sum(usage.elsewhere.values()), 'request')}: {hosts}"
    if usage.preflights:
        yield f"left out: {many(usage.preflights, 'request')} with OPTIONS, which browsers send by themselves"
    if usage.unreadable:
        yield f"left out: {many(usage.unreadable, 'line')} of the archive without a web request"


def _comment(text: str) -> str:
    """The text as it may stand in a comment: on one line, without control characters, not too long."""
    line = "".join(letter if letter.isprintable() else "?" for letter in text)
    return cut(line, _LONGEST)


@click.group()
def command() -> None:
    """Make a consumer file: what an SDK uses of the interface, for `registry-contracts gate --consumer`."""


@command.command("from-har")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write it; by default here.",
)
@click.option("--force", is_flag=True, help="Replace the output file if it is there.")
def from_har(file: Path, output: Path | None, force: bool) -> int:
    """Make a consumer file from recorded traffic: a HAR of a browser, a proxy, or the SDK's own tests.

    Requests are matched by method and path, whatever the base URL; what is no operation is named.

    \b
    Examples:
      registry-contracts consumer from-har sdk-tests.har -o sdk.toml
    """  # noqa: D301 - click's mark for lines to be left as they are
    if output is not None and output.exists() and not force:
        raise UsageError(f"'{output}' is there already; choose another name, or replace it with --force")
    usage = usage_of(read_har(file, str(file)), load_description())
    if not usage.operations:
        raise UsageError(_nothing(str(file), unknown_lines(usage), sum(usage.elsewhere.values())))
    text = as_toml(usage, file.name)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text)
    requests = sum(usage.operations.values())
    where = f"{output}: " if output else ""
    usage_in_words = f"{many(len(usage.operations), 'operation')}, used by {many(requests, 'request')}"
    click.echo(f"{where}{usage_in_words}", err=True)
    for note in notes(usage):
        click.echo(note, err=True)
    return 0


def _nothing(file: str, unknown: list[str], elsewhere: int) -> str:
    seen = (
        f"it has {', '.join(unknown[:3])}"
        if unknown
        else f"{many(elsewhere, 'request')} in it went to other paths"
    )
    return f"{file}: no request in it is an operation of the interface; {seen}"
