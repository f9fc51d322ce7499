"""Defects of attachments: stored, read, listed, shown as thumbnails, limited, or persisted from temporary files."""

from collections.abc import AsyncIterator, Callable
from typing import Any

from sqlalchemy import delete
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.attachments import filename_in_path
from contracts.sandbox.authentication import Account
from contracts.sandbox.database import ATTACHMENTS, DRAFT, Attachment, Records
from contracts.sandbox.defects.declaration import (
    Change,
    Every,
    Handler,
    When,
    alter,
    always,
    answers,
    around,
    defect,
    edit,
    refuse,
    replaces,
)
from contracts.sandbox.defects.lists import Rows
from contracts.sandbox.files import StoredFile, too_large
from contracts.sandbox.http_requests import Reason, Refusal, bad_request, decoded_segment, not_found
from contracts.sandbox.listing import Page
from contracts.sandbox.service import Service


def latest(service: Service, test: Callable[[Attachment], bool]) -> Attachment | None:
    """Return the latest attachment of any document that passes a test, or ``None``."""
    with service.storage.transaction() as records:
        rows = records.connection.execute(ATTACHMENTS.select().order_by(ATTACHMENTS.c.id.desc())).all()
    every = (Attachment(**row._mapping) for row in rows)
    return next((each for each in every if test(each)), None)


_CREATE = ["createAttachment"]
_GET = ["getAttachment"]


def _of_chm(service: Service, request: Request) -> bool:
    uid = service.identifiers.from_path(request)
    with service.storage.transaction() as records:
        return records.version("chm-dev", uid, DRAFT) is not None


@defect(
    "attachment-refused-in-chm", clause="attachment-create-accepted", operations=_CREATE, realms=["chm-dev"]
)
def _(service: Service) -> None:
    """No attachment can be created for a document of chm-dev."""
    refuse(service, _CREATE, bad_request, lambda request: _of_chm(service, request))


@answers("attachment-text-only", clause="attachment-create-accepted", operations=_CREATE)
async def _(_service: Service, faithful: Handler, request: Request) -> Response:
    """A file is refused when its bytes are not UTF-8 text."""
    try:
        (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise bad_request("the file is no text") from None
    return await faithful(request)


@replaces("attachments.add", "attachment-second-refused", clause="attachment-several", operations=_CREATE)
def _(
    _service: Service,
    faithful: Callable[..., Attachment],
    records: Records,
    caller: Account,
    uid: str,
    *rest: Any,
) -> Attachment:
    """A document takes one attachment; a second one is refused."""
    if records.attachments.any_of(uid):
        raise bad_request("the document has an attachment already")
    return faithful(records, caller, uid, *rest)


@replaces("attachments.add", "attachment-second-replaces", clause="attachment-several", operations=_CREATE)
def _(
    _service: Service,
    faithful: Callable[..., Attachment],
    records: Records,
    caller: Account,
    uid: str,
    *rest: Any,
) -> Attachment:
    """A new attachment replaces those that the document had."""
    records.connection.execute(delete(ATTACHMENTS).where(ATTACHMENTS.c.identifier == uid))
    return faithful(records, caller, uid, *rest)


def _without(when: When, left_out: Callable[[list[Any]], list[Any]]) -> Change:
    """Return the change that leaves attachments out of a list without options."""

    def change(service: Service) -> None:
        def attachments(
            faithful: Callable[..., list[Any]], records: Records, uid: str, page: Any
        ) -> list[Any]:
            rows: list[Any] = faithful(records, uid, page)
            plain = page.top is None and page.skip == 0 and page.filter is None and page.orderby is None
            return left_out(rows) if plain and when(Request({"type": "http"})) else rows

        alter(service.listing, "attachments", attachments)

    return change


_LISTED: dict[str, tuple[str, When, Callable[[list[Any]], list[Any]]]] = {
    "attachment-list-lacks-first": (
        "The list of attachments lacks the first one.",
        always,
        lambda rows: rows[1:],
    ),
    "attachment-list-lacks-large": (
        "The list of attachments lacks files above 64 KiB.",
        always,
        lambda rows: [row for row in rows if row["size"] <= 64 * 1024],
    ),
    "attachment-list-empty-one-in-twenty": (
        "Every twentieth list of attachments is empty.",
        always,
        lambda _: [],
    ),
}
for _name, (_sentence, _when, _left_out) in _LISTED.items():

    def _shorter(service: Service, name: str = _name, left_out: Any = _left_out, when: When = _when) -> None:
        _without(Every(20) if name.endswith("twenty") else when, left_out)(service)

    defect(
        _name,
        clause="attachment-create-listed",
        operations=["createAttachment", "listAttachments"],
        sentence=_sentence,
    )(_shorter)


def _bytes(change: Callable[[bytes], bytes]) -> Change:
    def alteration(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            response = await faithful(request)
            found = service.attachments.found(request)
            content = change(service.files.path(found.file_key).read_bytes())
            return Response(content, response.status_code, media_type=found.content_type)

        around(service, _GET, answer)

    return alteration


_CHANGED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "attachment-line-ends": (
        "has a line feed for each carriage return and line feed",
        lambda content: content.replace(b"\r\n", b"\n"),
    ),
    "attachment-high-bytes": (
        "has a question mark for each byte above 127",
        lambda content: bytes(each if each < 128 else 63 for each in content),
    ),
    "attachment-null-bytes": ("lacks its null bytes", lambda content: content.replace(b"\0", b"")),
    "attachment-cut": ("ends after 64 KiB", lambda content: content[: 64 * 1024]),
    "attachment-mark-dropped": (
        "lacks a byte order mark at its beginning",
        lambda content: content.removeprefix(b"\xef\xbb\xbf"),
    ),
    "attachment-last-newline-dropped": (
        "lacks the line break at its end",
        lambda content: content.removesuffix(b"\n"),
    ),
    "attachment-download-empty": ("is empty", lambda _: b""),
}
for _name, (_what, _change) in _CHANGED.items():
    defect(
        _name,
        clause="attachment-download-same",
        operations=_GET,
        sentence=f"A downloaded attachment {_what}.",
    )(_bytes(_change))


_EXISTS = ["attachmentExists"]


@defect("attachment-download-of-latest", clause="attachment-several", operations=_GET)
def _(service: Service) -> None:
    """Every download from a document gives the bytes of its latest attachment."""
    _served(service, "getAttachment", lambda found, other: other.identifier == found.identifier)


def _served(service: Service, operation: str, test: Callable[[Attachment, Attachment], bool]) -> None:
    """Serve the latest attachment that passes ``test`` beside the one that was found."""

    def found(faithful: Callable[[Request], Attachment], request: Request) -> Attachment:
        asked: Attachment = faithful(request)
        if request.scope["operation_id"] != operation:
            return asked
        return latest(service, lambda other: test(asked, other)) or asked

    alter(service.attachments, "found", found)


@defect("attachment-never-exists", clause="attachment-exists-present", operations=_EXISTS)
def _(service: Service) -> None:
    """The exists check finds no attachment."""
    refuse(service, _EXISTS, not_found)


@answers("attachment-exists-only-first", clause="attachment-exists-present", operations=_EXISTS)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The exists check finds only the first attachment of a document."""
    found = service.attachments.found(request)
    with service.storage.transaction() as records:
        query = ATTACHMENTS.select().where(ATTACHMENTS.c.identifier == found.identifier)
        first = records.connection.execute(query.order_by(ATTACHMENTS.c.id)).first()
    if first is not None and first.id != found.id:
        raise not_found("there is no such attachment of this document")
    return await faithful(request)


Finds = Callable[[Attachment, Request], bool]


def _found_by(operation: str, test: Finds, asked: Callable[[str], bool]) -> Change:
    """Return the change that finds an attachment in another way when the faithful one finds none.

    Args:
        operation: the operation it is asked by.
        test: tells whether an attachment will do for a request.
        asked: tells of the attachment identifier in the path whether it is meant.

    """

    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            if not asked(request.path_params["attachmentId"]) or _there(service, request):
                return await faithful(request)
            service.identifiers.from_path(request)
            other = latest(service, lambda each: test(each, request))
            if other is None:
                return await faithful(request)
            params = {**request.path_params, "attachmentId": str(other.id), "uid": other.identifier}
            params["filename"] = other.filename
            return await faithful(Request({**request.scope, "path_params": params}, request.receive))

        around(service, [operation], answer)

    return change


def _there(service: Service, request: Request) -> bool:
    number = request.path_params["attachmentId"]
    if not number.isdecimal() or len(number) > 18:
        return False
    place = (service.identifiers.from_path(request), int(number), filename_in_path(request))
    with service.storage.transaction() as records:
        return records.attachments.attachment(*place) is not None


def _same_document(attachment: Attachment, request: Request) -> bool:
    return attachment.identifier == str(request.path_params["uid"])


def _same_number(attachment: Attachment, request: Request) -> bool:
    return str(attachment.id) == request.path_params["attachmentId"] and not _same_document(
        attachment, request
    )


def _number_before_tail(attachment: Attachment, request: Request) -> bool:
    digits = request.path_params["attachmentId"].partition(".")[0].rstrip("abcdefghijklmnopqrstuvwxyz-")
    return _same_document(attachment, request) and str(attachment.id) == digits


def _finds(
    operation: str, name: str, clause: str, what: str, test: Finds, asked: Callable[[str], bool]
) -> None:
    defect(
        f"attachment-{name}",
        clause=f"attachment-{clause}",
        operations=[operation],
        sentence=f"{operation} finds a file for {what} where it should find none.",
    )(_found_by(operation, test, asked))


_OTHERS_NUMBER = "the number of another document's file"
_A_WORD = "a word in place of a number"
for _operation, _word in (
    ("attachmentExists", "exists"),
    ("getAttachment", "get"),
    ("getAttachmentThumbnail", "thumbnail"),
):
    _where = "in" if _word == "exists" else "from"
    _numbers = str.isdecimal
    _finds(_operation, f"{_word}-any-number", f"{_word}-absent", "a number", _same_document, _numbers)
    _finds(
        _operation,
        f"{_word}-{_where}-other-document",
        f"{_word}-other-document",
        _OTHERS_NUMBER,
        _same_number,
        _numbers,
    )
    _clause = "id-thumbnail" if _word == "thumbnail" else "id-integer"
    _finds(_operation, f"{_word}-by-word", _clause, _A_WORD, _same_document, str.isalpha)

_finds(
    "getAttachment",
    "get-by-number-and-tail",
    "id-integer",
    "its number with letters or a fraction after it",
    _number_before_tail,
    lambda text: not text.isdecimal(),
)


_LIST = ["listAttachments"]
_THUMBNAIL = ["getAttachmentThumbnail"]
_NO_OPTION = Page(None, None, None, 0)


@defect("attachment-list-of-all-documents", clause="attachment-list-own-only", operations=_LIST)
def _(service: Service) -> None:
    """The list of a document's attachments goes on with those of all other documents."""
    _with_others(service, lambda _other, _uid: True)


@defect("attachment-list-of-alike-documents", clause="attachment-list-own-only", operations=_LIST)
def _(service: Service) -> None:
    """The list of attachments holds those of documents whose uid shares the first eleven characters."""
    _with_others(service, lambda other, uid: other[:11] == uid[:11])


def _with_others(service: Service, alike: Callable[[str, str], bool]) -> None:
    def attachments(faithful: Callable[..., Rows], records: Records, uid: str, page: Page) -> Rows:
        rows: Rows = [*faithful(records, uid, page)]
        if page == _NO_OPTION:
            every = records.connection.execute(
                ATTACHMENTS.select().with_only_columns(ATTACHMENTS.c.identifier)
            )
            for other in dict.fromkeys(every.scalars()):
                rows += faithful(records, other, page) if other != uid and alike(other, uid) else []
        return rows

    alter(service.listing, "attachments", attachments)


@replaces(
    "listing.attachments", "attachment-list-empty-refused", clause="attachment-list-empty", operations=_LIST
)
def _(_service: Service, faithful: Callable[..., Rows], records: Records, uid: str, page: Page) -> Rows:
    """The list of a document without attachments is refused with 404."""
    if not records.attachments.any_of(uid):
        raise not_found("there are no attachments")
    rows: Rows = faithful(records, uid, page)
    return rows


def _of_items(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Service], None]:
    return lambda service: edit(service, _LIST, lambda items: [change(item) for item in items])


_IDENTIFIERS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "attachment-listed-without-id": (
        "carries no number",
        lambda item: {name: value for name, value in item.items() if name not in {"id", "size"}},
    ),
    "attachment-listed-with-wrong-id": (
        "carries a number by which nothing is found",
        lambda item: {**item, "id": item["id"] + 1_000_000},
    ),
}
for _name, (_what, _item) in _IDENTIFIERS.items():
    defect(
        _name,
        clause="attachment-listed-identifier",
        operations=["createAttachment", "listAttachments"],
        sentence=f"A listed attachment {_what}.",
    )(_of_items(_item))


@defect(
    "attachment-needs-extension", clause="attachment-name-without-extension", operations=["createAttachment"]
)
def _(service: Service) -> None:
    """A file name without an extension is refused."""
    refuse(
        service,
        ["createAttachment"],
        bad_request,
        lambda request: "." not in request.path_params["filename"].replace("%2E", "."),
    )


@defect("thumbnail-not-found", clause="attachment-thumbnail-image", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """No thumbnail is found, not even of a picture."""
    refuse(service, _THUMBNAIL, not_found)


def _answered(make: Callable[[bytes], Response]) -> Callable[[Service], None]:
    def change(service: Service) -> None:
        async def answer(faithful: Handler, request: Request) -> Response:
            return make(bytes((await faithful(request)).body))

        around(service, _THUMBNAIL, answer)

    return change


_PREVIEWS: dict[str, tuple[str, Callable[[bytes], Response]]] = {
    "thumbnail-json": ("a JSON object", lambda _: JSONResponse({"thumbnail": "pending"})),
    "thumbnail-text": (
        "a text labelled as PNG",
        lambda _: Response("no preview yet", media_type="image/png"),
    ),
    "thumbnail-empty": ("nothing, labelled as PNG", lambda _: Response(b"", media_type="image/png")),
    "thumbnail-page": (
        "a page that shows the picture",
        lambda _: Response("<html><img src='.'></html>", media_type="text/html"),
    ),
    "thumbnail-mislabelled": (
        "a picture labelled as JSON",
        lambda image: Response(image, media_type="application/json"),
    ),
}
for _name, (_what, _make) in _PREVIEWS.items():
    defect(
        _name,
        clause="attachment-thumbnail-image",
        operations=_THUMBNAIL,
        sentence=f"The thumbnail of a picture is {_what}.",
    )(_answered(_make))


@defect("thumbnail-same-for-all", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """All pictures have the same plain thumbnail."""
    alter(
        service.thumbnails, "draw", lambda _faithful, _path, _filename: service.thumbnails.tile("picture.png")
    )


@replaces("attachments.found", "thumbnail-of-first", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service, faithful: Callable[[Request], Attachment], request: Request) -> Attachment:
    """The thumbnail of every attachment shows the first one of the document."""
    asked: Attachment = faithful(request)
    if request.scope["operation_id"] not in _THUMBNAIL:
        return asked
    query = ATTACHMENTS.select().where(ATTACHMENTS.c.identifier == asked.identifier)
    with service.storage.transaction() as records:
        first = records.connection.execute(query.order_by(ATTACHMENTS.c.id)).first()
    return asked if first is None else Attachment(**first._mapping)


@defect("thumbnail-of-first-drawn", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """The thumbnails of all attachments of one document are the one that was asked for first."""
    drawn: dict[str, bytes] = {}

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        image = drawn.setdefault(request.path_params["uid"], bytes(response.body))
        return Response(image, media_type="image/png")

    around(service, _THUMBNAIL, answer)


_PERSIST = ["persistTemporaryFile"]
Receive = Callable[[AsyncIterator[bytes], int | None], Any]


def _receive(service: Service, change: Callable[[int], int | None], *, announced: bool = False) -> None:
    """Let uploads be read under another limit.

    Args:
        service: the service to alter.
        change: makes the other limit, in bytes, of the faithful one.
        announced: bodies that announce a length above the limit are let through to be read.

    """

    async def receive(faithful: Receive, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        stored: StoredFile = await faithful(pieces, None if limit is None else change(limit))
        return stored

    alter(service.files, "receive", receive)
    if announced:
        alter(service.attachments, "refuse_announced_size", lambda *_: None)


@defect("attachment-size-unlimited", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit is accepted."""
    _receive(service, lambda _: None, announced=True)


@defect("attachment-size-announced-only", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit is accepted when its length was not announced."""
    _receive(service, lambda _: None)


@answers("attachment-size-above-kept", clause="attachment-size-above", operations=_CREATE)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """A file above the limit causes an error, yet the attachment appears with no bytes."""
    try:
        return await faithful(request)
    except Refusal as refusal:
        if refusal.message != too_large(service.settings.size_limit).message:
            raise
        uid, caller = service.identifiers.from_path(request), service.identity.require(request)
        with service.storage.transaction() as records:
            empty = service.files.keep(b"")
            service.attachments.add(records, caller, uid, filename_in_path(request), empty)
        raise


@defect("attachment-size-above-cut", clause="attachment-size-above", operations=_CREATE)
def _(service: Service) -> None:
    """A file above the limit is accepted and cut at the limit."""

    async def receive(faithful: Receive, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        stored: StoredFile = await faithful(pieces if limit is None else _cut(pieces, limit), limit)
        return stored

    alter(service.files, "receive", receive)
    alter(service.attachments, "refuse_announced_size", lambda *_: None)


async def _cut(pieces: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    left = limit
    async for piece in pieces:
        yield piece[:left]
        left -= min(left, len(piece))


@defect("attachment-size-half", clause="attachment-size-within", operations=_CREATE)
def _(service: Service) -> None:
    """A file above half the limit is refused."""
    _receive(service, lambda limit: limit // 2)


@answers("attachment-size-within-cut", clause="attachment-size-within", operations=["getAttachment"])
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The download of a file above half the limit gives the first half of its bytes."""
    response = await faithful(request)
    found = service.attachments.found(request)
    if found.size <= service.settings.size_limit // 2:
        return response
    content = service.files.path(found.file_key).read_bytes()[: found.size // 2]
    return Response(content, media_type=found.content_type)


@defect("attachment-size-at-limit-refused", clause="attachment-size-at-limit", operations=_CREATE)
def _(service: Service) -> None:
    """A file of exactly the limit is refused."""
    _receive(service, lambda limit: limit - 1)


@defect("persisted-not-listed", clause="attachment-persist-listed", operations=_PERSIST)
def _(service: Service) -> None:
    """A temporary file that was persisted is not in the list of attachments."""
    persisted: set[int] = set()

    def add(
        faithful: Callable[..., Attachment],
        records: Records,
        caller: Account,
        uid: str,
        name: str,
        stored: StoredFile,
    ) -> Attachment:
        attachment: Attachment = faithful(records, caller, uid, name, stored)
        if name.startswith("temporary-"):
            persisted.add(attachment.id)
        return attachment

    def attachments(faithful: Callable[..., list[Any]], records: Records, uid: str, page: Page) -> list[Any]:
        return [row for row in faithful(records, uid, page) if row["id"] not in persisted]

    alter(service.attachments, "add", add)
    alter(service.listing, "attachments", attachments)


@answers("persisted-nowhere", clause="attachment-persist-listed", operations=_PERSIST)
async def _(service: Service, _faithful: Handler, request: Request) -> Response:
    """Persisting a temporary file succeeds, and no attachment appears."""
    _temporary(service, request)
    return JSONResponse({"id": 1_000_000}, 201)


def _temporary(service: Service, request: Request) -> None:
    """Refuse what the faithful handler refuses before it looks for the file, and unknown files."""
    caller, uid = service.identity.require(request), service.identifiers.from_path(request)
    file_id = decoded_segment(request.path_params["tempFileId"]) or ""
    with service.storage.transaction() as records:
        service.attachments.require_right(records, caller, uid)
        if records.attachments.temporary_file(file_id) is None:
            raise Refusal(Reason.NOT_FOUND, "there is no unused temporary file of this id")


@answers(
    "persisted-empty",
    clause="attachment-persist-downloads",
    operations=["persistTemporaryFile", "getAttachment"],
    at=["getAttachment"],
)
async def _(service: Service, faithful: Handler, request: Request) -> Response:
    """The download of a temporary file that was persisted is empty."""
    response = await faithful(request)
    found = service.attachments.found(request)
    return Response(media_type=found.content_type) if found.filename.startswith("temporary-") else response


def _made_up(
    service: Service, test: Callable[[str], bool], *, refused: bool = False, real: bool = True
) -> None:
    """Make an empty attachment of an unknown temporary file whose id passes ``test``."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            return await faithful(request)
        except Refusal as refusal:
            caller, uid = service.identity.caller(request), service.identifiers.from_path(request)
            file_id = decoded_segment(request.path_params["tempFileId"]) or ""
            if refusal.reason is not Reason.NOT_FOUND or caller is None or not test(file_id):
                raise
            with service.storage.transaction() as records:
                service.attachments.require_right(records, caller, uid)
                if real:
                    service.attachments.add(records, caller, uid, "unknown.bin", service.files.keep(b""))
            if refused:
                raise
            return JSONResponse({"id": 1_000_000}, 201)

    around(service, _PERSIST, answer)


def _safe(file_id: str) -> bool:
    return file_id.replace("-", "").replace("_", "").replace(".", "").isalnum() and file_id.isascii()


@defect("persisted-unknown", clause="attachment-persist-unknown", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file that was never uploaded succeeds, with an empty attachment."""
    _made_up(service, _safe)


@defect("persisted-unknown-without-effect", clause="attachment-persist-unknown", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file that was never uploaded succeeds, and no attachment appears."""
    _made_up(service, _safe, real=False)


@defect("persisted-unknown-though-refused", clause="attachment-persist-unknown", operations=_PERSIST)
def _(service: Service) -> None:
    """Persisting a temporary file that was never uploaded is refused, yet an empty attachment appears."""
    _made_up(service, _safe, refused=True)


@defect("persisted-unsafe-id", clause="attachment-temporary-characters", operations=_PERSIST)
def _(service: Service) -> None:
    """A temporary file identifier with characters that are not safe in a URL is accepted."""
    _made_up(service, lambda file_id: not _safe(file_id) and bool(file_id))
