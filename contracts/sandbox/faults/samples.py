"""Valid documents of the sandbox's schemas, for faults that take a faulty one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contracts.sandbox.record_types import REALMS, Field, Kind, RecordType


def valid_document(realm: str, schema: str, identifier: str) -> dict[str, Any] | None:
    """A document that holds every mandatory field of its schema; None where there is no such schema."""
    kinds: Mapping[str, RecordType] = next((r.types for r in REALMS if r.name == realm), {})
    if schema not in kinds:
        return None
    fields = (field for field in kinds[schema].fields if field.mandatory)
    document = {field.name: _many(field, _sample(field, realm)) for field in fields}
    header: dict[str, Any] = {"schema": schema, "languages": ["en"]}
    return {"header": {**header, **({"identifier": identifier} if identifier else {})}, **document}


def _many(field: Field, value: Any) -> Any:
    return [value] if field.many else value


def _sample(field: Field, realm: str) -> Any:
    samples: Mapping[Kind, Any] = {
        Kind.STRING: "text",
        Kind.LSTRING: {"en": "text"},
        Kind.TERM: {"identifier": min(field.terms, default="term")},
        Kind.LINK: {"url": "https://example.test/"},
        Kind.REFERENCE: {"identifier": f"organization-{realm}"},
        Kind.INTEGER: 1,
        Kind.BOOLEAN: True,
        Kind.DATE: "2026-01-31",
        Kind.PLACE: {"point": {"latitude": 1.5, "longitude": 2.5}},
        Kind.HEADER: {"languages": ["en"]},
    }
    return samples[field.kind]
