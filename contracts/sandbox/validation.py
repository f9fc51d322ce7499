"""Validating a document against its record type: every fault at once, each with one of the seven codes.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from contracts.sandbox.habits import Habits
from contracts.sandbox.identifiers import IdentifierRule
from contracts.sandbox.record_types import Field, Kind, RecordType
from contracts.sandbox.refusals import Fault

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
        kind: its record type.
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
        identifiers: the identifier rule.
        habits: choices where the document is silent.

    """

    def __init__(self, identifiers: IdentifierRule, habits: Habits) -> None:
        self.identifiers = identifiers
        self.habits = habits

    def faults(self, document: dict[str, Any], expectation: Expectation) -> list[Fault]:
        """Return every fault of a document, in the order of the table, unknown fields last.

        Args:
            document: the parsed document.
            expectation: its record type, and what it must agree with.

        """
        found: list[Fault] = []
        for field in expectation.kind.fields:
            found += self.field_faults(field, document.get(field.name), field.name in document, expectation)
        found += self.unknown_fields(document, expectation.kind)
        return list(dict.fromkeys(found))

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
                found = self.typed(value, _TYPES[field.kind], path)
            case Kind.DATE:
                found = self.date_faults(value, path)
            case Kind.PLACE:
                found = self.place_faults(value, path)
            case Kind.LSTRING:
                found = self.lstring_faults(value, path)
            case Kind.HEADER:
                found = self.header_faults(value, path, expectation)
            case Kind.LINK:
                found = self.member_faults(value, "url", path)
            case Kind.TERM:
                found = self.term_faults(field, value, path)
            case Kind.REFERENCE:
                found = self.reference_faults(field, value, path, expectation)
        return found

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
        """Yield the faults of a Reference, also one that names a record nobody knows."""
        faults = list(self.member_faults(value, "identifier", path))
        yield from faults
        if not faults and field.known and not expectation.knows(value["identifier"]):
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
