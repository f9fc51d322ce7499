"""Writes a target's settings file and sample documents, with what a recorded session of a client shows of them."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import Table

from contracts.checks.workflow import Row, carries_message
from contracts.errors import UsageError
from contracts.exchanges.exchange import Exchange
from contracts.exchanges.request_facts import RequestFacts, read_request
from contracts.interface.description import load_description
from contracts.interface.operations import is_valid_uid
from contracts.manual.recorded_names import RecordedNames, SentName, realms_named, taken
from contracts.safe_text import plain_line
from contracts.settings.target import (
    ACCOUNT_ROLES,
    DEVELOPMENT_REALMS,
    OF_ONE_REALM,
    PRODUCTION_REALMS,
    RealmSettings,
    ServiceNames,
)

_E_MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
#: Members whose texts tell of a person, in contact records and in documents that hold one.
_PERSONAL: Final = frozenset(
    {"firstname", "middlename", "lastname", "prefix", "email", "emails", "phone", "phones", "fax", "faxes"}
    | {"address", "street", "postalcode"}
)


@dataclass(frozen=True)
class Value:
    """One value of a setting, and the request of the recording that shows it.

    Attributes:
        request: Its number in the recording, counted from one.
    """

    value: Any
    request: int


@dataclass
class RecordedSettings:
    """What a recording shows of one target.

    Attributes:
        base_url: Empty when no request is one of the interface.
        realms: Setting → value, by realm in the document's spelling.
        spellings: Realm → how it was sent, where that differs from the document.
        names: What was sent in place of documented names that never were.
        sent_names: Documented name → that, with the request that showed it.
        list_options: Options of the list of drafts that were in use.
        production: Whether a request was made to a production realm.
        notes: What a person should know, a line each.
        requests: How many requests of the interface were read.
    """

    base_url: str = ""
    realms: dict[str, dict[str, Value]] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    names: ServiceNames = field(default_factory=ServiceNames)
    sent_names: dict[str, SentName] = field(default_factory=dict)
    list_options: set[str] = field(default_factory=set)
    production: bool = False
    notes: list[str] = field(default_factory=list)
    requests: int = 0


def learn(exchanges: Iterable[Exchange], *, keep_personal_data: bool = False) -> RecordedSettings:
    """Learn settings from recorded exchanges.

    Args:
        exchanges: In their order.
        keep_personal_data: Leave names, addresses and numbers of people in sample documents as they are.
    """
    return _Learner(keep_personal_data=keep_personal_data).learn(exchanges)


class _Learner:
    def __init__(self, *, keep_personal_data: bool) -> None:
        self._keep = keep_personal_data
        self._learned = RecordedSettings()
        self._description = load_description()
        self._names = RecordedNames()
        self._taken_as_documented: set[str] = set()
        self._with_bodies = False
        #: Schemas of drafts that were refused for no other reason than what they are, by realm.
        self._refused_drafts: dict[str, set[str]] = {}
        self._drafts: set[str] = set()
        self._filed: dict[str, int] = {}

    def learn(self, exchanges: Iterable[Exchange]) -> RecordedSettings:
        addresses: Counter[str] = Counter()
        requests: list[tuple[Exchange, RequestFacts]] = []
        for exchange in exchanges:
            facts = read_request(exchange, self._description)
            if facts is None:
                continue
            addresses[facts.base_url] += 1
            self._names.read(exchange, facts)
            requests.append((exchange, facts))
        # What a name stands for may show late.
        for exchange, facts in requests:
            self._read(exchange, facts, self._names.documented(facts))
        self._learned.requests = addresses.total()
        if addresses:
            self._learned.base_url = addresses.most_common(1)[0][0]
        if len(addresses) > 1 and not self._learned.production:
            others = ", ".join(sorted(addresses)[:3])
            self._learned.notes.append(
                f"the recording holds several addresses ({others}); the most used one is taken"
            )
        if addresses and not self._with_bodies:
            self._learned.notes.append(
                "no request and no response of the recording has a body, so no document and no message could be "
                "learned; export it with content"
            )
        self._take_names()
        for realm in self._taken_as_documented & self._learned.realms.keys():
            self._learned.realms[realm].pop("sent_as", None)
        for realm, settings in self._learned.realms.items():
            self._settle_drafts(realm, settings)
        for identifier in self._filed.keys() - self._drafts:
            self._learned.notes.append(
                f"request {self._filed[identifier]} attached a file to '{plain_line(identifier)}', of which the "
                "recording saves no draft: where drafts take no files, attachment_identifiers names records like it "
                "that have none yet"
            )
        return self._learned

    def _settle_drafts(self, realm: str, settings: dict[str, Value]) -> None:
        """Leave a draft of another schema out where contacts may serve: what is known of these tells more."""
        draft, contact = settings.get("draft_schema"), settings.get("contact_schema")
        if draft is None or contact is None or "draft_document" not in settings:
            return
        if contact.value in self._refused_drafts.get(realm, ()):
            return
        del settings["draft_schema"], settings["draft_document"]
        if draft.value != contact.value:
            self._learned.notes.append(
                f"request {draft.request} saved a draft of '{draft.value}' in {realm}: draft_schema and draft_document "
                "are for a service that takes no contact as a draft, which the recording does not show"
            )

    def _take_names(self) -> None:
        query, collections, scheme = self._names.settled()
        self._learned.sent_names = {**query, **collections}
        self._learned.names = ServiceNames(
            scheme or None,
            {documented: sent.name for documented, sent in query.items()},
            {documented: sent.name for documented, sent in collections.items()},
            self._names.realm_header or None,
        )
        self._learned.notes += self._names.notes()

    def _read(self, exchange: Exchange, sent: RequestFacts, documented: tuple[tuple[str, str], ...]) -> None:
        """Learn from one request, by its query as the document writes it."""
        if realms_named(exchange, sent.query) & set(PRODUCTION_REALMS):
            self._learned.production = True
        by_query = dict(documented).get("Realm") if "Realm" in sent.operation.query_parameters else None
        facts = replace(sent, query=documented, realm=sent.realm or self._names.realm(exchange) or by_query)
        answered = exchange.response is not None and bool(exchange.response.text)
        self._note_stored(exchange, facts)
        self._with_bodies = self._with_bodies or answered or exchange.request_body.json is not None
        realm = self._realm(facts)
        if facts.operation.id == "listDrafts":
            self._learned.list_options |= {name for name, _ in sent.query}
        if realm is None or exchange.response is None:
            return
        settings = self._learned.realms.setdefault(realm, {})
        if taken(exchange) and facts.realm == realm:
            self._taken_as_documented.add(realm)
        elif taken(exchange):
            settings.setdefault("sent_as", Value(facts.realm, exchange.number))
        seen = _accepted(exchange, facts) if taken(exchange) else _refused(exchange, facts, realm)
        for name, value in seen:
            if name == "country_terms":
                terms = settings[name].value if name in settings else ()
                settings[name] = Value(tuple(dict.fromkeys([*terms, value])), exchange.number)
            elif name not in settings:
                personal = isinstance(value, dict) and not self._keep
                settings[name] = Value(without_personal_data(value) if personal else value, exchange.number)

    def _note_stored(self, exchange: Exchange, facts: RequestFacts) -> None:
        """Note of which documents drafts were saved, and which got files."""
        uid, stores = facts.path.get("uid", ""), facts.operation.stores
        if stores == "attachment" and taken(exchange):
            self._filed.setdefault(uid, exchange.number)
        elif stores == "draft" and taken(exchange):
            self._drafts.add(uid)
        elif stores == "draft" and exchange.response is not None and exchange.response.refusal:
            realm = self._realm(facts) or ""
            self._refused_drafts.setdefault(realm, set()).add(dict(facts.query).get("schema", ""))

    def _realm(self, facts: RequestFacts) -> str | None:
        """The development realm of a request, as the document spells it."""
        if facts.realm is None:
            return None
        plain = facts.realm.strip().lower()
        if plain not in DEVELOPMENT_REALMS:
            return None
        if facts.realm != plain:
            self._learned.spellings[plain] = facts.realm
        return plain


def _accepted(exchange: Exchange, facts: RequestFacts) -> Iterator[tuple[str, Any]]:
    """Settings that an accepted request shows."""
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
    if operation.method == "PUT" and operation.permanent:
        identifier = facts.path.get("uid") or facts.path.get("identifier")
        if is_valid_uid(identifier or ""):
            yield "existing_identifier", identifier


def _terms(body: Any) -> Iterator[tuple[str, Any]]:
    """Identifiers that an accepted contact names."""
    for member, setting in (("country", "country_terms"), ("contactOrganization", "contact_organization")):
        named = body.get(member) if isinstance(body, dict) else None
        identifier = named.get("identifier") if isinstance(named, dict) else None
        if isinstance(identifier, str) and identifier.strip():
            yield setting, identifier


def _refused(exchange: Exchange, facts: RequestFacts, realm: str) -> Iterator[tuple[str, Any]]:
    """Settings that the message of a refusal shows."""
    identifier = facts.path.get("identifier")
    # A settings file takes no identifier that breaks the rule.
    if not is_valid_uid(identifier or "") or exchange.response is None:
        return
    if carries_message(exchange.response, Row.LOCKED, realm):
        yield "locked_identifier", identifier
    if carries_message(exchange.response, Row.MAY_NOT_UPDATE, realm):
        yield "others_identifier", identifier
    if carries_message(exchange.response, Row.TAKEN, realm):
        yield "existing_identifier", identifier


def _unnamed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without its own identifier, which every submission fills in."""
    copied: dict[str, Any] = json.loads(json.dumps(document))
    if isinstance(copied.get("header"), dict):
        copied["header"].pop("identifier", None)
    return copied


def without_personal_data(value: Any, member: str = "") -> Any:
    """Return a JSON value with the texts that tell of a person replaced by made-up ones of the same kind.

    Args:
        member: Name of the nearest member that holds the value.
    """
    if isinstance(value, dict):
        return {name: without_personal_data(item, _nearest(name, member)) for name, item in value.items()}
    if isinstance(value, list):
        return [without_personal_data(item, member) for item in value]
    if not isinstance(value, str):
        return value
    if _E_MAIL.fullmatch(value.strip()):
        return "person@example.test"
    if member in _PERSONAL:
        return re.sub(r"\d", "5", value) if any(sign.isdigit() for sign in value) else "Sample"
    return value


def _nearest(name: str, holder: str) -> str:
    """The member that decides about a text: language keys below `address` belong to the address."""
    lowered = name.lower()
    return holder if holder in _PERSONAL and lowered not in _PERSONAL else lowered


SAMPLES: Final = "samples"
_SETTINGS: Final = RealmSettings.__dataclass_fields__
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_HEAD: Final = (
    "Written by `registry-contracts init`. docs/live.md explains every key; `registry-contracts doctor --target NAME`",
    "says which setting would let a run judge more. Secrets never stand in this file: accounts name variables.",
)
_ROLES: Final = {
    "author": "may create and update records in every realm above",
    "restricted": "can sign in, may neither create nor update",
    "nau": "holds the NAU role",
    "other": "a second author, who owns the record named by others_identifier",
}


@dataclass(frozen=True)
class TargetSettings:
    """What a settings file is to hold.

    Attributes:
        name: Of the target, and of the file without its ending.
        base_url: Empty where it is not known; the line then has to be filled in.
        variables: Role → names of the variables of its e-mail and its password.
        realm: Realm → setting → value, with the request that showed it; 0 where it was given.
        remarks: Lines at the top of the file.
        names: What the target calls otherwise than the document.
    """

    name: str
    base_url: str
    realms: tuple[str, ...]
    variables: Mapping[str, tuple[str, str]]
    realm: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    names: ServiceNames = field(default_factory=ServiceNames)


def default_variables(role: str) -> tuple[str, str]:
    """The names of the variables of a role's e-mail and password, unless a person names others."""
    middle = "" if role == ACCOUNT_ROLES[0] else f"{role.upper()}_"
    return f"REGISTRY_{middle}EMAIL", f"REGISTRY_{middle}PASSWORD"


def settings_path(name: str, folder: Path) -> Path:
    """Where the settings file of a target stands.

    Raises:
        UsageError: the name is no file name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name for a target; use letters, digits, hyphens and dots")
    return folder / f"{name.removesuffix('.toml')}.toml"


def write_settings(settings: TargetSettings, path: Path, *, replace: bool) -> list[Path]:
    """Write the settings file and its samples; nothing is left half-written.

    Returns:
        What was written, the settings file last.

    Raises:
        UsageError: it is there already and is not to be replaced, or cannot be written.
    """
    if path.exists() and not replace:
        raise UsageError(f"{path} is there already; --force replaces it, another name keeps it")
    samples = dict(_samples(settings))
    written = [path.parent / SAMPLES / name for name in samples]
    texts = {**dict(zip(written, samples.values(), strict=True)), path: tomlkit.dumps(_document(settings))}
    fresh: dict[Path, Path] = {}
    try:
        for place, text in texts.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=place.parent, suffix=".new")
            fresh[place] = Path(name)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        for place, new in fresh.items():
            new.replace(place)
    except OSError as error:
        raise UsageError(
            f"cannot write to '{path.parent}': {error.strerror}; run it in a folder that takes files"
        ) from None
    finally:
        for new in fresh.values():
            new.unlink(missing_ok=True)
    return [*written, path]


def _sample_name(settings: TargetSettings, realm: str, setting: str) -> str:
    parts = settings.name.removesuffix(".toml"), realm, setting.removesuffix("_document")
    return f"{'-'.join(filter(None, parts))}.json"


def _samples(settings: TargetSettings) -> Iterator[tuple[str, str]]:
    common = _common(settings)
    for realm, given in {**settings.realm, "": common}.items():
        for setting, shown in given.items():
            if isinstance(shown.value, dict) and (setting not in common or not realm):
                content = json.dumps(shown.value, indent=2, ensure_ascii=False) + "\n"
                yield _sample_name(settings, realm, setting), content


def _document(settings: TargetSettings) -> tomlkit.TOMLDocument:
    document = tomlkit.document()
    for line in (*_HEAD, *settings.remarks):
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    document.add("base_url", _commented(settings.base_url, "the address before /api/v2013"))
    document.add("kind", _commented("development", "the only kind the suite writes to"))
    document.add("realms", tomlkit.item(list(settings.realms)))
    document.add(tomlkit.nl())
    document.add("accounts", _accounts(settings))
    document.add("realm", _realms(settings))
    if settings.names:
        given = {field.name: getattr(settings.names, field.name) for field in fields(settings.names)}
        document.add("names", {name: value for name, value in given.items() if value})
    return document


def _commented(value: str, comment: str) -> Any:
    item = tomlkit.item(value)
    item.comment(comment)
    return item


def _accounts(settings: TargetSettings) -> Table:
    accounts = tomlkit.table(is_super_table=True)
    for role in ACCOUNT_ROLES:
        table = tomlkit.table()
        table.comment(_ROLES[role])
        email, password = settings.variables.get(role, default_variables(role))
        table.add("email_env", email)
        table.add("password_env", password)
        table.add(tomlkit.nl())
        accounts.add(role, table)
    return accounts


def _realms(settings: TargetSettings) -> Table:
    """What is known, once where it is the same in every realm; the other settings as comments to be filled in."""
    table, common = tomlkit.table(), _common(settings)
    table.comment("for all realms; a realm's own table goes first")
    _add_values(table, settings, "", common)
    _add_examples(table, settings, [name for name in _SETTINGS if name not in OF_ONE_REALM])
    table.add(tomlkit.comment("Of one realm, below its own table:"))
    _add_examples(table, settings, OF_ONE_REALM)
    table.add(tomlkit.nl())
    for realm in settings.realms:
        own, given = tomlkit.table(), settings.realm.get(realm, {})
        _add_values(own, settings, realm, {name: given[name] for name in given if name not in common})
        own.add(tomlkit.nl())
        table.add(realm, own)
    return table


def _common(settings: TargetSettings) -> Mapping[str, Value]:
    """The settings that several realms have, all with the same value."""
    first, *others = (settings.realm.get(realm, {}) for realm in settings.realms)
    return {
        name: shown
        for name, shown in first.items()
        if others and all(name in other and other[name].value == shown.value for other in others)
    }


def _add_values(table: Table, settings: TargetSettings, realm: str, given: Mapping[str, Value]) -> None:
    for setting, shown in given.items():
        value = shown.value
        if isinstance(value, dict):
            value = f"{SAMPLES}/{_sample_name(settings, realm, setting)}"
        item = tomlkit.item(list(value) if isinstance(value, tuple) else value)
        if shown.request:
            item.comment(f"request {shown.request} of the recording")
        table.add(setting, item)


def _add_examples(table: Table, settings: TargetSettings, names: Iterable[str]) -> None:
    """Add a comment for each setting that no realm has, with a value that it may have and its meaning."""
    for name in names:
        if not any(name in given for given in settings.realm.values()):
            described = _SETTINGS[name].metadata
            example = tomlkit.item(described["example"]).as_string()
            table.add(tomlkit.comment(f"{name} = {example}  # {described['meaning']}"))
