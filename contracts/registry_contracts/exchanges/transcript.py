"""An exchange as text: as it would stand on the wire, as a curl line, and the command that finds it again."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from registry_contracts.exchanges.exchange import Body, Exchange, Headers
from registry_contracts.exchanges.redaction import REDACTED, SWAPPED, TOKEN, UNKNOWN
from registry_contracts.file_formats import json_value
from registry_contracts.interface.description import where_in_words
from registry_contracts.safe_text import encodable, printable
from registry_contracts.settings.target import ACCOUNT_ROLES, AUTHOR


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


#: A body that is longer is left out of a line: the line could not be pasted.
LONGEST_BODY: Final = 4000
#: What a line names in place of a body that it cannot hold.
BODY_IN_FILE: Final = "file"
_LEFT_OUT: Final = frozenset({"host", "user-agent", "accept-encoding", "connection", "content-length"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
#: Addresses are sent as they stand: no ranges in brackets, no steps up resolved.
_AS_IT_STANDS: Final = ("-g", "--path-as-is")
#: Names of headers by RFC 9110; curl would read a file for one that begins with an @.
_HEADER_NAME: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)

#: A value in a text, as the group `value` if there is one, and what a shell writes for it between double quotes.
Slot = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def curl(exchange: Exchange) -> str:
    """A line to paste, of an exchange without secrets: variables stand in their place; see `variable_of`."""
    before, data = body_words(exchange, "-", LONGEST_BODY)
    return f"{before} | " * bool(before) + " ".join(["curl", "-i", *request_words(exchange), *data])


def request_words(exchange: Exchange, slots: Sequence[Slot] = ()) -> list[str]:
    """The words that curl takes for a request, but for its body; values that the slots find become variables."""
    in_texts = (*slots, secret_slot(TOKEN_VARIABLE, exchange.role))
    words = [*(["-I"] if exchange.method == "HEAD" else ["-X", shlex.quote(exchange.method)]), *_AS_IT_STANDS]
    words.append(shell_word(exchange.url, in_texts))
    sent = exchange.request_headers
    for name, value in sent.pairs:
        if name.lower() == "authorization":
            words += ["-H", _authorization(name, exchange.authorization or value, exchange.role)]
        elif name.lower() not in _LEFT_OUT and _HEADER_NAME.fullmatch(name):
            words += ["-H", shell_word(_header(name, value), in_texts)]
    # What curl would add by itself.
    added = ["Accept"] + ["Content-Type"] * bool(exchange.request_body.size or exchange.request_body.content)
    return words + [word for name in added if name not in sent for word in ("-H", shlex.quote(f"{name}:"))]


def body_words(
    exchange: Exchange, file: str, longest: int, slots: Sequence[Slot] = ()
) -> tuple[str, list[str]]:
    """What writes the body to `file`, where it cannot stand among curl's words, and the words that give curl the body.

    A body of more than `longest` bytes that was kept is to be found in a file by the reader.
    """
    body, length = exchange.request_body, exchange.request_headers.get("content-length") or ""
    # As it was counted, or as the request says of a file.
    size = body.size or (int(length) if length.isdecimal() else 0)
    if not size and not body.content:
        return "", []
    from_file = ["--data-binary", f"@{file}"]
    if not body.whole and (not body.content or body.decoded is None):
        return f"head -c {size} /dev/urandom", from_file
    if not body.whole or len(body.content) > longest:
        return "", ["--data-binary", f"@{BODY_IN_FILE}"]
    text = body.decoded
    # A line of a terminal holds no line feed; a file of a script does.
    if text is None or "\0" in text or (file == "-" and _CONTROL.search(text)):
        return f"printf {octal(body.content)}", from_file
    kind = PASSWORD_VARIABLE if exchange.operation == "createToken" else TOKEN_VARIABLE
    return "", ["--data-raw", shell_word(text, (*slots, secret_slot(kind, exchange.role)))]


def octal(content: bytes) -> str:
    """Bytes as the one word from which printf makes them, in every shell."""
    return "'" + "".join(f"\\{byte:03o}" for byte in content) + "'"


#: What a shell does not take as it stands between double quotes; a line that is pasted may be interactive.
_SPECIAL: Final = re.compile(r'["\\$`!]')


def shell_word(text: str, slots: Sequence[Slot] = ()) -> str:
    """A text as one word of a shell, in which each value that a slot finds is a variable."""
    pieces: list[tuple[str, bool]] = [(text, False)]
    for pattern, variable in slots:
        pieces = [part for piece in pieces for part in _filled(*piece, pattern, variable)]
    if any(made for _, made in pieces) and not any(
        _SPECIAL.search(piece) for piece, made in pieces if not made
    ):
        return f'"{"".join(piece for piece, _ in pieces)}"'
    words = (f'"{piece}"' if made else shlex.quote(piece) for piece, made in pieces if piece)
    return "".join(words) or "''"


def _filled(
    piece: str, made: bool, pattern: re.Pattern[str], variable: str | Callable[[re.Match[str]], str]
) -> Iterator[tuple[str, bool]]:
    """A piece of a text, cut where a value stands; `made`: it is one for the shell to fill in."""
    at = 0
    for found in () if made else pattern.finditer(piece):
        start, end = found.span("value" if "value" in pattern.groupindex else 0)
        yield from (
            (piece[at:start], False),
            (variable if isinstance(variable, str) else variable(found), True),
        )
        at = end
    yield piece[at:], made


#: What a shell keeps of an account; the names of its variables begin so.
TOKEN_VARIABLE, PASSWORD_VARIABLE = "TOKEN", "PASSWORD"
#: A secret that was taken out: of a token the beginning or the end alone, in other letter case, of another account.
_TAKEN_OUT: Final = (
    rf"(?:\[:(?P<length>\d+)\]|(?P<swapped>{re.escape(SWAPPED)})|{re.escape(UNKNOWN)})?"
    r"(?:\[of (?P<owner>[a-z]+)\])?"
)
_IN_TEXT: Final = re.compile(re.escape(REDACTED) + _TAKEN_OUT)
#: The header is kept with the token's own sign.
_IN_HEADER: Final = re.compile(f"(?:{re.escape(TOKEN)}|{re.escape(REDACTED)}){_TAKEN_OUT}")


def variable_of(kind: str, role: str | None) -> str:
    """The variable of a shell that holds something of an account: `TOKEN` is the author's, `TOKEN_NAU` that of nau.

    A request without an account that shows a token shows the author's.
    """
    return f"{kind}_{role.upper()}" if role in ACCOUNT_ROLES and role != AUTHOR else kind


def secret_slot(kind: str, role: str | None, pattern: re.Pattern[str] = _IN_TEXT) -> Slot:
    """What a shell makes of a secret that was taken out."""

    def variable(found: re.Match[str]) -> str:
        name = variable_of(kind, found["owner"] or role)
        # Upper for lower letters and the other way round; inside JSON quotes and backslashes are escaped.
        through = " | tr a-zA-Z A-Za-z" * bool(found["swapped"])
        through += r""" | sed 's/["\\]/\\&/g'""" * (kind == PASSWORD_VARIABLE)
        if through:
            return f'$(printf %s "${name}"{through})'
        if found["length"]:
            return f"${{{name}:0:{found['length']}}}"
        return f"${name}" if found.end() == len(found.string) else f"${{{name}}}"

    return pattern, variable


def _authorization(name: str, kept: str, role: str | None) -> str:
    """The header as the shell builds it of a token: whole, or cut short as the request cut it."""
    return shell_word(_header(name, kept), (secret_slot(TOKEN_VARIABLE, role, _IN_HEADER),))


def _header(name: str, value: str) -> str:
    """A header as curl takes it."""
    return f"{name}: {value}" if value else f"{name};"


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
