"""Records that the service takes, for requests that a fault repairs and passes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from contracts.interface.description import load_description
from contracts.sandbox.faults.messages import Request
from contracts.sandbox.validation import REALMS, Field, Kind, RecordType


def _contact_samples() -> dict[str, Any]:
    """A value of the right kind for each field of a contact, by the description of the contact record."""
    schemas = load_description().bundle["components"]["schemas"]
    return {name: _value(schema, schemas) for name, schema in schemas["Contact"]["properties"].items()}


def _value(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    name = str(schema.get("$ref", "")).rsplit("/", 1)[-1]
    if name == "LString":
        return {"en": "text"}
    if name == "Header":
        return {"languages": ["en"]}
    if name == "Link":
        return {"url": "https://example.test/"}
    if name in ("Term", "Reference"):
        return {"identifier": {"Term": "ca", "Reference": "organization-abs-dev"}[name]}
    return [_value(schema["items"], schemas)] if schema.get("type") == "array" else "text"


CONTACT_FIELDS_SAMPLES: Final = _contact_samples()
MANDATORY_FIELDS: Final[tuple[str, ...]] = tuple(
    load_description().bundle["components"]["schemas"]["Contact"]["required"]
)


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
