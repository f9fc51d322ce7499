"""Record types, the realms in which each is configured, and the validation of documents against them.

Every fault of a document is reported at once, each with one of the seven codes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Any

from starlette.requests import Request

from contracts.sandbox.habits import Habits
from contracts.sandbox.http import Fault, IdentifierRule, bad_request, header_value, query_value

COUNTRIES = frozenset({"ca", "fr", "ke", "jp", "br"})
"""Identifiers of the sandbox's country terms; any other is an unexpected term."""


class Kind(Enum):
    """Kinds of value (Contact record, "Value kinds"), and four more for the sandbox's own types."""

    STRING = "string"
    LSTRING = "lstring"
    TERM = "Term"
    LINK = "Link"
    REFERENCE = "Reference"
    HEADER = "Header"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    DATE = "date"
    PLACE = "Place"


@dataclass(frozen=True)
class Field:
    """One row of a record type's table.

    Attributes:
        kind: kind of its value, or of each of its values.
        mandatory: it must be there.
        many: the value is an array.
        terms: the only identifiers a Term may carry; empty admits all.
        must_exist: a Reference must name a record that exists in the realm.

    """

    name: str
    kind: Kind
    mandatory: bool = False
    many: bool = False
    terms: frozenset[str] = frozenset()
    must_exist: bool = False


@dataclass(frozen=True)
class RecordType:
    """A schema and its table."""

    name: str
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """Return the field of that name, or ``None``."""
        return next((field for field in self.fields if field.name == name), None)


_HEADER = Field("header", Kind.HEADER)
_TITLE = Field("title", Kind.LSTRING, mandatory=True)
_COUNTRY = Field("country", Kind.TERM, mandatory=True, terms=COUNTRIES)

CONTACT = RecordType(
    "contact",
    (
        _HEADER,
        Field("prefix", Kind.LSTRING),
        Field("firstName", Kind.STRING, mandatory=True),
        Field("middleName", Kind.STRING),
        Field("lastName", Kind.STRING, mandatory=True),
        Field("gender", Kind.TERM),
        Field("designation", Kind.LSTRING),
        Field("organization", Kind.LSTRING, mandatory=True),
        Field("organizationAcronym", Kind.LSTRING),
        Field("department", Kind.LSTRING),
        Field("organizationType", Kind.TERM),
        Field("address", Kind.LSTRING),
        Field("city", Kind.LSTRING),
        Field("state", Kind.LSTRING),
        Field("postalCode", Kind.LSTRING),
        _COUNTRY,
        Field("phones", Kind.STRING, many=True),
        Field("faxes", Kind.STRING, many=True),
        Field("emails", Kind.STRING, mandatory=True, many=True),
        Field("websites", Kind.LINK, many=True),
        Field("addressType", Kind.STRING),
        Field("relevantInformation", Kind.LSTRING),
        Field("relevantDocuments", Kind.LINK, many=True),
        Field("type", Kind.STRING, mandatory=True),
        Field("government", Kind.TERM),
        Field("contactOrganization", Kind.REFERENCE, mandatory=True, must_exist=True),
    ),
)

_DOCUMENTS = Field("documents", Kind.LINK, many=True)
_KEYWORDS = Field("keywords", Kind.TERM, many=True)
_SUMMARY = Field("summary", Kind.LSTRING)
_CONFIDENTIAL = Field("confidential", Kind.BOOLEAN)
_AMENDMENTS = Field("amendments", Kind.INTEGER)
_PLACE = Field("place", Kind.PLACE)

ABS_PERMIT = RecordType(
    "absPermit",
    (
        _HEADER,
        _TITLE,
        _COUNTRY,
        Field("permitNumber", Kind.STRING, mandatory=True),
        Field("issuedOn", Kind.DATE, mandatory=True),
        _CONFIDENTIAL,
        _AMENDMENTS,
        _PLACE,
        Field("issuingAuthority", Kind.REFERENCE),
        _KEYWORDS,
        _DOCUMENTS,
    ),
)
ABS_CHECKPOINT = RecordType(
    "absCheckpoint",
    (_HEADER, _TITLE, _COUNTRY, Field("emails", Kind.STRING, mandatory=True, many=True), _SUMMARY),
)
ABS_MEASURE = RecordType(
    "absMeasure",
    (_HEADER, _TITLE, _COUNTRY, Field("adoptedOn", Kind.DATE), _SUMMARY, _DOCUMENTS),
)
BCH_DECISION = RecordType(
    "bchDecision",
    (
        _HEADER,
        _TITLE,
        _COUNTRY,
        Field("decisionNumber", Kind.STRING, mandatory=True),
        Field("decidedOn", Kind.DATE, mandatory=True),
        _CONFIDENTIAL,
        _AMENDMENTS,
        _PLACE,
        Field("organisms", Kind.REFERENCE, many=True),
        _KEYWORDS,
        _DOCUMENTS,
    ),
)
BCH_ORGANISM = RecordType(
    "bchOrganism",
    (
        _HEADER,
        Field("scientificName", Kind.STRING, mandatory=True),
        Field("commonName", Kind.LSTRING),
        _KEYWORDS,
    ),
)
BCH_LABORATORY = RecordType(
    "bchLaboratory",
    (_HEADER, _TITLE, _COUNTRY, Field("emails", Kind.STRING, mandatory=True, many=True), _DOCUMENTS),
)
CHM_PROFILE = RecordType(
    "chmProfile",
    (
        _HEADER,
        _TITLE,
        _COUNTRY,
        Field("overview", Kind.LSTRING, mandatory=True),
        Field("established", Kind.INTEGER),
        _CONFIDENTIAL,
        _PLACE,
        _KEYWORDS,
        Field("websites", Kind.LINK, many=True),
    ),
)
CHM_NEWS = RecordType("chmNews", (_HEADER, _TITLE, _SUMMARY, Field("publishedOn", Kind.DATE), _DOCUMENTS))
CHM_MEETING = RecordType(
    "chmMeeting",
    (_HEADER, _TITLE, _COUNTRY, Field("startsOn", Kind.DATE, mandatory=True), Field("places", Kind.INTEGER)),
)
ORT_REPORT = RecordType(
    "ortReport",
    (
        _HEADER,
        _TITLE,
        _COUNTRY,
        Field("reportingPeriod", Kind.STRING, mandatory=True),
        Field("final", Kind.BOOLEAN),
        _SUMMARY,
        _DOCUMENTS,
    ),
)
ORT_TARGET = RecordType("ortTarget", (_HEADER, _TITLE, _COUNTRY, Field("dueYear", Kind.INTEGER), _SUMMARY))
ORT_ANNEX = RecordType(
    "ortAnnex", (_HEADER, _TITLE, Field("report", Kind.REFERENCE, mandatory=True), _DOCUMENTS)
)


@dataclass(frozen=True)
class Realm:
    """One application context.

    Attributes:
        name: the value of the Realm header.
        types: the record types configured for it, by schema name.
        holds_documents: contact, draft and attachment operations serve it; else workflow only.

    """

    name: str
    types: Mapping[str, RecordType]
    holds_documents: bool = True


def _realm(name: str, *kinds: RecordType, holds_documents: bool = True) -> Realm:
    return Realm(name, {kind.name: kind for kind in kinds}, holds_documents)


REALMS = (
    _realm("abs-dev", ABS_PERMIT, ABS_CHECKPOINT, ABS_MEASURE, CONTACT),
    _realm("bch-dev", BCH_DECISION, BCH_ORGANISM, BCH_LABORATORY, CONTACT),
    _realm("chm-dev", CHM_PROFILE, CHM_NEWS, CHM_MEETING, CONTACT),
    _realm("ort-dev", ORT_REPORT, ORT_TARGET, ORT_ANNEX, holds_documents=False),
)


class RealmBook:
    """Finds the realm and the schema a request names.

    Args:
        realms: the configured realms; production realms are unknown here.
        required: contact and draft operations refuse a request without realm (silent).
        default: the realm taken when none is given and none is required.

    """

    def __init__(
        self, realms: tuple[Realm, ...] = REALMS, *, required: bool = True, default: str = "abs-dev"
    ) -> None:
        self.realms = {realm.name: realm for realm in realms}
        self.required = required
        self.default = default

    def named(self, name: str) -> Realm | None:
        """Return the configured realm of that name, or ``None``; names are case-sensitive."""
        return self.realms.get(name)

    def given(self, request: Request) -> str | None:
        """Return the realm a workflow request names: the header, else the query parameter ``Realm``."""
        return header_value(request, "realm") or query_value(request, "Realm") or None

    def of_documents(self, request: Request) -> Realm:
        """Return the realm of a contact or draft operation (header only).

        Raises:
            Refusal: no realm, an unknown one, or one that serves the workflow endpoint only.

        """
        name = header_value(request, "realm")
        if not name:
            if self.required:
                raise bad_request("the Realm header is missing")
            name = self.default
        realm = self.named(name)
        if realm is None:
            raise bad_request("the realm is not configured")
        if not realm.holds_documents:
            raise bad_request(f"the realm {realm.name} serves the workflow endpoint only")
        return realm

    def schema(self, request: Request, realm: Realm) -> RecordType:
        """Return the record type the query parameter ``schema`` names.

        Raises:
            Refusal: it is missing, or not configured for the realm.

        """
        name = query_value(request, "schema")
        if not name:
            raise bad_request("the query parameter schema is missing")
        if name not in realm.types:
            raise bad_request(f"the schema is not configured for the realm {realm.name}")
        return realm.types[name]


_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)

MANDATORY = "Error.Mandatory"
MANDATORY_ANY_OF = "Error.MandatoryAnyOf"
INVALID_VALUE = "Error.InvalidValue"
INVALID_PROPERTY = "Error.InvalidProperty"
UNSPECIFIED_LOCALE = "Error.UnspecifiedLocale"
UNEXPECTED_TERM = "Error.UnexpectedTerm"
INVALID_TYPE = "Error.InvalidType"

Path = tuple[str, ...]
Faults = Iterator[Fault]
_TYPES: dict[Kind, type] = {Kind.STRING: str, Kind.INTEGER: int, Kind.BOOLEAN: bool}


@dataclass(frozen=True)
class Expectation:
    """What a document must agree with.

    Attributes:
        identifier: the identifier in the path, or ``None`` when the path has none.
        knows: tells whether a record of that identifier exists in the realm.

    """

    kind: RecordType
    identifier: str | None
    knows: Callable[[str], bool]


class Validator:
    """Finds the faults of a document.

    What triggers each code here (the document lists the codes and leaves most triggers open):

    ==========================  ==================================================================================
    ``Error.Mandatory``         a mandatory field is absent or null; a Term or Reference without ``identifier``, a
                                Link without ``url``
    ``Error.MandatoryAnyOf``    a mandatory lstring names no language at all, or a mandatory array holds nothing:
                                at least one member of the set is needed
    ``Error.InvalidValue``      ``header.identifier`` breaks the identifier rule or contradicts the path;
                                ``header.schema`` names another schema; ``contactOrganization`` names no record of
                                the realm; a date that is no date
    ``Error.InvalidProperty``   a field the table does not have
    ``Error.UnspecifiedLocale`` a key of an lstring, or an element of ``header.languages``, is no language code
    ``Error.UnexpectedTerm``    ``country`` carries an identifier that is no country of the sandbox
    ``Error.InvalidType``       a value of another kind than the table gives; null where nothing is mandatory
    ==========================  ==================================================================================

    Members of Term, Link, Reference and Header beyond those listed are "not shown", so they are let through.

    Args:
        habits: choices where the document is silent.

    """

    def __init__(self, identifiers: IdentifierRule, habits: Habits) -> None:
        self.identifiers = identifiers
        self.habits = habits

    def faults(self, document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        """Return every fault of a document, in the order of the table, unknown fields last.

        Args:
            expectation: its record type, and what it must agree with.

        """
        faults: list[Fault] = []
        for field in expectation.kind.fields:
            faults += self.field_faults(field, document.get(field.name), field.name in document, expectation)
        faults += self.unknown_fields(document, expectation.kind)
        return list(dict.fromkeys(faults))

    def unknown_fields(self, document: dict[str, Any], kind: RecordType) -> Faults:
        """Yield a fault for each member that the table does not have."""
        for name in document:
            if kind.field(name) is None:
                yield Fault(INVALID_PROPERTY, (name,))

    def field_faults(self, field: Field, value: Any, given: bool, expectation: Expectation) -> Faults:
        """Yield the faults of one field: missing, empty, of another type, or with a faulty value."""
        path = (field.name,)
        if value is None:
            if field.mandatory:
                yield from self.missing(path)
            elif given:
                yield Fault(INVALID_TYPE, path)
        elif field.mandatory and value in ([], {}) and (field.many or field.kind is Kind.LSTRING):
            yield from self.nothing_of_the_set(path, field, value)
        elif field.mandatory and value == "" and self.habits.empty_mandatory_string_refused:
            yield from self.missing(path)
        elif field.many:
            yield from self.array_faults(field, value, path, expectation)
        else:
            yield from self.value_faults(field, value, path, expectation)

    def missing(self, path: Path) -> Faults:
        """Yield the fault of a mandatory value that is not there."""
        yield Fault(MANDATORY, path)

    def nothing_of_the_set(self, path: Path, field: Field, value: Any) -> Faults:
        """Yield the fault of a mandatory lstring or array that is there but holds nothing."""
        wanted = list if field.many else dict
        yield Fault(MANDATORY_ANY_OF if isinstance(value, wanted) else INVALID_TYPE, path)

    def array_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        """Yield the faults of an array and of its elements."""
        if not isinstance(value, list):
            yield Fault(INVALID_TYPE, path)
            return
        for position, element in enumerate(value):
            yield from self.value_faults(field, element, (*path, str(position)), expectation)

    def value_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        """Yield the faults of one value, by the kind the table gives."""
        match field.kind:
            case Kind.STRING | Kind.INTEGER | Kind.BOOLEAN:
                faults = self.typed(value, _TYPES[field.kind], path)
            case Kind.DATE:
                faults = self.date_faults(value, path)
            case Kind.PLACE:
                faults = self.place_faults(value, path)
            case Kind.LSTRING:
                faults = self.lstring_faults(value, path)
            case Kind.HEADER:
                faults = self.header_faults(value, path, expectation)
            case Kind.LINK:
                faults = self.member_faults(value, "url", path)
            case Kind.TERM:
                faults = self.term_faults(field, value, path)
            case Kind.REFERENCE:
                faults = self.reference_faults(field, value, path, expectation)
        return faults

    def typed(self, value: Any, wanted: type, path: Path) -> Faults:
        """Yield a fault when a value is not of the wanted JSON type; a boolean is no integer."""
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            yield Fault(INVALID_TYPE, path)

    def date_faults(self, value: Any, path: Path) -> Faults:
        """Yield the faults of a calendar date, written YYYY-MM-DD."""
        yield from self.typed(value, str, path)
        if isinstance(value, str) and not _is_date(value):
            yield Fault(INVALID_VALUE, path)

    def place_faults(self, value: Any, path: Path) -> Faults:
        """Yield the fault of a Place that does not hold a point of two numbers."""
        point = value.get("point") if isinstance(value, dict) else None
        given = point if isinstance(point, dict) else {}
        if any(type(given.get(name)) not in (int, float) for name in ("latitude", "longitude")):
            yield Fault(INVALID_TYPE, path)

    def lstring_faults(self, value: Any, path: Path) -> Faults:
        """Yield the faults of an object keyed by language code, each value a string."""
        if not isinstance(value, dict):
            yield Fault(INVALID_TYPE, path)
            return
        for language, text in value.items():
            yield from self.language_faults(language, path)
            yield from self.typed(text, str, (*path, language))

    def language_faults(self, language: str, path: Path) -> Faults:
        """Yield a fault when a text is no language code."""
        if _LANGUAGE.fullmatch(language) is None:
            yield Fault(UNSPECIFIED_LOCALE, path)

    def member_faults(self, value: Any, member: str, path: Path) -> Faults:
        """Yield the faults of an object that must carry one string member."""
        if not isinstance(value, dict):
            yield Fault(INVALID_TYPE, path)
        elif value.get(member) is None:
            yield from self.missing((*path, member))
        else:
            yield from self.typed(value[member], str, (*path, member))

    def term_faults(self, field: Field, value: Any, path: Path) -> Faults:
        """Yield the faults of a Term, also a term that is not expected here."""
        faults = list(self.member_faults(value, "identifier", path))
        yield from faults
        if not faults and field.terms and value["identifier"] not in field.terms:
            yield Fault(UNEXPECTED_TERM, path)

    def reference_faults(self, field: Field, value: Any, path: Path, expectation: Expectation) -> Faults:
        """Yield the faults of a Reference, also one that names a record that does not exist."""
        faults = list(self.member_faults(value, "identifier", path))
        yield from faults
        if not faults and field.must_exist and not expectation.knows(value["identifier"]):
            yield Fault(INVALID_VALUE, path)

    def header_faults(self, value: Any, path: Path, expectation: Expectation) -> Faults:
        """Yield the faults of a Header: its members are optional, but must be right and must agree."""
        if not isinstance(value, dict):
            yield Fault(INVALID_TYPE, path)
            return
        for member in ("identifier", "schema"):
            if member in value:
                yield from self.typed(value[member], str, (*path, member))
        yield from self.header_agreement(value, path, expectation)
        if "languages" in value:
            yield from self.languages_faults(value["languages"], (*path, "languages"))

    def header_agreement(self, header: dict[str, Any], path: Path, expectation: Expectation) -> Faults:
        """Yield the faults of a header that contradicts the rule, the path or the schema."""
        identifier, schema = header.get("identifier"), header.get("schema")
        if isinstance(identifier, str):
            contradicts = expectation.identifier not in {None, identifier}
            if contradicts or not self.identifiers.holds(identifier):
                yield Fault(INVALID_VALUE, (*path, "identifier"))
        if (
            isinstance(schema, str)
            and self.habits.header_schema_must_agree
            and schema != expectation.kind.name
        ):
            yield Fault(INVALID_VALUE, (*path, "schema"))

    def languages_faults(self, value: Any, path: Path) -> Faults:
        """Yield the faults of an array of language codes."""
        if not isinstance(value, list):
            yield Fault(INVALID_TYPE, path)
            return
        for language in value:
            if isinstance(language, str):
                yield from self.language_faults(language, path)
            else:
                yield Fault(INVALID_TYPE, path)


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
