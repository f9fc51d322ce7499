"""Redaction: passwords and tokens are taken out of an exchange before it is written down.

What stands in the place of a secret (a header for credentials, a member named password) is blanked whatever it holds;
everywhere else the known secrets are looked for, in the forms that `_forms` lists. One that is an ordinary word, such
as `draft`, is looked for in the places of secrets alone: elsewhere it is no secret, and addresses hold it. The secrets
of other programs' traffic are learned from where they stand as exchanges pass (`TrafficRedactor`).
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
#: Headers whose value is a credential whatever it holds.
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
#: Stands for a role's own token in what is written of an Authorization header.
TOKEN: Final = "$TOKEN"  # noqa: S105 - a name
#: Stand behind it: its letter case is turned round; it is in a form that cannot be made again from here.
SWAPPED: Final = "[swapcase]"
UNKNOWN: Final = "[?]"
#: Characters of a body that are kept; the size and the digest of the rest always are.
KEPT_BODY: Final = 16 * 1024
#: Texts of this length in the answer to signing in are taken for tokens, but for timestamps.
SHORTEST_TOKEN: Final = 12
#: So many different secrets of a body are learned; each costs a little for all that comes later.
_MOST_OF_A_BODY: Final = 10_000
#: Ends a text that was cut to fit a sentence; a shorter beginning of a secret in front of it tells nothing.
_CUT = "…"
_SHORTEST_BEGINNING = 4
#: A shorter secret stands in the codes of other things by chance.
_SHORTEST_CODED: Final = 6
#: The first half of so long a secret is one as well: cases send it to see that it opens nothing.
_HALVED_FROM = 24
#: A longer secret is looked for in parts of so many characters; what lies behind so many tells nothing any more.
_LONGEST: Final = 4096
_MOST: Final = 4 * KEPT_BODY


#: A shorter secret, and so short a number, stands in any text by chance.
_SHORTEST: Final = 4
_SHORTEST_NUMBER: Final = 8
#: No word of the interface is longer.
_LONGEST_WORD: Final = 64


def is_ordinary(secret: str) -> bool:
    """Whether a secret is an ordinary word: one that the interface writes itself, or one that is very short."""
    number = secret.isdigit() and len(secret) < _SHORTEST_NUMBER
    return number or len(secret) < _SHORTEST or (len(secret) <= _LONGEST_WORD and secret.lower() in _words())


@cache
def _words() -> str:
    """All that the description of the interface says, but for its examples, in small letters."""
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
    """A secret as it is written, and as JSON (also JSON within JSON), URLs and Python write it; Base64 stands apart."""
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
    """The signs that stand for some bytes wherever they stand in a longer text, in both alphabets."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode("ascii").rstrip("=")
        # The first and the last signs depend on the neighbours.
        signs = coded[(0, 2, 3)[before] : len(coded) - 1]
        yield from (signs, signs.replace("+", "-").replace("/", "_"))


class _Words:
    """Many words, looked for in a text all at once: its time does not grow with their number."""

    def __init__(self) -> None:
        self._words: set[bytes] = set()
        self._fresh: list[bytes] = []
        #: Words and what finds them. Each holds over twice as many as the next, so that a word is built in a few times
        #: only, however many come one by one.
        self._built: list[tuple[list[bytes], BytesAhoCorasick]] = []

    def __bool__(self) -> bool:
        return bool(self._words)

    def add(self, words: Iterable[bytes]) -> None:
        """Look for more words, in small letters."""
        fresh = {word for word in words if word} - self._words
        self._words |= fresh
        self._fresh += fresh

    def places(self, lowered: bytes) -> list[tuple[int, int]]:
        """Where words stand in a text in small letters; places that overlap are one."""
        while self._fresh and self._built and len(self._built[-1][0]) <= 2 * len(self._fresh):
            self._fresh += self._built.pop()[0]
        if self._fresh:
            # The kind that is built fastest.
            automaton = BytesAhoCorasick(self._fresh, implementation=Implementation.NoncontiguousNFA)
            self._built.append((self._fresh, automaton))
            self._fresh = []
        found = (each.find_matches_as_indexes(lowered, overlapping=True) for _, each in self._built)
        return _joined((start, end) for _, start, end in chain.from_iterable(found))


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in their order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


class Redactor:
    """Knows the run's secrets, in the forms they take on the wire, and blanks them out of texts."""

    def __init__(self, secrets: Iterable[str] = (), passwords: Mapping[str, str] | None = None) -> None:
        """Know secrets; `passwords` are those of accounts by role, and secrets like the others."""
        self._secrets: set[str] = set()
        self._passwords = passwords or {}
        self._words = _Words()
        #: Those that are ordinary words.
        self._ordinary = _Words()
        #: Forms as they are written, and with their letter case turned round.
        self._written: set[bytes] = set()
        #: The forms of which a cut may leave the beginning, sorted.
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
        """Whether a text is the beginning of one of the run's secrets, cut short."""
        # Of a long secret the forms are of parts.
        return len(text) >= _SHORTEST_BEGINNING and (
            self._begins_form(text) or any(secret.startswith(text) for secret in self._secrets)
        )

    def sign_in(self, exchange: Exchange, text: str) -> str:
        """The body of a request, already without secrets, which says whose password it held if not its role's."""
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
        """The exchange without bodies that may hold unknown secrets: none here, a run knows its own."""
        return exchange

    def stands_in(self, content: bytes) -> bool:
        """Whether a secret stands in some text."""
        return bool(self._places(content.lower()))

    def _places(self, lowered: bytes, *, all_secret: bool = False) -> list[tuple[int, int]]:
        """Where secrets stand in a text in small letters; ordinary words only in the places of secrets."""
        places = self._words.places(lowered) if self._secrets else []
        if not self._ordinary:
            return places
        named = [each.span(each.lastgroup or 0) for each in _NAMED.finditer(lowered)]
        for start, end in [(0, len(lowered))] if all_secret else named:
            places += [(start + at, start + to) for at, to in self._ordinary.places(lowered[start:end])]
        return _joined(places)

    def text(self, text: str, *, all_secret: bool = False) -> str:
        """The text with every known secret replaced, also one that the end of a quotation cuts in two."""
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
        """Bytes with every known secret replaced, in whatever letter case it stands there.

        Args:
            all_secret: The whole is the place of a secret, where also one that is an ordinary word is replaced.
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
        """The first `most` bytes of a body, or somewhat less; a secret astride the end leaves no half of it."""
        longest = self._longest
        if len(content) <= most + longest:
            return self.content(content, all_secret=all_secret)[:most]
        window = self.content(content[: most + longest], all_secret=all_secret)
        # What the window's own end may have cut in two goes, however much shorter the rest has become.
        return window[: max(0, len(window) - longest)][:most]

    def value(self, value: Any) -> Any:
        """A JSON value with every known secret replaced, in member names too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(member) for name, member in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        return value

    def headers(self, headers: Headers) -> Headers:
        """Headers with credentials blanked; the scheme of an Authorization value stays readable."""
        return Headers((self.text(name), self.header(name, value)) for name, value in headers.pairs)

    def header(self, name: str, value: str) -> str:
        """The value of a header without secrets."""
        return _blank(value) if name.lower() in SECRET_HEADERS else self.text(value)

    def _without_beginning(self, piece: str) -> str:
        """A quotation may end in the middle of a secret, which is then no known one any more."""
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
    """An exchange as it may be written down: no known secret, and of long bodies the beginning only."""
    exchange = redactor.withheld(exchange)
    # One look at all of it together: most exchanges hold nothing but the credentials in their place.
    signs_in = _signs_in(exchange)
    redactor_of_texts = redactor if signs_in or redactor.stands_in(_all_of(exchange)) else _NOTHING_SECRET
    text, response, sent = redactor_of_texts.text, exchange.response, exchange.request_body
    sent = sent if sent == NO_BODY else _without(sent, redactor_of_texts, all_secret=signs_in)
    headers = redactor_of_texts.headers(exchange.request_headers)
    if signs_in and sent.content != exchange.request_body.content:
        # Beside a body without its password the length of the body tells that of the password.
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
    """All of an exchange that is kept, but for headers that are blanked whatever they hold."""
    response = exchange.response
    texts, bodies = [exchange.url], [exchange.request_body]
    pairs = exchange.request_headers.pairs
    if response is not None:
        texts += [response.reason, response.url]
        bodies.append(response.body)
        pairs += response.headers.pairs
    texts += [f"{name}: {value}" for name, value in pairs if name.lower() not in SECRET_HEADERS]
    # More of a body than is kept, so that a secret astride the cut is seen whole.
    return b"\n".join([_bytes("\n".join(texts)), *(body.content[: 2 * KEPT_BODY] for body in bodies)])


def _without(body: Body, redactor: Redactor, *, all_secret: bool = False) -> Body:
    """A body without secrets, cut to what is kept."""
    kept = redactor.body(body.content, KEPT_BODY, all_secret=all_secret)
    digest = body.digest
    # The digest of a short body with a password in it would let the password be guessed at leisure.
    if kept != body.content[:KEPT_BODY]:
        digest = hashlib.sha256(kept).hexdigest()
    elif body.whole:
        digest = hashlib.sha256(body.content).hexdigest()
    return Body(kept, body.size, body.whole and body.size <= KEPT_BODY, digest)


def authorization_template(headers: Headers, redactor: Redactor) -> str | None:
    """The Authorization header with `$TOKEN` for the role's token; `$TOKEN[:20]` for its beginning, and so on.

    Without it a request with a token looks like one with a made-up token.
    """
    value = headers.first("Authorization")
    if value is None:
        return None
    # Headers go out in UTF-8 and are kept in Latin-1; a token that is not known whole costs a search of all of it.
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
    # A header whose secret was all it held is a token in another form.
    before = scheme + space
    return f"{before}{TOKEN}{UNKNOWN}" if shown == before + REDACTED else shown.replace(REDACTED, TOKEN)


def learn_tokens(exchange: Exchange, redactor: Redactor) -> None:
    """Learn the tokens that an answer to signing in holds: each is a secret from its first appearance on."""
    response = exchange.response
    if exchange.operation == "createToken" and response is not None and response.success:
        for token in tokens_in(response.json):
            redactor.learn(token)


def tokens_in(value: Any) -> Iterator[str]:
    """Texts at the first two levels of a JSON value that may be tokens, under whatever name they come."""
    members = value.values() if isinstance(value, dict) else ()
    texts = chain.from_iterable(each.values() if isinstance(each, dict) else (each,) for each in members)
    long = (text for text in texts if isinstance(text, str) and len(text) >= SHORTEST_TOKEN)
    return islice((text for text in long if read_timestamp(text) is None), _MOST_OF_A_BODY)


def _signs_in(exchange: Exchange) -> bool:
    return exchange.url.partition("?")[0].rstrip("/").endswith(_SIGN_IN) and exchange.method == "POST"


_SIGN_IN: Final = "/authentication/token"
#: What a program sends that has none.
_NO_SECRETS: Final = frozenset({"null", "none", "undefined", "true", "false", "[object object]"})
#: One of these stands in each name of a secret, and of a header that is a key.
_SIGNS: Final = ("passw", "pwd", "secret", "token", "api_key", "apikey", "api-key")
#: Members of a body and parameters of a query that hold secrets, whatever their value.
_NAMES: Final = (
    "password|passwd|pwd|secret|client_?secret|(?:access|refresh|id)_?token|authenticationToken|api_?key"
)
_SECRET_NAME: Final = re.compile(_NAMES, re.IGNORECASE)
_MEMBER: Final = re.compile(rf'("(?:{_NAMES})"\s*:\s*")((?:[^"\\]|\\.)*)(")', re.IGNORECASE)
#: A letter that is escaped, or another escape: what follows an escaped backslash is no escape.
_ESCAPE: Final = re.compile(r"\\(?:u00(4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])|.)", re.IGNORECASE)
_PARAMETER: Final = re.compile(rf"((?:^|[?&;])(?:{_NAMES}|token)=)([^&;#\s]*)", re.IGNORECASE)
#: The value of such a member or parameter, in small letters; in a list, too, and in JSON that is a text of JSON.
_NAMED: Final = re.compile(
    rf'\\?"(?:{_NAMES.lower()})\\?"\s*:\s*(?:\[\s*)?\\?"(?P<member>(?:[^"\\]|\\.)*)'
    rf"|(?:^|[?&;])(?:{_NAMES.lower()}|token)=(?P<parameter>[^&;#\s]*)".encode()
)
_KEY_HEADERS: Final = frozenset({"x-api-key", "x-auth-token", "x-access-token", "x-csrf-token"})


class TrafficRedactor(Redactor):
    """Takes the secrets out of traffic whose accounts need not be known."""

    def learn_from(self, exchange: Exchange) -> None:
        """Learn the secrets that an exchange holds, before anything of it is kept or quoted."""
        for secret in _secrets(exchange):
            if len(secret) >= _SHORTEST and REDACTED not in secret and secret.lower() not in _NO_SECRETS:
                self.learn(secret)

    def withheld(self, exchange: Exchange) -> Exchange:
        """The exchange without the bodies of a sign-in that is not understood: all that stands there may be secret."""
        if not _signs_in(exchange):
            return exchange
        request, response = exchange.request_body, exchange.response
        understood = _understood(request)
        if understood and (response is None or _tells_token(response)):
            return exchange
        # An answer may quote what it was asked.
        hidden = response and replace(response, body=_withheld(response.body), reason="")
        return replace(exchange, request_body=request if understood else _withheld(request), response=hidden)

    def stands_in(self, content: bytes) -> bool:
        """Whether a secret stands in some text, or the name of a member, parameter or header that tells one."""
        return _names_a_secret(content.decode("latin-1")) or super().stands_in(content)

    def content(self, content: bytes, *, all_secret: bool = False) -> bytes:
        """Bytes without secrets, those included that stand under a name that says so."""
        if _names_a_secret(text := content.decode("latin-1")):
            text = _PARAMETER.sub(rf"\g<1>{REDACTED}", _MEMBER.sub(rf"\g<1>{REDACTED}\g<3>", text))
            content = text.encode("latin-1")
        return super().content(content, all_secret=all_secret)

    def text(self, text: str, *, all_secret: bool = False) -> str:
        """The same for a text."""
        blanked = super().text(text, all_secret=all_secret)
        return blanked if self._secrets else _text(self.content(_bytes(text)))

    def header(self, name: str, value: str) -> str:
        """The value of a header without secrets; that of a key is blanked."""
        return REDACTED if name.lower() in _KEY_HEADERS else super().header(name, value)


#: Stands for a body of a sign-in that is no object with an e-mail and a password, or an answer without a token.
NOT_UNDERSTOOD: Final = "[redacted: the body of a sign-in that is not understood]"


def _understood(body: Body) -> bool:
    """Whether a sign-in's body is a plain object whose secrets stand where they are looked for."""
    if body == NO_BODY or (not body.content and not body.whole):
        return True
    sent = body.json if body.whole and body.flaw is None else None
    return isinstance(sent, dict) and all(
        isinstance(value, str)
        if name == "email" or _SECRET_NAME.fullmatch(name)
        else value in (True, False, None)
        for name, value in sent.items()
    )


def _tells_token(response: Response) -> bool:
    """Whether the secrets of an answer to signing in stand where they are looked for; a refusal has none."""
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
    """The token of a request; None for none, and for one that was blanked out of a recording."""
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
    """Values of members whose name says that they are secret, in what is JSON or nearly so."""
    # A letter may stand there as its escape; a quote or a backslash that does would end a text too early.
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[0], text)
    for found in _MEMBER.finditer(plain) if _names_a_secret(plain) else ():
        try:
            yield json.loads(f'"{found[2]}"', strict=False)
        except ValueError:
            yield found[2]
