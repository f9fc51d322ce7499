"""Defects of what the list of attachments holds, and of thumbnails."""

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.defects.altering import Handler, alter, around, edit, refuse
from contracts.sandbox.defects.pages import Rows
from contracts.sandbox.defects.registry import defect
from contracts.sandbox.listing import Page
from contracts.sandbox.records import Records
from contracts.sandbox.refusals import bad_request, not_found
from contracts.sandbox.service import Service
from contracts.sandbox.tables import ATTACHMENTS

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


@defect("attachment-list-empty-refused", clause="attachment-list-empty", operations=_LIST)
def _(service: Service) -> None:
    """The list of a document without attachments is refused with 404."""

    def attachments(faithful: Callable[..., Rows], records: Records, uid: str, page: Page) -> Rows:
        if not records.attachments.any_of(uid):
            raise not_found("there are no attachments")
        rows: Rows = faithful(records, uid, page)
        return rows

    alter(service.listing, "attachments", attachments)


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
for _name, (_what, _change) in _IDENTIFIERS.items():
    defect(
        _name,
        clause="attachment-listed-identifier",
        operations=["createAttachment", "listAttachments"],
        sentence=f"A listed attachment {_what}.",
    )(_of_items(_change))


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


@defect("thumbnail-of-first", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """The thumbnail of every attachment shows the first one of the document."""

    def found(faithful: Callable[[Request], Attachment], request: Request) -> Attachment:
        asked: Attachment = faithful(request)
        if request.scope["operation_id"] not in _THUMBNAIL:
            return asked
        query = ATTACHMENTS.select().where(ATTACHMENTS.c.identifier == asked.identifier)
        with service.storage.transaction() as records:
            first = records.connection.execute(query.order_by(ATTACHMENTS.c.id)).first()
        return asked if first is None else Attachment(**first._mapping)

    alter(service.attachments, "found", found)


@defect("thumbnail-of-first-drawn", clause="attachment-thumbnail-own", operations=_THUMBNAIL)
def _(service: Service) -> None:
    """The thumbnails of all attachments of one document are the one that was asked for first."""
    drawn: dict[str, bytes] = {}

    async def answer(faithful: Handler, request: Request) -> Response:
        response = await faithful(request)
        image = drawn.setdefault(request.path_params["uid"], bytes(response.body))
        return Response(image, media_type="image/png")

    around(service, _THUMBNAIL, answer)
