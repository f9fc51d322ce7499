"""One ordinary request of each operation, on something the author can use; a case then changes one part of it.

The requests of `grafting.Bases` with what they leave out: uploads with a body, temporary files that are really there,
and for operations whose effect cannot be removed a content that is refused at the very end.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from contracts.generation.arrangement import Arrangement, Attachment, done
from contracts.generation.faults import ABSENT
from contracts.generation.grafting import Bases, Request
from contracts.generation.samples import WRONG_KIND, Samples
from contracts.judging import readers
from contracts.judging.outcomes import Blocked
from contracts.session.actor import DEFAULT, Actor
from contracts.session.exchange import Exchange

FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "contact": ("createContact", "updateContact"),
    "draft": ("saveDraft", "getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listDrafts"),
    "attachment": ("listAttachments", "attachmentExists", "getAttachment", "getAttachmentThumbnail"),
}
WORKFLOW: Final = ("createWorkflowRecord", "createWorkflowRecordWithIdentifier", "updateWorkflowRecord")
_ON_FILES: Final = ("attachmentExists", "getAttachment", "getAttachmentThumbnail")
#: Operations that look for something that is there.
_ON_DOCUMENTS: Final = frozenset(
    {"updateContact", "getDraft", "getDraftInfo", "draftExists", "deleteDraft", "listAttachments", *_ON_FILES}
)
#: Note of an exchange: it was about something that is not there.
MADE_UP: Final = "made up"
_COLLECTION: Final = re.compile(r"(/api/v20\d\d)/[^/?]+")
#: A realm that does not exist, in any environment.
UNKNOWN_REALM: Final = "no-such-realm"
#: For each document realm another one.
ELSEWHERE: Final[Mapping[str, str]] = {"abs-dev": "bch-dev", "bch-dev": "chm-dev", "chm-dev": "abs-dev"}
#: What an upload sends.
CONTENT: Final = b"a note\n"


class Ordinary:
    """Ordinary requests of one realm.

    Raises (all methods):
        Untested, Blocked: what a request needs is not set or cannot be arranged.
    """

    def __init__(self, bases: Bases, arrange: Arrangement, samples: Samples, author: Actor) -> None:
        self._bases = bases
        self._arrange = arrange
        self._samples = samples
        self._author = author

    def request(self, operation: str) -> Request:
        """A valid request, on fresh data where it writes."""
        if operation in ("createAttachment", "persistTemporaryFile"):
            return self._upload(operation)
        if operation in _ON_FILES:
            return Request(operation, self._picture().path)
        return self._bases.request(operation)

    def _picture(self) -> Attachment:
        """A picture attached to a document whose uid is long enough to be spoilt in its middle."""
        found = self._arrange.once("picture of the author", self._attached_picture)
        if isinstance(found, Blocked):
            raise Blocked(found.operation, found.cause)
        return found

    def attached(self, operation: str, headers: Mapping[str, str]) -> Request:
        """A request on an attachment, arranged with these headers where it cannot be arranged as documented."""
        try:
            return self.request(operation)
        except Blocked:
            found = self._arrange.once(f"picture with {sorted(headers)}", lambda: self._found_with(headers))
            return Request(operation, found.path)

    def _found_with(self, headers: Mapping[str, str]) -> Attachment:
        path = {"uid": self._arrange.draft(self._author).uid, "filename": "picture.png"}
        self._arrange.keep(path["uid"])
        answer = done(self._author.send("createAttachment", path=path, headers=dict(headers), body=picture()))
        for number in dict.fromkeys(readers.integers(answer.json)):
            attachment = Attachment(path["uid"], number, path["filename"], picture())
            if self._author.send(
                "attachmentExists", path=attachment.path, headers=dict(headers)
            ).answer.success:
                return attachment
        raise Blocked(
            "attachmentExists", "no number in the answer to the upload is an attachment id that works"
        )

    def _attached_picture(self) -> Attachment | Blocked:
        # A failure is kept too: an upload cannot be removed, so it is not tried again for every case.
        uid = self._arrange.kept_draft(self._author, "document-with-a-picture").uid
        try:
            return self._arrange.attachment(self._author, uid, "picture.png", picture())
        except Blocked as obstacle:
            return obstacle

    def submitting(self, operation: str, identifier: str) -> Request:
        """The valid submission of a record under this identifier."""
        return self._bases.submission(operation, identifier)

    def saving(self, uid: str) -> Request:
        """The request that saves a draft under this uid."""
        return at(self._bases.request("saveDraft"), uid)

    def _upload(self, operation: str) -> Request:
        uid = self._arrange.draft(self._author).uid
        if operation == "createAttachment":
            return Request(operation, {"uid": uid, "filename": "note.txt"})
        return Request(operation, {"uid": uid, "tempFileId": self._arrange.temporary_file()})

    def faulty(self, operation: str) -> Request:
        """A request that is refused for its content alone, where acceptance would leave something for good.

        Every value of the record has a wrong kind, so it is turned down however content is looked at; an update
        names a record that does not exist besides.
        """
        if operation == "updateWorkflowRecord":
            request = self.faulty("createWorkflowRecordWithIdentifier")
            return replace(request, operation=operation)
        request = self.request(operation)
        record = request.body
        if operation in WORKFLOW:
            return replace(request, body={"document": _spoilt(record["document"])})
        return replace(request, body=_spoilt(record)) if operation == "createContact" else request

    def anew(self, operation: str, headers: Mapping[str, str | None]) -> Exchange:
        """Send a valid request on fresh data, with these headers changed, as the author."""
        return send(self.request(operation), self._author, headers)

    def harmless(self, operation: str, headers: Mapping[str, str | None]) -> Exchange:
        """Send the harmless request of an operation, with these headers changed, as the author.

        It asks for something made up when nothing can be arranged, which its note `MADE_UP` says: even so it tells
        whether anything is served at the address and under the realm.
        """
        request, made_up = self._at_hand(operation)
        exchange = send(request, self._author, headers)
        exchange.notes[MADE_UP] = made_up
        return exchange

    def nowhere(self, operation: str) -> Exchange:
        """Send the harmless request of an operation to an address of its version where nothing stands."""
        request, _ = self._at_hand(operation)
        json = DEFAULT if request.body is ABSENT else request.body
        return self._author.send(
            operation, path=request.path, query=request.query, json=json, address=_to_nowhere
        )

    def _at_hand(self, operation: str) -> tuple[Request, bool]:
        try:
            if operation == "listAttachments":
                return Request(operation, {"uid": self._picture().path["uid"]}), False
            return self.faulty(operation), False
        except Blocked:
            if operation not in _ON_DOCUMENTS:
                raise
        request = self._bases.made_up(operation)
        if operation in _ON_FILES:
            more = {"attachmentId": "1", "filename": "picture.png"}
            request = replace(request, path={**request.path, **more})
        return request, True

    def once_each(self, operations: tuple[str, ...]) -> dict[str, Exchange]:
        """Send the harmless request of each operation once, as the author.

        Args:
            operations: None of those that create attachments.
        """
        return {name: self.harmless(name, {}) for name in operations}


def picture(side: int = 32) -> bytes:
    """A square PNG in one shade of grey, `side` pixels wide."""
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * side) * side)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def send(
    request: Request,
    actor: Actor,
    headers: Mapping[str, str | None] | None = None,
    query: Mapping[str, str] | None = None,
) -> Exchange:
    """Send a request with headers and query parameters changed; uploads get their body.

    Args:
        headers: Added to the documented ones, or taken out where the value is None.
        query: Added to the request's own.
    """
    changed = replace(
        request, headers={**request.headers, **(headers or {})}, query={**request.query, **(query or {})}
    )
    if request.operation == "createAttachment":
        return actor.send(
            request.operation, path=changed.path, query=changed.query, headers=changed.headers, body=CONTENT
        )
    return changed.send(actor)


def at(request: Request, uid: str) -> Request:
    """The same request for another uid; its record stays as it is."""
    return replace(request, path={**request.path, "uid": uid})


def save_each(actor: Actor, samples: Samples, uids: Iterable[str]) -> list[Exchange]:
    """Try to save a draft under each uid; the record names none itself, so that only the address can be at fault."""
    query = {"schema": samples.draft_schema}
    document = {name: value for name, value in samples.draft("").items() if name != "header"}
    return [actor.send("saveDraft", path={"uid": uid}, query=query, json=document) for uid in uids]


def ask_each(actor: Actor, operation: str, uids: Iterable[str]) -> list[Exchange]:
    """Send an operation that needs nothing but a uid, once for each."""
    return [actor.send(operation, path={"uid": uid}) for uid in uids]


def with_body(request: Request, actor: Actor, body: bytes | None, **headers: str | None) -> Exchange:
    """Send a request with these bytes for a body."""
    changed = {**request.headers, **headers}
    return actor.send(request.operation, path=request.path, query=request.query, headers=changed, body=body)


def _to_nowhere(address: str) -> str:
    return _COLLECTION.sub(r"\1/rc-no-such-collection", address, count=1)


def _spoilt(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value if name == "header" else WRONG_KIND for name, value in record.items()}
