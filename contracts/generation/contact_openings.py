"""Contacts at the points that the interface document leaves open, by the silent clause that speaks of them."""

from __future__ import annotations

from typing import Any, Final

from contracts.generation.contact_faults import UNKNOWN_TERM, without

Record = dict[str, Any]
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
