"""Claims about attachments: downloads, thumbnails, refused uploads, and what a document lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from contracts.cases import contents
from contracts.cases.arrangement import Arrangement
from contracts.cases.attachment_lookup import Attachment, found, ids_in, lists, upload, works
from contracts.cases.list_pages import Record, attachments_of
from contracts.cases.shared_documents import document_for_uploads, lists_own_only, shared_document
from contracts.checks.claims import Claim
from contracts.checks.outcomes import Blocked, done, usable
from contracts.exchanges import readers
from contracts.exchanges.exchange import Exchange
from contracts.session.actor import Actor

#: How a service that refuses an upload before it has read it ends the connection.
_CUT_SHORT = ("closed", "reset", "broke")
_MOST_NAMES = 4
#: How long a file is looked for, in seconds, that may well be there under another name.
_SHORT_PATIENCE = 2.0


def downloads(claim: Claim, actor: Actor, attachment: Attachment) -> None:
    """Claim that downloading an attachment gives the very bytes that were sent."""
    exchange = actor.send("getAttachment", path=attachment.path)
    answer = usable(exchange)
    sent, got = attachment.content, answer.content
    same = answer.success and got == sent
    seen = (
        f"{len(got)} bytes, differing from byte {_first_difference(sent, got)}"
        if answer.success
        else answer.quote()
    )
    claim.holds(same, exchange, expected=f"the {len(sent)} bytes of {attachment.filename}", seen=seen)


def _first_difference(sent: bytes, got: bytes) -> int:
    pairs = enumerate(zip(sent, got, strict=False))
    return next((at for at, (here, there) in pairs if here != there), min(len(sent), len(got)))


def listed(claim: Claim, arrange: Arrangement, actor: Actor, *attachments: Attachment) -> None:
    """Claim that a document lists its attachments, each of them, if need be a few seconds later."""
    attached = attachments_of(actor, attachments[0].uid)
    page = attached.page()
    missing = _missing(page.records, attachments)

    def whole() -> bool:
        nonlocal missing
        missing = _missing(list(attached.walk()), attachments)
        return not missing

    if missing:
        # The list may be a moment late, or longer than one page.
        arrange.eventually(whole)
    claim.holds(not missing, page.exchange, expected=f"{', '.join(missing)} in the list", seen=page.told)


def taken(claim: Claim, arrange: Arrangement, actor: Actor, filename: str, content: bytes) -> Exchange:
    """Claim that a file is taken: by the shared document, or else by one that has no attachment yet.

    Returns:
        The creation.

    Raises:
        Blocked: only a document without attachments takes it, which is a matter of another clause.
    """
    created = upload(actor, document_for_uploads(arrange, actor), filename, content)
    if usable(created).success:
        claim.accepted(created)
        return created
    claim.accepted(upload(actor, arrange.draft(actor).uid, filename, content))
    raise Blocked("createAttachment", f"a document with attachments answered {created.answer.quote()}")


def takes_several(claim: Claim, arrange: Arrangement, actor: Actor) -> None:
    """Claim that a document with an attachment takes another; that of the shared document shows it.

    Raises:
        Blocked: the shared document could not be filled for another reason.
    """
    try:
        shared_document(arrange, actor)
    except Blocked:
        uid = arrange.draft(actor).uid
        done(upload(actor, uid, "first.txt", b"first\n"))
        claim.accepted(upload(actor, uid, "second.txt", b"second\n"))
        raise


def _missing(records: list[Record] | None, attachments: tuple[Attachment, ...]) -> list[str]:
    return [each.filename for each in attachments if not any(lists(record, each) for record in records or ())]


def nothing_attached(claim: Claim, arrange: Arrangement, actor: Actor, uid: str, *before: Exchange) -> None:
    """Claim that a document still has no attachment; whether its empty list is a list is not asked.

    Raises:
        Blocked: documents list the attachments of others, so that nothing can be told.
    """
    page = attachments_of(actor, uid).page()
    if page.size > 0:
        lists_own_only(arrange, actor)
    claim.holds(page.size <= 0, *before, page.exchange, expected="no attachment", seen=page.told)


def turned_away(exchange: Exchange) -> bool:
    """Whether an upload was refused: by an answer, or by a connection that was closed while it was sent."""
    if exchange.fault is not None:
        exchange.own = any(word in exchange.fault for word in _CUT_SHORT)
        return exchange.own
    return usable(exchange).refusal


def manner(exchange: Exchange) -> str:
    """How an upload was refused, for an observation."""
    return exchange.fault or str(exchange.answer.status)


def preview(arrange: Arrangement, actor: Actor, attachment: Attachment) -> Exchange:
    """Ask for a thumbnail, if need be until it is made."""
    latest = actor.send("getAttachmentThumbnail", path=attachment.path)

    def look() -> bool:
        nonlocal latest
        latest = actor.send("getAttachmentThumbnail", path=attachment.path)
        return latest.answer.success

    if not latest.answer.success:
        arrange.eventually(look)
    if latest.answer.hollow_page:
        latest.own = _own_page(actor, attachment)
    return latest


def _own_page(actor: Actor, attachment: Attachment) -> bool:
    """Whether an HTML page in place of a thumbnail is the service's own: it comes again, and the file itself comes."""
    file = actor.send("getAttachment", path=attachment.path).answer
    again = actor.send("getAttachmentThumbnail", path=attachment.path).answer
    return file.success and file.content == attachment.content and again.hollow_page


def persisted(actor: Actor, uid: str, exchange: Exchange) -> Attachment:
    """The only attachment of a document, made from a temporary file whose name nobody told.

    Raises:
        Blocked: no number and name in the answers lead to it.
    """
    records = attachments_of(actor, uid).needed(1)
    told = [exchange.answer.json, *records]
    ids = dict.fromkeys(number for record in told for number in ids_in(record, -1))
    for name in _file_names(told):
        for number in ids:
            attachment = Attachment(uid, number, name, b"")
            if works(actor, replace(attachment, content=b"")) or _downloads(actor, attachment):
                return attachment
    raise Blocked("persistTemporaryFile", "no number and name in the answers lead to the attachment")


def _downloads(actor: Actor, attachment: Attachment) -> bool:
    return usable(actor.send("getAttachment", path=attachment.path)).success


def _file_names(told: list[Record]) -> list[str]:
    texts = [text for record in told for text in readers.values(record) if isinstance(text, str)]
    names = (text.rpartition("/")[2] for text in texts if "." in text.rpartition("/")[2][1:-1])
    return list(dict.fromkeys(name for name in names if ":" not in name))[:_MOST_NAMES]


def fates(claim: Claim, actor: Actor, uid: str, names: Mapping[str, str]) -> dict[str, str]:
    """What becomes of files with unusual names: `refused`, `kept` or `renamed`; bytes that come back are the same.

    Args:
        names: File names by what they try.
    """
    return {what: _fate(claim, actor, uid, name) for what, name in names.items()}


def _fate(claim: Claim, actor: Actor, uid: str, name: str) -> str:
    content = contents.content(100, len(name))
    created = upload(actor, uid, name, content)
    if not usable(created).success:
        return f"refused with {created.answer.status}"
    try:
        attachment = found(actor, Attachment(uid, 0, name, content), created, len(content), _SHORT_PATIENCE)
    except Blocked:
        return "renamed"
    downloads(claim, actor, attachment)
    return "kept"


def numbers_listed(actor: Actor, attachment: Attachment) -> tuple[list[int], Exchange]:
    """Whole numbers in the record of a listed attachment that may be its id.

    Raises:
        Blocked: it is not listed under its file's name.
    """
    page = attachments_of(actor, attachment.uid).page()
    done(page.exchange)
    for record in page.records or ():
        if lists(record, attachment):
            return ids_in(record, len(attachment.content)), page.exchange
    raise Blocked("listAttachments", f"does not list {attachment.filename}")
