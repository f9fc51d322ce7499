"""Redaction: removes passwords and tokens from an exchange before it is written to a file.

Places of secrets (a header for credentials, a member named password) are always redacted. Everywhere else the known
secrets are searched, in the forms of `_forms`. A secret that is an ordinary word, such as `draft`, is searched in the
places of secrets only, since addresses hold it anyway. `TrafficRedactor` learns the secrets of other programs' traffic
from these places.
"""

from __future__ import annotations

import base64
import binascii
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
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from ahocorasick_rs import BytesAhoCorasick, Implementation

from registry_contracts.exchanges.exchange import NO_BODY, Body, Exchange, Headers, Response, read_timestamp
from registry_contracts.interface.description import load_description

REDACTED = "[redacted]"
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
_MOST_OF_A_BODY: Final = 10_000
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
_SHORTEST: Final = 4
_SHORTEST_NUMBER: Final = 8
#: Longer than any word of the interface.
_LONGEST_WORD: Final = 64


def is_ordinary(secret: str) -> bool:
    """Whether a secret is an ordinary word: part of the interface's description, or very short."""
    number = secret.isdigit() and len(secret) < _SHORTEST_NUMBER
    return number or len(secret) < _SHORTEST or (len(secret) <= _LONGEST_WORD and secret.lower() in _words())


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


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _forms(secret: str) -> Iterator[str]:
    """A secret as such, and as JSON (also JSON inside JSON), URLs and Python write it; see `_in_base64` for Base64."""
    in_json = json.dumps(secret)[1:-1]
    yield from (secret, in_json, json.dumps(in_json)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
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
        self._words: set[bytes] = set()
        self._fresh: list[bytes] = []
        #: Words with their automatons. Each has over twice as many words as the next, so that each word is rebuilt a
        #: few times only, even if words are added one by one.
        self._built: list[tuple[list[bytes], BytesAhoCorasick]] = []

    def __bool__(self) -> bool:
        return bool(self._words)

    def add(self, words: Iterable[bytes]) -> None:
        """Add words, in lower case."""
        fresh = {word for word in words if word} - self._words
        self._words |= fresh
        self._fresh += fresh

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
        if not _signs_in(exchange) or REDACTED not in text:
            return text
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

    def stands_in(self, content: bytes) -> bool:
        """Whether a text contains a secret."""
        return bool(self._places(content.lower()))

    def _places(self, lowered: bytes, *, all_secret: bool = False) -> list[tuple[int, int]]:
        """Where secrets are in a text in lower case; ordinary words count in the places of secrets only."""
        places = self._words.places(lowered) if self._secrets else []
        if not self._ordinary:
            return places
        named = [each.span(each.lastgroup or 0) for each in _NAMED.finditer(lowered)]
        for start, end in [(0, len(lowered))] if all_secret else named:
            places += [(start + at, start + to) for at, to in self._ordinary.places(lowered[start:end])]
        return _joined(places)

    def text(self, text: str, *, all_secret: bool = False) -> str:
        """The text with every known secret replaced, including one that `…` cuts short."""
        if not self._secrets:
            return text
        raw = _bytes(text)
        blanked = self.content(raw, all_secret=all_secret)
        text = text if blanked is raw else _text(blanked)
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

    def body(self, content: bytes, most: int, *, all_secret: bool = False) -> bytes:
        """The first `most` bytes of a body, redacted, or somewhat less so that no secret is cut in two."""
        longest = self._longest
        if len(content) <= most + longest:
            return self.content(content, all_secret=all_secret)[:most]
        window = self.content(content[: most + longest], all_secret=all_secret)
        # Drop the end of the window, which may hold a part of a secret.
        return window[: max(0, len(window) - longest)][:most]

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
    # Search everything at once: most exchanges have secrets in credential headers only.
    signs_in = _signs_in(exchange)
    redactor_of_texts = redactor if signs_in or redactor.stands_in(_all_of(exchange)) else _NOTHING_SECRET
    text, response, sent = redactor_of_texts.text, exchange.response, exchange.request_body
    sent = sent if sent == NO_BODY else _without(sent, redactor_of_texts, all_secret=signs_in)
    headers = redactor_of_texts.headers(exchange.request_headers)
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
            headers=redactor_of_texts.headers(response.headers),
            body=_without(response.body, redactor_of_texts, all_secret=signs_in),
            url=text(response.url),
        ),
        authorization=authorization_template(exchange.request_headers, redactor),
        notes={},
    )


_NOTHING_SECRET: Final = Redactor()


def _all_of(exchange: Exchange) -> bytes:
    """All texts of an exchange that are kept, except headers that are always redacted."""
    response = exchange.response
    texts, bodies = [exchange.url], [exchange.request_body]
    pairs = exchange.request_headers.pairs
    if response is not None:
        texts += [response.reason, response.url]
        bodies.append(response.body)
        pairs += response.headers.pairs
    texts += [f"{name}: {value}" for name, value in pairs if name.lower() not in SECRET_HEADERS]
    # More of a body than is kept, so that a secret across the cut is found.
    return b"\n".join([_bytes("\n".join(texts)), *(body.content[: 2 * KEPT_BODY] for body in bodies)])


def _without(body: Body, redactor: Redactor, *, all_secret: bool = False) -> Body:
    """A redacted body, cut to the length that is kept."""
    kept = redactor.body(body.content, KEPT_BODY, all_secret=all_secret)
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
    if exchange.operation == "createToken" and response is not None and response.success:
        for token in tokens_in(response.json):
            redactor.learn(token)


def tokens_in(value: Any) -> Iterator[str]:
    """Texts in the first two levels of a JSON value that may be tokens, whatever their names."""
    members = value.values() if isinstance(value, dict) else ()
    texts = chain.from_iterable(each.values() if isinstance(each, dict) else (each,) for each in members)
    long = (text for text in texts if isinstance(text, str) and len(text) >= SHORTEST_TOKEN)
    return islice((text for text in long if read_timestamp(text) is None), _MOST_OF_A_BODY)


def _signs_in(exchange: Exchange) -> bool:
    return exchange.url.partition("?")[0].rstrip("/").endswith(_SIGN_IN) and exchange.method == "POST"


_SIGN_IN: Final = "/authentication/token"
#: Values that programs send instead of a missing secret.
_NO_SECRETS: Final = frozenset({"null", "none", "undefined", "true", "false", "[object object]"})
#: The name of each secret, and of each header with a key, contains one of these.
_SIGNS: Final = ("passw", "pwd", "secret", "token", "api_key", "apikey", "api-key")
#: Names of members and query parameters that always hold secrets.
_NAMES: Final = (
    "password|passwd|pwd|secret|client_?secret|(?:access|refresh|id)_?token|authenticationToken|api_?key"
)
_SECRET_NAME: Final = re.compile(_NAMES, re.IGNORECASE)
_MEMBER: Final = re.compile(rf'("(?:{_NAMES})"\s*:\s*")((?:[^"\\]|\\.)*)(")', re.IGNORECASE)
#: An escaped letter, or any other escape: text after an escaped backslash is no escape.
_ESCAPE: Final = re.compile(r"\\(?:u00(4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])|.)", re.IGNORECASE)
_PARAMETER: Final = re.compile(rf"((?:^|[?&;])(?:{_NAMES}|token)=)([^&;#\s]*)", re.IGNORECASE)
#: The value of a secret member or parameter, in lower case; also in a list, and in JSON inside JSON.
_NAMED: Final = re.compile(
    rf'\\?"(?:{_NAMES.lower()})\\?"\s*:\s*(?:\[\s*)?\\?"(?P<member>(?:[^"\\]|\\.)*)'
    rf"|(?:^|[?&;])(?:{_NAMES.lower()}|token)=(?P<parameter>[^&;#\s]*)".encode()
)
_KEY_HEADERS: Final = frozenset({"x-api-key", "x-auth-token", "x-access-token", "x-csrf-token"})


class TrafficRedactor(Redactor):
    """Redacts traffic of unknown accounts: learns secrets from where they appear."""

    def learn_from(self, exchange: Exchange) -> None:
        """Learn the secrets of an exchange, before anything of it is kept or quoted."""
        for secret in _secrets(exchange):
            if len(secret) >= _SHORTEST and REDACTED not in secret and secret.lower() not in _NO_SECRETS:
                self.learn(secret)

    def withheld(self, exchange: Exchange) -> Exchange:
        """The exchange without bodies of an unusual sign-in, in which anything may be secret."""
        if not _signs_in(exchange):
            return exchange
        request, response = exchange.request_body, exchange.response
        understood = _understood(request)
        if understood and (response is None or _has_known_token(response)):
            return exchange
        # An answer may quote its request.
        hidden = response and replace(response, body=_withheld(response.body), reason="")
        return replace(exchange, request_body=request if understood else _withheld(request), response=hidden)

    def stands_in(self, content: bytes) -> bool:
        """Whether a text contains a secret, or the name of a secret member, parameter or header."""
        return _names_a_secret(content.decode("latin-1")) or super().stands_in(content)

    def content(self, content: bytes, *, all_secret: bool = False) -> bytes:
        """Bytes without known secrets, and without values of secret members and parameters."""
        if _names_a_secret(text := content.decode("latin-1")):
            text = _PARAMETER.sub(rf"\g<1>{REDACTED}", _MEMBER.sub(rf"\g<1>{REDACTED}\g<3>", text))
            content = text.encode("latin-1")
        return super().content(content, all_secret=all_secret)

    def text(self, text: str, *, all_secret: bool = False) -> str:
        """`content` for a text."""
        blanked = super().text(text, all_secret=all_secret)
        return blanked if self._secrets else _text(self.content(_bytes(text)))

    def header(self, name: str, value: str) -> str:
        """The redacted value of a header; keys are always redacted."""
        return REDACTED if name.lower() in _KEY_HEADERS else super().header(name, value)


#: Replaces the body of a sign-in that is not an object with e-mail and password, or of an answer without token.
NOT_UNDERSTOOD: Final = "[redacted: the body of a sign-in that is not understood]"


def _understood(body: Body) -> bool:
    """Whether a sign-in's body is a plain object with its secrets in the usual members."""
    if body == NO_BODY or (not body.content and not body.whole):
        return True
    sent = body.json if body.whole and body.flaw is None else None
    return isinstance(sent, dict) and all(
        isinstance(value, str)
        if name == "email" or _SECRET_NAME.fullmatch(name)
        else value in (True, False, None)
        for name, value in sent.items()
    )


def _has_known_token(response: Response) -> bool:
    """Whether the token of an answer to signing in is in a usual place; True for a refusal, which has none."""
    body = response.body
    if not 200 <= response.status < 300 or len(body.text.strip()) < SHORTEST_TOKEN:
        return True
    return body.whole and next(tokens_in(body.json), None) is not None


def _withheld(body: Body) -> Body:
    return Body(NOT_UNDERSTOOD.encode(), body.size, whole=False) if body.content else body


def _names_a_secret(text: str) -> bool:
    lowered = text.lower()
    return any(sign in lowered for sign in _SIGNS)


def credential(exchange: Exchange) -> str | None:
    """The token of a request; None for none, and for a redacted one."""
    value = (exchange.request_headers.first("Authorization") or "").strip()
    token = value.partition(" ")[2].strip()
    return token if token and REDACTED not in token else None


def _secrets(exchange: Exchange) -> Iterator[str]:
    request, response = exchange.request_body, exchange.response
    if _signs_in(exchange) and response is not None and 200 <= response.status < 300:
        yield from tokens_in(response.json)
    for name, value in (*exchange.request_headers.pairs, *(response.headers.pairs if response else ())):
        if name.lower() in SECRET_HEADERS:
            yield from _of_header(name.lower(), value)
        elif name.lower() in _KEY_HEADERS:
            yield value
    for name, value in parse_qsl(urlsplit(exchange.url).query):
        if _SECRET_NAME.fullmatch(name) or name.lower() == "token":
            yield value
    for body in (request, *([response.body] if response else [])):
        if body.content.lstrip()[:1] in (b"{", b"["):
            long = (value for value in _members(body.text) if len(value) >= _SHORTEST)
            yield from islice(dict.fromkeys(long), _MOST_OF_A_BODY)


def _of_header(name: str, value: str) -> Iterator[str]:
    if name in ("cookie", "set-cookie"):
        pieces = value.split(";") if name == "cookie" else value.split(";")[:1]
        values = (piece.partition("=")[2].strip() for piece in pieces)
        yield from (secret for secret in values if len(secret) >= SHORTEST_TOKEN)
        return
    scheme, space, secret = value.strip().partition(" ")
    token = secret.strip() if space else scheme
    if len(token) >= SHORTEST_TOKEN:
        yield token
    if scheme.lower() == "basic":
        try:
            yield base64.b64decode(secret, validate=True).decode("utf-8").partition(":")[2]
        except (binascii.Error, ValueError):
            return


def _members(text: str) -> Iterator[str]:
    """Values of secret members in a text that is JSON or similar."""
    # Unescape letters only: unescaped quotes or backslashes would end a text too early.
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[0], text)
    for found in _MEMBER.finditer(plain) if _names_a_secret(plain) else ():
        try:
            yield json.loads(f'"{found[2]}"', strict=False)
        except ValueError:
            yield found[2]
