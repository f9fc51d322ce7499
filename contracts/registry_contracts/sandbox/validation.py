"""Record types, the realms in which each is configured, and the validation of documents against them.

Every problem of a document is reported at once, each with one of the seven codes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from starlette.requests import Request

from registry_contracts.sandbox.habits import Habits
from registry_contracts.sandbox.http import Problem, bad_request, header_value, is_identifier, query_value
from registry_contracts.sandbox.responses import INVALID_VALUE, MANDATORY

COUNTRIES = frozenset({"ca", "fr", "ke", "jp", "br"})
"""Identifiers of the sandbox's country terms; any other is an unexpected term."""


class Kind(Enum):
    """Kinds of value (Contact record, "Value kinds"), and three more for the sandbox's own types."""

    STRING = "string"
    LSTRING = "lstring"
    TERM = "Term"
    LINK = "Link"
    REFERENCE = "Reference"
    HEADER = "Header"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    PLACE = "Place"


@dataclass(frozen=True)
class Field:
    """One row of a record type's table.

    Attributes:
        kind: kind of its value, or of each of its values where it holds ``many``.
    """

    name: str
    kind: Kind
    mandatory: bool = False
    many: bool = False


@dataclass(frozen=True)
class RecordType:
    """A schema and its table."""

    name: str
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """Return the field of that name, or ``None``."""
        return next((field for field in self.fields if field.name == name), None)


def _type(name: str, *rows: str) -> RecordType:
    """Return a record type from rows of a table: field and kind, ``!`` for mandatory, ``*`` for many values."""
    return RecordType(name, tuple(_field(*row.split()) for row in rows))


def _field(name: str, kind: str) -> Field:
    return Field(name, Kind(kind.rstrip("!*")), "!" in kind, "*" in kind)


_RECORD = ("header Header", "title lstring!", "country Term!")
# fmt: off
CONTACT = _type(
    "contact", "header Header", "prefix lstring", "firstName string!", "middleName string", "lastName string!",
    "gender Term", "designation lstring", "organization lstring!", "organizationAcronym lstring",
    "department lstring", "organizationType Term", "address lstring", "city lstring", "state lstring",
    "postalCode lstring", "country Term!", "phones string*", "faxes string*", "emails string*!", "websites Link*",
    "addressType string", "relevantInformation lstring", "relevantDocuments Link*", "type string!",
    "government Term", "contactOrganization Reference!"
)
ABS_PERMIT = _type(
    "absPermit", *_RECORD, "permitNumber string!", "issuedOn string!", "confidential boolean", "amendments integer",
    "place Place", "issuingAuthority Reference", "keywords Term*", "documents Link*"
)
BCH_DECISION = _type(
    "bchDecision", *_RECORD, "decisionNumber string!", "decidedOn string!", "confidential boolean",
    "amendments integer", "place Place", "organisms Reference*", "keywords Term*", "documents Link*"
)
CHM_PROFILE = _type(
    "chmProfile", *_RECORD, "overview lstring!", "established integer", "confidential boolean", "place Place",
    "keywords Term*", "websites Link*"
)
ORT_REPORT = _type(
    "ortReport", *_RECORD, "reportingPeriod string!", "final boolean", "summary lstring", "documents Link*"
)
# fmt: on


@dataclass(frozen=True)
class Realm:
    """One application context; without contacts it serves the workflow endpoint only."""

    name: str
    types: Mapping[str, RecordType]


def _realm(name: str, *kinds: RecordType) -> Realm:
    return Realm(name, {kind.name: kind for kind in kinds})


REALMS = (
    _realm("abs-dev", ABS_PERMIT, CONTACT),
    _realm("bch-dev", BCH_DECISION, CONTACT),
    _realm("chm-dev", CHM_PROFILE, CONTACT),
    _realm("ort-dev", ORT_REPORT),
)


class RealmBook:
    """Finds the realm and the schema a request names; production realms are unknown here."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits
        self.realms = {realm.name: realm for realm in REALMS}

    def named(self, name: str) -> Realm | None:
        """Return the configured realm of that name, or ``None``; letter case counts."""
        return self.realms.get(name.lower() if self.habits.realm_any_case else name)

    def given(self, request: Request) -> str | None:
        """Return the realm a workflow request names: the header, else the query parameter ``Realm``."""
        header, query = header_value(request, "realm"), query_value(request, "Realm")
        if self.habits.realm_any_case:
            query = query or query_value(request, "realm")
        return ((query or header) if self.habits.realm_query_first else (header or query)) or None

    def of_documents(self, request: Request) -> Realm:
        """Return the realm of a contact or draft operation; refuse a missing one, and one without documents."""
        habits = self.habits
        name = header_value(request, "realm")
        if not name and habits.realm_in_any_query:
            name = query_value(request, "Realm")
        if not name:
            if habits.realm_required:
                raise bad_request("the Realm header is missing")
            name = habits.default_realm
        writing = request.method in ("POST", "PUT")
        taken_anyway = habits.realm_unknown_written if writing else habits.realm_unknown_read
        realm = self.named(name) or (self.realms[habits.default_realm] if taken_anyway else None)
        if realm is None:
            raise bad_request("the realm is not configured")
        if CONTACT.name in realm.types:
            return realm
        if not habits.reporting_drafts:
            raise bad_request(f"the realm {realm.name} serves the workflow endpoint only")
        return Realm(realm.name, {**realm.types, CONTACT.name: CONTACT})

    def schema(self, request: Request, realm: Realm, *, known: bool = True) -> RecordType:
        """Return the record type of the query parameter ``schema``; ``known`` refuses one that is not configured."""
        name = query_value(request, "schema") or ""
        if name in realm.types:
            return realm.types[name]
        if not known:
            return RecordType(name or "none", ())
        if not name:
            raise bad_request("the query parameter schema is missing")
        raise bad_request(f"the schema is not configured for the realm {realm.name}")


_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", re.ASCII)

#: Forms of texts, and terms of contacts, that some services ask for.
_FORMS = {
    "emails": re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]+"),
    **dict.fromkeys(("phones", "faxes"), re.compile(r"[+0-9][0-9 ().-]{4,30}")),
}
_ADDRESS = re.compile(r"https?://\S+")
_WITH_OWN_TERMS = ("type", "addressType", "gender", "organizationType")
_OWN_TERMS = ("CT-100", "CT-200", "CT-300")

INVALID_PROPERTY = "Error.InvalidProperty"
UNSPECIFIED_LOCALE = "Error.UnspecifiedLocale"
UNEXPECTED_TERM = "Error.UnexpectedTerm"
INVALID_TYPE = "Error.InvalidType"

Path = tuple[str, ...]
Problems = Iterator[Problem]
_TYPES: dict[Kind, type] = {Kind.STRING: str, Kind.INTEGER: int, Kind.BOOLEAN: bool, Kind.PLACE: dict}


def header_of(document: Any) -> dict[str, Any]:
    """Return the header of a document; empty where it has none."""
    header = document.get("header") if isinstance(document, dict) else None
    return header if isinstance(header, dict) else {}


@dataclass(frozen=True)
class Expectation:
    """What a document must agree with; ``knows`` tells whether a record exists in the realm."""

    kind: RecordType
    identifier: str | None
    knows: Callable[[str], bool]


class Validator:
    """Finds the problems of a document.

    The interface document lists the codes and leaves most triggers open. Members of Term, Link, Reference and Header
    beyond those listed are "not shown", so they are let through.
    """

    def __init__(self, habits: Habits) -> None:
        self.habits = habits

    def problems(self, document: dict[str, Any], expectation: Expectation) -> list[Problem]:
        """Return every problem of a document, in the order of the table, unknown fields last."""
        found: list[Problem] = []
        for field in expectation.kind.fields:
            found += self.of_field(field, document.get(field.name), field.name in document, expectation)
        if self.habits.languages_declared:
            found += self.of_declared(document, expectation.kind)
        if not self.habits.unknown_fields_kept:
            unknown = (name for name in document if expectation.kind.field(name) is None)
            found += [Problem(INVALID_PROPERTY, (name,)) for name in unknown]
        every = list(dict.fromkeys(found))
        return every[:1] if self.habits.errors_one_at_a_time else every

    def of_field(self, field: Field, value: Any, given: bool, expectation: Expectation) -> Problems:
        """Yield the problems of one field: missing, empty, of another type, or with a faulty value."""
        path = (field.name,)
        if self.habits.empty_values_absent and value in ("", {}, []):
            value, given = None, False
        if value is None:
            if field.mandatory:
                yield Problem(self.habits.null_code if given else MANDATORY, path)
            elif given and not self.habits.nulls_absent:
                yield Problem(INVALID_TYPE, path)
        elif field.mandatory and value in ([], {}) and (field.many or field.kind is Kind.LSTRING):
            holds_nothing = isinstance(value, list if field.many else dict)
            code = self.habits.empty_set_code if holds_nothing else INVALID_TYPE
            yield from () if code is None else (Problem(code, path),)
        elif not field.many:
            yield from self.of_value(field, value, path, expectation)
        elif isinstance(value, list):
            for position, element in enumerate(value):
                yield from self.of_value(field, element, (*path, str(position)), expectation)
        else:
            yield Problem(INVALID_TYPE, path)

    def of_value(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Problems:
        """Yield the problems of one value: of its kind, else of its form."""
        found = list(self.of_kind(field, value, path, expectation))
        yield from found or self.of_form(field, value, path, expectation)

    def of_kind(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Problems:
        """Yield the problems of one value, by the kind the table gives."""
        match field.kind:
            case Kind.HEADER:
                return self.of_header(value, path, expectation)
            case Kind.LSTRING:
                return self.of_lstring(value, path)
            case Kind.TERM | Kind.REFERENCE | Kind.LINK:
                return self.of_object(field, value, path, expectation)
        return self.of_type(value, _TYPES[field.kind], path)

    def of_form(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Problems:
        """Yield a problem when a value has another form than the service's own, or is none of its own terms."""
        member = "url" if field.kind is Kind.LINK else "identifier"
        text = value.get(member) if isinstance(value, dict) else value
        form = _ADDRESS if field.kind is Kind.LINK else _FORMS.get(field.name)
        if self.habits.forms_checked and form is not None and form.fullmatch(str(text)) is None:
            yield Problem(INVALID_VALUE, path)
        own = field.name in _WITH_OWN_TERMS and expectation.kind.name == CONTACT.name
        if self.habits.contact_terms_own and own and text not in _OWN_TERMS:
            yield Problem(UNEXPECTED_TERM, path)

    def of_type(self, value: Any, wanted: type, path: Path) -> Problems:
        """Yield a problem when a value is not of the wanted JSON type; a boolean is no integer."""
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if wanted is str and number and self.habits.numbers_as_text:
            return
        if not isinstance(value, wanted) or (wanted is int and not number):
            yield Problem(INVALID_TYPE, path)

    def of_lstring(self, value: Any, path: Path) -> Problems:
        """Yield the problems of an object keyed by language code, each value a string."""
        if not isinstance(value, dict):
            yield Problem(self.habits.plain_text_code if isinstance(value, str) else INVALID_TYPE, path)
            return
        for language, text in value.items():
            yield from self.of_language(language, path)
            yield from self.of_type(text, str, (*path, language))

    def of_language(self, language: str, path: Path) -> Problems:
        """Yield a problem when a text is no language code."""
        known = self.habits.languages.split()
        unknown = known and language.partition("-")[0].lower() not in known
        if unknown or _LANGUAGE.fullmatch(language) is None:
            yield Problem(UNSPECIFIED_LOCALE, path)

    def of_declared(self, document: dict[str, Any], kind: RecordType) -> Problems:
        """Yield the problems of texts in languages that the header does not list."""
        declared = header_of(document).get("languages")
        if not isinstance(declared, list):
            return
        for field in kind.fields:
            texts = document.get(field.name) if field.kind is Kind.LSTRING else None
            if isinstance(texts, dict) and any(language not in declared for language in texts):
                yield Problem(UNSPECIFIED_LOCALE, (field.name,))

    def of_object(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Problems:
        """Yield the problems of a Term, Reference or Link: its member, the term, the record that it names."""
        if not isinstance(value, dict):
            yield Problem(INVALID_TYPE, path)
            return
        member = "url" if field.kind is Kind.LINK else "identifier"
        named, with_terms = value.get(member), field.name == "country" and not self.habits.terms_open
        wrong = list(self.of_type(named, str, (*path, member)))
        if named is None:
            yield Problem(self.habits.bare_object_code, (*path, member))
        elif wrong:
            yield from wrong
        elif with_terms and named not in COUNTRIES:
            yield Problem(UNEXPECTED_TERM, path)
        elif field.name == "contactOrganization" and not expectation.knows(named):
            yield Problem(INVALID_VALUE, path)
        if self.habits.terms_closed:
            yield from (Problem(INVALID_PROPERTY, (*path, name)) for name in value if name != member)

    def of_header(self, value: Any, path: Path, expectation: Expectation) -> Problems:
        """Yield the problems of a Header: its members are optional, but must be right and must agree."""
        if not isinstance(value, dict):
            yield Problem(INVALID_TYPE, path)
            return
        for member in ("identifier", "schema"):
            if member in value:
                yield from self.of_type(value[member], str, (*path, member))
        if not self.habits.header_ignored:
            yield from self.of_agreement(value, path, expectation)
        if "languages" in value:
            yield from self.of_languages(value["languages"], (*path, "languages"))
        missing = (name for name in self.habits.header_needs.split() if name not in value)
        yield from (Problem(MANDATORY, (*path, name)) for name in missing)

    def of_agreement(self, header: dict[str, Any], path: Path, expectation: Expectation) -> Problems:
        """Yield the problems of a header that contradicts the rule, the path or the schema."""
        identifier, schema = header.get("identifier"), header.get("schema")
        if isinstance(identifier, str):
            contradicts = expectation.identifier not in {None, identifier}
            if contradicts or not is_identifier(identifier):
                yield Problem(INVALID_VALUE, (*path, "identifier"))
        if isinstance(schema, str) and schema != expectation.kind.name:
            yield Problem(INVALID_VALUE, (*path, "schema"))

    def of_languages(self, value: Any, path: Path) -> Problems:
        """Yield the problems of an array of language codes."""
        if not isinstance(value, list):
            yield Problem(INVALID_TYPE, path)
            return
        for language in value:
            if isinstance(language, str):
                yield from self.of_language(language, path)
            else:
                yield Problem(INVALID_TYPE, path)
