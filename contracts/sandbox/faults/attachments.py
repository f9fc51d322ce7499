"""Faults of attachments: which files are taken and kept, found and given, and what a thumbnail shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_FILES, OFTEN, Range
from contracts.sandbox.faults.fault import Fault, Rows, Sized
from contracts.sandbox.faults.messages import Answer, Inject, Request, Where, answer_json
from contracts.sandbox.faults.places import FILES

_CREATE, _PERSIST, _LIST, _EXISTS, _GET, _THUMBNAIL = FILES
_READS: Final = (_EXISTS, _GET, _THUMBNAIL)
_MEBIBYTE: Final = 1024**2
_NOT_FOUND: Final = answer_json(404, {"message": "there is no such attachment of this document"})
#: Numbers of a document's attachments, the oldest first, with the requests that made them.
Uploads = dict[str, Request]


def _uploads(request: Request) -> Uploads:
    uploads = request.memory.uploads.items()
    return {number: upload for number, upload in uploads if upload.uid == request.uid}


def _gone(hidden: Callable[[list[str], Uploads], Any]) -> Inject:
    """Let some attachments of a document not be found, by their numbers."""
    number = "attachmentId"
    return do.give(
        lambda r: _NOT_FOUND if r.params[number] in hidden(list(_uploads(r)), _uploads(r)) else None
    )


@do.effect
async def _found(
    request: Request, choose: Callable[[Request], str | None], *, instead: bool = False
) -> Answer | None:
    """Give the attachment of another number where there is none of the one asked for, or instead of it."""
    got = await request.ask()
    number = choose(request) if got.success == instead else None
    upload = request.memory.uploads.get(number or "")
    if number is None or upload is None or not request.signed_in:
        return got
    filename = upload.params.get("filename", "")
    return await request.ask(request.with_params(uid=upload.uid, attachmentId=number, filename=filename))


def _nth(at: int) -> Callable[[Request], str | None]:
    """The attachment of the document at a place in the order in which they were made."""
    return lambda request: [*_uploads(request)][at] if _uploads(request) else None


def _first_of_name(request: Request) -> str | None:
    name = request.params["filename"]
    return next((n for n, upload in _uploads(request).items() if upload.params.get("filename") == name), None)


def _of_other_document(request: Request) -> str | None:
    return request.params["attachmentId"] if request.upload and request.upload.uid != request.uid else None


def _given(change: Callable[[bytes], bytes]) -> Inject:
    """Change the bytes of a download."""
    return do.success(lambda got: replace(got, body=change(got.body)))


def _stored(change: Callable[[bytes], bytes]) -> Inject:
    """Change the bytes of a file that is sent."""
    return do.send(lambda request: replace(request, body=change(request.body)))


def _unlisted(request: Request, got: Answer) -> Answer:
    """The list without persisted files."""
    persisted = {number for number, upload in _uploads(request).items() if upload.operation.id == _PERSIST}
    return got.with_items(lambda items: [item for item in items if str(item.get("id")) not in persisted])


def _made_up(request: Request, got: Answer) -> Answer:
    """Take a temporary file that is not there, with no attachment of it."""
    return answer_json(201, {"id": 1_000_000}) if got.status == 404 and request.signed_in else got


def _of_persisted(request: Request) -> bool:
    return request.upload is not None and request.upload.operation.id == _PERSIST


def _within(low: float, high: float) -> Where:
    """Files larger than one share of the limit, and no larger than another."""
    return lambda r: low * r.memory.size_limit < len(r.body) <= high * r.memory.size_limit


def _picture(content: bytes, media_type: str) -> Inject:
    """Give something else in place of a thumbnail."""
    return do.success(lambda _: Answer(200, ((b"content-type", media_type.encode()),), content))


# fmt: off
#: Lists without options, temporary files whose identifier holds safe characters alone, and numbers of attachments.
_PLAIN, _SAFE, _DIGITS = "-filter -orderby -top -skip", r"tempFileId~^[A-Za-z0-9._-]+\Z", "attachmentId~^[0-9]+$"
_DOWNLOAD = Rows("attachment-", "attachment-download-", _GET, "A downloaded attachment {}.", ways=OF_FILES)
_FILE = Rows("attachment-", "attachment-", _CREATE, "A file {}.")
_PERSISTED = Rows("persisted-", "attachment-", says="A temporary file {}.")
_PREVIEW = Rows("thumbnail-", "attachment-thumbnail-", _THUMBNAIL, "The thumbnail of a file {}.")
_OTHER = Rows("attachment-", "attachment-")
#: Which files are taken and kept, found and given, and what a thumbnail shows.
ATTACHMENTS: Final[tuple[Fault, ...]] = (
    *(
        each
        for name, change, says in (
            ("line-ends", lambda c: c.replace(b"\r\n", b"\n"),
                "has a line feed for each carriage return and line feed"),
            ("high-bytes", lambda c: bytes(byte if byte < 128 else 63 for byte in c),
                "has a question mark for each byte above 127"),
            ("null-bytes", lambda c: c.replace(b"\0", b""), "lacks its null bytes"),
            ("mark-dropped", lambda c: c.removeprefix(b"\xef\xbb\xbf"), "lacks a byte order mark at its beginning"),
            ("last-newline-dropped", lambda c: c.removesuffix(b"\n"), "lacks the line break at its end"),
            ("space-trimmed", bytes.rstrip, "lacks white space at its end"),
            ("last-byte-lost", lambda c: c[:-1], "lacks its last byte"),
            ("block-edge-lost", lambda c: c[:4095] + c[4096:], "lacks byte 4,096"),
            ("emptied", lambda _: b"", "is empty"),
        )
        for each in (
            _DOWNLOAD(name, "same", _given(change), says),
            # An upload that is emptied or cut is not the file of that size, either.
            _FILE(f"stored-{name}", ("download-same", "several", "size-within"), _stored(change),
                f"as it is stored {says}", ways=OF_FILES),
        )
    ),
    _DOWNLOAD("cut", "same", Sized(lambda n: _given(lambda c: c[:n]), 65_536, Range(1024, 65_536, 5 * _MEBIBYTE)),
        "ends after {} bytes"),
    _OTHER("bytes-of-overlapping-upload", "download-same",
        do.send(lambda r: replace(r, body=r.memory.arrived[_CREATE].body)),
        "Of files that arrive at the same time each is stored with the bytes of the last", at=_CREATE,
    ).under("overlapping"),
    _OTHER("of-a-name-is-the-first", "download-same", _found(_first_of_name, instead=True),
        "Of attachments of one name each download gives the first", at=_GET, ways=OFTEN),
    _OTHER("download-of-latest", "several", _found(_nth(-1), instead=True),
        "Every download from a document gives the bytes of its latest attachment", at=_GET, ways=OFTEN),
    _FILE("text-only", "create-accepted", do.refuse_before(), "is refused when it is not UTF-8 text", "body~\ufffd"),
    _FILE("name-in-small-letters", "name-kept",
        do.send(lambda r: r.with_params(filename=r.params["filename"].lower())),
        "is kept under its name in small letters, and found under no other"),
    _FILE("needs-extension", "name-without-extension", do.refuse_before(),
        "is refused when its name has no extension", "-filename~[.]"),
    _FILE("second-refused", "several", do.refuse_before(), "is refused when its document has another",
        lambda r: bool(_uploads(r))),
    _FILE("size-above-cut", "size-above", do.send(lambda r: replace(r, body=r.body[: r.memory.size_limit])),
        "is accepted above the limit, and cut at the limit", _within(1, 16)),
    _FILE("size-nine-tenths", "size-within", do.refuse_before(413), "is refused above nine tenths of the limit",
        _within(0.9, 1)),
    _FILE("size-at-limit-refused", "size-at-limit", do.refuse_before(413),
        "is refused when it is as large as the limit", lambda r: len(r.body) == r.memory.size_limit),
    _FILE("large-refused", "create-accepted", Sized(
        lambda n: do.give(lambda r: do.REFUSED if len(r.body) > n else None), 1_000_000,
        Range(1024, 4_000_000, 5 * _MEBIBYTE)), "is refused when it has more than {} bytes"),
    _OTHER("eleventh-replaces-first", "several", Sized(lambda n: _gone(lambda numbers, _: numbers[:-n]), 10,
        Range(2, 10, 60)), "A document holds {} attachments; a further one takes the place of the first", at=_READS),
    _OTHER("list-lacks-first", "create-listed", do.answer(lambda _, got: got.with_items(lambda items: items[1:])),
        "The list of attachments lacks the first one", _PLAIN, at=_LIST, ways=OFTEN),
    _OTHER("listed-without-id", "listed-identifier",
        do.edit(lambda items: [{k: v for k, v in item.items() if k not in ("id", "size")} for item in items]),
        "The list of attachments has no numbers", _PLAIN, at=_LIST),
    _OTHER("exists-not-when-large", "exists-present",
        Sized(lambda n: _gone(lambda _, files: {k for k, upload in files.items() if len(upload.body) > n}),
            100_000, Range(1024, 100_000, 5 * _MEBIBYTE)),
        "The exists check finds no attachment of more than {} bytes", at=_EXISTS),
    _PERSISTED("not-found", "exists-present", do.give(lambda _: _NOT_FOUND),
        "that was persisted is listed, and neither downloaded nor found", _of_persisted, at=(_EXISTS, _GET)),
    _PERSISTED("not-listed", "persist-listed", do.answer(_unlisted),
        "that was persisted is not in the list of attachments", at=_LIST),
    _PERSISTED("empty", "persist-downloads", _given(lambda _: b""),
        "that was persisted is empty when it is downloaded", _of_persisted, at=_GET),
    _PERSISTED("bytes-of-the-first", "persist-own-bytes", do.remember(lambda _: "persisted"),
        "that is persisted has the bytes of the first one", _of_persisted, at=_GET),
    _PERSISTED("refused-as-large", "persist-no-limit", do.refuse_before(413),
        "is refused as too large, whatever its size", at=_PERSIST),
    _PERSISTED("unknown", "persist-unknown", do.answer(_made_up), "that was never uploaded is persisted", _SAFE,
        at=_PERSIST),
    _PERSISTED("unsafe-id", "temporary-characters", do.answer(_made_up),
        "is accepted though its identifier has characters that are not safe in a URL", f"-{_SAFE}", at=_PERSIST),
    _PREVIEW("json", "image", _picture(b'{"thumbnail": "pending"}', "application/json"), "is a JSON object"),
    _PREVIEW("empty", "image", _picture(b"", "image/png"), "is nothing, labelled as PNG"),
    _PREVIEW("mislabelled", "image", do.success(lambda got: got.labelled("application/json")),
        "is a picture labelled as JSON"),
    _PREVIEW("of-first", "own", _found(_nth(0), instead=True), "shows the first file of the document"),
    _PREVIEW("same-for-all", "own", do.remember(lambda _: "any"), "is the same for all files"),
    *(
        _OTHER(f"{verb}-{name}", clause, _found(choose),
            f"{operation} finds a file for {what} where it should find none", where, at=operation)
        for verb, operation in (("exists", _EXISTS), ("get", _GET), ("thumbnail", _THUMBNAIL))
        for name, clause, choose, where, what in (
            ("any-number", f"{verb}-absent", _nth(-1), _DIGITS, "any number"),
            ("by-word", "id-thumbnail" if verb == "thumbnail" else "id-integer", _nth(-1),
                "attachmentId~^[A-Za-z]+$", "a word in place of a number"),
            ("from-other-document", f"{verb}-other-document", _of_other_document, _DIGITS,
                "the number of another document's file"),
        )
    ),
)
# fmt: on
