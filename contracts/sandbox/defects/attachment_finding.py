"""Defects of looking for an attachment: missed, made up, or taken from another document."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.attachments import filename_in_path
from contracts.sandbox.defects.altering import Handler, alter, around, refuse
from contracts.sandbox.defects.attachment_rows import latest
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.refusals import not_found
from contracts.sandbox.service import Service
from contracts.sandbox.tables import ATTACHMENTS

_GET = ["getAttachment"]
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


@defect("attachment-exists-only-first", clause="attachment-exists-present", operations=_EXISTS)
def _(service: Service) -> None:
    """The exists check finds only the first attachment of a document."""

    async def answer(faithful: Handler, request: Request) -> Response:
        found = service.attachments.found(request)
        with service.storage.transaction() as records:
            query = ATTACHMENTS.select().where(ATTACHMENTS.c.identifier == found.identifier)
            first = records.connection.execute(query.order_by(ATTACHMENTS.c.id)).first()
        if first is not None and first.id != found.id:
            raise not_found("there is no such attachment of this document")
        return await faithful(request)

    around(service, _EXISTS, answer)


def _found_by(
    operation: str, test: Callable[[Attachment, Request], bool], asked: Callable[[str], bool]
) -> Change:
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


_FOUND: tuple[
    tuple[str, str, str, str, Callable[[Attachment, Request], bool], Callable[[str], bool]], ...
] = (
    (
        "exists-any-number",
        "attachment-exists-absent",
        "attachmentExists",
        "a number",
        _same_document,
        str.isdecimal,
    ),
    ("get-any-number", "attachment-get-absent", "getAttachment", "a number", _same_document, str.isdecimal),
    (
        "thumbnail-any-number",
        "attachment-thumbnail-absent",
        "getAttachmentThumbnail",
        "a number",
        _same_document,
        str.isdecimal,
    ),
    (
        "exists-in-other-document",
        "attachment-exists-other-document",
        "attachmentExists",
        "the number of another document's file",
        _same_number,
        str.isdecimal,
    ),
    (
        "get-from-other-document",
        "attachment-get-other-document",
        "getAttachment",
        "the number of another document's file",
        _same_number,
        str.isdecimal,
    ),
    (
        "thumbnail-from-other-document",
        "attachment-thumbnail-other-document",
        "getAttachmentThumbnail",
        "the number of another document's file",
        _same_number,
        str.isdecimal,
    ),
    (
        "get-by-word",
        "attachment-id-integer",
        "getAttachment",
        "a word in place of a number",
        _same_document,
        str.isalpha,
    ),
    (
        "exists-by-word",
        "attachment-id-integer",
        "attachmentExists",
        "a word in place of a number",
        _same_document,
        str.isalpha,
    ),
    (
        "get-by-number-and-tail",
        "attachment-id-integer",
        "getAttachment",
        "its number with letters or a fraction after it",
        _number_before_tail,
        lambda text: not text.isdecimal(),
    ),
    (
        "thumbnail-by-word",
        "attachment-id-thumbnail",
        "getAttachmentThumbnail",
        "a word in place of a number",
        _same_document,
        str.isalpha,
    ),
)
for _name, _clause, _operation, _what, _test, _asked in _FOUND:
    defect(
        f"attachment-{_name}",
        clause=_clause,
        operations=[_operation],
        sentence=f"{_operation} finds a file for {_what} where it should find none.",
    )(_found_by(_operation, _test, _asked))
