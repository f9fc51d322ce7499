"""Records that the service takes, for requests that a fault repairs and passes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contracts.sandbox.faults.messages import Request
from contracts.sandbox.validation import CONTACT, REALMS, Field, Kind, RecordType

_VALUES: Final[Mapping[Kind, Any]] = {
    Kind.STRING: "text",
    Kind.LSTRING: {"en": "text"},
    Kind.LINK: {"url": "https://example.test/"},
    Kind.INTEGER: 1,
    Kind.BOOLEAN: True,
    Kind.DATE: "2026-01-31",
    Kind.PLACE: {"point": {"latitude": 1.5, "longitude": 2.5}},
    Kind.HEADER: {"languages": ["en"]},
}


def _sample(field: Field, realm: str = "abs-dev") -> Any:
    """A value of a field that the service takes in a realm."""
    names = {Kind.TERM: min(field.terms, default="term"), Kind.REFERENCE: f"organization-{realm}"}
    value = {"identifier": names[field.kind]} if field.kind in names else _VALUES[field.kind]
    return [value] if field.many else value


CONTACT_FIELDS_SAMPLES: Final = {field.name: _sample(field) for field in CONTACT.fields}
MANDATORY_FIELDS: Final = tuple(field.name for field in CONTACT.fields if field.mandatory)


def contact_value(name: str, request: Request) -> Any:
    """A value of a contact's field that the service takes in this request."""
    sample = CONTACT_FIELDS_SAMPLES[name]
    if name == "contactOrganization":
        return {"identifier": f"organization-{request.realm}"}
    if name == "header" and request.uid:
        return {**sample, "identifier": request.uid, "schema": "contact"}
    return sample


def valid_document(realm: str, schema: str, identifier: str) -> dict[str, Any] | None:
    """A document that holds every mandatory field of its schema; None where there is no such schema."""
    kinds: Mapping[str, RecordType] = next((r.types for r in REALMS if r.name == realm), {})
    if schema not in kinds:
        return None
    header: dict[str, Any] = {"schema": schema, "languages": ["en"]}
    document = {field.name: _sample(field, realm) for field in kinds[schema].fields if field.mandatory}
    return {"header": {**header, **({"identifier": identifier} if identifier else {})}, **document}


def repaired(request: Request, errors: list[dict[str, Any]]) -> Request:
    """The request with what its errors name put right, so that the service takes it."""
    body = dict(request.json)
    for error in errors:
        name = str(error["property"]).split(".")[0]
        body.pop(name, None)
        if request.operation.stores == "submission":
            if name not in ("batchId", "additionalInfo"):
                body["document"] = valid_document(request.realm, request.params["schema"], request.uid)
        elif name in CONTACT_FIELDS_SAMPLES:
            body[name] = contact_value(name, request)
    return request.with_json(body)
