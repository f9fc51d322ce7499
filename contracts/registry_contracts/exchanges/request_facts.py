"""Facts of a request, from the exchange alone: its operation, parts, credentials and faults.

Faults have names in the catalogue's notation, for example `body.firstName:missing`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import jsonschema_rs

from registry_contracts.exchanges.exchange import Exchange, Headers
from registry_contracts.exchanges.redaction import REDACTED, SIGN_IN_PATH
from registry_contracts.file_formats import json_value, nests_deeper
from registry_contracts.interface.catalogue import Clause, load_catalogue
from registry_contracts.interface.description import Operation, load_description
from registry_contracts.interface.operations import (
    UID_LONGEST,
    UID_SHORTEST,
    follow,
    is_valid_uid,
    parameters_of,
)
from registry_contracts.safe_text import cut, listed
from registry_contracts.settings.target import REALMS

_Validator = jsonschema_rs.Draft202012Validator
#: Keyword of a violated schema → the catalogue's word.
_KINDS: Final = {
    "type": "wrong-kind",
    "minLength": "too-short",
    "maxLength": "too-long",
    "pattern": "pattern",
    "propertyNames": "pattern",
    "enum": "unknown-value",
}
#: Options that must be numbers, although the document lists them as strings.
_NUMBERS: Final = frozenset({"$top", "$skip", "top", "skip"})
_JSON: Final = "application/json"
#: Longest part of a validator's message that is shown, in characters.
_SHOWN: Final = 200
#: Longest part of a name in the path that is shown.
_NAME_SHOWN: Final = 140
_HALVES: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class RequestFault:
    """One fault of a request: its `key` in the catalogue's notation (items by number), and a text for people.

    `firm`: the document clearly forbids it. A number instead of a text, or null or an empty value instead of a member,
    is not firm: many services accept these, and the document is silent.
    """

    key: str
    says: str
    firm: bool = True

    @property
    def field(self) -> str:
        """The name of the faulty part: `firstName` of `body.firstName:missing`."""
        return self.key.partition(":")[0].rpartition(".")[2]

    @property
    def kind(self) -> str:
        """The catalogue's word for what is wrong."""
        return self.key.rpartition(":")[2]

    @property
    def in_content(self) -> bool:
        """Whether the fault is in a JSON body, and not in another part of the request."""
        return self.key.startswith("body.")


def _in_path(operation: Operation, name: str, value: str) -> Iterator[RequestFault]:
    key, shown = f"path.{name}", f"{name} is {cut(value, _NAME_SHOWN)!r}"
    if name == "uid" or (name == "identifier" and not is_valid_uid(value)):
        if not is_valid_uid(value):
            size = len(value)
            kind = "too-short" if size < UID_SHORTEST else "too-long" if size > UID_LONGEST else "pattern"
            rule = f"{UID_SHORTEST} to {UID_LONGEST} letters, digits, hyphens and underscores"
            about = f"it holds {_foreign(value)}" if kind == "pattern" else f"{size} characters"
            yield RequestFault(f"{key}:{kind}", f"{shown} ({about}); the rule is {rule}")
        return
    if validator := _validators(operation.id).get(("path", name)):
        yield from _of_text(validator, key, shown, value)


def _foreign(uid: str) -> str:
    """The characters of a uid that the rule forbids, each once, at most a few."""
    refused = [character for character in dict.fromkeys(uid) if not is_valid_uid(character * UID_SHORTEST)]
    return listed(map(repr, refused))


def _in_query(operation: Operation, query: Sequence[tuple[str, str]]) -> Iterator[RequestFault]:
    given = dict(query)
    for name in operation.query_parameters:
        value = given.get(name)
        if value is None:
            continue
        if name in _NUMBERS and not (value.isascii() and value.isdigit()):
            yield RequestFault(f"query.{name}:malformed", f"{name} is {value!r}, which is not a number")
            continue
        if validator := _validators(operation.id).get(("query", name)):
            yield from _of_text(validator, f"query.{name}", f"{name} is {value!r}", value)
    listed = {name.lower(): name for name in operation.query_parameters}
    for name in given:
        usual = listed.get(name.lower())
        if usual is None:
            yield RequestFault("query:unknown-property", f"the query names {name!r}, which is not listed")
        elif usual != name:
            why = f"the query names {name!r}; the document writes {usual!r}"
            yield RequestFault(f"query.{usual}:letter-case", why, firm=False)


def _in_headers(
    exchange: Exchange, operation: Operation, query: Sequence[tuple[str, str]]
) -> Iterator[RequestFault]:
    headers = exchange.request_headers
    if operation.takes_realm:
        realm = headers.get("realm")
        by_query = (name for name, _ in query if name.lower() == "realm")
        elsewhere = "Realm" in operation.query_parameters and any(by_query)
        if realm is None and not elsewhere:
            yield RequestFault("header.Realm:missing", "no realm is named")
        elif realm == "":
            yield RequestFault("header.Realm:empty", "the Realm header is empty")
        elif realm is not None:
            yield from _in_realm(operation, realm)
    if operation.protected and not headers.get("authorization", "").strip():
        yield RequestFault("header.Authorization:missing", "no token is sent")


def _in_realm(operation: Operation, realm: str) -> Iterator[RequestFault]:
    """Faults of a realm; for another letter case or a realm of other operations the document is silent."""
    key, shown = "header.Realm", f"Realm is {realm!r}"
    validator = _validators(operation.id).get(("header", "Realm"))
    faults = list(_of_text(validator, key, shown, realm)) if validator else []
    if validator and faults and validator.is_valid(realm.lower()):
        why = f"{shown}; the document writes {realm.lower()!r}"
        yield RequestFault(f"{key}:letter-case", why, firm=False)
    elif faults and realm.lower() in REALMS:
        why = f"{shown}, which is listed for other operations"
        yield RequestFault(f"{key}:not-listed", why, firm=False)
    else:
        yield from faults


def _of_text(validator: _Validator, key: str, shown: str, text: str) -> Iterator[RequestFault]:
    """Faults of a parameter, which may be a number although it is sent as text."""
    value: Any = int(text) if text.lstrip("-").isdigit() and text.isascii() and len(text) < 19 else text
    if not any(map(validator.is_valid, (value, text))):
        error = next(validator.iter_errors(text))
        yield RequestFault(f"{key}:{_KINDS.get(_keyword(error), 'unknown-value')}", shown)


def _breaks_off(content: bytes) -> bool:
    """Whether a body is not JSON in any dialect: it has no brackets, or unmatched ones."""
    braces, brackets = content.count(b"{"), content.count(b"[")
    return braces + brackets == 0 or braces != content.count(b"}") or brackets != content.count(b"]")


#: Levels of a body that validators read.
_DEEPEST: Final = 200


def _in_body(exchange: Exchange, schema: Mapping[str, Any]) -> Iterator[RequestFault]:
    content = exchange.request_body.content
    if not content:
        yield RequestFault("body:missing", "there is no body")
        return
    value = exchange.request_body.json
    if value is None:
        try:
            value = json_value(content)
        except (ValueError, RecursionError):
            yield RequestFault("body:malformed", "the body is not JSON", firm=_breaks_off(content))
            return
    if nests_deeper(value, _DEEPEST):
        yield RequestFault("body:malformed", "the body nests too deep", firm=False)
        return
    yield from _of_value(schema, _readable(value))


def faults_of_body(operation: str, value: Any) -> Iterator[RequestFault]:
    """The faults of a JSON value as the body of an operation."""
    schema = body_schema(operation)
    if schema is not None:
        yield from _of_value(schema, value)


def _of_value(schema: Mapping[str, Any], value: Any) -> Iterator[RequestFault]:
    if value == {} and schema.get("required"):
        yield RequestFault("body:empty", "the body is an empty object")
        return
    validator = _validator(json.dumps(schema, sort_keys=True))
    for error in validator.iter_errors(value):
        yield from _of_body(error)


def _readable(value: Any) -> Any:
    """A JSON value with lone surrogates replaced, which validators cannot read; lengths stay the same."""
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_HALVES.sub("\ufffd", name): _readable(member) for name, member in value.items()}
    return [_readable(item) for item in value] if isinstance(value, list) else value


def _of_body(error: jsonschema_rs.ValidationError) -> Iterator[RequestFault]:
    steps = [str(step) for step in error.instance_path]
    why = cut(error.message, _SHOWN)
    place = ".".join(["body", *steps])
    keyword = _keyword(error)
    if keyword == "required":
        name = getattr(error.kind, "property", "")
        yield RequestFault(f"{place}.{name}:missing", f"{'.'.join([*steps, name])} is missing")
    elif keyword in ("additionalProperties", "unevaluatedProperties"):
        yield RequestFault(f"{place}:unknown-property", why)
    elif keyword == "propertyNames" and _in_other_case(error):
        yield RequestFault(f"{place}:letter-case", why, firm=False)
    else:
        kind, value = _KINDS.get(keyword, "wrong-kind"), error.instance
        if keyword in ("minLength", "maxLength"):
            why = _length_in_words(".".join(steps), value, keyword, error)
        yield RequestFault(f"{place}:{kind}", why, firm=_is_firm(kind, error, value))


def _length_in_words(name: str, text: Any, keyword: str, error: jsonschema_rs.ValidationError) -> str:
    rule = "at most" if keyword == "maxLength" else "at least"
    return f"{name} has {len(text):,} characters, {rule} {getattr(error.kind, 'limit', 0):,} are allowed"


def _in_other_case(error: jsonschema_rs.ValidationError) -> bool:
    """Whether only capital letters make a member's name invalid."""
    inner: Any = getattr(error.kind, "error", None)
    pattern = getattr(getattr(inner, "kind", None), "pattern", None)
    return pattern is not None and re.search(pattern, str(inner.instance).lower(), re.ASCII) is not None


def _is_firm(kind: str, error: jsonschema_rs.ValidationError, value: Any) -> bool:
    if kind != "wrong-kind":
        return True
    text_due = "string" in list(getattr(error.kind, "types", ()))
    left_out = value is None or (value in ("", [], {}) and bool(error.instance_path))
    return not left_out and not (text_due and isinstance(value, int | float))


def _keyword(error: jsonschema_rs.ValidationError) -> str:
    path = [str(step) for step in error.schema_path]
    return "propertyNames" if "propertyNames" in path else path[-1] if path else "type"


@lru_cache(maxsize=32)
def body_schema(operation: str) -> dict[str, Any] | None:
    """The JSON Schema of an operation's body, with its own reference resolved; None if the body is not JSON."""
    description = load_description()
    described = description.operations[operation]
    node = description.bundle["paths"][described.path][described.method.lower()]
    content = follow(description.bundle, node.get("requestBody") or {}).get("content", {})
    if _JSON not in content:
        return None
    schema: dict[str, Any] = follow(description.bundle, content[_JSON]["schema"])
    return schema


@lru_cache(maxsize=32)
def _validators(operation: str) -> Mapping[tuple[str, str], _Validator]:
    """Validators of an operation's parameters, by place and name."""
    description = load_description()
    described = description.operations[operation]
    item = description.bundle["paths"][described.path]
    listed = parameters_of(description.bundle, item, item[described.method.lower()])
    return {
        (parameter["in"], parameter["name"]): _validator(json.dumps(parameter["schema"], sort_keys=True))
        for parameter in listed
        if "schema" in parameter
    }


@lru_cache(maxsize=128)
def _validator(schema: str) -> _Validator:
    components = {"schemas": load_description().bundle["components"]["schemas"]}
    return _Validator({**json.loads(schema), "components": components})


_SCHEME = "bearer"
#: Texts with which tools replace a token in a recording.
_BLANKED = re.compile(
    r"\W+|.*(filtered|redacted|removed|hidden|mask|sanitized|secret|\*{3}|x{5}).*", re.IGNORECASE
)
#: The same with the scheme kept, as our own recorder does it.
_SCHEME_KEPT = re.compile(r"[A-Za-z]+ \W+(\w+\W+)?")


#: A closing slash, which many clients add. The document has none, and does not say how it is answered.
CLOSING_SLASH: Final = RequestFault(
    "path:closing-slash", "the path ends with a slash; the document writes none", firm=False
)


def match_request(method: str, url: str) -> tuple[Operation, Mapping[str, str], str, bool] | None:
    """The operation of a request, by its method and path; None without a match.

    The base URL may have any prefix, the path may be percent-encoded, and a closing slash may follow.

    Returns:
        Also the decoded values of its path parameters, the base URL before the path, and whether a slash follows it.
    """
    for base_url, path in _roots_in(url):
        for slash, below in enumerate(dict.fromkeys((path, path.removesuffix("/")))):
            matched = load_description().match(method, below)
            if matched is not None:
                return *matched, base_url, bool(slash)
    return None


def below_root(url: str) -> str | None:
    """The path of an address from `/api/v…` on; None if it contains no path of the interface."""
    return next((path for _, path in _roots_in(url)), None)


def _roots_in(url: str) -> Iterator[tuple[str, str]]:
    """Split an address into base URL and path, wherever a path of the interface may begin."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    steps = parts.path.split("/")
    for start in range(1, len(steps) - 1):
        if tuple(map(unquote, steps[start : start + 2])) in _roots():
            site = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
            yield site + "/".join(steps[:start]), "/" + "/".join(steps[start:])


@lru_cache(maxsize=1)
def _roots() -> frozenset[tuple[str, ...]]:
    """The first two steps of every path of the interface."""
    return frozenset(
        tuple(operation.path.split("/")[1:3]) for operation in load_description().operations.values()
    )


@dataclass(frozen=True)
class RequestFacts:
    """A decoded request: its operation, parameters, realm and faults; `made_up`: its token was surely never issued."""

    operation: Operation
    path: Mapping[str, str]
    query: tuple[tuple[str, str], ...]
    realm: str | None
    made_up: bool
    faults: tuple[RequestFault, ...]
    base_url: str


def read_request(exchange: Exchange, knows: Callable[[str], bool] | None = None) -> RequestFacts | None:
    """Read a request; None if it matches no operation of the interface.

    `knows` tells whether the service issued a token; None if that is unknown.
    """
    exchange = exchange.documented
    matched = match_request(exchange.method, exchange.url)
    if matched is None:
        return None
    operation, path, base_url, slash = matched
    query = tuple(parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True))
    # A realm in the query counts only if the document lists that parameter.
    by_query = dict(reversed(query)).get("Realm") if "Realm" in operation.query_parameters else None
    schema = body_schema(operation.id)
    faults = (
        *([CLOSING_SLASH] if slash else []),
        *(fault for name, value in path.items() for fault in _in_path(operation, name, value)),
        *_in_query(operation, query),
        *_in_headers(exchange, operation, query),
        *(_in_body(exchange, schema) if schema is not None else ()),
    )
    return RequestFacts(
        operation,
        path,
        query,
        exchange.request_headers.get("realm", by_query),
        _is_made_up(exchange.request_headers, knows),
        faults,
        base_url,
    )


def _is_made_up(headers: Headers, knows: Callable[[str], bool] | None) -> bool:
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == _SCHEME and token in ("", REDACTED):
        return not token
    # The document does not say whether a token is accepted with another scheme, or without one.
    given = token or scheme
    return bool(given) and knows is not None and not knows(given)


def scheme_fault(headers: Mapping[str, str]) -> RequestFault | None:
    """The fault of an Authorization header without the scheme Bearer; None for a redacted one."""
    value = headers.get("authorization", "").strip()
    scheme, _, token = value.partition(" ")
    if (
        not value
        or scheme.lower() == _SCHEME
        or (_BLANKED.fullmatch(value) and not _SCHEME_KEPT.fullmatch(value))
    ):
        return None
    why = f"the scheme is {scheme!r}" if token else "the token has no scheme"
    return RequestFault("header.Authorization:scheme", f"{why}; the document writes Bearer", firm=False)


_NEVER_ISSUED = RequestFault("header.Authorization:unknown-value", "the token was never issued")


def all_faults(facts: RequestFacts) -> tuple[RequestFault, ...]:
    """The faults of a request, including a token that the service never issued."""
    return (*facts.faults, _NEVER_ISSUED) if facts.made_up and facts.operation.protected else facts.faults


def clauses_of(facts: RequestFacts) -> Iterator[tuple[RequestFault, Clause]]:
    """The faults of a request that have a clause, each with its clause."""
    for fault in all_faults(facts):
        clause = load_catalogue().for_fault(facts.operation.id, fault.key)
        if clause is not None:
            yield fault, clause


_SUBJECT: Final = re.compile(r"/api/v\d+/documents/(?:schemas/[^/]+/)?(?P<name>[^/]+)")
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
#: The subject of lists, creations and other requests whose address names no document.
EVERYTHING: Final = "*"


def subject_of(url: str) -> str:
    """The document that an address names; `EVERYTHING` if it names none."""
    match = _SUBJECT.search(urlsplit(url).path)
    name = unquote(match["name"]) if match else ""
    return EVERYTHING if not name or name == "schemas" else name


def writes(method: str, url: str) -> bool:
    """Whether a request may change anything; signing in does not."""
    return method.upper() not in _READS and not urlsplit(url).path.endswith(SIGN_IN_PATH)
