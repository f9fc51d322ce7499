"""Paths of the operations, and records that a faithful sandbox accepts."""

from typing import Any
from urllib.parse import quote

DOCUMENTS = "/api/v2013/documents"
TOKEN = "/api/v2013/authentication/token"
LIST = "/api/v2013/document-drafts"
CONTACT_SCHEMA = {"schema": "contact"}
#: Messages of the workflow table.
UNKNOWN = "A document with the identifier does not exist, please provide correct 'identifier' to update."
LOCKED = "The record is locked for workflow, cannot proceed."
TAKEN = "A document with the identifier exists, please use a different 'identifier'."
ANONYMOUS = "Authorization required, user is anonymous."
#: What an SDK uses, in its own words too.
CONSUMER = """\
realms = ["abs-dev"]
clauses = ["attachment-create-accepted"]
[methods]
"client.attachments.upload" = ["createAttachment"]
"""


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


def draft_path(uid: str) -> str:
    return f"{DOCUMENTS}/{quote(uid, safe='')}/versions/draft"


def contact(uid: str | None = None, **members: Any) -> dict[str, Any]:
    """Return a contact of abs-dev: the mandatory fields, others as given, a header if an identifier is given."""
    header = {} if uid is None else {"header": {"identifier": uid, "schema": "contact", "languages": ["en"]}}
    return {
        "firstName": "Ada",
        "lastName": "Njoroge",
        "organization": {"en": "Office for Genetic Resources"},
        "country": {"identifier": "ke"},
        "emails": ["ada@office.example"],
        "type": "person",
        "contactOrganization": {"identifier": "organization-abs-dev"},
        **header,
        **members,
    }


def record() -> dict[str, Any]:
    """Return a document of the workflow schema of abs-dev that holds the mandatory fields."""
    own = {"permitNumber": "KE-2026-0107", "issuedOn": "2026-04-02"}
    return {"title": {"en": "Permit to collect seeds"}, "country": {"identifier": "ke"}, **own}
