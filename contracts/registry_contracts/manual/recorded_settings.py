"""Learns a target's settings from recorded traffic of a client, without personal data unless that is wanted.

It also learns where the client puts the realm and the token, and which undocumented names it uses. A name counts only
if the service accepted the request. It does not guess what an unknown query parameter means: a person states that in
the settings.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Final

from registry_contracts.checks.errors_array import was_taken
from registry_contracts.checks.workflow import Row, carries_message
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.request_facts import RequestFacts, read_request, scheme_fault
from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.safe_text import many, plain_line
from registry_contracts.settings.target import (
    BEARER,
    DEVELOPMENT_REALMS,
    PRODUCTION_REALMS,
    REALM_HEADER,
    REALMS,
    ServiceNames,
)

_E_MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
#: Members with personal data, in contact records and in documents that hold one.
_PERSONAL: Final = frozenset(
    {"firstname", "middlename", "lastname", "prefix", "email", "emails", "phone", "phones", "fax", "faxes"}
    | {"address", "street", "postalcode"}
)


@dataclass
class RecordedSettings:
    """The settings of one target that a recording shows.

    Attributes:
        base_url: Empty if the recording has no request of the interface.
        realms: Setting → value, by realm in the document's spelling.
        names: Names that were always sent instead of documented ones.
        production: Whether a request was made to a production realm.
        notes: Remarks for a person, a line each.
        requests: Number of requests of the interface.
    """

    base_url: str = ""
    realms: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: ServiceNames = field(default_factory=ServiceNames)
    production: bool = False
    notes: list[str] = field(default_factory=list)
    requests: int = 0


#: The setting for a record, and its weight: a heavier role, or a later one of equal weight, replaces an earlier one.
_Role = tuple[str, int]
_TAKEN: Final[_Role] = ("existing_identifier", 2)
_LOCKED: Final[_Role] = ("locked_identifier", 2)
#: Weaker, as an account other than the author may have asked.
_NOT_OURS: Final[_Role] = ("others_identifier", 1)
#: Weakest, as the record's owner is unknown.
_THERE: Final[_Role] = ("existing_identifier", 0)


def learn(exchanges: Iterable[Exchange], *, keep_personal_data: bool = False) -> RecordedSettings:
    """Learn settings from recorded exchanges.

    Args:
        exchanges: In their order.
        keep_personal_data: Keep names, addresses and numbers of people in sample documents.
    """
    return _Learner(keep_personal_data=keep_personal_data).learn(exchanges)


class _Learner:
    def __init__(self, *, keep_personal_data: bool) -> None:
        self._keep = keep_personal_data
        self._learned = RecordedSettings()
        self._names = _RecordedNames()
        self._realms_as_documented: set[str] = set()
        self._with_bodies = False
        #: Schemas of refused drafts, by realm.
        self._refused_drafts: dict[str, set[str]] = {}
        #: What is known of a record, by realm and identifier.
        self._roles: dict[str, dict[str, _Role]] = {}

    def learn(self, exchanges: Iterable[Exchange]) -> RecordedSettings:
        """Learn the names first, then the settings; of several records for a setting, the likeliest one counts."""
        learned = self._learned
        facts = ((exchange, read_request(exchange)) for exchange in exchanges)
        requests = [(exchange, read) for exchange, read in facts if read is not None]
        for exchange, read in requests:
            self._names.read(exchange, read)
        for exchange, read in requests:  # only now, as a late request may show the realm's header
            self._read(exchange, read)
        addresses = Counter(read.base_url for _, read in requests)
        learned.requests = addresses.total()
        learned.base_url = addresses.most_common(1)[0][0] if addresses else ""
        learned.names = ServiceNames(self._names.scheme or None, {}, {}, self._names.realm_header or None)
        for realm, roles in self._roles.items():
            for identifier, (setting, _) in sorted(roles.items(), key=lambda known: -known[1][1]):
                learned.realms[realm].setdefault(setting, identifier)
        for realm in self._realms_as_documented & learned.realms.keys():
            learned.realms[realm].pop("sent_as", None)
        learned.notes += [*self._notes(addresses), *self._names.notes()]
        for realm, settings in learned.realms.items():
            self._settle_drafts(realm, settings)
        return learned

    def _notes(self, addresses: Mapping[str, int]) -> Iterator[str]:
        if len(addresses) > 1 and not self._learned.production:
            others = ", ".join(sorted(addresses)[:3])
            yield f"the recording holds several addresses ({others}); the most frequent one is used"
        if addresses and not self._with_bodies:
            yield (
                "the recording has no bodies, so no document and no message could be learned; export it with content"
            )

    def _settle_drafts(self, realm: str, settings: dict[str, Any]) -> None:
        """Drop a learned draft where contacts may serve as drafts: more is known of contacts."""
        draft, contact = settings.get("draft_schema"), settings.get("contact_schema")
        known = contact and draft and contact not in self._refused_drafts.get(realm, ())
        if not known or "draft_document" not in settings:
            return
        del settings["draft_schema"], settings["draft_document"]
        if draft != contact:
            self._learned.notes.append(
                f"the draft of '{draft}' in {realm} was not used as draft_document, which is for services that "
                "refuse contacts as drafts; the recording does not show that"
            )

    def _read(self, exchange: Exchange, sent: RequestFacts) -> None:
        """Learn from one request."""
        if _realms_named(exchange, sent.query) & set(PRODUCTION_REALMS):
            self._learned.production = True
        facts = replace(sent, realm=sent.realm or self._names.realm(exchange))
        answered = exchange.response is not None and bool(exchange.response.text)
        self._with_bodies = self._with_bodies or answered or exchange.request_body.json is not None
        realm = (facts.realm or "").strip().lower()
        if realm not in DEVELOPMENT_REALMS or exchange.response is None:
            return
        if facts.operation.stores == "draft" and exchange.response.refusal:
            self._refused_drafts.setdefault(realm, set()).add(dict(facts.query).get("schema", ""))
        settings = self._learned.realms.setdefault(realm, {})
        if was_taken(exchange) and facts.realm == realm:
            self._realms_as_documented.add(realm)
        elif was_taken(exchange):
            settings.setdefault("sent_as", facts.realm)
        known = self._roles.setdefault(realm, {})
        for identifier, role in _roles_shown(exchange, facts, realm):
            known[identifier] = max(role, known.get(identifier, role), key=itemgetter(1))
        for name, value in _accepted(exchange, facts) if was_taken(exchange) else ():
            if name == "country_terms":
                settings[name] = tuple(dict.fromkeys([*settings.get(name, ()), value]))
            elif name not in settings:
                personal = isinstance(value, dict) and not self._keep
                settings[name] = _without_personal_data(value) if personal else value


def _accepted(exchange: Exchange, facts: RequestFacts) -> Iterator[tuple[str, Any]]:
    """Yield the settings that an accepted request shows."""
    operation, body = facts.operation, exchange.request_body.json
    schema = dict(facts.query).get("schema") or facts.path.get("schema")
    if operation.stores == "contact":
        if schema:
            yield "contact_schema", schema
        yield from _terms(body)
        if isinstance(body, dict):
            yield "contact_document", _unnamed(body)
    if operation.stores == "draft" and schema and isinstance(body, dict):
        yield "draft_schema", schema
        yield "draft_document", _unnamed(body)
    if "schema" in operation.path_parameters:
        document = body.get("document") if isinstance(body, dict) else None
        if schema:
            yield "workflow_schema", schema
        if isinstance(document, dict):
            yield "workflow_document", _unnamed(document)


def _terms(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the identifiers that an accepted contact names."""
    for member, setting in (("country", "country_terms"), ("contactOrganization", "contact_organization")):
        named = body.get(member) if isinstance(body, dict) else None
        identifier = named.get("identifier") if isinstance(named, dict) else None
        if isinstance(identifier, str) and identifier.strip():
            yield setting, identifier


def _roles_shown(exchange: Exchange, facts: RequestFacts, realm: str) -> Iterator[tuple[str, _Role]]:
    """Yield the roles of records that an accepted update or the message of a refusal shows, by identifier."""
    named = facts.path.get("identifier")
    updates = facts.operation.method == "PUT" and facts.operation.permanent
    identifier = named or facts.path.get("uid") or ""
    # A settings file takes only valid identifiers.
    if exchange.response is None or not is_valid_uid(identifier):
        return
    if was_taken(exchange):
        yield from [(identifier, _TAKEN)] if updates else []
    elif named:
        rows = ((Row.LOCKED, _LOCKED), (Row.MAY_NOT_UPDATE, _NOT_OURS), (Row.TAKEN, _THERE))
        yield from ((named, role) for row, role in rows if carries_message(exchange.response, row, realm))


def _unnamed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a document without its own identifier, which every submission fills in."""
    copied: dict[str, Any] = json.loads(json.dumps(document))
    if isinstance(copied.get("header"), dict):
        copied["header"].pop("identifier", None)
    return copied


def _without_personal_data(value: Any, member: str = "") -> Any:
    """Return a JSON value with personal texts replaced by made-up ones of the same kind.

    Args:
        member: Name of the nearest member that holds the value.
    """
    if isinstance(value, dict):
        return {name: _without_personal_data(item, _nearest(name, member)) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_personal_data(item, member) for item in value]
    if not isinstance(value, str):
        return value
    if _E_MAIL.fullmatch(value.strip()):
        return "person@example.test"
    if member in _PERSONAL:
        return re.sub(r"\d", "5", value) if any(sign.isdigit() for sign in value) else "Sample"
    return value


def _nearest(name: str, holder: str) -> str:
    """Return the member that decides about a text: language keys below `address` belong to the address."""
    lowered = name.lower()
    return holder if holder in _PERSONAL and lowered not in _PERSONAL else lowered


_LONGEST_SCHEME: Final = 20


def _named_realm(text: str) -> str | None:
    """Return a realm in the document's spelling; None for any other text."""
    plain = text.strip().lower()
    return plain if plain in REALMS else None


def _realms_named(exchange: Exchange, query: Iterable[tuple[str, str]]) -> set[str]:
    """Return every realm that a request names, in any header or query parameter."""
    values = (*exchange.request_headers.values(), *(value for _, value in query))
    return {realm for realm in map(_named_realm, values) if realm}


@dataclass
class _RecordedNames:
    """The names that a recorded client uses; `read` takes its requests in order."""

    _unknown: dict[str, int] = field(default_factory=dict)
    _places: Counter[str] = field(default_factory=Counter)
    _headers: dict[str, str] = field(default_factory=dict)
    _schemes: Counter[str] = field(default_factory=Counter)
    _schemes_taken: set[str] = field(default_factory=set)
    _unsigned: int = 0

    def read(self, exchange: Exchange, facts: RequestFacts) -> None:
        """Learn from one request of the interface."""
        self._read_authorization(exchange, facts)
        headers = exchange.request_headers.items()
        self._places.update(
            REALM_HEADER if name.lower() == "realm" else f"the header {plain_line(name)}"
            for name, value in headers
            if _named_realm(value)
        )
        self._places.update(
            f"the query parameter {plain_line(name)}" for name, value in facts.query if _named_realm(value)
        )
        if was_taken(exchange):
            self._headers |= {name.lower(): name for name, value in headers if _named_realm(value)}
            for name, _ in facts.query:
                if name not in facts.operation.query_parameters:
                    self._unknown.setdefault(name, exchange.number)

    def _read_authorization(self, exchange: Exchange, facts: RequestFacts) -> None:
        value = exchange.request_headers.get("authorization", "").strip()
        scheme, _, token = value.partition(" ")
        if value:
            # A single word is a token, and must not be shown; a blanked value counts as the documented scheme.
            own = scheme_fault(exchange.request_headers) is not None
            used = (scheme if token else "") if own else BEARER
            self._schemes[used] += 1
            self._schemes_taken |= {used} if was_taken(exchange) else set()
        elif facts.operation.protected and was_taken(exchange):
            self._unsigned += 1

    @property
    def scheme(self) -> str:
        """The only accepted scheme, if it is not the documented one; else empty."""
        (only,) = self._schemes_taken if len(self._schemes_taken) == 1 else ("",)
        return only if only != BEARER and only.isalpha() else ""

    @property
    def realm_header(self) -> str:
        """The only header that carried the realm, if it is not Realm; else empty."""
        names = [*self._headers.values()]
        return names[0] if len(names) == 1 and "realm" not in self._headers else ""

    def realm(self, exchange: Exchange) -> str | None:
        """Return the realm that a request names in that header."""
        return exchange.request_headers.get(self.realm_header) if self.realm_header else None

    def notes(self) -> Iterator[str]:
        """Remarks on the names for a person, a line each."""
        if self._places:
            places = ", ".join(f"{place} ({many(times, 'request')})" for place, times in self._places.items())
            yield f"the realm travels in {places}"
        for scheme, times in sorted(self._schemes.items()):
            if scheme != BEARER:
                shown = scheme if scheme.isalpha() and len(scheme) < _LONGEST_SCHEME else "another one"
                sent = f"scheme '{shown}'" if scheme else "token alone, without a scheme"
                yield f"{many(times, 'request')} with the Authorization {sent}; the document says Bearer"
        if self._unsigned and not self._schemes:
            yield (
                f"{many(self._unsigned, 'request')} that need a token were accepted without an Authorization header: "
                "the recorder left it out, or the token travels elsewhere"
            )
        for name, number in self._unknown.items():
            yield (
                f"'{plain_line(name)}' (request {number}) is not in the document; if it stands for a documented name, "
                "add it to [names]"
            )
