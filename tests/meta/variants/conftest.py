"""A client kit for probing a sandbox that was altered, whatever shape its answers have."""

import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from contracts.sandbox.habits import Settings
from contracts.sandbox.serve import altered

PATIENCE = 20.0
REALM = "abs-dev"
SCHEMA = {"schema": "contact"}


class Kit:
    """Everything a probe needs of one sandbox.

    Args:
        url: its base address.

    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = requests.Session()
        self.http.trust_env = False
        self.tokens: dict[str, str] = {}

    def sign_in(self, role: str = "author", **changes: Any) -> requests.Response:
        """Ask for a token."""
        body = {"email": f"{role}@sandbox.test", "password": f"sandbox-{role}", **changes}
        return self.http.post(f"{self.url}/api/v2013/authentication/token", json=body, timeout=PATIENCE)

    def token(self, role: str = "author") -> str:
        """Return the token of a role, asked for once."""
        if role not in self.tokens:
            self.tokens[role] = self.sign_in(role).json()["authenticationToken"]
        return self.tokens[role]

    def ask(
        self,
        method: str,
        path: str,
        *,
        role: str | None = "author",
        realm: str | None = REALM,
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> requests.Response:
        """Send a request to a path, as a role or as nobody."""
        sent = {} if realm is None else {"Realm": realm}
        if role is not None:
            sent["Authorization"] = f"Bearer {self.token(role)}"
        address = self.url + path
        options.setdefault("timeout", PATIENCE)
        return self.http.request(method, address, headers={**sent, **(headers or {})}, **options)

    def uid(self) -> str:
        """Return an identifier nobody has used."""
        return f"test-{uuid.uuid4().hex}"

    def contact(self, uid: str | None = None, **members: Any) -> dict[str, Any]:
        """Return a valid contact."""
        record: dict[str, Any] = {
            "firstName": "Ada",
            "lastName": "Njoroge",
            "organization": {"en": "Office for Genetic Resources"},
            "country": {"identifier": "ke"},
            "emails": ["ada@office.example"],
            "type": "person",
            "contactOrganization": {"identifier": "organization-abs-dev"},
        }
        if uid is not None:
            record["header"] = {"identifier": uid, "schema": "contact", "languages": ["en"]}
        return {**record, **members}

    def permit(self, **members: Any) -> dict[str, Any]:
        """Return a valid document of the realm's workflow schema."""
        record = {
            "title": {"en": "Permit to collect seeds"},
            "country": {"identifier": "ke"},
            "permitNumber": "KE-2026-0107",
            "issuedOn": "2026-04-02",
        }
        return {**record, **members}

    def draft(self, uid: str, rest: str = "") -> str:
        """Return the path of a draft."""
        return f"/api/v2013/documents/{uid}/versions/draft{rest}"

    def save(self, uid: str, body: Any = None, **options: Any) -> requests.Response:
        """Save a draft, of a valid contact unless told otherwise."""
        sent = self.contact(uid) if body is None else body
        return self.ask("PUT", self.draft(uid), params=SCHEMA, json=sent, **options)

    def saved(self, body: Any = None, **options: Any) -> str:
        """Save a draft under a new uid and return that."""
        uid = self.uid()
        assert self.save(uid, body, **options).status_code < 300
        return uid

    def drafts(self, role: str = "author", **query: Any) -> requests.Response:
        """List drafts."""
        named = {name if name == "collection" else f"${name}": value for name, value in query.items()}
        return self.ask("GET", "/api/v2013/document-drafts", role=role, params=named)

    def attach(self, uid: str, name: str = "note.txt", content: bytes = b"a note") -> requests.Response:
        """Create an attachment."""
        return self.ask("POST", f"/api/v2013/documents/{uid}/attachments/{name}", data=content)

    def attachments(self, uid: str, **query: Any) -> requests.Response:
        """List attachments."""
        return self.ask("GET", f"/api/v2013/documents/{uid}/attachments", params=query)

    def attached(self, name: str = "note.txt", content: bytes = b"a note") -> str:
        """Create a document with an attachment; return the attachment's path."""
        uid = self.saved()
        assert self.attach(uid, name, content).status_code < 300
        (record,) = self.attachments(uid).json()
        return f"/api/v2013/documents/{uid}/attachments/{record['id']}/{name}"

    def post_contact(self, body: Any, **options: Any) -> requests.Response:
        """Create a contact."""
        return self.ask("POST", "/api/v2013/documents", params=SCHEMA, json=body, **options)

    def put_contact(self, uid: str, body: Any, **options: Any) -> requests.Response:
        """Update a contact."""
        return self.ask("PUT", f"/api/v2013/documents/{uid}", params=SCHEMA, json=body, **options)

    def submit(self, method: str, uid: str = "", body: Any = None, **options: Any) -> requests.Response:
        """Submit a record to the workflow."""
        path = "/api/v2023/documents/schemas/absPermit" + (f"/{uid}" if uid else "")
        sent = {"document": self.permit()} if body is None else body
        return self.ask(method, path, json=sent, **options)

    def values(self, value: Any) -> Iterator[Any]:
        """Return every value inside a JSON value, itself first."""
        yield value
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for member in inner:
            yield from self.values(member)

    def eventually(self, look: Callable[[], Any]) -> Any:
        """Look until there is something to see, or patience ends."""
        end = time.monotonic() + PATIENCE
        while not (seen := look()) and time.monotonic() < end:
            time.sleep(0.05)
        return seen


@pytest.fixture
def kit_of(serve_app: Callable[[Any], str]) -> Callable[..., Kit]:
    """Return a maker of kits: ``kit_of("list-docs")`` serves a sandbox with that variant."""
    return lambda *names: Kit(serve_app(altered(Settings(variants=names))))


@pytest.fixture(scope="session")
def plain(sandbox_url: str) -> Kit:
    """Return a kit of the sandbox as it is, one for all probes."""
    return Kit(sandbox_url)
