"""Faults of attachments: which files are taken and kept, found and given, and what a thumbnail shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from contracts.sandbox.faults import effects as do
from contracts.sandbox.faults.conditions import OF_FILES, OFTEN, ONCE
from contracts.sandbox.faults.fault import Fault, row, sized
from contracts.sandbox.faults.lists import page
from contracts.sandbox.faults.messages import (
    Answer,
    Below,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    as_role,
)

_CREATE, _PERSIST, _LIST = "createAttachment", "persistTemporaryFile", "listAttachments"
_EXISTS, _GET, _THUMBNAIL = "attachmentExists", "getAttachment", "getAttachmentThumbnail"
_READS: Final = (_EXISTS, _GET, _THUMBNAIL)
_SAME: Final = "attachment-download-same"
_LARGE: Final = 64 * 1024
_MEBIBYTE: Final = 1024**2
_NOT_FOUND: Final = answer_json(404, {"message": "there is no such attachment of this document"})
#: Numbers of a document's attachments, the oldest first, with the requests that made them.
Uploads = dict[str, Request]
Bytes = Callable[[bytes], bytes]


def _uploads(request: Request, memory: Memory) -> Uploads:
    return {number: upload for number, upload in memory.uploads.items() if upload.uid == request.uid}


def _number(request: Request) -> str:
    return request.params.get("attachmentId", "")


def _persisted(upload: Request) -> bool:
    return upload.operation.id == _PERSIST


def _hiding(hidden: Callable[[Uploads], Uploads]) -> Inject:
    """Keep some attachments of a document out of its list, and let none of them be found."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        gone = hidden(_uploads(request, memory))
        if request.operation.id in _READS:
            return _NOT_FOUND if _number(request) in gone else None
        got, query = await below(request), dict(request.query)
        everything = (await below(request.with_query("top", "skip"))).items
        left = [item for item in everything if str(item.get("id")) not in gone]
        skip, top = query.get("skip", "0"), query.get("top", str(len(left)))
        return got.with_items(lambda _: left[int(skip) :][: int(top)]) if (skip + top).isdigit() else got

    return effect


def _found(choose: Callable[[Request, Memory], str | None], *, instead: bool = False) -> Inject:
    """Give the attachment of another number where there is none of the one asked for, or instead of it."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        number = choose(request, memory) if got.success == instead else None
        upload = memory.uploads.get(number or "")
        if number is None or upload is None or not request.signed_in:
            return got
        filename = upload.params.get("filename", "")
        return await below(request.with_params(uid=upload.uid, attachmentId=number, filename=filename))

    return effect


def _latest(request: Request, memory: Memory) -> str | None:
    return next(reversed(_uploads(request, memory)), None)


def _first(request: Request, memory: Memory) -> str | None:
    return next(iter(_uploads(request, memory)), None)


def _first_of_name(request: Request, memory: Memory) -> str | None:
    name = request.params["filename"]
    alike = (n for n, upload in _uploads(request, memory).items() if upload.params.get("filename") == name)
    return next(alike, None)


def _of_other_document(request: Request, memory: Memory) -> str | None:
    upload = memory.uploads.get(_number(request))
    return _number(request) if upload is not None and upload.uid != request.uid else None


def _by(form: Callable[[str], bool]) -> Where:
    """Requests whose attachment identifier is of a form."""
    return lambda request, _: form(_number(request))


def _given(change: Bytes) -> Inject:
    """Change the bytes of a download of a file that is not large."""
    return do.answer(
        lambda _, got: (
            replace(got, body=change(got.body)) if got.success and len(got.body) < _MEBIBYTE else got
        )
    )


def _stored(change: Bytes) -> Inject:
    """Change the bytes of a file that is sent."""
    return do.send(lambda request: replace(request, body=change(request.body)))


def _first_of(key: Callable[[Request], str]) -> Inject:
    """Give the bytes that were given first, for all requests of one key."""
    return do.remember(lambda request: ("first", key(request)))


def _kept_as(change: Callable[[str], str]) -> Inject:
    return do.send(lambda request: request.with_params(filename=change(request.params["filename"])))


async def _cut_at_the_limit(request: Request, below: Below, memory: Memory) -> Answer | None:
    return await below(replace(request, body=request.body[: memory.size_limit]))


async def _bytes_of_the_latest(request: Request, below: Below, memory: Memory) -> Answer | None:
    return await below(replace(request, body=memory.arrived[_CREATE].body))


def _listed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Inject:
    return do.edit(lambda items: [change(item) for item in items])


def _made_up(*, refused: bool) -> Inject:
    """Make an empty attachment of a temporary file that is not there."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        if got.status != 404 or not request.signed_in:
            return got
        params = {"uid": request.uid, "filename": "unknown.bin"}
        await as_role(replace(request.at(_CREATE), params=params), below, memory, "author")
        return got if refused else answer_json(201, {"id": 1_000_000})

    return effect


def _safe(request: Request, _: Memory) -> bool:
    file_id = request.params.get("tempFileId", "")
    return file_id.translate(str.maketrans("", "", "-_.")).isalnum() and file_id.isascii()


def _unsafe(request: Request, memory: Memory) -> bool:
    return bool(request.params.get("tempFileId")) and not _safe(request, memory)


def _plain(request: Request, _: Memory) -> bool:
    return not request.query


def _of_persisted(request: Request, memory: Memory) -> bool:
    upload = memory.uploads.get(_number(request))
    return upload is not None and _persisted(upload)


def _within(low: float, high: float) -> Where:
    """Files larger than one share of the limit, and no larger than another."""
    return lambda request, memory: low * memory.size_limit < len(request.body) <= high * memory.size_limit


# fmt: off
#: Changes of a file's bytes: what is the change, and what is said of it.
_CHANGES: Final[tuple[tuple[str, Bytes, str], ...]] = (
    ("line-ends", lambda c: c.replace(b"\r\n", b"\n"), "has a line feed for each carriage return and line feed"),
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


def _bytes() -> Iterator[Fault]:
    # An upload that is emptied or cut is not the file of that size, either.
    beside = (_SAME, "attachment-several", "attachment-size-within")
    for name, change, says in _CHANGES:
        yield row(f"attachment-{name}", _SAME, _GET, _given(change),
            f"A downloaded attachment below a mebibyte {says}.", ways=OF_FILES)
        yield row(f"attachment-stored-{name}", beside, _CREATE, _stored(change),
            f"A file as it is stored {says}.", ways=OF_FILES)
    yield sized("attachment-cut", _SAME, _GET, lambda n: _given(lambda c: c[:n]),
        "A downloaded attachment below a mebibyte ends after {} bytes.", (_LARGE, 1024, _LARGE), ways=OF_FILES)
    yield row("attachment-bytes-of-overlapping-upload", _SAME, _CREATE, _bytes_of_the_latest,
        "Of files that arrive at the same time each is stored with the bytes of the last.", "overlapping")
    for name, choose, clause, says in (
        ("of-a-name-is-the-first", _first_of_name, _SAME, "Of attachments of one name each download gives the first"),
        ("download-of-latest", _latest, "attachment-several",
            "Every download from a document gives the bytes of its latest attachment"),
    ):
        yield row(f"attachment-{name}", clause, _GET, _found(choose, instead=True), f"{says}.", ways=OFTEN)


def _uploaded() -> Iterator[Fault]:
    for name, clause, effect, where, says in (
        ("text-only", "create-accepted", do.refuse_before(),
            lambda r, _: r.body.decode("utf-8", "replace").encode() != r.body, "refused when it is not UTF-8 text"),
        ("name-in-small-letters", "name-kept", _kept_as(str.lower), None,
            "kept under its name in small letters, and found under no other"),
        ("needs-extension", "name-without-extension", do.refuse_before(), lambda r, _: "." not in r.params["filename"],
            "refused when its name has no extension"),
        ("second-refused", "several", do.refuse_before(), lambda r, memory: bool(_uploads(r, memory)),
            "refused when its document has another"),
        ("size-above-cut", "size-above", _cut_at_the_limit, _within(1, 16),
            "accepted above the limit, and cut at the limit"),
        ("size-nine-tenths", "size-within", do.refuse_before(status=413), _within(0.9, 1),
            "refused above nine tenths of the limit"),
        ("size-at-limit-refused", "size-at-limit", do.refuse_before(status=413),
            lambda r, memory: len(r.body) == memory.size_limit, "refused when it is as large as the limit"),
    ):
        yield row(f"attachment-{name}", f"attachment-{clause}", _CREATE, effect, f"A file is {says}.", where=where)
    yield sized("attachment-large-refused", "attachment-create-accepted", _CREATE,
        lambda n: do.refuse_before(lambda r: len(r.body) > n), "A file of more than {} bytes is refused.",
        (1_000_000, 1024, 4_000_000))
    yield sized("attachment-eleventh-replaces-first", "attachment-several", (_LIST, *_READS),
        lambda n: _hiding(lambda uploads: dict(list(uploads.items())[:-n])),
        "A document holds {} attachments; a further one takes the place of the first.", (10, 2, 10))


def _lists() -> Iterator[Fault]:
    for end, clause, effect, says, ways in (
        ("list-lacks-first", "create-listed", page(lambda items: items[1:]), "lacks the first one", OFTEN),
        ("listed-without-id", "listed-identifier",
            _listed(lambda item: {name: value for name, value in item.items() if name not in {"id", "size"}}),
            "has no numbers", ONCE),
    ):
        yield row(f"attachment-{end}", f"attachment-{clause}", _LIST, effect, f"The list of attachments {says}.",
            where=_plain, ways=ways)


def _persisting() -> Iterator[Fault]:
    listed = _hiding(lambda uploads: {n: upload for n, upload in uploads.items() if _persisted(upload)})
    for name, clause, at, effect, where, says in (
        ("not-found", "exists-present", (_EXISTS, _GET), do.instead(_NOT_FOUND), _of_persisted,
            "that was persisted is listed, and neither downloaded nor found"),
        ("not-listed", "persist-listed", _LIST, listed, None, "that was persisted is not in the list of attachments"),
        ("empty", "persist-downloads", _GET, _given(lambda _: b""), _of_persisted,
            "that was persisted is empty when it is downloaded"),
        ("bytes-of-the-first", "persist-own-bytes", _GET, _first_of(lambda _: "persisted"), _of_persisted,
            "that is persisted has the bytes of the first one"),
        ("refused-as-large", "persist-no-limit", _PERSIST, do.refuse_before(status=413), None,
            "is refused as too large, whatever its size"),
        ("unknown", "persist-unknown", _PERSIST, _made_up(refused=False), _safe,
            "that was never uploaded is persisted, with an empty attachment"),
        ("unsafe-id", "temporary-characters", _PERSIST, _made_up(refused=False), _unsafe,
            "is accepted though its identifier has characters that are not safe in a URL"),
    ):
        yield row(f"persisted-{name}", f"attachment-{clause}", at, effect, f"A temporary file {says}.", where=where)


def _picture(content: bytes, media_type: str) -> Inject:
    """Give something else in place of a thumbnail."""
    made = Answer(200, ((b"content-type", media_type.encode()),), content)
    return do.answer(lambda _, got: made if got.success else got)


def _reads() -> Iterator[Fault]:
    yield row("attachment-exists-only-first", "attachment-exists-present", _EXISTS,
        _hiding(lambda uploads: dict(list(uploads.items())[1:])),
        "The exists check finds only the first attachment of a document.")
    yield sized("attachment-exists-not-when-large", "attachment-exists-present", _EXISTS,
        lambda n: _hiding(lambda uploads: {k: upload for k, upload in uploads.items() if len(upload.body) > n}),
        "The exists check finds no attachment of more than {} bytes.", (100_000, 1024, 100_000))
    for name, clause, effect, where, says in (
        ("json", "image", _picture(b'{"thumbnail": "pending"}', "application/json"), None, "is a JSON object"),
        ("text", "image", _picture(b"no preview yet", "image/png"), None, "is a text labelled as PNG"),
        ("empty", "image", _picture(b"", "image/png"), None, "is nothing, labelled as PNG"),
        ("mislabelled", "image", do.answer(lambda _, got: replace(got, headers=()).labelled("application/json")), None,
            "is a picture labelled as JSON"),
        ("of-first", "own", _found(_first, instead=True), None, "shows the first file of the document"),
        ("same-for-all", "own", _first_of(lambda _: "any"), None, "is the same for all files"),
    ):
        yield row(f"thumbnail-{name}", f"attachment-thumbnail-{clause}", _THUMBNAIL, effect,
            f"The thumbnail of a file {says}.", where=where)
    for verb, operation in (("exists", _EXISTS), ("get", _GET), ("thumbnail", _THUMBNAIL)):
        word = "attachment-id-thumbnail" if verb == "thumbnail" else "attachment-id-integer"
        for name, clause, choose, form, what in (
            ("any-number", f"attachment-{verb}-absent", _latest, str.isdecimal, "any number"),
            ("by-word", word, _latest, str.isalpha, "a word in place of a number"),
            ("from-other-document", f"attachment-{verb}-other-document", _of_other_document, str.isdecimal,
                "the number of another document's file"),
        ):
            yield row(f"attachment-{verb}-{name}", clause, operation, _found(choose),
                f"{operation} finds a file for {what} where it should find none.", where=_by(form))
# fmt: on


def attachment_faults() -> Iterator[Fault]:
    """Files, their bytes, their lists and their thumbnails."""
    for make in (_bytes, _uploaded, _lists, _persisting, _reads):
        yield from make()
