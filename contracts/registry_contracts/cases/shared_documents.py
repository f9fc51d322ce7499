"""Documents with attachments that many cases read and none changes, and what those cases rely on about them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from registry_contracts.cases import contents
from registry_contracts.cases.attachment_ids import Attachment, attached, lists
from registry_contracts.cases.list_pages import Lister, attachments_of
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Blocked, Untested, require, usable
from registry_contracts.exchanges import readers

#: The shared document's files, neither in rising nor in falling order of names. The last name is in use twice.
NAMES: Final = ("delta.txt", "bravo.txt", "foxtrot.png", "alpha.txt", "echo.png", "charlie.txt")
TWICE: Final = NAMES[-1]
#: How the uid of the shared document begins, behind the run's prefix. That of the second document is the whole of it
#: with a letter more: cut short, one would be taken for the other, and the one is the beginning of the other.
_ALIKE: Final = "document-with-files"
#: An attachment id that no document of the suite's has.
ABSENT: Final = 2_147_483_000


@dataclass(frozen=True)
class SharedDocument:
    """A document with attachments that many cases read and none changes."""

    uid: str
    attachments: tuple[Attachment, ...]

    @property
    def texts(self) -> tuple[Attachment, ...]:
        """Those that are no pictures."""
        return tuple(file for file in self.attachments if not file.filename.endswith(".png"))

    @property
    def pictures(self) -> tuple[Attachment, ...]:
        """Those that are pictures: a red one and a blue one."""
        return tuple(file for file in self.attachments if file.filename.endswith(".png"))


def shared_document(world: World) -> SharedDocument:
    """The shared document with six attachments, two of them pictures."""

    def fill() -> SharedDocument:
        with suppress(Blocked):
            return _fill(world, NAMES, world.kept_uid(_ALIKE))
        # For its uid, perhaps: a service that takes it for another one may take files of a plain one.
        return _fill(world, NAMES, world.kept_uid())

    return world.shared("folder", fill)


def shared_document_list(world: World, *, repeats: bool = False) -> Lister:
    """The list of the shared document's attachments, which holds just these.

    Args:
        repeats: It may hold one of them twice, which is for the case to say.
    """
    shared = shared_document(world)
    attached = attachments_of(world.author, shared.uid)
    names = [attachment.filename for attachment in shared.attachments]

    def look() -> bool:
        page = attached.page()
        # A page may be shorter than the list; skip is only relied on where that is so.
        records = page.records or [] if page.size >= len(names) else list(attached.walk())
        own = [record for record in records if any(readers.names(record, name) for name in names)]
        listed = all(any(readers.names(record, name) for record in own) for name in names)
        require(listed, "listAttachments", f"does not list the attachments of the document: {page.seen}")
        if len(records) > (len(own) if repeats else len(names)):
            raise Untested(
                "what a list shows beside the attachments is not shown, and it shows more than these"
            )
        return True

    world.once(f"whole list of attachments{' with repeats' * repeats}", look)
    return attached


def need_own_list(world: World) -> bool:
    """See once that a document does not list the attachments of another, for claims that nothing was attached."""
    mine = second_document(world)
    listed = world.once("own list of attachments", lambda: attachments_of(world.author, mine.uid).page().size)
    require(listed >= 0, "listAttachments", "gives no list of a document with an attachment")
    return require(listed <= len(mine.attachments), "listAttachments", "lists attachments of other documents")


def need_listing(world: World) -> bool:
    """Require that a document lists an attachment that was created, for claims about others."""
    single = world.shared_attachment()

    def listed() -> bool:
        return any(lists(each, single) for each in attachments_of(world.author, single.uid).walk())

    cause = "does not list an attachment that was created"
    return require(world.eventually(listed), "listAttachments", cause)


def need_given_back(world: World, attachment: Attachment) -> bool:
    """Require that an attachment is stored as it was sent, for claims about what is made of it."""
    answer = usable(world.author.get_attachment(attachment.path))
    same = answer.success and answer.content == attachment.content
    return require(same, "getAttachment", f"does not give {attachment.filename} back as it was sent")


def need_absence(world: World, operation: str) -> bool:
    """Require that an operation does not find an attachment that is not there."""
    path = shared_document(world).pictures[0].path | {"attachmentId": str(ABSENT)}
    absent = not usable(world.author.send(operation, path=path)).success
    return require(absent, operation, "finds an attachment under an identifier that nothing has")


def document_for_uploads(world: World, what: str = "uploads") -> str:
    """The uid of a shared document to attach files to, each under a name of its own; it stays until the end."""
    return world.shared(f"document for {what}", lambda: world.document(world.kept_uid()))


def second_document(world: World) -> SharedDocument:
    """Another shared document, with one attachment of a name that the first one has too."""

    def fill() -> SharedDocument:
        beside = shared_document(world).uid
        return _fill(world, (TWICE,), world.kept_uid(uid=f"{beside}b"))

    return world.shared("second folder", fill)


def _fill(world: World, names: tuple[str, ...], uid: str) -> SharedDocument:
    uid = world.document(uid)
    attachments = tuple(attached(world.author, uid, name, _content(name, uid)) for name in names)
    # A list may be a moment late. Whether it holds them all is for the cases to say.
    world.eventually(lambda: len(list(attachments_of(world.author, uid).walk())) >= len(names))
    return SharedDocument(uid, attachments)


def _content(name: str, uid: str) -> bytes:
    pictures = {"foxtrot.png": contents.RED, "echo.png": contents.BLUE}
    return pictures.get(name) or f"{name} of {uid}\n".encode()


def attachment_elsewhere(world: World) -> tuple[Attachment, SharedDocument]:
    """An attachment, and a document that it does not belong to but that has one of the same name."""
    theirs, mine = second_document(world), shared_document(world)
    taken = {other.path["attachmentId"] for other in theirs.attachments}
    for attachment in reversed(mine.attachments):
        if attachment.path["attachmentId"] not in taken:
            return attachment, theirs
    raise Blocked("createAttachment", "gives the same ids in both documents")
