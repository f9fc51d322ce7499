"""Defects of attachments: refused, lost, changed, made up, or taken from another document."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import delete
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.accounts import Account
from contracts.sandbox.attachments import filename_in_path
from contracts.sandbox.database import ATTACHMENTS, DRAFT, Attachment, Records
from contracts.sandbox.defects.alteration import Every, Handler, When, alter, always, around, refuse
from contracts.sandbox.defects.registry import Change, answers, defect, replaces
from contracts.sandbox.refusals import bad_request, not_found
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
