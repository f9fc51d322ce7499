"""Faults of attachments: which files are taken and kept, found and given, and what a thumbnail shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from contracts.sandbox.faults.effects import answer, edit, instead, refuse_before, send, signed_in
from contracts.sandbox.faults.fault import (
    Answer,
    Below,
    Fault,
    Inject,
    Memory,
    Request,
    Where,
    answer_json,
    as_role,
    items_of,
    row,
    with_items,
)
from contracts.sandbox.faults.lists import page

_CREATE, _PERSIST, _LIST = "createAttachment", "persistTemporaryFile", "listAttachments"
_EXISTS, _GET, _THUMBNAIL = "attachmentExists", "getAttachment", "getAttachmentThumbnail"
_READS: Final = (_EXISTS, _GET, _THUMBNAIL)
#: What a fault gives of a file that it cuts, in bytes.
_BLOCK: Final = 32_768
_LARGE: Final = 64 * 1024
_MEBIBYTE: Final = 1024**2
_NOT_FOUND: Final = answer_json(404, {"message": "there is no such attachment of this document"})
#: Numbers of a document's attachments, the oldest first, with the requests that made them.
Uploads = dict[str, Request]


def _uploads(request: Request, memory: Memory) -> Uploads:
    return {number: upload for number, upload in memory.uploads.items() if upload.uid == request.uid}


def _number(request: Request) -> str:
    return request.params.get("attachmentId", "")


def _persisted(upload: Request) -> bool:
    return upload.operation.id == _PERSIST


def hiding(hidden: Callable[[Uploads], Uploads]) -> Inject:
    """Keep some attachments of a document out of its list, and let none of them be found."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        gone = hidden(_uploads(request, memory))
        if request.operation.id in _READS:
            return _NOT_FOUND if _number(request) in gone else None
        got, query = await below(request), dict(request.query)
        everything = items_of((await below(request.with_query("top", "skip"))).json) or []
        left = [item for item in everything if str(item.get("id")) not in gone]
        skip, top = query.get("skip", "0"), query.get("top", str(len(left)))
        if not (got.success and skip.isdigit() and top.isdigit()):
            return got
        return with_items(got, lambda _: left[int(skip) :][: int(top)])

    return effect


def found(choose: Callable[[Request, Memory], str | None], *, instead: bool = False) -> Inject:
    """Give the attachment of another number where there is none of the one asked for, or instead of it."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        number = choose(request, memory) if got.success == instead else None
        upload = memory.uploads.get(number or "")
        if number is None or upload is None or not signed_in(request):
            return got
        where = {"uid": upload.uid, "attachmentId": number, "filename": upload.params.get("filename", "")}
        return await below(replace(request, params=where))

    return effect


def _latest_of_document(request: Request, memory: Memory) -> str | None:
    return next(reversed(_uploads(request, memory)), None)


def _first_of_document(request: Request, memory: Memory) -> str | None:
    return next(iter(_uploads(request, memory)), None)


def _first_of_name(request: Request, memory: Memory) -> str | None:
    return next(
        (
            number
            for number, upload in _uploads(request, memory).items()
            if upload.params.get("filename") == request.params["filename"]
        ),
        None,
    )


def _of_other_document(request: Request, memory: Memory) -> str | None:
    upload = memory.uploads.get(_number(request))
    return _number(request) if upload is not None and upload.uid != request.uid else None


def _before_tail(request: Request, _: Memory) -> str | None:
    return _number(request).partition(".")[0].rstrip("abcdefghijklmnopqrstuvwxyz-")


def _by(form: Callable[[str], bool]) -> Where:
    """Requests whose attachment identifier is of a form."""
    return lambda request, _: form(_number(request))


def first_of(key: Callable[[Request], str]) -> Inject:
    """Give the bytes that were given first, for all requests of one key."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        if not got.success:
            return got
        body: bytes = memory.kept.setdefault(("first", key(request)), got.body)
        return replace(got, body=body)

    return effect


def given(change: Callable[[bytes], bytes]) -> Inject:
    """Change the bytes of a download of a file that is not large."""
    return answer(
        lambda _, got: (
            replace(got, body=change(got.body)) if got.success and len(got.body) < _MEBIBYTE else got
        )
    )


def picture(content: bytes, media_type: str) -> Inject:
    """Give something else in place of a thumbnail."""
    made = Answer(200, ((b"content-type", media_type.encode()),), content)
    return answer(lambda _, got: made if got.success else got)


def _larger(size: int) -> Where:
    return lambda request, _: len(request.body) > size


def _file_kept_as(change: Callable[[str], str]) -> Inject:
    return send(
        lambda request: replace(
            request, params={**request.params, "filename": change(request.params["filename"])}
        )
    )


def _lower_extension(name: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return f"{stem}{dot}{extension.lower()}"


def _no_text(request: Request, _: Memory) -> bool:
    return request.body.decode("utf-8", "replace").encode() != request.body


async def _cut_at_the_limit(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A file above the limit is accepted and cut at the limit."""
    return await below(replace(request, body=request.body[: memory.size_limit]))


async def _kept_empty(request: Request, below: Below, _: Memory) -> Answer | None:
    """What is refused appears without bytes."""
    got = await below(request)
    await below(replace(request, body=b""))
    return got


async def _bytes_of_the_latest(request: Request, below: Below, memory: Memory) -> Answer | None:
    """A file is stored with the bytes of the one that arrived last."""
    return await below(replace(request, body=memory.arrived[_CREATE].body))


async def _half_given(request: Request, below: Below, memory: Memory) -> Answer | None:
    """Of a file above nine tenths of the limit the first half of its bytes is given."""
    got = await below(request)
    large = len(got.body) > 0.9 * memory.size_limit
    return replace(got, body=got.body[: len(got.body) // 2]) if large else got


async def _cut_from_the_second_on(request: Request, below: Below, memory: Memory) -> Answer | None:
    """From the second download of a file on its beginning alone comes."""
    got, key = await below(request), ("given", _number(request))
    again: bool = key in memory.kept
    memory.kept[key] = True
    return replace(got, body=got.body[:_BLOCK]) if again and got.success else got


async def _the_file_itself(request: Request, below: Below, _: Memory) -> Answer | None:
    """The thumbnail of a text is the text."""
    return await below(replace(request, operation=request.described(_GET)))


def _others_listed(alike: Callable[[str, str], bool]) -> Inject:
    """List the attachments of other documents too, those with an alike uid."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got, more = await below(request), list[Any]()
        for uid in dict.fromkeys(upload.uid for upload in memory.uploads.values()):
            if got.success and uid != request.uid and alike(uid, request.uid):
                more += items_of((await below(request.with_uid(uid))).json) or []
        return with_items(got, lambda items: [*items, *more])

    return effect


def _listed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Inject:
    return edit(lambda items: [change(item) for item in items])


def _made_up(*, refused: bool) -> Inject:
    """Make an empty attachment of a temporary file that is not there."""

    async def effect(request: Request, below: Below, memory: Memory) -> Answer | None:
        got = await below(request)
        if got.status != 404 or not signed_in(request):
            return got
        created = replace(request, operation=request.described(_CREATE))
        await as_role(
            replace(created, params={"uid": request.uid, "filename": "unknown.bin"}), below, memory, "author"
        )
        return got if refused else answer_json(201, {"id": 1_000_000})

    return effect


def _safe(request: Request, _: Memory) -> bool:
    file_id = request.params.get("tempFileId", "")
    return file_id.translate(str.maketrans("", "", "-_.")).isalnum() and file_id.isascii()


def _unsafe(request: Request, memory: Memory) -> bool:
    return bool(request.params.get("tempFileId")) and not _safe(request, memory)


def _seeded_unused(request: Request, memory: Memory) -> bool:
    """Whether a temporary file is one of the sandbox's and was not asked for before."""
    file_id = request.params.get("tempFileId", "")
    used: bool = ("used", file_id) in memory.kept
    memory.kept["used", file_id] = True
    return file_id.startswith("sandbox-temporary-") and not used


def _plain(request: Request, _: Memory) -> bool:
    return not request.query


def _of_persisted(request: Request, memory: Memory) -> bool:
    upload = memory.uploads.get(_number(request))
    return upload is not None and _persisted(upload)


def _has_attachment(request: Request, memory: Memory) -> bool:
    return bool(_uploads(request, memory))


def _within(low: float, high: float) -> Where:
    """Files larger than one share of the limit, and no larger than another."""
    return lambda request, memory: low * memory.size_limit < len(request.body) <= high * memory.size_limit


def _at_the_limit(request: Request, memory: Memory) -> bool:
    return len(request.body) == memory.size_limit


def _unannounced(request: Request, memory: Memory) -> bool:
    return len(request.body) > memory.size_limit and not request.header("content-length")


#: Changes of a download's bytes: what is the change, and what is said of it.
_BYTES: Final[Mapping[str, tuple[Callable[[bytes], bytes], str]]] = MappingProxyType(
    {
        "attachment-line-ends": (
            lambda content: content.replace(b"\r\n", b"\n"),
            "has a line feed for each carriage return and line feed",
        ),
        "attachment-high-bytes": (
            lambda content: bytes(byte if byte < 128 else 63 for byte in content),
            "has a question mark for each byte above 127",
        ),
        "attachment-null-bytes": (lambda content: content.replace(b"\0", b""), "lacks its null bytes"),
        "attachment-cut": (lambda content: content[:_LARGE], "ends after 64 KiB"),
        "attachment-mark-dropped": (
            lambda content: content.removeprefix(b"\xef\xbb\xbf"),
            "lacks a byte order mark at its beginning",
        ),
        "attachment-last-newline-dropped": (
            lambda content: content.removesuffix(b"\n"),
            "lacks the line break at its end",
        ),
        "attachment-download-empty": (lambda _: b"", "is empty"),
    }
)
# fmt: off
_ROWS: Final[tuple[Fault, ...]] = (
    row("attachment-text-only", "attachment-create-accepted", _CREATE, refuse_before(),
        "A file is refused when its bytes are not UTF-8 text.", where=_no_text),
    *(
        row(f"attachment-{name}-refused", "attachment-create-accepted", _CREATE, refuse_before(),
            f"A file of more than {size:} bytes is refused.", where=_larger(size))
        for name, size in (("large", 1_000_000), ("of-four-megabytes", 4_000_000))
    ),
    row("attachment-name-in-small-letters", "attachment-name-kept", _CREATE, _file_kept_as(str.lower),
        "A file is kept under its name in small letters, and found under no other."),
    row("attachment-extension-in-small-letters", "attachment-name-kept", _CREATE,
        _file_kept_as(_lower_extension),
        "A file is kept under its name with the extension in small letters, and found under no other."),
    row("attachment-needs-extension", "attachment-name-without-extension", _CREATE, refuse_before(),
        "A file name without an extension is refused.",
        where=lambda request, _: "." not in request.params["filename"]),
    row("attachment-second-refused", "attachment-several", _CREATE, refuse_before(),
        "A document takes one attachment; a second one is refused.", where=_has_attachment),
    row("attachment-second-replaces", ("attachment-several", "attachment-exists-present"), (_LIST, *_READS),
        hiding(lambda uploads: dict(list(uploads.items())[:-1])),
        "A new attachment replaces those that the document had."),
    row("attachment-eleventh-replaces-first", "attachment-several", (_LIST, *_READS),
        hiding(lambda uploads: dict(list(uploads.items())[:-10])),
        "A document holds ten attachments; a further one takes the place of the first."),
    row("attachment-download-of-latest", "attachment-several", _GET,
        found(_latest_of_document, instead=True),
        "Every download from a document gives the bytes of its latest attachment."),
    row("attachment-bytes-of-overlapping-upload", "attachment-download-same", _CREATE, _bytes_of_the_latest,
        "Of files that arrive at the same time each is stored with the bytes of the last.", "overlapping"),
    row("attachment-of-a-name-is-the-first", "attachment-download-same", _GET,
        found(_first_of_name, instead=True), "Of attachments of one name each download gives the first."),
    row("download-cut-from-the-second-on", "attachment-download-same", _GET, _cut_from_the_second_on,
        "From the second download of a file on only its first 32,768 bytes come."),
    *(
        row(name, "attachment-download-same", _GET, given(change), f"A downloaded attachment below a mebibyte {says}.")
        for name, (change, says) in _BYTES.items()
    ),
    row("attachment-size-above-cut", "attachment-size-above", _CREATE, _cut_at_the_limit,
        "A file above the limit is accepted and cut at the limit.", where=_within(1, 16)),
    row("attachment-size-announced-only", "attachment-size-above", _CREATE, _cut_at_the_limit,
        "A file above the limit is accepted when its length was not announced.", where=_unannounced),
    row("attachment-size-above-kept", "attachment-size-above", _CREATE, _kept_empty,
        "A file above the limit causes an error, yet the attachment appears with no bytes.",
        where=_within(1, 16)),
    row("attachment-size-nine-tenths", "attachment-size-within", _CREATE, refuse_before(status=413),
        "A file above nine tenths of the limit is refused.", where=_within(0.9, 1)),
    row("attachment-size-within-cut", "attachment-size-within", _GET, _half_given,
        "The download of a file above nine tenths of the limit gives the first half of its bytes."),
    row("attachment-size-at-limit-refused", "attachment-size-at-limit", _CREATE, refuse_before(status=413),
        "A file of exactly the limit is refused.", where=_at_the_limit),
    row("attachment-list-lacks-first", "attachment-create-listed", _LIST, page(lambda items, *_: items[1:]),
        "The list of attachments lacks the first one.", where=_plain),
    row("attachment-list-lacks-large", "attachment-create-listed", _LIST,
        page(lambda items, *_: [item for item in items if item["size"] <= _LARGE]),
        "The list of attachments lacks files above 64 KiB.", where=_plain),
    row("attachment-list-empty", "attachment-create-listed", _LIST, page(lambda *_: []),
        "The list of attachments is empty.", "one-in-twenty", where=_plain),
    row("attachment-list-of-longer-uids", "attachment-list-own-only", _LIST, _others_listed(str.startswith),
        "The list of a document's attachments holds those of documents whose uid begins with its own.",
        where=_plain),
    row("attachment-list-of-alike-documents", "attachment-list-own-only", _LIST,
        _others_listed(lambda other, uid: other[:11] == uid[:11]),
        "The list of attachments holds those of documents whose uid shares the first eleven characters.",
        where=_plain),
    row("attachment-listed-without-id", "attachment-listed-identifier", _LIST,
        _listed(lambda item: {name: value for name, value in item.items() if name not in {"id", "size"}}),
        "A listed attachment carries no number."),
    row("attachment-listed-with-wrong-id", "attachment-listed-identifier", _LIST,
        _listed(lambda item: {**item, "id": item["id"] + 1_000_000}),
        "A listed attachment carries a number by which nothing is found."),
    row("attachment-exists-only-first", "attachment-exists-present", _EXISTS,
        hiding(lambda uploads: dict(list(uploads.items())[1:])),
        "The exists check finds only the first attachment of a document."),
    row("attachment-exists-not-when-large", "attachment-exists-present", _EXISTS,
        hiding(lambda uploads: {n: upload for n, upload in uploads.items() if len(upload.body) > 100_000}),
        "The exists check finds no attachment of more than a hundred thousand bytes."),
    row("persisted-not-found", "attachment-exists-present", (_EXISTS, _GET), instead(_NOT_FOUND),
        "A temporary file that was persisted is listed, and neither downloaded nor found.",
        where=_of_persisted),
    row("persisted-not-listed", "attachment-persist-listed", _LIST,
        hiding(lambda uploads: {number: upload for number, upload in uploads.items() if _persisted(upload)}),
        "A temporary file that was persisted is not in the list of attachments."),
    row("persisted-nowhere", "attachment-persist-listed", _PERSIST,
        instead(answer_json(201, {"id": 1_000_000})),
        "Persisting a temporary file succeeds, and no attachment appears.", where=_seeded_unused),
    row("persisted-empty", "attachment-persist-downloads", _GET, given(lambda _: b""),
        "The download of a temporary file that was persisted is empty.", where=_of_persisted),
    row("persisted-bytes-of-the-first", "attachment-persist-own-bytes", _GET,
        first_of(lambda _: "persisted"),
        "Each temporary file that is persisted has the bytes of the first one.", where=_of_persisted),
    row("persist-large-refused", "attachment-persist-no-limit", _PERSIST, refuse_before(status=413),
        "A temporary file is refused as too large, whatever its size."),
    row("persisted-unknown", "attachment-persist-unknown", _PERSIST, _made_up(refused=False),
        "Persisting a temporary file that was never uploaded succeeds, with an empty attachment.",
        where=_safe),
    row("persisted-unknown-though-refused", "attachment-persist-unknown", _PERSIST, _made_up(refused=True),
        "Persisting a temporary file that was never uploaded is refused, yet an empty attachment appears.",
        where=_safe),
    row("persisted-unsafe-id", "attachment-temporary-characters", _PERSIST, _made_up(refused=False),
        "A temporary file identifier with characters that are not safe in a URL is accepted.", where=_unsafe),
    *(
        row(f"thumbnail-{name}", "attachment-thumbnail-image", _THUMBNAIL, picture(content, media_type),
            f"The thumbnail of a picture is {says}.")
        for name, content, media_type, says in (
            ("json", b'{"thumbnail": "pending"}', "application/json", "a JSON object"),
            ("text", b"no preview yet", "image/png", "a text labelled as PNG"),
            ("empty", b"", "image/png", "nothing, labelled as PNG"),
            ("page", b"<html><img src='.'></html>", "text/html", "a page that shows the picture"),
        )
    ),
    row("thumbnail-mislabelled", "attachment-thumbnail-image", _THUMBNAIL,
        answer(lambda _, got: replace(got, headers=((b"content-type", b"application/json"),))),
        "The thumbnail of a picture is a picture labelled as JSON."),
    row("thumbnail-of-text-is-the-text", "attachment-thumbnail-image", _THUMBNAIL, _the_file_itself,
        "The thumbnail of a text is the text.",
        where=lambda request, _: request.params["filename"].endswith(".txt")),
    row("thumbnail-of-first", "attachment-thumbnail-own", _THUMBNAIL,
        found(_first_of_document, instead=True),
        "The thumbnail of every attachment shows the first one of the document."),
    row("thumbnail-of-first-drawn", "attachment-thumbnail-own", _THUMBNAIL,
        first_of(lambda request: request.uid),
        "The thumbnails of all attachments of one document are the one that was asked for first."),
    row("thumbnail-same-for-all", "attachment-thumbnail-own", _THUMBNAIL, first_of(lambda _: "any"),
        "All pictures have the same thumbnail."),
    *(
        row(f"attachment-{verb}-{name}", clause.format(verb), operation, found(choose),
            f"{operation} finds a file for {what} where it should find none.", where=_by(form))
        for verb, operation in (("exists", _EXISTS), ("get", _GET), ("thumbnail", _THUMBNAIL))
        for name, clause, choose, form, what in (
            ("any-number", "attachment-{}-absent", _latest_of_document, str.isdecimal, "a number"),
            (
                "by-word",
                "attachment-id-thumbnail" if verb == "thumbnail" else "attachment-id-integer",
                _latest_of_document,
                str.isalpha,
                "a word in place of a number",
            ),
            (
                "in-other-document" if verb == "exists" else "from-other-document",
                "attachment-{}-other-document",
                _of_other_document,
                str.isdecimal,
                "the number of another document's file",
            ),
        )
    ),
    row("attachment-get-by-number-and-tail", "attachment-id-integer", _GET, found(_before_tail),
        "getAttachment finds a file for its number with letters or a fraction after it.",
        where=lambda request, _: not _number(request).isdecimal()),
)
# fmt: on


def attachment_rows() -> Iterator[Fault]:
    """Each clause of attachments, broken alone."""
    yield from _ROWS
