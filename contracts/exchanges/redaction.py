"""Redaction: passwords and tokens are taken out of an exchange, in whatever encoding, before it is written down.

The secrets of other programs' traffic are learned from where they stand as exchanges pass.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import html
import json
import re
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus, unquote_plus, urlsplit

from ahocorasick_rs import BytesAhoCorasick, Implementation

from contracts.exchanges.exchange import NO_BODY, Body, Exchange, Headers, Response, read_timestamp
from contracts.file_formats import json_value

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
#: A percent sign under any number of layers of percent-encoding.
_PERCENTS: Final = re.compile("%(?:25)+(?=[0-9a-fA-F]{2})")
#: Where the lines of a code end, as mail writes it.
_WRAP: Final = re.compile(r"(?<=[a-z0-9+/=])\r?\n[ \t]*(?=[a-z0-9+/=])")
#: Encodings one over the other; more do not come about by accident.
_LAYERS: Final = 2
#: A shorter secret stands in the codes of other things by chance.
_SHORTEST_CODED: Final = 6
#: A longer word is looked for by its last bytes: tokens often begin alike.
_TELLING: Final = 32


class _Words:
    """Many words, looked for in a text all at once: its time does not grow with their number."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._fresh: list[str] = []
        #: Words, those with one end together, and what finds these ends in a text. Each holds over twice as many as
        #: the next, so that a word is built in a few times only, however many come one by one.
        self._built: list[tuple[list[list[str]], BytesAhoCorasick]] = []

    def __bool__(self) -> bool:
        return bool(self._words)

    def add(self, words: Iterable[str]) -> None:
        """Look for more words."""
        fresh = {word for word in words if word} - self._words
        self._words |= fresh
        self._fresh += fresh

    def standing_in(self, text: str) -> Iterator[str]:
        """Every word that stands in a text, possibly more than once."""
        self._build()
        haystack = _encoded(text)
        for words, automaton in self._built:
            ends = automaton.find_matches_as_indexes(haystack, overlapping=True)
            yield from (word for end in {match[0] for match in ends} for word in words[end] if word in text)

    def _build(self) -> None:
        while self._fresh and self._built and len(self._built[-1][0]) <= 2 * len(self._fresh):
            self._fresh += chain.from_iterable(self._built.pop()[0])
        if self._fresh:
            by_end = defaultdict(list)
            for word in self._fresh:
                by_end[_encoded(word)[-_TELLING:]].append(word)
            # The kind that is built fastest.
            automaton = BytesAhoCorasick(by_end, implementation=Implementation.NoncontiguousNFA)
            self._built.append((list(by_end.values()), automaton))
            self._fresh = []


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Disguises:
    """Looks for secrets in texts, in any encoding.

    What can be taken off (percent signs, escapes, entities) is taken off the text; codes that depend on where a secret
    stands (Base64) are made of the secret, once.
    """

    def __init__(self) -> None:
        self._plain = _Words()
        self._coded = _Words()

    def add(self, secret: str) -> None:
        """Look for one more secret."""
        raw = _encoded(secret)
        self._plain.add({secret.lower(), raw.decode("latin-1").lower()})
        if len(secret) >= _SHORTEST_CODED:
            self._plain.add({raw.hex()})
            codes = set(in_base64(raw))
            codes |= {twice for code in codes for twice in in_base64(code.encode())}
            self._coded.add({code.lower() for code in (*codes, *in_base32(raw))})

    def seen_in(self, text: str) -> bool:
        """Whether any secret stands in a text, in any letter case."""
        return bool(self._plain) and any(self._stands_in(view.lower()) for view in _views(text))

    def _stands_in(self, lowered: str) -> bool:
        if any(self._plain.standing_in(lowered)):
            return True
        signs = lowered.replace("-", "+").replace("_", "/")  # as Base64 is written where a URL may hold it
        if "\n" in signs:
            signs = _WRAP.sub("", signs)  # a code that lies within a line stands there still
        return any(self._coded.standing_in(signs))


def in_base64(raw: bytes) -> Iterator[str]:
    """The signs that stand for some bytes wherever they stand in a longer text, for each of three places."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + raw).decode("ascii").rstrip("=")
        # The first and the last signs depend on the neighbours.
        yield coded[(0, 2, 3)[before] : len(coded) - 1]


def in_base32(raw: bytes) -> Iterator[str]:
    """The same in Base32, for each of five places."""
    for before in range(5):
        coded = base64.b32encode(b"\0" * before + raw).decode("ascii")
        yield coded[-(-8 * before // 5) : 8 * (before + len(raw)) // 5]


def _views(text: str) -> Iterator[str]:
    """A text, and what it says with one and with two layers taken off."""
    yield text
    layer = [text]
    for _ in range(_LAYERS):
        layer = [view for covered in layer for view in _uncovered(covered)]
        yield from layer


def _uncovered(text: str) -> Iterator[str]:
    if "%" in text:
        text = _PERCENTS.sub("%", text)
        yield unquote_plus(text, errors="replace")
        yield unquote_plus(text, encoding="latin-1")
    if "&" in text:
        yield html.unescape(text)
    if "\\" in text:
        yield _ESCAPE.sub(_unescaped, text)
    if "\0" in text:
        yield text.replace("\0", "")


def _unescaped(escape: re.Match[str]) -> str:
    code = escape.group(1) or escape.group(2)
    return chr(int(code, 16)) if code else escape.group(3)


REDACTED = "[redacted]"
#: Stands for a text in which a secret shows under a disguise that cannot be taken out by itself.
WITHHELD = "[redacted: it held a secret in another form]"
#: Headers whose value is a credential whatever it holds.
SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
#: Ends a text that was cut to fit a sentence.
_CUT = "…"
#: A shorter beginning of a secret tells nothing.
_SHORTEST_BEGINNING = 4
#: The first half of so long a secret is one as well: cases send it to see that it opens nothing.
_HALVED_FROM = 24
_SHORTEST_ENCODED_SECRET = 6
#: A longer secret is looked for in parts of so many characters; so many of them cover more than is kept of a body.
_LONGEST: Final = 4096
_MOST_PARTS: Final = 16


class Redactor:
    """Knows the run's secrets, in the forms they take on the wire, and blanks them out of texts."""

    def __init__(self, secrets: Iterable[str] = (), passwords: Mapping[str, str] | None = None) -> None:
        """Know secrets; `passwords` are those of accounts by role, and secrets like the others."""
        self._secrets: set[str] = set()
        self._passwords = passwords or {}
        self._disguises = Disguises()
        #: Forms as they are written, by themselves in small letters.
        self._written: dict[str, set[str]] = {}
        self._forms = _Words()
        #: The forms that a cut may leave the beginning of, and the secrets themselves; sorted.
        self._sorted_forms: list[str] = []
        self._sorted: list[str] = []
        self._longest = 0
        for secret in (*secrets, *self._passwords.values()):
            self.learn(secret)

    def learn(self, secret: str) -> None:
        """Add a secret; as written, in any letter case, and as it stands in JSON, a URL, HTML, Base64 and the like."""
        if secret and secret not in self._secrets:
            self._secrets.add(secret)
            insort(self._sorted, secret)
            for part in _parts(secret):
                self._look_for(part)

    def _look_for(self, part: str) -> None:
        # The half stands in the whole, so that looking for it finds both.
        self._disguises.add(_half(part) if len(part) >= _HALVED_FROM else part)
        forms = set(_forms(part))
        for form in forms:
            insort(self._sorted_forms, form)
        forms |= set(_codes(part))
        for form in forms:
            self._written.setdefault(form.lower(), set()).add(form)
            self._longest = max(self._longest, len(form))
        self._forms.add(form.lower() for form in forms)

    def knows(self, secret: str) -> bool:
        """Whether a text is one of the run's secrets."""
        return secret in self._secrets

    def sign_in(self, exchange: Exchange, text: str) -> str:
        """The body of a request, already without secrets, which says whose password it held if not its role's."""
        if not _signs_in(exchange) or REDACTED not in text:
            return text
        sent = exchange.request_body.text.lower()
        roles = [
            role
            for role, password in self._passwords.items()
            if any(form.lower() in sent for form in _forms(password))
        ]
        return (
            text
            if not roles or exchange.role in roles
            else text.replace(REDACTED, f"{REDACTED}[of {roles[0]}]")
        )

    def withheld(self, exchange: Exchange) -> Exchange:
        """The exchange without bodies that may hold unknown secrets: none here, a run knows its own."""
        return exchange

    def stands_in(self, texts: Iterable[str]) -> bool:
        """Whether a secret stands in any of some texts, in whatever form."""
        return self._disguises.seen_in("\n".join(texts))

    def begins(self, text: str) -> bool:
        """Whether a text is the beginning of one of the run's secrets, cut short."""
        at = bisect_right(self._sorted, text)
        return (
            len(text) >= _SHORTEST_BEGINNING and at < len(self._sorted) and self._sorted[at].startswith(text)
        )

    def text(self, text: str) -> str:
        """The text with every known secret replaced, also one that the end of a quotation cuts in two."""
        if not self._secrets:
            return text
        if self._disguises.seen_in(text):
            text = self._blanked(text)
        return self._without_beginnings(text) if _CUT in text else text

    def bytes(self, content: bytes) -> bytes:
        """Bytes that are no text, with every known secret replaced."""
        return self.text(content.decode("latin-1")).encode("latin-1", "replace")

    def beginning(self, text: str, most: int) -> str:
        """At most the first `most` characters of a text; a secret astride the end leaves no half of it."""
        longest = self._longest
        if len(text) <= most + longest:
            return self.text(text)[:most]
        window = self.text(text[: most + longest])
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
        if not self._secrets and not any(name in headers for name in SECRET_HEADERS):
            return headers
        return Headers((self.text(name), self.header(name, value)) for name, value in headers.pairs)

    def header(self, name: str, value: str) -> str:
        """The value of a header without secrets."""
        if name.lower() not in SECRET_HEADERS:
            return self.text(value)
        scheme, space, _ = value.partition(" ")
        return f"{scheme} {REDACTED}" if space and scheme.isalpha() else REDACTED

    def _blanked(self, text: str) -> str:
        # Longest first, so that a secret inside another one does not leave the rest of it.
        forms = set(self._forms.standing_in(text.lower()))
        for form in sorted(forms, key=lambda form: (-len(form), form)):
            marked = partial(_marked, self._written[form])
            for written in self._written[form]:
                text = re.sub(re.escape(written), marked, text, flags=re.IGNORECASE)
        return WITHHELD if self._disguises.seen_in(text) else text

    def _without_beginnings(self, text: str) -> str:
        """A quotation may end in the middle of a secret, which is then no known one any more."""
        pieces = text.split(_CUT)
        return _CUT.join([*map(self._without_beginning, pieces[:-1]), pieces[-1]])

    def _without_beginning(self, piece: str) -> str:
        for length in range(min(self._longest - 1, len(piece)), _SHORTEST_BEGINNING - 1, -1):
            ending = piece[len(piece) - length :]
            at = bisect_right(self._sorted_forms, ending)
            if at < len(self._sorted_forms) and self._sorted_forms[at].startswith(ending):
                return piece[: len(piece) - length] + REDACTED
        return piece


def _marked(written: set[str], found: re.Match[str]) -> str:
    """What stands for a secret that was found; says so where its letter case is turned round."""
    swapped = found[0] not in written and found[0].swapcase() in written
    return f"{REDACTED}{SWAPPED}" if swapped else REDACTED


def _as_bytes(secret: str) -> str:
    """A secret as its bytes look where they are read one by one."""
    return secret.encode("utf-8", "surrogatepass").decode("latin-1")


def _parts(secret: str) -> Iterator[str]:
    """A secret, or the parts of one that is longer than any header: each form of it takes up its room."""
    number = min(-(-len(secret) // _LONGEST), _MOST_PARTS)
    size = min(-(-len(secret) // number), _LONGEST)
    yield from (secret[at : at + size] for at in range(0, number * size, size))


def _half(secret: str) -> str:
    return secret[: len(secret) // 2]


def _forms(secret: str) -> Iterator[str]:
    """A secret as it is written, and as the usual notations write it."""
    in_json = json.dumps(secret)[1:-1]
    yield from (secret, in_json, json.dumps(in_json)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    yield from (html.escape(secret), repr(secret)[1:-1], _as_bytes(secret))
    yield quote(secret, safe="", errors="replace")
    yield quote(secret, errors="replace")
    yield quote_plus(secret, errors="replace")
    if len(secret) >= _HALVED_FROM:
        yield _half(secret)


def _codes(secret: str) -> Iterator[str]:
    """A secret in codes that hide it from the eye and from nothing else."""
    if len(secret) < _SHORTEST_ENCODED_SECRET:
        return
    raw = _encoded(secret)
    yield raw.hex()
    yield "".join(f"%{byte:02x}" for byte in raw)
    yield "".join(f"\\u{ord(character):04x}" for character in secret)
    yield "\0".join(secret)
    halves = [raw] if len(secret) < _HALVED_FROM else [raw, _half(secret).encode("utf-8", "surrogatepass")]
    for code in (code for part in halves for code in in_base64(part)):
        yield from {code, code.replace("+", "-").replace("/", "_")}


#: Characters of a body that are kept; the size and the digest of the rest always are.
KEPT_BODY: Final = 16 * 1024
#: Texts of this length in the answer to signing in are taken for tokens, but for timestamps.
SHORTEST_TOKEN: Final = 12
#: Stands for a role's own token in what is written of an Authorization header.
TOKEN: Final = "$TOKEN"  # noqa: S105 - a name
#: Stand behind `$TOKEN`: its letter case is turned round; it is in a form that cannot be made again from here.
SWAPPED: Final = "[swapcase]"
UNKNOWN: Final = "[?]"
_NOTHING_SECRET: Final = Redactor()


def redacted(exchange: Exchange, redactor: Redactor) -> Exchange:
    """An exchange as it may be written down: no secrets, and of long bodies the beginning only.

    Args:
        redactor: Knows the secrets; also those of this exchange (see `learn_tokens`).
    """
    exchange = redactor.withheld(exchange)
    # One look at all of it together: most exchanges hold nothing but the credentials in their place.
    usual = redactor if redactor.stands_in(_texts(exchange)) else _NOTHING_SECRET
    response = exchange.response
    sent = NO_BODY if exchange.request_body == NO_BODY else _without(exchange.request_body, usual)
    headers = usual.headers(exchange.request_headers)
    if _signs_in(exchange) and sent.content != exchange.request_body.content:
        # Beside a body without its password the length of the body tells that of the password.
        headers = Headers((name, value) for name, value in headers.pairs if name.lower() != "content-length")
        content = usual.sign_in(exchange, sent.text).encode("utf-8", "surrogatepass")
        if sent.decoded is not None and content != sent.content:
            sent = replace(sent, content=content, digest=hashlib.sha256(content).hexdigest())
    return replace(
        exchange,
        url=usual.text(exchange.url),
        request_headers=headers,
        request_body=sent,
        response=response
        and replace(
            response,
            reason=usual.text(response.reason),
            headers=usual.headers(response.headers),
            body=_without(response.body, usual),
            url=usual.text(response.url),
        ),
        authorization=authorization_template(exchange.request_headers, redactor),
        comment=usual.text(exchange.comment),
        notes={},
    )


def authorization_template(headers: Headers, redactor: Redactor) -> str | None:
    """The Authorization header with `$TOKEN` for the role's token; `$TOKEN[:20]` for its beginning, and so on.

    Without it a request with a token looks like one with a made-up token.
    """
    value = headers.first("Authorization")
    if value is None:
        return None
    scheme, space, rest = value.rpartition(" ")
    if redactor.knows(rest):
        return f"{scheme}{space}{TOKEN}"
    if redactor.begins(rest):
        return f"{scheme}{space}{TOKEN}[:{len(rest)}]"
    if redactor.knows(rest.swapcase()):
        return f"{scheme}{space}{TOKEN}{SWAPPED}"
    shown = redactor.text(value)
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
    for member in value.values() if isinstance(value, dict) else ():
        for text in member.values() if isinstance(member, dict) else (member,):
            if isinstance(text, str) and len(text) >= SHORTEST_TOKEN and read_timestamp(text) is None:
                yield text


def _texts(exchange: Exchange) -> Iterator[str]:
    """Every text of an exchange that is kept, but for headers that are blanked whatever they hold."""
    response = exchange.response
    yield from (exchange.url, exchange.comment)
    yield from _open_headers(exchange.request_headers)
    yield _beginning(exchange.request_body.content)
    if response is not None:
        yield from (response.reason, response.url)
        yield from _open_headers(response.headers)
        yield _beginning(response.content)


def _open_headers(headers: Headers) -> Iterator[str]:
    yield from (text for pair in headers.pairs if pair[0].lower() not in SECRET_HEADERS for text in pair)


def _beginning(content: bytes) -> str:
    """More of a body than is kept, so that a secret astride the cut is seen whole."""
    window = content[: 2 * KEPT_BODY]
    return window.decode("utf-8", "replace") + ("" if window.isascii() else "\n" + window.decode("latin-1"))


def _without(body: Body, redactor: Redactor) -> Body:
    """A body without secrets, cut to what is kept."""
    text, coding = body.decoded, "utf-8"
    if text is None:
        text, coding = body.content.decode("latin-1"), "latin-1"
    kept = redactor.beginning(text, KEPT_BODY)
    content = kept.encode(coding, "surrogatepass" if coding == "utf-8" else "replace")
    digest = body.digest
    # The digest of a short body with a password in it would let the password be guessed at leisure.
    if kept != text[:KEPT_BODY]:
        digest = hashlib.sha256(content).hexdigest()
    elif body.whole:
        digest = hashlib.sha256(body.content).hexdigest()
    return Body(content, body.size, body.whole and body.size <= KEPT_BODY, digest)


#: A shorter word is no secret that could be looked for: it would be blanked out of every other text.
_SHORTEST: Final = 4
#: What a program sends that has none.
_NO_SECRETS: Final = frozenset({"null", "none", "undefined", "true", "false", "[object object]"})
#: One of these stands in each name of a secret, and of a header that is a key.
_SIGNS: Final = ("passw", "pwd", "secret", "token", "api_key", "apikey", "api-key")
#: Members of a body and parameters of a query that hold secrets, whatever their value.
_NAMES: Final = "|".join(
    ("password|passwd|pwd|secret|client_?secret", "(?:access|refresh|id)_?token|authenticationToken|api_?key")
)
_SECRET_NAME: Final = re.compile(_NAMES, re.IGNORECASE)
_MEMBER: Final = re.compile(rf'("(?:{_NAMES})"\s*:\s*")((?:[^"\\]|\\.)*)(")', re.IGNORECASE)
_PARAMETER: Final = re.compile(rf"((?:^|[?&;])(?:{_NAMES}|token)=)([^&;#\s]*)", re.IGNORECASE)
_KEY_HEADERS: Final = frozenset({"x-api-key", "x-auth-token", "x-access-token", "x-csrf-token"})


class TrafficRedactor(Redactor):
    """Takes the secrets out of traffic whose accounts need not be known.

    Args:
        secrets: Those that are known beforehand, such as the passwords of a target's accounts.
    """

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
        body = _understood(request)
        if body and (response is None or _tells_token(response)):
            return exchange
        # An answer may quote what it was asked.
        hidden = response and replace(response, body=_withheld(response.body), reason="")
        return replace(exchange, request_body=request if body else _withheld(request), response=hidden)

    def stands_in(self, texts: Iterable[str]) -> bool:
        """Whether a secret stands in any of some texts, or the name of a member, parameter or header that tells one."""
        whole = "\n".join(texts)
        return _names_a_secret(whole) or super().stands_in((whole,))

    def text(self, text: str) -> str:
        """The text without secrets, those included that stand under a name that says so."""
        if _names_a_secret(text):
            text = _PARAMETER.sub(rf"\g<1>{REDACTED}", _MEMBER.sub(rf"\g<1>{REDACTED}\g<3>", text))
        return super().text(text)

    def header(self, name: str, value: str) -> str:
        """The value of a header without secrets; that of a key is blanked."""
        return self.text(super().header(name, REDACTED if name.lower() in _KEY_HEADERS else value))


#: Stands for a body of a sign-in that is no object with an e-mail and a password, or an answer without a token.
NOT_UNDERSTOOD: Final = "[redacted: the body of a sign-in that is not understood]"
_SIGN_IN: Final = "/authentication/token"
#: Words of such a body that may be secrets, and those that are none.
_WORD: Final = re.compile(r"[^\s\"'`{}\[\](),:;=&<>\\]{8,}")
_NO_SECRET_WORD: Final = re.compile(
    rf"(?:{_NAMES}|token|e-?mail|user(?:name)?|[^@]+@[^@]+|undefined|\[object)/?", re.I
)
_MOST_WORDS: Final = 50


def _signs_in(exchange: Exchange) -> bool:
    return exchange.url.partition("?")[0].rstrip("/").endswith(_SIGN_IN) and exchange.method == "POST"


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
    if not 200 <= response.status < 300 or not _WORD.search(body.text):
        return True
    return body.whole and next(tokens_in(body.json), None) is not None


def _withheld(body: Body) -> Body:
    return Body(NOT_UNDERSTOOD.encode(), body.size, whole=False) if body.content else body


def _words_of_sign_in(exchange: Exchange) -> Iterator[str]:
    """What may be secret in a sign-in that is not understood, so that it can be found where it is quoted."""
    response = exchange.response
    hidden = [] if _understood(exchange.request_body) else [exchange.request_body]
    if response is not None and not _tells_token(response):
        hidden.append(response.body)
    for body in hidden:
        for word in islice(_WORD.finditer(body.text[:KEPT_BODY]), _MOST_WORDS):
            if not _NO_SECRET_WORD.fullmatch(word[0]):
                yield word[0]


def _names_a_secret(text: str) -> bool:
    lowered = text.lower()
    return any(sign in lowered for sign in _SIGNS)


def credential(exchange: Exchange) -> str | None:
    """The token of a request; None for none, and for one that was blanked out of a recording."""
    value = (exchange.request_headers.first("Authorization") or "").strip()
    token = value.partition(" ")[2].strip()
    return token if token and REDACTED not in token else None


def _secrets(exchange: Exchange) -> Iterator[str]:
    response = exchange.response
    if _signs_in(exchange):
        yield from _words_of_sign_in(exchange)
    for name, value in (*exchange.request_headers.pairs, *(response.headers.pairs if response else ())):
        if name.lower() in SECRET_HEADERS:
            yield from _of_header(name.lower(), value)
        elif name.lower() in _KEY_HEADERS:
            yield value
    for name, value in parse_qsl(urlsplit(exchange.url).query):
        if _SECRET_NAME.fullmatch(name) or name.lower() == "token":
            yield value
    yield from _members(_json(exchange.request_body))
    if response is not None:
        yield from _members(_json(response.body))
        if exchange.url.partition("?")[0].endswith("/authentication/token") and 200 <= response.status < 300:
            yield from tokens_in(response.json)


def _of_header(name: str, value: str) -> Iterator[str]:
    if name in ("cookie", "set-cookie"):
        pieces = value.split(";") if name == "cookie" else value.split(";")[:1]
        for piece in pieces:
            secret = piece.partition("=")[2].strip()
            if len(secret) >= SHORTEST_TOKEN:
                yield secret
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


def _json(body: Body) -> Any:
    """A body as JSON, read more leniently than it is judged: what is nearly JSON holds secrets as well."""
    if not body.whole or body.content.lstrip()[:1] not in (b"{", b"["):
        return None
    if not _names_a_secret(body.text) and "\\u" not in body.text:
        return None
    if body.json is not None:
        return body.json
    try:
        return json_value(body.content)
    except (ValueError, RecursionError):
        return None


def _members(value: Any, depth: int = 4) -> Iterator[str]:
    """Values of members whose name says that they are secret."""
    if isinstance(value, Mapping) and depth:
        for name, member in value.items():
            if isinstance(member, str) and _SECRET_NAME.fullmatch(name):
                yield member
            else:
                yield from _members(member, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value[:100]:
            yield from _members(item, depth - 1)
