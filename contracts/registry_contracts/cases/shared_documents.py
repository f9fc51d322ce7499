"""Documents with attachments that many cases read and none changes, and the preconditions of those cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from registry_contracts.cases import contents
from registry_contracts.cases.attachment_ids import Attachment, attached, lists
from registry_contracts.cases.list_pages import Lister, attachments_of
from registry_contracts.cases.world import World
from registry_contracts.checks.outcomes import Blocked, Untested, require, usable
from registry_contracts.exchanges import readers

#: The shared document's files, neither ascending nor descending by name. The second document has the last name too.
NAMES: Final = ("delta.txt", "bravo.txt", "foxtrot.png", "alpha.txt", "echo.png", "charlie.txt")
TWICE: Final = NAMES[-1]
#: The uid of the shared document after the run's prefix. The second document's uid is this one plus a letter, to find
#: services that truncate uids or compare prefixes.
_ALIKE: Final = "document-with-files"
#: An attachment id that no document of the suite has.
ABSENT: Final = 2_147_483_000


@dataclass(frozen=True)
class SharedDocument:
    """A document with attachments that many cases read and none changes."""

    uid: str
    attachments: tuple[Attachment, ...]

    @property
    def texts(self) -> tuple[Attachment, ...]:
        """The text files."""
        return tuple(file for file in self.attachments if not file.filename.endswith(".png"))

    @property
    def pictures(self) -> tuple[Attachment, ...]:
        """The pictures: a red one and a blue one."""
        return tuple(file for file in self.attachments if file.filename.endswith(".png"))


def shared_document(world: World) -> SharedDocument:
    """The shared document with six attachments, two of them pictures."""
    return world.shared("folder", lambda: _fill(world, NAMES, world.kept_uid(_ALIKE)))


def shared_document_list(world: World) -> Lister:
    """The list of the shared document's attachments, checked to hold exactly these."""
    shared = shared_document(world)
    attached = attachments_of(world.author, shared.uid)
    names = [attachment.filename for attachment in shared.attachments]

    def look() -> bool:
        page = attached.page()
        # Rely on skip only if a page is shorter than the list.
        records = page.records or [] if page.size >= len(names) else list(attached.walk())
        listed = all(any(readers.names(record, name) for record in records) for name in names)
        require(listed, "listAttachments", f"does not list the attachments of the document: {page.seen}")
        if len(records) > len(names):
            raise Untested(
                "the document does not say what else a list holds, and it holds more than the attachments"
            )
        return True

    world.once("whole list of attachments", look)
    return attached


def need_own_list(world: World) -> bool:
    """Check once that a document does not list another's attachments, for claims that nothing was attached."""
    mine = second_document(world)
    listed = world.once("own list of attachments", lambda: attachments_of(world.author, mine.uid).page().size)
    require(listed >= 0, "listAttachments", "returns no list for a document with an attachment")
    return require(listed <= len(mine.attachments), "listAttachments", "lists attachments of other documents")


def need_listing(world: World, file: Attachment | None = None) -> bool:
    """Require that a document lists a created attachment, for claims about others; by default the shared one."""
    sought = file or world.shared_attachment()

    def listed() -> bool:
        return any(lists(each, sought) for each in attachments_of(world.author, sought.uid).walk())

    cause = "does not list an attachment that was created"
    return require(world.eventually(listed), "listAttachments", cause)


def need_given_back(world: World, attachment: Attachment) -> bool:
    """Require that an attachment downloads as it was sent, for claims that build on it."""
    answer = usable(world.author.get_attachment(attachment.path))
    same = answer.success and answer.content == attachment.content
    return require(same, "getAttachment", f"does not return {attachment.filename} as it was sent")


def need_absence(world: World, operation: str) -> bool:
    """Require that an operation does not find an attachment that does not exist."""
    path = shared_document(world).pictures[0].path | {"attachmentId": str(ABSENT)}
    absent = not usable(world.author.send(operation, path=path)).success
    return require(absent, operation, "finds an attachment under an identifier that nothing has")


def document_for_uploads(world: World, what: str = "uploads") -> str:
    """The uid of a shared document for uploads, each under its own name; it stays until the end of the run."""
    return world.shared(f"document for {what}", lambda: world.document(world.kept_uid()))


def second_document(world: World) -> SharedDocument:
    """Another shared document with one attachment, whose name occurs in the first one too."""

    def fill() -> SharedDocument:
        beside = shared_document(world).uid
        return _fill(world, (TWICE,), world.kept_uid(uid=f"{beside}b"))

    return world.shared("second folder", fill)


def _fill(world: World, names: tuple[str, ...], uid: str) -> SharedDocument:
    uid = world.document(uid)
    attachments = tuple(attached(world.author, uid, name, _content(name, uid)) for name in names)
    # The list may show them a moment later. The cases judge whether it holds them all.
    world.eventually(lambda: len(list(attachments_of(world.author, uid).walk())) >= len(names))
    return SharedDocument(uid, attachments)


def _content(name: str, uid: str) -> bytes:
    pictures = {"foxtrot.png": contents.RED, "echo.png": contents.BLUE}
    return pictures.get(name) or f"{name} of {uid}\n".encode()


def attachment_and_other(world: World) -> tuple[Attachment, SharedDocument]:
    """An attachment of one document, and another document that does not have its id."""
    theirs, mine = second_document(world), shared_document(world)
    taken = {other.path["attachmentId"] for other in theirs.attachments}
    for attachment in reversed(mine.attachments):
        if attachment.path["attachmentId"] not in taken:
            return attachment, theirs
    raise Blocked("createAttachment", "gives the same ids in both documents")
