"""An exchange as text: as it would stand on the wire, as a curl line, and the command that finds it again."""

from __future__ import annotations

import json
import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import Any

from contracts.exchanges.exchange import Body, Exchange, Headers
from contracts.exchanges.redaction import REDACTED, SWAPPED, TOKEN, UNKNOWN
from contracts.file_formats import json_value
from contracts.interface.description import where_in_words
from contracts.safe_text import encodable, printable
from contracts.settings.target import ACCOUNT_ROLES, AUTHOR


def json_of(body: Body) -> Any:
    """Return a recorded body as JSON, or None when it is none or was not kept whole.

    JSON can carry more than a file can: half of a surrogate pair stands in it as an escape, and becomes a character
    that no UTF-8 holds as soon as it is read. What comes from here fits any writer; checks read bodies exactly.
    """
    content = body.content
    # Most bodies hold neither an escape nor a byte that could be part of a surrogate in any encoding.
    return body.json if content.isascii() and b"\\u" not in content else encodable(body.json)


_SHOWN_CHARACTERS = 20_000
_LINE_CHARACTERS = 2_000


def heading(exchange: Exchange) -> str:
    """Return one line that tells exchanges apart: operation, role, realm, status and duration."""
    what = f"{exchange.operation or exchange.method} as {exchange.role or 'no role'}"
    where = where_in_words(exchange.operation, [exchange.realm])
    return f"{what} {where}: {exchange.status or 'no response'}, {milliseconds(exchange)}"


def milliseconds(exchange: Exchange) -> str:
    """Return how long an exchange took, as `12 ms`."""
    return f"{(exchange.seconds or 0.0) * 1000:.0f} ms"


def request_text(exchange: Exchange, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return the request line, headers and body, the body cut after `limit` characters."""
    first = f"{exchange.method} {exchange.url} HTTP/1.1"
    return _message(first, exchange.request_headers, exchange.request_body, limit)


def response_text(exchange: Exchange, limit: int = _SHOWN_CHARACTERS, marks: Iterable[str] = ()) -> str:
    """Return the status line, headers and body of the response, or the fault in its place.

    Where the body is cut after `limit` characters, the rarest of the texts `marks` stays in view.
    """
    response = exchange.response
    if response is None:
        return printable(f"no response: {exchange.fault or 'the connection ended without one'}")
    text = _message(
        f"{response.status} {response.reason}".rstrip(), response.headers, response.body, limit, marks
    )
    if exchange.fault is None:
        return text
    return f"{text}\n\n(taken for a fault of the environment: {printable(exchange.fault)})"


def transcript(exchange: Exchange) -> str:
    """Return the whole exchange as text."""
    return f"{heading(exchange)}\n\n{request_text(exchange)}\n\n{response_text(exchange)}\n"


def body_text(body: Body, limit: int = _SHOWN_CHARACTERS, marks: Iterable[str] = ()) -> str:
    """Return a body for people: JSON indented, binary content named by size, long content cut and marked."""
    if body.decoded is None:
        return f"({body.size} bytes of binary content, sha256 {body.digest or 'unknown'})"
    if not body.content:
        return "" if body.whole else f"(not kept{f'; {body.size} bytes' if body.size else ''})"
    shown = _indented(body.decoded) if body.whole else body.decoded
    cut = _around(shown, limit, marks)
    return cut + ("" if body.whole and len(shown) <= limit else f"\n(cut; {body.size} bytes in all)")


def _around(text: str, limit: int, marks: Iterable[str]) -> str:
    """The beginning of a text, and where the rarest mark lies beyond it, its surroundings."""
    # What stands everywhere gives nothing away.
    mark = min((mark for mark in marks if mark in text), key=text.count, default="")
    place = text.find(mark)
    if len(text) <= limit or place < limit:
        return text[:limit]
    half = limit // 2
    start = text.rfind("\n", 0, place - half // 2) + 1 or place - half // 2
    beginning = text[: text.rfind("\n", 0, half) + 1 or half]
    return f"{beginning}… ({start - len(beginning):,} characters)\n{text[start : start + half]}"


def _indented(text: str) -> str:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        # What Python reads more leniently than JSON, or only nearly, is shown as it came.
        return json.dumps(json_value(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text


def _message(first: str, headers: Headers, body: Body, limit: int, marks: Iterable[str] = ()) -> str:
    lines = [_short(f"{name}: {value}") for name, value in headers.pairs]
    return printable("\n".join([_short(first), *lines, "", body_text(body, limit, marks)]).rstrip())


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}… ({len(line)} characters)"


#: Longer bodies stand in the traffic log only: a longer curl line could not be pasted.
_LONGEST_BODY = 4000
_PIPED = ["--data-binary", "@-"]
#: How a curl line takes a body that it cannot hold.
BODY_IN_FILE = "@file"
_FROM_FILE = ["--data-binary", BODY_IN_FILE]
#: What stands before a curl line whose body was not kept.
BODY_MADE_UP = "/dev/urandom"
_LEFT_OUT = frozenset({"host", "user-agent", "accept-encoding", "connection", "content-length"})


def curl(exchange: Exchange) -> str:
    """A line to paste, of an exchange without secrets: variables stand in their place; see `variable_of`."""
    role = exchange.role
    parts = ["curl", "-i"]
    parts += ["-I"] if exchange.method == "HEAD" else ["-X", exchange.method]
    parts.append(_word(exchange.url, TOKEN_VARIABLE, role))
    for name, value in exchange.request_headers.pairs:
        if name.lower() == "authorization":
            parts += ["-H", _authorization(exchange.authorization or value, role)]
        elif name.lower() not in _LEFT_OUT:
            parts += ["-H", _word(f"{name}: {value}", TOKEN_VARIABLE, role)]
    before, data = _data(exchange)
    return before + " ".join([*parts, *data])


#: What a shell keeps of an account; the names of its variables begin so.
TOKEN_VARIABLE, EMAIL_VARIABLE, PASSWORD_VARIABLE = "TOKEN", "EMAIL", "PASSWORD"
#: A secret that was taken out: in other letter case, and whose it is where not its role's.
_TAKEN_OUT = re.compile(
    rf"{re.escape(REDACTED)}(?P<swapped>{re.escape(SWAPPED)})?(?:\[of (?P<owner>[a-z]+)\])?"
)


#: A token of which a request has only the beginning.
_CUT_SHORT = re.compile(rf"(?P<before>.*){re.escape(TOKEN)}\[:(?P<length>\d+)\]", re.DOTALL)


def variable_of(kind: str, role: str | None) -> str:
    """The variable of a shell that holds something of an account: `TOKEN` is the author's, `TOKEN_NAU` that of nau.

    A request without an account that shows a token shows the author's.
    """
    return f"{kind}_{role.upper()}" if role in ACCOUNT_ROLES and role != AUTHOR else kind


def _word(text: str, kind: str, role: str | None) -> str:
    """A text as one word of a shell, with variables for the secrets that were taken out of it."""
    return _TAKEN_OUT.sub(lambda found: f"""'"{_variable(found, kind, role)}"'""", shlex.quote(text))


def _variable(found: re.Match[str], kind: str, role: str | None) -> str:
    """What a shell makes of a secret that was taken out, between double quotes."""
    name = variable_of(kind, found["owner"] or role)
    swap = (
        " | tr a-zA-Z A-Za-z" if found["swapped"] else ""
    )  # upper for lower letters and the other way round
    if kind == PASSWORD_VARIABLE:
        return in_json(f"${name}", swap)
    if swap:
        return f'$(printf %s "${name}"{swap})'
    return f"${name}" if found.end() == len(found.string) else f"${{{name}}}"


def in_json(variable: str, through: str = "") -> str:
    """What a shell makes of a variable between double quotes, inside a text of JSON: quotes and backslashes escaped."""
    return f"""$(printf %s "{variable}"{through} | sed 's/["\\\\]/\\\\&/g')"""


def _authorization(kept: str, role: str | None) -> str:
    """The header as the shell builds it of a token: whole, or cut short as the request cut it."""
    if cut := _CUT_SHORT.fullmatch(kept):
        token = f"${{{variable_of(TOKEN_VARIABLE, role)}:0:{cut['length']}}}"
        return f'"Authorization: {_between_quotes(cut["before"])}{token}"'
    shown = kept.replace(TOKEN, REDACTED).removesuffix(UNKNOWN)
    if REDACTED not in shown:
        return shlex.quote(f"Authorization: {shown}" if shown else "Authorization;")
    written = _TAKEN_OUT.sub(lambda found: _variable(found, TOKEN_VARIABLE, role), _between_quotes(shown))
    return f'"Authorization: {written}"'


def _between_quotes(text: str) -> str:
    return re.sub(r'[\\"$`]', lambda match: f"\\{match[0]}", text)


def _data(exchange: Exchange) -> tuple[str, list[str]]:
    """What gives a curl line its body: what stands before the line, and the options that take it."""
    body, length = exchange.request_body, exchange.request_headers.get("content-length") or ""
    # As it was counted, or as the request says of a file.
    size = body.size or (int(length) if length.isdecimal() else 0)
    if not size and not body.content:
        return "", []
    if not body.whole:
        made_up = not body.content or body.decoded is None
        return (f"head -c {size} {BODY_MADE_UP} | ", _PIPED) if made_up else ("", _FROM_FILE)
    text, content = body.decoded, body.content
    if text is not None:
        if len(text) <= _LONGEST_BODY and "\0" not in text:
            kind = PASSWORD_VARIABLE if exchange.operation == "createToken" else TOKEN_VARIABLE
            return "", ["--data-binary", _word(text, kind, exchange.role)]
        content = text.encode("utf-8", "surrogatepass")
    coded = b64encode(content).decode()
    return (f"echo {coded} | base64 -d | ", _PIPED) if len(coded) <= _LONGEST_BODY else ("", _FROM_FILE)


def command(
    *, target: str, realm: str, clause: str, profile: str, seed: int, sandbox_arguments: Sequence[str] = ()
) -> str:
    """The suite's own command for the clause in the realm; `profile` takes in the case that found it."""
    words = ["registry-contracts", "run", "--target", target, "--profile", profile]
    words += ["--clause", clause, "--seed", str(seed)]
    if realm != "any":
        words += ["--realm", realm]
    if sandbox_arguments:
        words.append(f"--sandbox-arguments={shlex.join(sandbox_arguments)}")
    return " ".join(shlex.quote(word) for word in words)
