"""Record types with the fields of their documents, and the realms in which each is configured.

``contact`` is the table of the interface document (Contact record), row by row. The other types are the
sandbox's own, so that a submission has something to be validated against.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from starlette.requests import Request

from contracts.sandbox.http_requests import header_value, query_value
from contracts.sandbox.refusals import bad_request

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
        name: the field's name.
        kind: kind of its value, or of each of its values.
        mandatory: it must be there.
        many: the value is an array.
        terms: the only identifiers a Term may carry; empty admits all.
        known: a Reference must name a record that exists in the realm.

    """

    name: str
    kind: Kind
    mandatory: bool = False
    many: bool = False
    terms: frozenset[str] = frozenset()
    known: bool = False


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
        Field("contactOrganization", Kind.REFERENCE, mandatory=True, known=True),
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
