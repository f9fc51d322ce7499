"""What a sequence shows about attachments: created, looked for, downloaded, listed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from contracts.judging import readers
from contracts.judging.readers import Ambiguous
from contracts.session.exchange import Answer
from contracts.traffic.passed import Body, first
from contracts.traffic.steps import Followed, Step, Suspicion

#: A list this long may be a page of a longer one.
_PAGE: Final = 10
_OF_ONE: Final = frozenset({"attachmentExists", "getAttachment", "getAttachmentThumbnail"})
_ALL: Final = _OF_ONE | {"listAttachments", "createAttachment", "persistTemporaryFile"}


@dataclass(frozen=True)
class _Upload:
    """One accepted upload.

    Attributes:
        ids: Whole numbers in its answer; one of them may be the attachment's.
        digest: Of its bytes; None when they are not known.
    """

    name: str
    ids: frozenset[int]
    digest: str | None
    size: int
    entry: int
    who: str | None


@dataclass(frozen=True)
class _Document:
    """What is known of a document's attachments.

    Attributes:
        empty: Number of the exchange that listed none, when nothing was added since.
        muddled: Something may have been added that nobody here knows.
    """

    uploads: tuple[_Upload, ...] = field(default=())
    empty: int | None = None
    muddled: bool = False


class AttachmentTrail:
    """Follows the attachments of documents."""

    def __init__(self) -> None:
        self._documents: Followed[_Document] = Followed()

    def take(self, step: Step) -> Iterator[Suspicion]:
        """Take the next step of the traffic, and say what it shows."""
        if step.operation not in _ALL:
            return
        key = (step.site, step.facts.path["uid"])
        known = self._documents.get(key) or _Document()
        if step.operation in ("createAttachment", "persistTemporaryFile"):
            self._documents.put(key, _after(step, known))
        elif step.right and step.answer is not None and not step.passed.crossed:
            if step.operation == "listAttachments" and step.taken:
                yield from self._listed(step, step.answer, known, key)
            elif step.operation in _OF_ONE:
                yield from self._own(step, step.answer, known)
                yield from self._foreign(step, step.answer, known, key)

    def _own(self, step: Step, answer: Answer, known: _Document) -> Iterator[Suspicion]:
        upload = _meant(step, known)
        if upload is None or step.operation == "getAttachmentThumbnail":
            return
        subject, name = f"{step.facts.path['uid']}/{upload.name}", upload.name
        if step.operation == "attachmentExists":
            if step.taken or step.refused:
                yield Suspicion(
                    "attachment-exists-present",
                    subject,
                    f"{name}, created before",
                    answer.quote(),
                    upload.entry,
                    step.taken,
                )
        elif upload.digest is not None and answer.status == 200 and step.passed.header("Range") is None:
            same = hashlib.sha256(answer.content).hexdigest() == upload.digest
            seen = f"{len(answer.content)} bytes, {'the same' if same else 'others than were sent'}"
            expected = f"the {upload.size} bytes that were sent"
            yield Suspicion("attachment-download-same", subject, expected, seen, upload.entry, same)

    def _foreign(
        self, step: Step, answer: Answer, known: _Document, key: tuple[str, str]
    ) -> Iterator[Suspicion]:
        """An attachment of one document under another one that was seen to have none."""
        if (
            known.empty is None
            or known.uploads
            or known.muddled
            or step.operation == "getAttachmentThumbnail"
        ):
            return
        for other, document in self._documents.items():
            upload = _meant(step, document) if other[0] == key[0] and other != key else None
            if upload is not None and (step.taken or step.refused):
                clause = "attachment-exists-other-document"
                clause = clause if step.operation == "attachmentExists" else "attachment-get-other-document"
                expected = f"not found: {upload.name} belongs to {other[1]}"
                yield Suspicion(clause, key[1], expected, answer.quote(), upload.entry, not step.taken)
                return

    def _listed(
        self, step: Step, answer: Answer, known: _Document, key: tuple[str, str]
    ) -> Iterator[Suspicion]:
        try:
            records = readers.records(answer)
        except Ambiguous:
            return
        if records is None or step.facts.query or len(records) >= _PAGE:
            return
        if not records and not known.uploads and not known.muddled:
            self._documents.put(key, replace(known, empty=step.passed.number))
        found, numbers = answer.text, set(readers.integers(answer.json))
        for upload in known.uploads:
            named = upload.name in found or bool(upload.ids & numbers)
            if upload.who == step.who and step.who is not None:
                yield Suspicion(
                    "attachment-create-listed",
                    f"{key[1]}/{upload.name}",
                    f"a list with {upload.name}, created before",
                    f"{len(records)} attachments without it",
                    upload.entry,
                    named,
                )


def _meant(step: Step, known: _Document) -> _Upload | None:
    """The one upload that a request means for sure: by its name, and by a number of its answer."""
    number, name = step.facts.path.get("attachmentId", ""), step.facts.path.get("filename")
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    found = [each for each in known.uploads if each.name == name]
    return found[0] if len(found) == 1 and int(number) in found[0].ids else None


def _after(step: Step, known: _Document) -> _Document:
    answer = step.answer
    if answer is not None and answer.refusal and not step.passed.crossed:
        return known
    if not step.taken or answer is None or step.operation == "persistTemporaryFile" or step.passed.crossed:
        return replace(known, muddled=True, empty=None)
    ids = frozenset(readers.integers(answer.json)) if answer.json is not None else frozenset[int]()
    upload = _Upload(
        step.facts.path["filename"],
        ids,
        _digest(step.passed.request_body, first(step.passed.request_headers, "Content-Encoding")),
        step.passed.request_body.size,
        step.passed.number,
        step.who,
    )
    return replace(known, uploads=(*known.uploads, upload), empty=None)


def _digest(body: Body, coding: str | None) -> str | None:
    return hashlib.sha256(body.content).hexdigest() if body.known and not coding else None
