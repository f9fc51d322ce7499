"""Paths of the operations, and records that a faithful sandbox accepts."""

from typing import Any
from urllib.parse import quote

DOCUMENTS = "/api/v2013/documents"
TOKEN = "/api/v2013/authentication/token"
SCHEMAS = "/api/v2023/documents/schemas"
CONTACT_SCHEMA = {"schema": "contact"}
WORKFLOW_SCHEMA = {
    "abs-dev": "absPermit",
    "bch-dev": "bchDecision",
    "chm-dev": "chmProfile",
    "ort-dev": "ortReport",
}


def credentials(role: str) -> dict[str, str]:
    """Return what an account of the sandbox signs in with."""
    return {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}"}


def account_variables(*roles: str) -> dict[str, str]:
    """Return the variables that the sandbox's settings name, with the accounts of some roles, or of all."""
    return {
        f"SANDBOX_{role.upper()}_{part.upper()}": value
        for role in roles or ("author", "other", "restricted", "nau")
        for part, value in credentials(role).items()
    }


def draft_path(uid: str, rest: str = "") -> str:
    return f"{DOCUMENTS}/{quote(uid, safe='')}/versions/draft{rest}"


def submission_path(realm: str, identifier: str | None = None) -> str:
    path = f"{SCHEMAS}/{WORKFLOW_SCHEMA[realm]}"
    return path if identifier is None else f"{path}/{quote(identifier, safe='')}"


def contact(realm: str = "abs-dev", uid: str | None = None, **members: Any) -> dict[str, Any]:
    """Return a contact with the mandatory fields, others as given, and a header if an identifier is given."""
    header = {} if uid is None else {"header": {"identifier": uid, "schema": "contact", "languages": ["en"]}}
    return {
        "firstName": "Ada",
        "lastName": "Njoroge",
        "organization": {"en": "Office for Genetic Resources"},
        "country": {"identifier": "ke"},
        "emails": ["ada@office.example"],
        "type": "person",
        "contactOrganization": {"identifier": f"organization-{realm}"},
        **header,
        **members,
    }


def record(realm: str = "abs-dev", **members: Any) -> dict[str, Any]:
    """Return a document of the realm's workflow schema with the mandatory fields, and others as given."""
    own: dict[str, dict[str, Any]] = {
        "abs-dev": {"permitNumber": "KE-2026-0107", "issuedOn": "2026-04-02"},
        "bch-dev": {"decisionNumber": "KE-1", "decidedOn": "2026-04-02"},
        "chm-dev": {"overview": {"en": "Overview"}},
        "ort-dev": {"reportingPeriod": "2026"},
    }
    title = {"en": "Permit to collect seeds"}
    return {"title": title, "country": {"identifier": "ke"}, **own[realm], **members}
