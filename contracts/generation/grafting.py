"""Valid requests of every operation, and the same requests with exactly one fault in them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from contracts.generation.arrangement import Arrangement
from contracts.generation.faults import ABSENT, Fault
from contracts.generation.samples import Samples
from contracts.session.actor import DEFAULT, Actor
from contracts.session.exchange import Exchange
from contracts.session.namespace import UID_LONGEST, UID_SHORTEST, Namespace
from contracts.target.model import Account


@dataclass(frozen=True)
class Request:
    """A request in parts; `body` is a JSON value, `ABSENT` for none."""

    operation: str
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str | None] = field(default_factory=dict)
    body: Any = ABSENT

    def send(self, actor: Actor) -> Exchange:
        """Send it as this actor."""
        json = DEFAULT if self.body is ABSENT else self.body
        return actor.send(self.operation, path=self.path, query=self.query, headers=self.headers, json=json)


class Bases:
    """Valid requests of one realm, each on data that the actor may use.

    Raises:
        Untested, Blocked: what a request needs is not set or cannot be arranged.
    """

    def __init__(
        self, author: Actor, arrange: Arrangement, samples: Samples, fresh: Namespace, account: Account
    ) -> None:
        self._author = author
        self._arrange = arrange
        self._samples = samples
        self._fresh = fresh
        self._account = account
        self._turns = itertools.count()

    def request(self, operation: str) -> Request:
        """A valid request of an operation; fresh data for each call where it writes."""
        make: Callable[[str], Request] = getattr(self, _MAKERS[operation])
        return make(operation)

    def made_up(self, operation: str) -> Request:
        """A request of an operation on a document, for one that is not there."""
        uid = self._fresh.uid()
        if operation != "updateContact":
            return Request(operation, {"uid": uid})
        query = {"schema": self._samples.contact_schema}
        return Request(operation, {"uid": uid}, query, body=self._samples.full_contact(uid))

    def submission(self, operation: str, identifier: str) -> Request:
        """A valid submission of a record under this identifier, which the path names where it has room for one."""
        path = {"schema": self._samples.workflow_schema}
        if operation != "createWorkflowRecord":
            path["identifier"] = identifier
        return Request(operation, path, body=self._samples.submission(identifier))

    def _token(self, operation: str) -> Request:
        body = {"email": self._account.email, "password": self._account.password.reveal()}
        return Request(operation, body=body)

    def _contact(self, operation: str) -> Request:
        query = {"schema": self._samples.contact_schema}
        if operation == "createContact":
            return Request(operation, query=query, body=self._samples.full_contact(self._fresh.uid()))
        uid = self._arrange.contact(self._author)
        return Request(operation, {"uid": uid}, query, body=self._samples.full_contact(uid))

    def _save(self, operation: str) -> Request:
        uid = self._fresh.uid()
        return Request(
            operation, {"uid": uid}, {"schema": self._samples.draft_schema}, body=self._samples.draft(uid)
        )

    def _draft(self, operation: str) -> Request:
        return Request(operation, {"uid": self._arrange.shared_draft(self._author).uid})

    def _own_draft(self, operation: str) -> Request:
        return Request(operation, {"uid": self._arrange.draft(self._author).uid})

    def _list(self, operation: str) -> Request:
        return Request(operation)

    def _upload(self, operation: str) -> Request:
        # Another name each time: a document may take each name once only.
        filename = f"{self._fresh.uid(16)}.txt"
        return Request(operation, {"uid": self._arrange.shared_draft(self._author).uid, "filename": filename})

    def _persist(self, operation: str) -> Request:
        path = {"uid": self._arrange.shared_draft(self._author).uid, "tempFileId": self._fresh.uid()}
        return Request(operation, path)

    def _attachment(self, operation: str) -> Request:
        return Request(operation, self._arrange.shared_attachment(self._author).path)

    def _create_record(self, operation: str) -> Request:
        return self.submission(operation, self._fresh.uid())

    def _update_record(self, operation: str) -> Request:
        existing = self._samples.setting("existing_identifier")
        # A fault that is taken locks its record for good: the next request needs another one.
        return self.submission(operation, str(existing[next(self._turns) % len(existing)]))


_MAKERS: Final = {
    "createToken": "_token",
    "createContact": "_contact",
    "updateContact": "_contact",
    "saveDraft": "_save",
    "getDraft": "_draft",
    "getDraftInfo": "_draft",
    "draftExists": "_draft",
    "deleteDraft": "_own_draft",
    "listDrafts": "_list",
    "createAttachment": "_upload",
    "persistTemporaryFile": "_persist",
    "listAttachments": "_draft",
    "attachmentExists": "_attachment",
    "getAttachment": "_attachment",
    "getAttachmentThumbnail": "_attachment",
    "createWorkflowRecord": "_create_record",
    "createWorkflowRecordWithIdentifier": "_create_record",
    "updateWorkflowRecord": "_update_record",
}


class Exercise:
    """Sends faults of one operation as one actor, each in an otherwise valid request."""

    def __init__(self, operation: str, bases: Bases, actor: Actor, fresh: Namespace) -> None:
        self._operation = operation
        self._bases = bases
        self._actor = actor
        self._fresh = fresh

    def send(self, fault: Fault) -> Exchange:
        """Send the fault on fresh data."""
        return graft(self._bases.request(self._operation), fault, self._fresh).send(self._actor)

    def usual(self, fault: Fault) -> Any:
        """The valid value that stands where a body fault is put; `ABSENT` when there is none."""
        value = self._bases.request(self._operation).body if fault.place == "body" else ABSENT
        for step in (step for step in fault.name.split(".") if step):
            members = value if isinstance(value, dict | list) else {}
            value = members[_own_step(members, step)] if members and _has(members, step) else ABSENT
        return value


def _has(members: Any, step: str) -> bool:
    return step == "*" or (isinstance(members, dict) and step in members)


def graft(request: Request, fault: Fault, fresh: Namespace) -> Request:
    """The request with one part replaced by the faulty one."""
    if fault.place == "body":
        return replace(request, body=_grafted(request.body, fault))
    if fault.place == "header":
        value = None if fault.value is ABSENT else str(fault.value)
        return replace(request, headers={**request.headers, fault.name: value})
    if fault.place == "query":
        return replace(request, query=_query(request.query, fault))
    value = _inside(str(fault.value), fresh) if fault.name in ("uid", "identifier") else str(fault.value)
    return replace(request, path={**request.path, fault.name: value})


def _query(query: dict[str, str], fault: Fault) -> dict[str, str]:
    if fault.kind == "unknown-property":
        return {**query, **fault.value}
    if fault.value is ABSENT:
        return {name: value for name, value in query.items() if name != fault.name}
    return {**query, fault.name: str(fault.value)}


def _inside(value: str, fresh: Namespace) -> str:
    """A faulty identifier moved into the run's namespace, with its fault kept."""
    moved = fresh.prefix + value
    shortest = len(fresh.prefix) + 1
    return moved if _has_a_bad_character(value) else moved[: max(len(value), shortest)]


def _has_a_bad_character(value: str) -> bool:
    """Whether an identifier of the right length is faulty for the characters in it."""
    return UID_SHORTEST <= len(value) <= UID_LONGEST


def _grafted(body: Any, fault: Fault) -> Any:
    if not fault.name and fault.kind != "unknown-property":
        return fault.value
    grafted = copy.deepcopy(body)
    steps = [step for step in fault.name.split(".") if step]
    if fault.kind == "unknown-property":
        _walk(grafted, steps).update(fault.value)
        return grafted
    holder = _walk(grafted, steps[:-1])
    last = _own_step(holder, steps[-1])
    if fault.value is ABSENT:
        holder.pop(last)
    else:
        holder[last] = fault.value
    return grafted


def _walk(value: Any, steps: list[str]) -> Any:
    for step in steps:
        value = value[_own_step(value, step)]
    return value


def _own_step(holder: Any, step: str) -> Any:
    """A star stands for the first member or item."""
    if step != "*":
        return step
    return 0 if isinstance(holder, list) else next(iter(holder))
