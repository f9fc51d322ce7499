"""Contact records that differ from a valid one in one point; nothing here sends a request.

A wrong kind is a plainly other kind. Numbers and booleans never stand where a string is due, since a service may read
them as strings; `null` is missing rather than of another kind.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from contracts.cases.samples import CONTACT_FIELDS

_TEXT_WRONG: Final[dict[str, Any]] = {"object": {"text": "Maathai"}, "array": ["Maathai"]}


_OBJECT_WRONG: Final[dict[str, Any]] = {
    "string": "Maathai",
    "array": ["Maathai"],
    "number": 17,
    "boolean": True,
}


_ARRAY_WRONG: Final[dict[str, Any]] = {
    "string": "Maathai",
    "object": {"text": "Maathai"},
    "number": 17,
    "boolean": True,
}


def _inside(place: str, wrong: dict[str, Any], wrap: Any) -> dict[str, Any]:
    return {f"{place}-{name}": wrap(value) for name, value in wrong.items()}


_NAMED: Final = _OBJECT_WRONG | _inside("identifier", _TEXT_WRONG, lambda value: {"identifier": value})


_LINKS: Final = (
    _ARRAY_WRONG
    | {"item-string": ["https://example.test/"], "item-number": [17]}
    | _inside("url", _TEXT_WRONG, lambda value: [{"url": value}])
)


#: Wrong values by the kind of a field; each kind keeps the order, so that a share of them can be taken in turn.
WRONG_KINDS: Final[dict[str, dict[str, Any]]] = {
    "string": _TEXT_WRONG,
    "lstring": _OBJECT_WRONG | _inside("text", _TEXT_WRONG, lambda value: {"en": value}),
    "Term": _NAMED,
    "Reference": _NAMED,
    "array of string": _ARRAY_WRONG | _inside("item", _TEXT_WRONG, lambda value: [value]),
    "array of Link": _LINKS,
    "Header": _OBJECT_WRONG
    | _inside("identifier", _TEXT_WRONG, lambda value: {"identifier": value})
    | _inside("schema", _TEXT_WRONG, lambda value: {"schema": value})
    | _inside("languages", _ARRAY_WRONG, lambda value: {"languages": value})
    | _inside("language", _TEXT_WRONG, lambda value: {"languages": [value]}),
}


#: A member name that can be no language code.
NO_LANGUAGE: Final = "a phrase, and no language code"


#: The name of a field that no contact has.
UNKNOWN_FIELD: Final = "contractTestUnknownField"


#: A term that no thesaurus has.
UNKNOWN_TERM: Final = "contract-test-unknown-term"


LOCALISED_FIELDS: Final = tuple(name for name, kind in CONTACT_FIELDS.items() if kind == "lstring")


TERM_FIELDS: Final = tuple(name for name, kind in CONTACT_FIELDS.items() if kind == "Term")


Record = dict[str, Any]


def several_languages(record: Record) -> Record:
    """A record whose localised fields carry their text in three languages."""
    text = {"en": "Nairobi", "fr": "Nairobi, à l’équateur", "ar": "نيروبي"}
    there = [name for name in LOCALISED_FIELDS if name in record]
    return record | {name: dict(text) for name in there}


def several_items(record: Record) -> Record:
    """A record whose arrays all hold two items."""
    links = [{"url": "https://example.test/one"}, {"url": "https://example.test/two"}]
    return record | {
        "phones": ["+254 20 387 3057", "+254 20 387 3058"],
        "faxes": ["+254 20 387 3059", "+254 20 387 3060"],
        "emails": ["wangari.maathai@example.test", "office@example.test"],
        "websites": copy.deepcopy(links),
        "relevantDocuments": copy.deepcopy(links),
    }


def without(record: Record, *fields: str) -> Record:
    """A record that lacks these fields."""
    return {name: value for name, value in record.items() if name not in fields}


def wrong_kinds(record: Record, field: str) -> dict[str, Record]:
    """Records in which a field has each kind it must not have, by the name of the kind."""
    wrong = WRONG_KINDS[CONTACT_FIELDS[field]]
    return {name: record | {field: _beside(record, field, value)} for name, value in wrong.items()}


def wrong_kind_in_turn(record: Record, field: str, turn: int) -> dict[str, Record]:
    """One of `wrong_kinds`: another for each turn, and for fields of one kind."""
    every = wrong_kinds(record, field)
    name = list(every)[(list(CONTACT_FIELDS).index(field) + turn) % len(every)]
    return {name: every[name]}


def _beside(record: Record, field: str, value: Any) -> Any:
    """The wrong value; one inside a header stands beside the members that are right."""
    there = record.get(field)
    if field == "header" and isinstance(there, dict) and isinstance(value, dict):
        return there | copy.deepcopy(value)
    return copy.deepcopy(value)


def unknown_language(record: Record, field: str) -> Record:
    """A record whose localised field is keyed by a phrase."""
    return record | {field: {NO_LANGUAGE: "Nairobi"}}


def unknown_field(record: Record) -> Record:
    """A record with one field more than is documented."""
    return record | {UNKNOWN_FIELD: "Nairobi"}


def unknown_country(record: Record) -> Record:
    """A record whose country is no known term."""
    return record | {"country": {"identifier": UNKNOWN_TERM}}


_NOT_A_FORM: Final = "neither here nor there"


def open_values(record: Record) -> dict[str, dict[str, Record]]:
    """Records that a service may take or refuse as it likes, by clause and by what is open about them.

    Args:
        record: A valid record with its mandatory fields and a header.
    """
    changes: dict[str, dict[str, dict[str, Any]]] = {
        "contact-mandatory-empty": {
            "firstName": {"firstName": ""},
            "organization": {"organization": {}},
            "organization text": {"organization": {"en": ""}},
            "country": {"country": {"identifier": ""}},
            "emails": {"emails": []},
            "contactOrganization": {"contactOrganization": {"identifier": ""}},
        },
        "contact-optional-null": {"middleName": {"middleName": None}, "phones": {"phones": None}},
        "contact-number-for-string": {"firstName": {"firstName": 17}, "phones": {"phones": [17]}},
        "contact-language-key-unknown": {"organization": {"organization": {"qq": "Nairobi"}}},
        "contact-type-values": {"type": {"type": UNKNOWN_TERM}},
        "contact-address-type-values": {"addressType": {"addressType": UNKNOWN_TERM}},
        "contact-gender-values": {"gender": {"gender": {"identifier": UNKNOWN_TERM}}},
        "contact-optional-term-values": {
            "organizationType": {"organizationType": {"identifier": UNKNOWN_TERM}},
            "government": {"government": {"identifier": UNKNOWN_TERM}},
        },
        "contact-organization-unknown": {"none": {"contactOrganization": {"identifier": UNKNOWN_TERM}}},
        "contact-text-forms": {
            "emails": {"emails": [_NOT_A_FORM]},
            "phones": {"phones": [_NOT_A_FORM]},
            "websites": {"websites": [{"url": _NOT_A_FORM}]},
        },
        "contact-further-members": {
            "country": {"country": record["country"] | {"name": "Kenya"}},
            "websites": {"websites": [{"url": "https://example.test/", "name": "Home"}]},
        },
        "contact-header-members": {
            name: {"header": without(record["header"], name)}
            for name in ("identifier", "schema", "languages")
        },
    }
    return {
        clause: {name: record | change for name, change in table.items()} for clause, table in changes.items()
    }


def odd_headers(record: Record, other_uid: str) -> dict[str, Record]:
    """Records that lack a field, so that nothing comes of them, and whose header disagrees with the request."""
    header, faulty = record["header"], without(record, "lastName")
    return {
        "identifier": faulty | {"header": header | {"identifier": other_uid}},
        "schema": faulty | {"header": header | {"schema": UNKNOWN_TERM}},
    }
