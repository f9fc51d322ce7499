"""Faults of attachments: files refused, lost, mixed up or found by mistake, and wrong previews."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from registry_contracts.sandbox.faults import effects as do
from registry_contracts.sandbox.faults import held
from registry_contracts.sandbox.faults.crossed_state import removing_files
from registry_contracts.sandbox.faults.fault import Rows, each
from registry_contracts.sandbox.faults.messages import Answer, Request, answer_json
from registry_contracts.sandbox.faults.places import FILES

_CREATE, _PERSIST, _LIST, _EXISTS, _GET, _THUMBNAIL = FILES
_READS: Final = (_EXISTS, _GET, _THUMBNAIL)
_NOT_FOUND: Final = answer_json(404, {"message": "there is no such attachment of this document"})


def _limit(request: Request) -> int:
    """The service's limit for files, in bytes."""
    return request.memory.service.settings.size_limit


def _nth(at: int) -> Callable[[Request], list[Request]]:
    """The request for the n-th attachment of the document."""
    return lambda request: [held.at_file(request, file) for file in held.files_of(request)[at:][:1]]


def _of_persisted(request: Request) -> bool:
    return request.params["attachmentId"] in request.held.persisted()


def _unlisted(request: Request, got: Answer) -> Answer:
    """The list without persisted files."""
    persisted = request.held.persisted()
    return got.with_items([item for item in got.items if str(item.get("id")) not in persisted])


# fmt: off
#: Lists without options, temporary files whose identifier holds safe characters alone, and numbers of attachments.
_PLAIN, _SAFE, _DIGITS = "-filter -orderby -top -skip", r"tempFileId~^[A-Za-z0-9._-]+\Z", "attachmentId~^[0-9]+$"
_FILE = Rows("attachment-", "attachment-", _CREATE, "A file {}.")
_PERSISTED = Rows("persisted-", "attachment-", says="A temporary file {}.")
_PREVIEW = Rows("thumbnail-", "attachment-thumbnail-", _THUMBNAIL, "The thumbnail of a file {}.")
_OTHER = Rows("attachment-", "attachment-")
_FOUND = replace(_OTHER, says="{} but should find none.")
#: Accept a temporary file that does not exist, and create no attachment.
_MADE_UP: Final = do.answer(
    lambda r, got: answer_json(201, {"id": 1_000_000}) if got.status == 404 and r.signed_in else got)
ROWS: Final = (
    _FILE("needs-extension", "name-without-extension", do.refuse_before(),
        "is refused when its name has no extension", "-filename~[.]"),
    _FILE("size-above-cut", "size-above", do.send(lambda r: replace(r, body=r.body[: _limit(r)])),
        "is accepted above the limit, and cut at the limit",
        lambda r: _limit(r) < len(r.body)),
    _FILE("size-nine-tenths", "size-within", do.refuse_before(413), "is refused above nine tenths of the limit",
        lambda r: 0.9 * _limit(r) < len(r.body) <= _limit(r)),
    _FILE("size-at-limit-refused", "size-at-limit", do.refuse_before(413),
        "is refused when it is as large as the limit", lambda r: len(r.body) == _limit(r)),
    _OTHER("eleventh-replaces-first", "several",
        do.give(lambda r: _NOT_FOUND if held.file_of(r) in held.files_of(r)[:-10] else None),
        "A document holds 10 attachments; a further one takes the place of the first", at=_READS),
    Rows("draft-", "attachment-", "saveDraft")("save-drops-attachments", "outlives-save", removing_files(),
        "Saving a draft again removes the attachments of the document"),
    _OTHER("listed-without-id", "listed-identifier",
        do.edit(lambda items: [{k: v for k, v in item.items() if k not in ("id", "size")} for item in items]),
        "The list of attachments has no numbers", _PLAIN, at=_LIST),
    _PERSISTED("not-listed", "persist-listed", do.answer(_unlisted),
        "that was persisted is not in the list of attachments", at=_LIST),
    _PERSISTED("empty", "persist-downloads", do.content(do.always(b"")),
        "that was persisted is empty when it is downloaded", _of_persisted, at=_GET),
    _PERSISTED("bytes-of-the-first", "persist-own-bytes", do.remember(lambda _: "persisted"),
        "that is persisted has the bytes of the first one", _of_persisted, at=_GET),
    _PERSISTED("refused-as-large", "persist-no-limit", do.refuse_before(413),
        "is refused as too large, whatever its size", at=_PERSIST),
    _PERSISTED("unknown", "persist-unknown", _MADE_UP, "that was never uploaded is persisted", _SAFE, at=_PERSIST),
    _PERSISTED("unsafe-id", "temporary-characters", _MADE_UP,
        "is accepted though its identifier has characters that are not safe in a URL", f"-{_SAFE}", at=_PERSIST),
    _PREVIEW("of-first", "own", do.send(lambda r: _nth(0)(r)[0] if held.file_of(r) in held.files_of(r) else None),
        "shows the first file of the document"),
    *each(lambda verb, operation: _FOUND(f"{verb}-any-number", f"{verb}-absent", do.mend(_nth(-1)),
            f"{operation} finds a file for any number", _DIGITS, at=operation),
        ("get", _GET), ("thumbnail", _THUMBNAIL)),
    *each(lambda verb, operation, clause: _FOUND(f"{verb}-by-word", clause, do.mend(_nth(-1)),
            f"{operation} finds a file for a word in place of a number", "attachmentId~^[A-Za-z]+$", at=operation),
        ("get", _GET, "id-integer"), ("thumbnail", _THUMBNAIL, "id-thumbnail")),
    *each(lambda verb, operation: _FOUND(f"{verb}-from-other-document", f"{verb}-other-document",
            do.mend(lambda r: [held.at_file(r, file)] if (file := held.file_of(r)) else []),
            f"{operation} finds a file for the number of another document's file", _DIGITS, at=operation),
        ("get", _GET), ("thumbnail", _THUMBNAIL)),
)
# fmt: on
