"""Redaction: removes passwords and tokens from an exchange before it is written to a file.

Places of secrets (a header for credentials, a member named password) are always redacted. Everywhere else the known
secrets are searched, in the forms of `_forms`. A secret that is an ordinary word, such as `draft`, is searched in the
places of secrets only, since addresses hold it anyway.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Any, Final
from urllib.parse import quote, quote_plus

from ahocorasick_rs import BytesAhoCorasick, Implementation

from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, Headers, read_timestamp
from registry_contracts.interface.description import load_description
from registry_contracts.interface.operations import SIGN_IN

REDACTED = "[redacted]"
#: How the address of a sign-in ends.
SIGN_IN_PATH: Final = "/authentication/token"
#: Headers whose value is always a credential.
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
#: Stands for a role's own token in a redacted Authorization header.
TOKEN: Final = "$TOKEN"  # noqa: S105 - a name
#: Suffixes of it: the token was sent with swapped letter case; in a form that cannot be repeated.
SWAPPED: Final = "[swapcase]"
UNKNOWN: Final = "[?]"
#: How many bytes of a body are kept; its size and digest always are.
KEPT_BODY: Final = 16 * 1024
#: Texts of this length or more in the answer to signing in count as tokens, except timestamps.
SHORTEST_TOKEN: Final = 12
#: How many secrets are learned from one body, since each slows later searches a little.
MOST_OF_A_BODY: Final = 10_000
#: Ends a text that was cut; shorter beginnings of a secret before it are harmless.
_CUT = "…"
_SHORTEST_BEGINNING = 4
#: Shorter secrets match encoded texts by chance.
_SHORTEST_CODED: Final = 6
#: The first half of a secret of this length is secret too, since cases send it to see that it is refused.
_HALVED_FROM = 24
#: Longer secrets are searched in parts of this length, up to a total length.
_LONGEST: Final = 4096
_MOST: Final = 4 * KEPT_BODY


#: Shorter secrets, and shorter numbers, match any text by chance.
SHORTEST_SECRET: Final = 4
_SHORTEST_NUMBER: Final = 8
#: Longer than any word of the interface.
_LONGEST_WORD: Final = 64


def is_ordinary(secret: str) -> bool:
    """Whether a secret is an ordinary word: part of the interface's description, or very short."""
    shortest = _SHORTEST_NUMBER if secret.isdigit() else SHORTEST_SECRET
    return len(secret) < shortest or (len(secret) <= _LONGEST_WORD and secret.lower() in _words())


@cache
def _words() -> str:
    """All texts of the interface's description except its examples, in lower case."""
    return "\n".join(_texts_in(load_description().bundle)).lower()


def _texts_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for name, member in node.items():
            if name not in ("example", "examples"):
                yield from (name, *_texts_in(member))
    elif isinstance(node, list):
        yield from chain.from_iterable(map(_texts_in, node))
    else:
        yield str(node)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _forms(secret: str) -> Iterator[str]:
    """A secret as such, and as JSON (also JSON inside JSON), URLs and Python write it; see `_in_base64` for Base64."""
    in_json = json.dumps(secret)[1:-1]
    slashes = in_json.replace("/", r"\/")  # as many services write JSON
    yield from (secret, in_json, json.dumps(in_json)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (slashes, json.dumps(slashes)[1:-1])
    yield from (
        write(secret, safe=safe, errors="replace") for write in (quote, quote_plus) for safe in ("", "/")
    )
    yield repr(secret)[1:-1]
    if len(secret) >= _SHORTEST_CODED:
        yield "".join(f"%{byte:02x}" for byte in _bytes(secret))
        yield "".join(f"\\u{ord(character):04x}" for character in secret)
    if len(secret) >= _HALVED_FROM:
        yield secret[: len(secret) // 2]


def _in_base64(raw: bytes) -> Iterator[str]:
    """The Base64 characters of some bytes at any position in a longer text, in both alphabets."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode("ascii").rstrip("=")
        # The first and the last characters depend on the neighbouring bytes.
        signs = coded[(0, 2, 3)[before] : len(coded) - 1]
        yield from (signs, signs.replace("+", "-").replace("/", "_"))


class _Words:
    """Many words that are searched in a text at once, in a time that does not grow with their number."""

    def __init__(self) -> None:
        self._fresh: list[bytes] = []
        #: Words with their automatons. Each has over twice as many words as the next, so that each word is rebuilt a
        #: few times only. One automaton for all would take minutes in a recording with some thousand tokens.
        self._built: list[tuple[list[bytes], BytesAhoCorasick]] = []

    def __bool__(self) -> bool:
        return bool(self._fresh or self._built)

    def add(self, words: Iterable[bytes]) -> None:
        """Add words, in lower case."""
        self._fresh += filter(None, words)

    def places(self, lowered: bytes) -> list[tuple[int, int]]:
        """Where words are in a text in lower case; overlapping places are joined."""
        while self._fresh and self._built and len(self._built[-1][0]) <= 2 * len(self._fresh):
            self._fresh += self._built.pop()[0]
        if self._fresh:
            # This implementation is the fastest to build.
            automaton = BytesAhoCorasick(self._fresh, implementation=Implementation.NoncontiguousNFA)
            self._built.append((self._fresh, automaton))
            self._fresh = []
        found = (each.find_matches_as_indexes(lowered, overlapping=True) for _, each in self._built)
        return _joined((start, end) for _, start, end in chain.from_iterable(found))


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in order, with overlapping ones joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


class Redactor:
    """Redacts the run's secrets, in all forms that they take on the wire."""

    def __init__(self, secrets: Iterable[str] = (), passwords: Mapping[str, str] | None = None) -> None:
        """Learn `secrets`, and the accounts' `passwords` by role."""
        self._secrets: set[str] = set()
        self._passwords = passwords or {}
        self._words = _Words()
        #: Forms of secrets that are ordinary words.
        self._ordinary = _Words()
        #: Forms in their own letter case.
        self._written: set[bytes] = set()
        #: Sorted forms, to find beginnings that a cut left.
        self._sorted_forms: list[str] = []
        self._longest = 0
        for secret in (*secrets, *self._passwords.values()):
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Add a secret."""
        if not secret or secret in self._secrets:
            return
        self._secrets.add(secret)
        ordinary = is_ordinary(secret)
        for at in range(0, min(len(secret), _MOST), _LONGEST):
            self._look_for(secret[at : at + _LONGEST], ordinary=ordinary)

    def _look_for(self, part: str, *, ordinary: bool) -> None:
        forms = set(_forms(part))
        for form in () if ordinary else forms:
            insort(self._sorted_forms, form)
        if len(part) >= _SHORTEST_CODED:
            forms.update(_in_base64(_bytes(part)))
        written = {_bytes(form) for form in forms}
        self._written |= written
        self._longest = max(self._longest, *map(len, written))
        (self._ordinary if ordinary else self._words).add(form.lower() for form in written)

    def knows(self, secret: str) -> bool:
        """Whether a text is one of the run's secrets."""
        return secret in self._secrets

    def begins(self, text: str) -> bool:
        """Whether a text is the beginning of one of the run's secrets."""
        # The forms of a long secret are those of its parts.
        return len(text) >= _SHORTEST_BEGINNING and (
            self._begins_form(text) or any(secret.startswith(text) for secret in self._secrets)
        )

    def sign_in(self, exchange: Exchange, text: str) -> str:
        """The redacted body of a sign-in, with the owner of its password if that is not the exchange's role."""
        sent = exchange.request_body.text.lower()
        holds = {
            role: any(form.lower() in sent for form in _forms(password))
            for role, password in self._passwords.items()
        }
        owner = next(filter(holds.get, (exchange.role, *holds)), exchange.role)
        return text if owner == exchange.role else text.replace(REDACTED, f"{REDACTED}[of {owner}]")

    def withheld(self, exchange: Exchange) -> Exchange:
        """The exchange without bodies that may hold unknown secrets; a run knows all of its own."""
        return exchange

    def _places(self, lowered: bytes, *, all_secret: bool = False) -> list[tuple[int, int]]:
        """Where secrets are in a text in lower case; ordinary words count in the places of secrets only."""
        places = self._words.places(lowered)
        if not self._ordinary:
            return places
        named = [each.span(each.lastgroup or 0) for each in _NAMED.finditer(lowered)]
        for start, end in [(0, len(lowered))] if all_secret else named:
            places += [(start + at, start + to) for at, to in self._ordinary.places(lowered[start:end])]
        return _joined(places)

    def text(self, text: str, *, all_secret: bool = False) -> str:
        """The text with every known secret replaced, including one that `…` cuts short."""
        raw = _bytes(text)
        blanked = self.content(raw, all_secret=all_secret)
        text = text if blanked is raw else blanked.decode("utf-8", "surrogatepass")
        if _CUT not in text:
            return text
        *pieces, last = text.split(_CUT)
        return _CUT.join([*map(self._without_beginning, pieces), last])

    def content(self, content: bytes, *, all_secret: bool = False) -> bytes:
        """Bytes with every known secret replaced, in any letter case.

        Args:
            all_secret: All of it is the place of a secret, so secrets that are ordinary words are replaced too.
        """
        places = self._places(content.lower(), all_secret=all_secret)
        if not places:
            return content
        kept, at = [], 0
        for start, end in places:
            found = content[start:end]
            swapped = found not in self._written and found.swapcase() in self._written
            kept += [content[at:start], _bytes(REDACTED + SWAPPED * swapped)]
            at = end
        return b"".join([*kept, content[at:]])

    def value(self, value: Any) -> Any:
        """A JSON value with every known secret replaced, also in member names."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        return value

    def headers(self, headers: Headers) -> Headers:
        """Headers with credentials redacted; the scheme of an Authorization value stays."""
        return Headers((self.text(name), self.header(name, value)) for name, value in headers.pairs)

    def header(self, name: str, value: str) -> str:
        """The redacted value of a header."""
        return _blank(value) if name.lower() in SECRET_HEADERS else self.text(value)

    def _without_beginning(self, piece: str) -> str:
        """A text without the beginning of a secret at its end, which a cut may have left."""
        for length in range(min(self._longest - 1, len(piece)), _SHORTEST_BEGINNING - 1, -1):
            if self._begins_form(piece[len(piece) - length :]):
                return piece[: len(piece) - length] + REDACTED
        return piece

    def _begins_form(self, text: str) -> bool:
        at = bisect_right(self._sorted_forms, text)
        return self._sorted_forms[at : at + 1] != [] and self._sorted_forms[at].startswith(text)


def _blank(value: str) -> str:
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {REDACTED}" if space and scheme.isalpha() else REDACTED


def redacted(exchange: Exchange, redactor: Redactor) -> Exchange:
    """An exchange that may be written to a file: without known secrets, long bodies cut."""
    exchange = redactor.withheld(exchange)
    signs_in = is_sign_in(exchange)
    text, response, sent = redactor.text, exchange.response, exchange.request_body
    sent = sent if sent == NO_BODY else _without(sent, redactor, all_secret=signs_in)
    headers = redactor.headers(exchange.request_headers)
    if signs_in and sent.content != exchange.request_body.content:
        # The length of the body would reveal that of the password.
        headers = Headers(pair for pair in headers.pairs if pair[0].lower() != "content-length")
        if sent.decoded is not None:
            content = _bytes(redactor.sign_in(exchange, sent.decoded))
            sent = replace(sent, content=content, digest=hashlib.sha256(content).hexdigest())
    return replace(
        exchange,
        url=text(exchange.url),
        request_headers=headers,
        request_body=sent,
        response=response
        and replace(
            response,
            reason=text(response.reason),
            headers=redactor.headers(response.headers),
            body=_without(response.body, redactor, all_secret=signs_in),
            url=text(response.url),
        ),
        authorization=authorization_template(exchange.request_headers, redactor),
        notes={},
    )


def _without(body: Body, redactor: Redactor, *, all_secret: bool = False) -> Body:
    """A redacted body, cut to the length that is kept."""
    # All of it is searched before it is cut, so that no part of a secret is left at the end.
    kept = redactor.content(body.content, all_secret=all_secret)[:KEPT_BODY]
    digest = body.digest
    # The digest of a body with its password would allow guessing the password.
    if kept != body.content[:KEPT_BODY]:
        digest = hashlib.sha256(kept).hexdigest()
    elif body.whole:
        digest = hashlib.sha256(body.content).hexdigest()
    return Body(kept, body.size, body.whole and body.size <= KEPT_BODY, digest)


def authorization_template(headers: Headers, redactor: Redactor) -> str | None:
    """The Authorization header with `$TOKEN` for the role's token, `$TOKEN[:20]` for its beginning, and so on.

    It shows whether a request had the role's token or a made-up one.
    """
    value = headers.first("Authorization")
    if value is None:
        return None
    # Headers are sent in UTF-8 and kept in Latin-1.
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode("utf-8")
    scheme, space, rest = value.rpartition(" ")
    if redactor.knows(rest):
        return f"{scheme}{space}{TOKEN}"
    if redactor.begins(rest):
        return f"{scheme}{space}{TOKEN}[:{len(rest)}]"
    if redactor.knows(rest.swapcase()):
        return f"{scheme}{space}{TOKEN}{SWAPPED}"
    shown = redactor.text(value, all_secret=True)
    if REDACTED not in shown:
        return shown
    # If a known secret is the whole value, it is the token in another form.
    before = scheme + space
    return f"{before}{TOKEN}{UNKNOWN}" if shown == before + REDACTED else shown.replace(REDACTED, TOKEN)


def learn_tokens(exchange: Exchange, redactor: Redactor) -> None:
    """Learn the tokens in an answer to signing in, before anything of it is written."""
    response = exchange.response
    if exchange.operation == SIGN_IN and response is not None and response.success:
        for token in tokens_in(response.json):
            redactor.learn(token)


def tokens_in(value: Any) -> Iterator[str]:
    """Texts in the first two levels of a JSON value that may be tokens: long ones, and what is named as a token."""
    members = value.items() if isinstance(value, dict) else ()
    pairs = chain.from_iterable(
        each.items() if isinstance(each, dict) else ((name, each),) for name, each in members
    )
    texts = (
        text
        for name, text in pairs
        if isinstance(text, str) and (len(text) >= SHORTEST_TOKEN or name == _TOKEN_MEMBER)
    )
    return islice((text for text in texts if read_timestamp(text) is None), MOST_OF_A_BODY)


def is_sign_in(exchange: Exchange) -> bool:
    """Whether an exchange is a sign-in, by its method and path."""
    return exchange.url.partition("?")[0].rstrip("/").endswith(SIGN_IN_PATH) and exchange.method == "POST"


_TOKEN_MEMBER: Final = "authenticationToken"  # noqa: S105 - the name of a member
#: Members of a body and parameters of a query that hold secrets, whatever their value.
SENSITIVE_NAMES: Final = (
    "password|passwd|pwd|secret|client_?secret|(?:access|refresh|id)_?token|authenticationToken|api_?key"
)
#: The value of such a member or parameter, in small letters; in a list, too, and in JSON that is a text of JSON.
_NAMED: Final = re.compile(
    rf'\\?"(?:{SENSITIVE_NAMES.lower()})\\?"\s*:\s*(?:\[\s*)?\\?"(?P<member>(?:[^"\\]|\\.)*)'
    rf"|(?:^|[?&;])(?:{SENSITIVE_NAMES.lower()}|token)=(?P<parameter>[^&;#\s]*)".encode()
)


def credential(exchange: Exchange) -> str | None:
    """The token of a request; None for none, and for a redacted one."""
    value = (exchange.request_headers.first("Authorization") or "").strip()
    token = value.partition(" ")[2].strip()
    return token if token and REDACTED not in token else None
