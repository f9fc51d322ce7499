"""Defects of attachments themselves: refused, lost, or other bytes than were sent."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import delete
from starlette.requests import Request
from starlette.responses import Response

from contracts.sandbox.attachment_records import Attachment
from contracts.sandbox.defects.altering import Every, Handler, When, alter, always, around, refuse
from contracts.sandbox.defects.registry import Change, defect
from contracts.sandbox.identity import Account
from contracts.sandbox.records import DRAFT, Records
from contracts.sandbox.refusals import bad_request
from contracts.sandbox.service import Service
from contracts.sandbox.tables import ATTACHMENTS

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


@defect("attachment-text-only", clause="attachment-create-accepted", operations=_CREATE)
def _(service: Service) -> None:
    """A file is refused when its bytes are not UTF-8 text."""

    async def answer(faithful: Handler, request: Request) -> Response:
        try:
            (await request.body()).decode("utf-8")
        except UnicodeDecodeError:
            raise bad_request("the file is no text") from None
        return await faithful(request)

    around(service, _CREATE, answer)


@defect("attachment-second-refused", clause="attachment-several", operations=_CREATE)
def _(service: Service) -> None:
    """A document takes one attachment; a second one is refused."""

    def add(
        faithful: Callable[..., Attachment], records: Records, caller: Account, uid: str, *rest: Any
    ) -> Attachment:
        if records.attachments.any_of(uid):
            raise bad_request("the document has an attachment already")
        return faithful(records, caller, uid, *rest)

    alter(service.attachments, "add", add)


@defect("attachment-second-replaces", clause="attachment-several", operations=_CREATE)
def _(service: Service) -> None:
    """A new attachment replaces those that the document had."""

    def add(
        faithful: Callable[..., Attachment], records: Records, caller: Account, uid: str, *rest: Any
    ) -> Attachment:
        records.connection.execute(delete(ATTACHMENTS).where(ATTACHMENTS.c.identifier == uid))
        return faithful(records, caller, uid, *rest)

    alter(service.attachments, "add", add)


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
