"""Documents with attachments that many cases read and none changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contracts.cases import contents
from contracts.cases.arrangement import Arrangement
from contracts.cases.attachment_lookup import Attachment, attach, lists
from contracts.cases.list_pages import Lister, attachments_of
from contracts.cases.preconditions import require
from contracts.checks.outcomes import Blocked, usable
from contracts.exchanges import readers
from contracts.session.actor import Actor

#: The shared document's files, neither in rising nor in falling order of names. The last name is in use twice.
NAMES: Final = ("delta.txt", "bravo.bin", "foxtrot.png", "alpha.txt", "echo.png", "charlie.txt")


TWICE: Final = NAMES[-1]


#: How the uids of these documents begin, behind the run's prefix: cut short, one would be taken for the other.
_ALIKE: Final = "document-with-files-"


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
        return tuple(each for each in self.attachments if not each.filename.endswith(".png"))

    @property
    def pictures(self) -> tuple[Attachment, ...]:
        """Those that are pictures: a red one and a blue one."""
        return tuple(each for each in self.attachments if each.filename.endswith(".png"))


def shared_document(arrange: Arrangement, actor: Actor) -> SharedDocument:
    """The shared document with six attachments, two of them pictures."""
    return arrange.once(f"folder of {actor.role}", lambda: _fill(arrange, actor, NAMES, "a"))


def shared_document_list(arrange: Arrangement, actor: Actor) -> Lister:
    """The list of the shared document's attachments, which holds just these.

    Raises:
        Blocked: it holds others too, or lacks one; that is a finding of its own.
    """
    shared = shared_document(arrange, actor)
    attached = attachments_of(actor, shared.uid)
    names = [attachment.filename for attachment in shared.attachments]

    def look() -> bool:
        page = attached.page()
        # A page may be shorter than the list; skip is only relied on where that is so.
        records = page.records or [] if page.size >= len(names) else list(attached.walk())
        whole = len(records) == len(names) and all(
            any(readers.names(record, name) for record in records) for name in names
        )
        return require(
            whole, "listAttachments", f"does not list just the attachments of the document: {page.told}"
        )

    arrange.once("whole list of attachments", look)
    return attached


def lists_own_only(arrange: Arrangement, actor: Actor) -> None:
    """See once that a document does not list the attachments of another, for claims that nothing was attached.

    Raises:
        Blocked: it does, which is a finding of its own.
    """
    mine = second_document(arrange, actor)
    listed = arrange.once("own list of attachments", lambda: attachments_of(actor, mine.uid).page().size)
    require(listed <= len(mine.attachments), "listAttachments", "lists attachments of other documents")


def lists_created(arrange: Arrangement, actor: Actor) -> None:
    """See once that a document lists an attachment that was created, for claims about others.

    Raises:
        Blocked: it does not, which is a finding of its own.
    """
    single = second_document(arrange, actor).attachments[0]

    def look() -> bool:
        found = any(
            lists(record, single) for record in attachments_of(actor, single.uid).page().records or ()
        )
        return require(found, "listAttachments", "does not list an attachment that was created")

    arrange.once("created attachment is listed", look)


def gives_back(arrange: Arrangement, actor: Actor, attachment: Attachment) -> None:
    """See once that an attachment is stored as it was sent, for claims about what is made of it.

    Raises:
        Blocked: its download differs, which is a finding of its own.
    """

    def look() -> bool:
        answer = usable(actor.send("getAttachment", path=attachment.path))
        same = answer.success and answer.content == attachment.content
        return require(same, "getAttachment", f"does not give {attachment.filename} back as it was sent")

    arrange.once(f"bytes of {attachment.filename}", look)


def tells_absence(arrange: Arrangement, actor: Actor, operation: str) -> None:
    """See once that an operation does not find an attachment that is not there.

    Raises:
        Blocked: it finds anything, so that it cannot tell whose an attachment is; that is a finding of its own.
    """
    path = shared_document(arrange, actor).pictures[0].path | {"attachmentId": str(ABSENT)}

    def look() -> bool:
        absent = not usable(actor.send(operation, path=path)).success
        return require(absent, operation, "finds an attachment under an identifier that nothing has")

    arrange.once(f"absent {operation}", look)


def document_for_uploads(arrange: Arrangement, actor: Actor) -> str:
    """The uid of a shared document to attach files to, each under a name of its own."""
    return arrange.once(f"desk of {actor.role}", lambda: arrange.kept_draft(actor).uid)


def second_document(arrange: Arrangement, actor: Actor) -> SharedDocument:
    """Another shared document, with one attachment of a name that the first one has too."""
    return arrange.once(f"second folder of {actor.role}", lambda: _fill(arrange, actor, (TWICE,), "b"))


def _fill(arrange: Arrangement, actor: Actor, names: tuple[str, ...], letter: str) -> SharedDocument:
    uid = arrange.kept_draft(actor, f"{_ALIKE}{letter}").uid
    attachments = tuple(attach(actor, uid, name, _content(name, uid)) for name in names)
    # A list may be a moment late. Whether it holds them all is for the cases to say.
    arrange.eventually(lambda: len(list(attachments_of(actor, uid).walk())) >= len(names))
    return SharedDocument(uid, attachments)


def _content(name: str, uid: str) -> bytes:
    pictures = {"foxtrot.png": contents.RED, "echo.png": contents.BLUE}
    return pictures.get(name) or f"{name} of {uid}\n".encode()


def attachment_elsewhere(arrange: Arrangement, actor: Actor) -> tuple[Attachment, SharedDocument]:
    """An attachment, and a document that it does not belong to but that has one of the same name.

    Raises:
        Blocked: both documents have the same ids, so that one cannot be told from the other.
    """
    theirs, mine = second_document(arrange, actor), shared_document(arrange, actor)
    taken = {each.id for each in theirs.attachments}
    for attachment in reversed(mine.attachments):
        if attachment.id not in taken:
            return attachment, theirs
    raise Blocked("createAttachment", "gives the same ids in both documents")
