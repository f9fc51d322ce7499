"""A valid request for every operation, on data that the author may use; a case then changes one part of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from registry_contracts.cases.attachment_ids import Attachment
from registry_contracts.cases.sample_records import spoilt
from registry_contracts.cases.shared_documents import shared_document
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Blocked, Untested, taken, usable
from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.session.actor import DEFAULT, Actor
from registry_contracts.settings.target import Account

#: The content of an upload.
CONTENT: Final = b"a note\n"
#: Marks a part that is left out.
ABSENT: Final = object()


@dataclass(frozen=True)
class Request:
    """A request in parts; `body` is a JSON value or bytes, `ABSENT` for none."""

    operation: str
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str | None] = field(default_factory=dict)
    body: Any = ABSENT

    def send(self, actor: Actor, **parts: Any) -> Exchange:
        """Send it as this actor, with further parts, for example `address`."""
        parts |= {"path": self.path, "query": self.query, "headers": self.headers}
        if isinstance(self.body, bytes):
            return actor.send(self.operation, body=self.body, **parts)
        return actor.send(self.operation, json=DEFAULT if self.body is ABSENT else self.body, **parts)


_COLLECTION: Final = re.compile(r"(/api/v20\d\d)/[^/?]+")
#: A realm that does not exist, in any environment.
UNKNOWN_REALM: Final = "rc-no-such-realm"
#: Document realm → another one.
ELSEWHERE: Final[Mapping[str, str]] = {"abs-dev": "bch-dev", "bch-dev": "chm-dev", "chm-dev": "abs-dev"}
#: Document realm → all others.
OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    realm: (other, ELSEWHERE[other]) for realm, other in ELSEWHERE.items()
}


def family(name: str) -> tuple[str, ...]:
    """Return the operations of a family; for attachments only those that store nothing."""
    return operations_with(family=name, stores=None) if name == "attachment" else operations_with(family=name)


class OrdinaryRequests:
    """Valid requests of one realm, each on something that the author may use."""

    def __init__(self, world: World, account: Account) -> None:
        self._world = world
        self._account = account
        self._turns = itertools.count()

    def on_shared_data(self, operation: str) -> Request:
        """A valid request as a base for variants; files belong to the shared document."""
        makers = {
            "token": self._token,
            "contact": self._contact,
            "draft": self._draft,
            "attachment": self._file,
            "workflow": self._record,
        }
        return makers[load_description().operations[operation].family](operation)

    def submitting(self, operation: str, identifier: str) -> Request:
        """A valid submission of a record under this identifier, which is also in the path if the operation has it."""
        path = {"schema": self._world.samples.workflow_schema}
        if operation != "createWorkflowRecord":
            path["identifier"] = identifier
        return Request(operation, path, body=self._world.samples.submission(identifier))

    def _token(self, operation: str) -> Request:
        body = {"email": self._account.email, "password": self._account.password.reveal()}
        return Request(operation, body=body)

    def _contact(self, operation: str) -> Request:
        query = {"schema": self._world.samples.contact_schema}
        if operation == "createContact":
            return Request(operation, query=query, body=self._world.samples.full_contact(self._world.uid()))
        uid = self._world.contact()
        return Request(operation, {"uid": uid}, query, body=self._world.samples.full_contact(uid))

    def _draft(self, operation: str) -> Request:
        if operation == "saveDraft":
            uid, query = self._world.uid(), {"schema": self._world.samples.draft_schema}
            return Request(operation, {"uid": uid}, query, body=self._world.samples.draft(uid))
        if operation == "listDrafts":
            # The document does not show an empty list, and a new draft may be listed some time later.
            self._world.once(f"filled {operation}", self._listed)
            return Request(operation)
        draft = self._world.draft() if operation == "deleteDraft" else self._world.shared_draft()
        return Request(operation, {"uid": draft.uid})

    def _listed(self) -> bool:
        self._world.shared_draft()
        return self._world.eventually(lambda: usable(self._world.author.list_drafts()).success)

    def _file(self, operation: str, *, anew: bool = False) -> Request:
        """A request on files of the shared document; `anew`: of a fresh one."""
        if operation in operations_with(answers="file"):
            return Request(operation, self._world.shared_attachment().path)
        path = {"uid": self._world.document() if anew else self._world.shared_document()}
        if operation == "createAttachment":
            # A new name each time: a document may accept each name only once.
            return Request(operation, path | {"filename": f"{self._world.uid(16)}.txt"}, body=CONTENT)
        if operation == "persistTemporaryFile":
            path["tempFileId"] = self._world.temporary_file() if anew else self._world.uid()
        return Request(operation, path)

    def _record(self, operation: str) -> Request:
        if operation != "updateWorkflowRecord":
            return self.submitting(operation, self._world.uid())
        existing = self._world.samples.setting("existing_identifier")
        # An accepted fault locks its record permanently: the next request needs another record.
        return self.submitting(operation, str(existing[next(self._turns) % len(existing)]))

    def request(self, operation: str) -> Request:
        """A valid request, on fresh data if it writes."""
        if operation in operations_with(stores="attachment"):
            return self._file(operation, anew=True)
        if operation in operations_with(answers="file"):
            return self._once_answered(Request(operation, self._picture().path))
        if operation in operations_with(answers="list", needs="document"):
            return self._list_of_files(operation)
        return self.on_shared_data(operation)

    def _list_of_files(self, operation: str) -> Request:
        """A request for the list of a document with a file: the document does not show an empty list."""
        request = self.on_shared_data(operation)
        with suppress(Blocked, Untested):
            request = Request(operation, {"uid": self._picture().uid})
        return self._once_answered(request)

    def _once_answered(self, request: Request) -> Request:
        """Wait once for the request to succeed: a file may appear some time after its upload."""
        answered = partial(self._world.eventually, lambda: usable(request.send(self._world.author)).success)
        self._world.once(f"filled {request.operation}", answered)
        return request

    def _picture(self) -> Attachment:
        return shared_document(self._world).pictures[0]

    def faulty(self, operation: str) -> Request:
        """A request that is refused for its content alone, if an accepted one would leave a permanent record.

        Every value of the record has a wrong type, so any content check refuses it. A workflow update also names a
        record that does not exist.
        """
        if operation == "createToken":
            # This body yields no token, whichever part the service reads.
            return Request(operation, body={"email": "nobody@example.test", "password": "a wrong password"})
        if operation == "updateWorkflowRecord":
            request = self.faulty("createWorkflowRecordWithIdentifier")
            return replace(request, operation=operation)
        request = self.request(operation)
        record = request.body
        if operation in family("workflow"):
            return replace(request, body={"document": spoilt(record["document"])})
        return replace(request, body=spoilt(record)) if operation == "createContact" else request

    def anew(self, operation: str, headers: Mapping[str, str | None]) -> Exchange:
        """Send a valid request on fresh data with changed headers, as the author."""
        return send(self.request(operation), self._world.author, headers)

    def harmless(self, operation: str, headers: Mapping[str, str | None]) -> Exchange:
        """Send the harmless request of an operation with changed headers, as the author.

        A sign-in is sent with valid credentials: the document does not show how wrong ones are refused.
        """
        request = self.request(operation) if operation == "createToken" else self.faulty(operation)
        return send(request, self._world.author, headers)

    def nowhere(self, operation: str) -> Exchange:
        """Send the harmless request of an operation to a non-existent address under the same version."""
        return self.faulty(operation).send(self._world.author, address=_to_nowhere)


def send(
    request: Request,
    actor: Actor,
    headers: Mapping[str, str | None] | None = None,
    query: Mapping[str, str] | None = None,
) -> Exchange:
    """Send a request with headers and query parameters changed.

    Args:
        headers: Added to the documented ones; the value None removes a header.
        query: Added to the request's own.
    """
    changed = replace(
        request, headers={**request.headers, **(headers or {})}, query={**request.query, **(query or {})}
    )
    return changed.send(actor)


def new_names(request: Request) -> list[str]:
    """The identifier in the path of a request that creates something; else an empty list."""
    operation = load_description().operations[request.operation]
    name = operation.identifier_parameter if operation.needs is None else None
    return [] if name is None else [request.path[name]]


def at(request: Request, uid: str) -> Request:
    """The same request with another uid in its path; its body stays unchanged."""
    return replace(request, path={**request.path, "uid": uid})


def saving(world: World, uid: str) -> Request:
    """A request that saves a draft under a uid; its record names none, so only the address can be at fault.

    If the service refuses that even under a valid uid, the record names the uid.
    """
    query = {"schema": world.samples.draft_schema}

    def request(uid: str, document: dict[str, Any]) -> Request:
        return Request("saveDraft", {"uid": uid}, query, body=document)

    nameless = {name: value for name, value in world.samples.draft("").items() if name != "header"}
    fine = world.once(
        "draft without a header", lambda: taken(request(world.uid(), nameless).send(world.author))
    )
    return request(uid, nameless if fine else world.samples.draft(uid))


def _to_nowhere(address: str) -> str:
    return _COLLECTION.sub(r"\1/rc-no-such-collection", address, count=1)
