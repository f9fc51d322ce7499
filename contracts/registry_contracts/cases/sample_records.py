"""Valid records of a realm, and contact records that differ from a valid one in one point; nothing here sends requests.

They are built from the interface document and the settings. A wrong type is clearly wrong: never a number or boolean
in place of a string, since a service may read it as a string, and never `null`, which means missing.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from registry_contracts.checks.outcomes import Blocked, Untested, missing
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import CONTACT_VALUES_NOT_SHOWN, load_description
from registry_contracts.settings.target import RealmSettings

_CONTACT: Final[Mapping[str, Any]] = load_description().bundle["components"]["schemas"]["Contact"]


def _kind(described: Mapping[str, Any]) -> str:
    """The type of a field in the interface document's terms, for example `string`, `Term` or `array of Link`."""
    if described.get("type") == "array":
        return f"array of {_kind(described['items'])}"
    named = str(described.get("$ref", "string")).rpartition("/")[2]
    return "lstring" if named == "LString" else named


#: The 26 fields of a contact record with their types, in the order of the interface document.
CONTACT_FIELDS: Final = {name: _kind(described) for name, described in _CONTACT["properties"].items()}
MANDATORY_FIELDS: Final[tuple[str, ...]] = tuple(_CONTACT["required"])
#: The suite's own values for contact records: mandatory fields, then the others.
_PLAIN: Final[dict[str, Any]] = {
    "firstName": "Wangari",
    "lastName": "Maathai",
    "organization": {"en": "Green Belt Movement"},
    "emails": ["wangari.maathai@example.test"],
    "type": "person",
}
_MORE: Final[dict[str, Any]] = {
    "prefix": {"en": "Prof."},
    "middleName": "Muta",
    "gender": {"identifier": "female"},
    "designation": {"en": "Founder"},
    "organizationAcronym": {"en": "GBM"},
    "department": {"en": "Board"},
    "organizationType": {"identifier": "ngo"},
    "address": {"en": "Kilimani Lane 1"},
    "city": {"en": "Nairobi"},
    "state": {"en": "Nairobi County"},
    "postalCode": {"en": "00505"},
    "phones": ["+254 20 387 3057"],
    "faxes": ["+254 20 387 3058"],
    "websites": [{"url": "https://example.test/"}],
    "addressType": "office",
    "relevantInformation": {"en": "Available in English and French."},
    "relevantDocuments": [{"url": "https://example.test/report.pdf"}],
}
_CONTACT_SETTINGS: Final = ("contact_schema", "country_terms", "contact_organization")
#: Member → the setting that provides its value if the settings hold no whole contact.
_TOLD_BY: Final = {"country": "country_terms", "contactOrganization": "contact_organization"}
_REFERENCE: Final = "contactOrganization"
#: The schema of a stand-in if the settings name none: the interface document's name for these records.
STAND_IN_SCHEMA: Final = "contact"
#: Marks a run whose drafts are documents of the workflow, since contacts were not accepted as drafts.
DRAFTS_OF_WORKFLOW: Final = "drafts are documents of the workflow"
#: The language of the suite's own texts.
_OWN_LANGUAGE: Final = "en"
#: A type that no field of a record has: an array in an array.
WRONG_KIND: Final = [[17]]


class Samples:
    """Valid records for one realm; each call gives a fresh copy.

    Args:
        proven: Called before a stand-in is used as a draft because the settings hold no valid record; raises
            Untested unless the service accepts it.

    Raises (all methods):
        Untested: the settings lack something that the record needs; the message names it.
    """

    def __init__(
        self, settings: RealmSettings, realm: str, proven: Callable[[Samples], None] | None = None
    ) -> None:
        self._settings = settings
        self._realm = realm
        self._proven = proven

    def setting(self, name: str) -> Any:
        """A setting of the realm."""
        value = getattr(self._settings, name)
        if not value:
            raise missing(f"realm.{self._realm}.{name}")
        return value

    def tells(self, name: str) -> bool:
        """Whether the realm has a setting."""
        return bool(getattr(self._settings, name))

    @property
    def contact_schema(self) -> str:
        """Schema name of contact records."""
        return str(self.setting("contact_schema"))

    @property
    def draft_schema(self) -> str:
        """Schema name of drafts: from the settings, or that of an accepted stand-in."""
        self._told_or_proven()
        return self._draft_schema

    @property
    def _draft_schema(self) -> str:
        header = (self._settings.draft_document or {}).get("header", {})
        named = self._settings.draft_schema or header.get("schema")
        return str(named or self._settings.contact_schema or STAND_IN_SCHEMA)

    def _told_or_proven(self) -> bool:
        """Whether the settings hold a valid draft; if not, check that a stand-in is accepted."""
        if self._settings.draft_document is not None or not self.lacking:
            return True
        if self._proven is None:
            raise missing(self.lacking)
        self._proven(self)
        return False

    @property
    def lacking(self) -> str:
        """The first missing setting for contacts; empty if there is none."""
        given = self._settings.contact_document or {}
        provided = {setting for member, setting in _TOLD_BY.items() if member in given}
        needed = (name for name in _CONTACT_SETTINGS if name not in provided)
        return next(
            (f"realm.{self._realm}.{name}" for name in needed if not getattr(self._settings, name)), ""
        )

    @property
    def workflow_schema(self) -> str:
        """A schema that the realm's workflow knows."""
        return str(self.setting("workflow_schema"))

    @property
    def tells_workflow(self) -> bool:
        """Whether the settings hold a valid document for the workflow."""
        return bool(self._settings.workflow_schema and self._settings.workflow_document)

    def header(self, schema: str, identifier: str) -> dict[str, Any]:
        """A record's header; it declares the languages of the settings' contact and of our own texts."""
        given = self._settings.contact_document or {}
        languages = dict.fromkeys([*_declared(given), *_used(given), _OWN_LANGUAGE])
        return {"identifier": identifier, "schema": schema, "languages": list(languages)}

    @property
    def made_up_fields(self) -> tuple[str, ...]:
        """Contact fields with a value of the suite's own, since the document does not show the allowed values."""
        given = self._settings.contact_document or {}
        return tuple(name for name in CONTACT_VALUES_NOT_SHOWN if name not in given)

    def needs_contact_document(self, refused: Exchange) -> Untested:
        """The missing setting, after a contact was refused for values that only the settings can provide."""
        of_it = self._settings.contact_document is not None
        values = f" values of {', '.join(self.made_up_fields)} that the service accepts" if of_it else ""
        ours = f"{refused.operation} refuses those of ours, as the interface shows none"
        more = f"{values}: {ours}: {refused.answer.quote()}"
        return missing(f"realm.{self._realm}.contact_document", more)

    @property
    def references(self) -> tuple[str, ...]:
        """Contact fields that refer to a record named by a setting."""
        given = self._settings.contact_document or {}
        return () if _REFERENCE in given else (_REFERENCE,)

    def needs_reference(self, refused: Exchange) -> Blocked:
        """The obstacle if a contact was refused only for the record it refers to."""
        return Blocked(
            refused.operation or "",
            f"refuses the record that setting realm.{self._realm}.{_TOLD_BY[_REFERENCE]} names, which may be gone: "
            f"{refused.answer.quote()}",
        )

    def contact(self, identifier: str | None = None) -> dict[str, Any]:
        """A contact record with its mandatory fields and, if given, its identifier."""
        given = self._settings.contact_document or {}
        record = _PLAIN | {name: given[name] for name in MANDATORY_FIELDS if name in given}
        record |= {name: self._named(name) for name in _TOLD_BY if name not in given}
        if identifier is not None:
            record["header"] = self.header(self.contact_schema, identifier)
        return copy.deepcopy(record)

    def _named(self, member: str) -> dict[str, Any]:
        value = self.setting(_TOLD_BY[member])
        return {"identifier": value if isinstance(value, str) else value[0]}

    def full_contact(self, identifier: str) -> dict[str, Any]:
        """A contact record with all 26 fields."""
        plain = self.contact(identifier)
        given = self._settings.contact_document or {}
        further = {name: given[name] for name in CONTACT_FIELDS if name in given and name not in plain}
        return plain | copy.deepcopy(_MORE | {"government": plain["country"]} | further)

    def draft(self, identifier: str, **members: Any) -> dict[str, Any]:
        """A record to save as a draft: the settings' draft document, or else a full contact record.

        The document does not show the body of a draft.
        """
        told = self._settings.filled_document(identifier, "draft_document")
        if told is not None:
            return told | self.members_of_draft(**members)
        whole = self.full_contact if self._told_or_proven() else self.stand_in
        return whole(identifier) | members

    @property
    def drafts_are_contacts(self) -> bool:
        """Whether drafts have the fields of a contact."""
        given = self._settings.draft_document
        return given is None or set(MANDATORY_FIELDS) <= given.keys()

    def members_of_draft(self, **members: Any) -> dict[str, Any]:
        """Contact fields as members of a draft; if drafts are no contacts, their texts replace the draft's own."""
        told = self._settings.draft_document
        if told is None or self.drafts_are_contacts:
            return members
        texts = [
            value
            for name, value in members.items()
            if name != "header" and (isinstance(value, str) or is_worded(value))
        ]
        places = [name for name, value in told.items() if name != "header" and is_worded(value)]
        if texts and not places:
            raise Untested(f"setting realm.{self._realm}.draft_document has no text by language to change")
        placed = {name: _in_place(told[name], text) for name, text in zip(places, texts, strict=False)}
        header = {"header": told.get("header", {}) | members["header"]} if "header" in members else {}
        return copy.deepcopy(placed | header)

    def stand_in(self, identifier: str) -> dict[str, Any]:
        """A contact record without values that only the settings can provide."""
        schema = self._draft_schema
        plain = {
            name: value for name, value in (_PLAIN | _MORE).items() if name not in CONTACT_VALUES_NOT_SHOWN
        }
        return {"header": self.header(schema, identifier)} | copy.deepcopy(plain)

    def short_draft(self, identifier: str, **members: Any) -> dict[str, Any]:
        """A draft record with only the mandatory fields; `members` as for `draft`."""
        if not self.drafts_are_contacts:
            return self.draft(identifier, **members)
        whole = self.draft(identifier)
        return {name: whole[name] for name in ("header", *MANDATORY_FIELDS) if name in whole} | members

    def document(self, identifier: str) -> dict[str, Any]:
        """A valid document of the realm's workflow schema."""
        self.setting("workflow_document")
        return cast(dict[str, Any], self._settings.filled_document(identifier))

    def submission(self, identifier: str, **members: Any) -> dict[str, Any]:
        """A valid workflow submission; `members` are additionalInfo and batchId."""
        return {"document": self.document(identifier), **members}

    def submitted_contacts_without_a_field(self, identifier: str) -> list[dict[str, Any]]:
        """Documents that each lack one mandatory field, if the workflow's documents are contacts; else none."""
        document = self.document(identifier)
        contact = set(MANDATORY_FIELDS) <= document.keys()
        return [without(document, name) for name in MANDATORY_FIELDS] if contact else []

    def faulty_submission(self, identifier: str) -> dict[str, Any]:
        """A submission whose document breaks its schema: every member but the header has a wrong type."""
        return {"document": spoilt(self.document(identifier))}

    def bare_submission(self, identifier: str) -> dict[str, Any]:
        """A submission whose document holds only its header."""
        document = self.document(identifier)
        return {"document": {name: value for name, value in document.items() if name == "header"}}


def _declared(record: Mapping[str, Any]) -> list[str]:
    """The languages that the header of a record declares."""
    header = record.get("header")
    declared = header.get("languages") if isinstance(header, dict) else None
    return [name for name in declared if isinstance(name, str)] if isinstance(declared, list) else []


def _used(record: Mapping[str, Any]) -> Iterator[str]:
    """The languages in which a contact holds texts."""
    return (language for name in LOCALISED_FIELDS if is_worded(record.get(name)) for language in record[name])


def is_worded(value: Any) -> bool:
    """Whether a member holds text by language, which is free text; a plain text may be a code or a date."""
    by_language = isinstance(value, dict) and bool(value) and not value.keys() & {"identifier", "url"}
    return by_language and all(isinstance(text, str) for text in value.values())


def _in_place(text: dict[str, str], new: Any) -> dict[str, str]:
    """Replace text by language; a plain text replaces its first language only."""
    return new if isinstance(new, dict) else text | {next(iter(text)): new}


def spoilt(record: dict[str, Any]) -> dict[str, Any]:
    """A record in which every member but the header has a wrong type."""
    return {name: value if name == "header" else copy.deepcopy(WRONG_KIND) for name, value in record.items()}


#: A member name that cannot be a language code.
NO_LANGUAGE: Final = "a phrase, and no language code"
#: The name of a field that no contact has.
UNKNOWN_FIELD: Final = "contractTestUnknownField"
#: A term that no thesaurus has.
UNKNOWN_TERM: Final = "contract-test-unknown-term"
UNKNOWN_COUNTRY: Final[dict[str, Any]] = {"country": {"identifier": UNKNOWN_TERM}}
LOCALISED_FIELDS: Final = tuple(name for name, kind in CONTACT_FIELDS.items() if kind == "lstring")
Record = dict[str, Any]
#: Fields of free text; the others keep their text in every language, for example a postal code.
_WORDED_FIELDS: Final = {"designation", "department", "address", "city", "relevantInformation"}
#: Languages of multilingual records, with a text in each.
_TEXTS: Final = {"en": "Nairobi", "fr": "Nairobi, à l’équateur", "ar": "نيروبي"}


def in_languages(record: Record, *languages: str) -> Record:
    """A record with its localised fields in these languages (default: three), which its header declares."""
    texts = {language: _TEXTS[language] for language in languages or _TEXTS}
    own = {name: next(iter(record[name].values()), "") for name in LOCALISED_FIELDS if record.get(name)}
    localised = {
        name: dict(texts) if name in _WORDED_FIELDS else dict.fromkeys(texts, text)
        for name, text in own.items()
    }
    declared = {"header": record["header"] | {"languages": list(texts)}} if "header" in record else {}
    return record | localised | declared


def named_in_scripts(record: Record) -> Record:
    """A record with names in other scripts, with accents and an apostrophe.

    The middle name begins beyond the basic plane, as some real names do.
    """
    return record | {"firstName": "Łucja-Ann O'Neill", "middleName": "𠮷明", "lastName": "Жуков"}


def several_items(record: Record) -> Record:
    """A record whose arrays all hold several items: two faxes, and five or more of the others."""
    links = [{"url": f"https://example.test/{number}"} for number in range(5)]
    return record | {
        "phones": [f"+254 20 387 30{number}" for number in range(57, 63)],
        "faxes": ["+254 20 387 3059", "+254 20 387 3060"],
        "emails": ["wangari.maathai@example.test", *(f"office{number}@example.test" for number in range(5))],
        "websites": copy.deepcopy(links),
        "relevantDocuments": copy.deepcopy(links),
    }


def optional_mixes(full: Record) -> dict[str, Record]:
    """Seven records; for any two optional fields, one has only the first, one only the second, and one neither."""
    rows = range(7)
    held = itertools.combinations(rows, 3)
    columns = {field: next(held) for field in CONTACT_FIELDS if field not in MANDATORY_FIELDS}
    return {
        f"mix {row}": without(full, *[field for field, column in columns.items() if row not in column])
        for row in rows
    }


def mandatory_of(record: Record) -> Record:
    """The header and the mandatory fields of a record."""
    return {name: value for name, value in record.items() if name in ("header", *MANDATORY_FIELDS)}


def without(record: Record, *fields: str) -> Record:
    """A record without these fields."""
    return {name: value for name, value in record.items() if name not in fields}
