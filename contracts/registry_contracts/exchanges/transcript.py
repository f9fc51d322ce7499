"""An exchange as text: as an HTTP message, as a curl command, and the suite's command that repeats its case."""

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
from registry_contracts.interface.operations import SIGN_IN
from registry_contracts.safe_text import encodable, printable
from registry_contracts.settings.target import ACCOUNT_ROLES, AUTHOR


def json_of(body: Body) -> Any:
    """Return a recorded body as JSON for reports; None if it is not JSON or not whole.

    Lone surrogates, which JSON can escape but UTF-8 cannot encode, stay escaped. Checks read bodies exactly instead.
    """
    return encodable(body.json)


_SHOWN_CHARACTERS = 20_000
_LINE_CHARACTERS = 2_000


def heading(exchange: Exchange) -> str:
    """Return a one-line heading: operation, role, realm, status and duration."""
    what = f"{exchange.operation or exchange.method} as {exchange.role or 'no role'}"
    where = where_in_words(exchange.operation, [exchange.realm])
    milliseconds = f"{(exchange.seconds or 0.0) * 1000:.0f} ms"
    return f"{what} {where}: {exchange.status or 'no response'}, {milliseconds}"


def request_text(exchange: Exchange, limit: int = _SHOWN_CHARACTERS) -> str:
    """Return the request line, headers and body; a longer body is cut after `limit` characters."""
    first = f"{exchange.method} {exchange.url} HTTP/1.1"
    return _message(first, exchange.request_headers, exchange.request_body, limit)


def response_text(exchange: Exchange, limit: int = _SHOWN_CHARACTERS, marks: Iterable[str] = ()) -> str:
    """Return the status line, headers and body of the response, or the fault instead.

    If the body is cut to `limit` characters, the rarest of the texts `marks` stays in it.
    """
    response = exchange.response
    if response is None:
        return printable(f"no response: {exchange.fault or 'the connection ended without one'}")
    text = _message(
        f"{response.status} {response.reason}".rstrip(), response.headers, response.body, limit, marks
    )
    if exchange.fault is None:
        return text
    return f"{text}\n\n(counted as a fault of the environment: {printable(exchange.fault)})"


def transcript(exchange: Exchange) -> str:
    """Return the whole exchange as text."""
    return f"{heading(exchange)}\n\n{request_text(exchange)}\n\n{response_text(exchange)}\n"


def body_text(body: Body, limit: int = _SHOWN_CHARACTERS, marks: Iterable[str] = ()) -> str:
    """Return a body for people: JSON indented, binary content as its size, long content cut."""
    if body.decoded is None:
        return f"({body.size} bytes of binary content, sha256 {body.digest or 'unknown'})"
    if not body.content:
        return "" if body.whole else f"(not kept{f'; {body.size} bytes' if body.size else ''})"
    shown = _indented(body.decoded) if body.whole else body.decoded
    cut = _around(shown, limit, marks)
    return cut + ("" if body.whole and len(shown) <= limit else f"\n(cut; {body.size} bytes in all)")


def _around(text: str, limit: int, marks: Iterable[str]) -> str:
    """The beginning of a text and, if the rarest mark is beyond it, the text around that mark."""
    # The rarest mark is the most telling one.
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
        # Text that is not strict JSON is shown unchanged.
        return json.dumps(json_value(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text


def _message(first: str, headers: Headers, body: Body, limit: int, marks: Iterable[str] = ()) -> str:
    lines = [_short(f"{name}: {value}") for name, value in headers.pairs]
    return printable("\n".join([_short(first), *lines, "", body_text(body, limit, marks)]).rstrip())


def _short(line: str) -> str:
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS]}… ({len(line)} characters)"


#: Longest body in a curl command, so that the command can be pasted.
LONGEST_BODY: Final = 4000
#: The file that a curl command names instead of a longer body.
BODY_IN_FILE: Final = "file"
_LEFT_OUT: Final = frozenset({"host", "user-agent", "accept-encoding", "connection", "content-length"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
#: Options of curl to send addresses unchanged: no globbing, no dotted segments resolved.
_AS_IT_STANDS: Final = ("-g", "--path-as-is")
#: Valid names of headers (RFC 9110); curl would read a file for one that begins with @.
_HEADER_NAME: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)

#: A pattern for a value in a text (its group `value`, if any), and the shell's expression that replaces it.
Slot = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def curl(exchange: Exchange) -> str:
    """A curl command to paste, from a redacted exchange: shell variables replace secrets (see `variable_of`)."""
    before, data = body_words(exchange, "-", LONGEST_BODY)
    return f"{before} | " * bool(before) + " ".join(["curl", "-i", *request_words(exchange), *data])


def request_words(exchange: Exchange, slots: Sequence[Slot] = ()) -> list[str]:
    """The arguments of curl for a request without its body; values that the slots match become variables."""
    in_texts = (*slots, secret_slot(TOKEN_VARIABLE, exchange.role))
    words = [*(["-I"] if exchange.method == "HEAD" else ["-X", shlex.quote(exchange.method)]), *_AS_IT_STANDS]
    words.append(shell_word(exchange.url, in_texts))
    sent = exchange.request_headers
    for name, value in sent.pairs:
        if name.lower() == "authorization":
            # The token's variable, cut if the request cut it.
            of_token = secret_slot(TOKEN_VARIABLE, exchange.role, _IN_HEADER)
            words += ["-H", shell_word(_header(name, exchange.authorization or value), (of_token,))]
        elif name.lower() not in _LEFT_OUT and _HEADER_NAME.fullmatch(name):
            words += ["-H", shell_word(_header(name, value), in_texts)]
    # Headers that curl would add by itself are suppressed.
    added = ["Accept"] + ["Content-Type"] * bool(exchange.request_body.size or exchange.request_body.content)
    return words + [word for name in added if name not in sent for word in ("-H", shlex.quote(f"{name}:"))]


def body_words(
    exchange: Exchange, file: str, longest: int, slots: Sequence[Slot] = ()
) -> tuple[str, list[str]]:
    """The body of a request for curl.

    Returns:
        A command that writes the body to `file`, if it cannot be an argument, else empty; and curl's arguments. For a
        body of more than `longest` bytes, these name a file that the reader must provide.
    """
    body, length = exchange.request_body, exchange.request_headers.get("content-length") or ""
    # The size as counted or, for a file, as announced by the request.
    size = body.size or (int(length) if length.isdecimal() else 0)
    if not size and not body.content:
        return "", []
    from_file = ["--data-binary", f"@{file}"]
    if not body.whole and (not body.content or body.decoded is None):
        return f"head -c {size} /dev/urandom", from_file
    if not body.whole or len(body.content) > longest:
        return "", ["--data-binary", f"@{BODY_IN_FILE}"]
    text = body.decoded
    # A pasted line must not contain a line feed; a script's file may.
    if text is None or "\0" in text or (file == "-" and _CONTROL.search(text)):
        return f"printf {octal(body.content)}", from_file
    kind = PASSWORD_VARIABLE if exchange.operation == SIGN_IN else TOKEN_VARIABLE
    return "", ["--data-raw", shell_word(text, (*slots, secret_slot(kind, exchange.role)))]


def octal(content: bytes) -> str:
    """Bytes as one argument of printf, in every shell."""
    return "'" + "".join(f"\\{byte:03o}" for byte in content) + "'"


#: Special characters between double quotes; `!` is special in an interactive shell.
_SPECIAL: Final = re.compile(r'["\\$`!]')


def shell_word(text: str, slots: Sequence[Slot] = ()) -> str:
    """A text as one word for a shell, in which a variable replaces each value that a slot matches."""
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
    """A piece of a text, split at the pattern's values; the flag marks pieces that are shell expressions."""
    at = 0
    for found in () if made else pattern.finditer(piece):
        start, end = found.span("value" if "value" in pattern.groupindex else 0)
        yield from (
            (piece[at:start], False),
            (variable if isinstance(variable, str) else variable(found), True),
        )
        at = end
    yield piece[at:], made


#: Beginnings of the names of shell variables with an account's token and password.
TOKEN_VARIABLE, PASSWORD_VARIABLE = "TOKEN", "PASSWORD"
#: Suffixes of a redacted secret: only the beginning of a token, swapped letter case, another account.
_TAKEN_OUT: Final = (
    rf"(?:\[:(?P<length>\d+)\]|(?P<swapped>{re.escape(SWAPPED)})|{re.escape(UNKNOWN)})?"
    r"(?:\[of (?P<owner>[a-z]+)\])?"
)
_IN_TEXT: Final = re.compile(re.escape(REDACTED) + _TAKEN_OUT)
#: A redacted Authorization header has `$TOKEN` instead.
_IN_HEADER: Final = re.compile(f"(?:{re.escape(TOKEN)}|{re.escape(REDACTED)}){_TAKEN_OUT}")


def variable_of(kind: str, role: str | None) -> str:
    """The shell variable of an account's secret: `TOKEN` is the author's, `TOKEN_NAU` that of nau.

    A token in a request of no account is the author's.
    """
    return f"{kind}_{role.upper()}" if role in ACCOUNT_ROLES and role != AUTHOR else kind


def secret_slot(kind: str, role: str | None, pattern: re.Pattern[str] = _IN_TEXT) -> Slot:
    """The slot that replaces a redacted secret by its shell expression."""

    def variable(found: re.Match[str]) -> str:
        name = variable_of(kind, found["owner"] or role)
        # Swap the letter case; escape quotes and backslashes inside JSON.
        through = " | tr a-zA-Z A-Za-z" * bool(found["swapped"])
        through += r""" | sed 's/["\\]/\\&/g'""" * (kind == PASSWORD_VARIABLE)
        if through:
            return f'$(printf %s "${name}"{through})'
        if found["length"]:
            return f"${{{name}:0:{found['length']}}}"
        return f"${name}" if found.end() == len(found.string) else f"${{{name}}}"

    return pattern, variable


def _header(name: str, value: str) -> str:
    """A header as an argument of curl."""
    return f"{name}: {value}" if value else f"{name};"


def command(
    *, target: str, realm: str, clause: str, profile: str, seed: int, sandbox_arguments: Sequence[str] = ()
) -> str:
    """The suite's command that runs the clause in the realm; `profile` is one that includes the case."""
    words = ["registry-contracts", "run", "--target", target, "--profile", profile]
    words += ["--clause", clause, "--seed", str(seed)]
    if realm != "any":
        words += ["--realm", realm]
    if sandbox_arguments:
        words.append(f"--sandbox-arguments={shlex.join(sandbox_arguments)}")
    return " ".join(shlex.quote(word) for word in words)
