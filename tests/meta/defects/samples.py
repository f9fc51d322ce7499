"""Paths of the operations, and documents that a faithful sandbox accepts."""

from typing import Any
from urllib.parse import quote

DOCUMENTS = "/api/v2013/documents"
TOKEN = "/api/v2013/authentication/token"
SCHEMAS = "/api/v2023/documents/schemas"
WORKFLOW_SCHEMA = {
    "abs-dev": "absPermit",
    "bch-dev": "bchDecision",
    "chm-dev": "chmProfile",
    "ort-dev": "ortReport",
}
PASSWORDS = {role: f"sandbox-{role}" for role in ("author", "other", "restricted", "nau")}


def draft_path(uid: str) -> str:
    return f"{DOCUMENTS}/{quote(uid, safe='')}/versions/draft"


def attachments_path(uid: str) -> str:
    return f"{DOCUMENTS}/{quote(uid, safe='')}/attachments"


def submission_path(realm: str, identifier: str | None = None, schema: str | None = None) -> str:
    path = f"{SCHEMAS}/{schema or WORKFLOW_SCHEMA[realm]}"
    return path if identifier is None else f"{path}/{quote(identifier, safe='')}"


def contact(realm: str = "abs-dev", **more: Any) -> dict[str, Any]:
    """Return a contact with the mandatory fields, and others as given."""
    return {
        "firstName": "Ada",
        "lastName": "Njoroge",
        "organization": {"en": "Office for Genetic Resources"},
        "country": {"identifier": "ke"},
        "emails": ["ada@office.example"],
        "type": "person",
        "contactOrganization": {"identifier": f"organization-{realm}"},
        **more,
    }


def record(realm: str = "abs-dev", **more: Any) -> dict[str, Any]:
    """Return a valid document of the realm's workflow schema."""
    own: dict[str, dict[str, Any]] = {
        "abs-dev": {"permitNumber": "KE-1", "issuedOn": "2026-04-02"},
        "bch-dev": {"decisionNumber": "KE-1", "decidedOn": "2026-04-02"},
        "chm-dev": {"overview": {"en": "Overview"}},
        "ort-dev": {"reportingPeriod": "2026"},
    }
    return {"title": {"en": "Record"}, "country": {"identifier": "ke"}, **own[realm], **more}
