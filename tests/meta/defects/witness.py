"""Who looks at a sandbox: valid requests of every operation, each to be sent as it is or with one thing changed."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlencode

from tests.meta.defects.samples import (
    DOCUMENTS,
    PASSWORDS,
    TOKEN,
    attachments_path,
    contact,
    draft_path,
    record,
    submission_path,
)
from tests.meta.defects.wire import Answer, Request, Wire

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301"
    "0100c9fe92ef0000000049454e44ae426082"
)
_NUMBERS = itertools.count(1)


class ArrangementFailed(Exception):
    """What an observation takes for granted did not happen; it shows nothing then."""


class Witness:
    """Looks at one sandbox.

    Args:
        wire: the way to it.
        operations: the operations to look at.
        realms: the realms to look at.

    """

    def __init__(self, wire: Wire, operations: tuple[str, ...] = (), realms: tuple[str, ...] = ()) -> None:
        self.wire = wire
        self.operations = operations
        self.realms = realms
        self._tokens: dict[str, str] = {}

    def at(self, *operations: str) -> Iterator[str]:
        """Yield those of the operations that are looked at."""
        return (each for each in operations if each in self.operations)

    def uid(self, length: int = 24, alphabet: str = "") -> str:
        """Return an identifier nobody has used, of some length; at best of the characters given."""
        number = f"{next(_NUMBERS):06d}"
        if alphabet:
            return (number + alphabet * length)[:length]
        return (f"W{number}w" * length)[:length] if length > 6 else number[-length:]

    def token(self, role: str = "author") -> str:
        """Return the token of a role."""
        if role not in self._tokens:
            answer = self.sign_in({"email": f"{role}@sandbox.test", "password": PASSWORDS[role]})
            found = answer.json.get("authenticationToken") if answer.ok and answer.json else None
            if not isinstance(found, str) or not found:
                raise ArrangementFailed(f"{role} has no token")
            self._tokens[role] = found
        return self._tokens[role]

    def sign_in(self, body: Any, **headers: str) -> Answer:
        """Send a sign-in request with a JSON body."""
        asked = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        return self.wire.send(Request("POST", TOKEN, headers=asked, body=json.dumps(body).encode()))

    def send(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Send a request; options as for ``make``."""
        return self.wire.send(self.make(method, path, body, **options))

    def make(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, str] | None = None,
        role: str | None = "author",
        realm: str | None = "abs-dev",
    ) -> Request:
        """Return a request; bytes go as they are, any other body as JSON."""
        headers = {"Accept": "application/json"}
        if role is not None:
            headers["Authorization"] = f"Bearer {self.token(role)}"
        if realm is not None:
            headers["Realm"] = realm
        if body is not None and not isinstance(body, bytes):
            headers["Content-Type"] = "application/json"
            body = json.dumps(body).encode()
        return Request(method, path, urlencode(query or {}, quote_via=quote), headers, body or b"")

    # What observations rely on

    def arranged(self, answer: Answer) -> Answer:
        """Return an answer that has to be a success for the observation to mean anything."""
        if not answer.ok:
            raise ArrangementFailed(f"{answer.status}: {answer.text}")
        return answer

    def save(self, uid: str, document: Any = None, realm: str = "abs-dev", role: str = "author") -> Answer:
        """Save a draft."""
        body = {"a": 1} if document is None else document
        return self.send("PUT", draft_path(uid), body, query={"schema": "contact"}, realm=realm, role=role)

    def saved(self, document: Any = None, realm: str = "abs-dev", role: str = "author", uid: str = "") -> str:
        """Save a draft and return its uid."""
        uid = uid or self.uid()
        self.arranged(self.save(uid, document, realm, role))
        return uid

    def get(self, uid: str, realm: str = "abs-dev") -> Answer:
        """Read a draft."""
        return self.send("GET", draft_path(uid), realm=realm)

    def exists(self, uid: str, realm: str = "abs-dev") -> bool:
        """Tell whether the exists check finds a draft."""
        return self.send("HEAD", draft_path(uid), realm=realm).ok

    def listed(self, realm: str = "abs-dev", role: str = "author", **query: str) -> list[Any]:
        """Return the items of a list of drafts."""
        answer = self.drafts(realm, role, **query)
        assert answer.ok, answer.text
        assert isinstance(answer.json, list), answer.text
        return answer.json

    def drafts(self, realm: str = "abs-dev", role: str = "author", **query: str) -> Answer:
        """List drafts; a leading underscore in an option stands for the dollar."""
        options = {name.replace("_", "$"): value for name, value in query.items()}
        return self.send("GET", "/api/v2013/document-drafts", query=options, realm=realm, role=role)

    def attach(self, uid: str, name: str = "a.txt", content: bytes = b"content", **options: Any) -> Answer:
        """Create an attachment."""
        path = f"{attachments_path(uid)}/{quote(name, safe='')}"
        return self.send("POST", path, content, realm=None, **options)

    def attached(self, uid: str, name: str = "a.txt", content: bytes = b"content") -> int:
        """Create an attachment and return its number."""
        return int(self.arranged(self.attach(uid, name, content)).json["id"])

    def attachments(self, uid: str, **query: str) -> list[Any]:
        """Return the items of a list of attachments."""
        answer = self.send("GET", attachments_path(uid), query=query, realm=None)
        assert answer.ok, answer.text
        found: list[Any] = answer.json
        return found

    def attachment(
        self, uid: str, number: object, name: str = "a.txt", method: str = "GET", more: str = ""
    ) -> Answer:
        """Read, check or preview an attachment."""
        path = f"{attachments_path(uid)}/{number}/{quote(name, safe='')}{more}"
        return self.send(method, path, realm=None)

    def temporary(self, content: bytes = PNG, name: str = "temporary-new.png") -> str:
        """Put a file into temporary storage and return its id."""
        answer = self.wire.send(Request("POST", f"/sandbox/temporary-files/{name}", body=content))
        return str(self.arranged(answer).json["tempFileId"])

    def persist(self, uid: str, file_id: str, **options: Any) -> Answer:
        """Persist a temporary file."""
        path = f"{attachments_path(uid)}/persist-temporary/{quote(file_id, safe='')}"
        return self.send("POST", path, realm=None, **options)

    def create_contact(self, document: Any, realm: str = "abs-dev", role: str = "author") -> Answer:
        """Create a contact."""
        return self.send("POST", DOCUMENTS, document, query={"schema": "contact"}, realm=realm, role=role)

    def update_contact(self, uid: str, document: Any, realm: str = "abs-dev") -> Answer:
        """Update a contact."""
        return self.send("PUT", f"{DOCUMENTS}/{uid}", document, query={"schema": "contact"}, realm=realm)

    def contact_made(self, realm: str = "abs-dev") -> str:
        """Create a full contact, which few defects refuse, and return its uid."""
        more = {"prefix": {"en": "Dr"}, "phones": ["1"]}
        return str(self.arranged(self.create_contact(contact(realm, **more), realm)).json["identifier"])

    def submit(
        self, realm: str = "abs-dev", identifier: str | None = None, body: Any = None, **options: Any
    ) -> Answer:
        """Create through the workflow, by default a valid record."""
        sent = {"document": record(realm)} if body is None else body
        return self.send("POST", submission_path(realm, identifier), sent, realm=realm, **options)

    def resubmit(self, identifier: str, realm: str = "abs-dev", body: Any = None, **options: Any) -> Answer:
        """Update through the workflow, by default with a valid record."""
        sent = {"document": record(realm)} if body is None else body
        return self.send("PUT", submission_path(realm, identifier), sent, realm=realm, **options)

    def updatable(self, realm: str = "abs-dev") -> str:
        """Return the identifier of a record of the author's that exists and is not locked."""
        if realm == "ort-dev":
            return f"sandbox-existing-{realm}"
        return self.saved(record(realm), realm)

    def send_as(self, request: Request, **headers: str | None) -> Answer:
        """Send a request with some headers changed; ``None`` takes one away, underscores are hyphens."""
        changed = {**request.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        kept = {name: value for name, value in changed.items() if value is not None}
        return self.wire.send(replace(request, headers=kept))

    def valid(self, operation: str, realm: str = "abs-dev") -> Request:
        """Return a request of an operation that a faithful sandbox accepts, on fresh data."""
        return VALID[operation](self, realm)


VALID: dict[str, Callable[[Witness, str], Request]] = {}
"""The makers of valid requests, by operation; ``valid`` fills it."""
