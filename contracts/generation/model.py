"""A small model of what the document promises about drafts and attachments, however many calls came before.

The model knows only what is promised: what was saved and not deleted is there as it was saved. Where the document is
silent (may another account write, does an attachment outlive its draft) the model forgets the document instead of
guessing: its name then stands for a fresh one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Action(StrEnum):
    """What a step does; the values are the words of a finding's sequence."""

    SAVE = "saveDraft"
    DELETE = "deleteDraft"
    READ = "getDraft"
    EXISTS = "draftExists"
    INFO = "getDraftInfo"
    MY = "listDrafts my"
    MYDRAFTS = "listDrafts mydrafts"
    FOREIGN_SAVE = "foreign saveDraft"
    FOREIGN_DELETE = "foreign deleteDraft"
    ATTACH = "createAttachment"
    DOWNLOAD = "getAttachment"
    ATTACHMENTS = "listAttachments"
    SUBMIT_FAULTY = "submit faulty"


#: Steps that change nothing.
LOOKS: Final = frozenset(
    {
        Action.READ,
        Action.EXISTS,
        Action.INFO,
        Action.MY,
        Action.MYDRAFTS,
        Action.DOWNLOAD,
        Action.ATTACHMENTS,
    }
)
#: Steps of the account that a document does not belong to.
FOREIGN: Final = frozenset({Action.FOREIGN_SAVE, Action.FOREIGN_DELETE})
#: Two documents of the author, one of the other account, and a record that the author submitted.
MINE: Final = ("A", "B")
THEIRS: Final = "C"
SUBMITTED: Final = "S"
OWNERS: Final = {"A": "author", "B": "author", "C": "other", "S": "author"}


@dataclass(frozen=True, slots=True)
class Step:
    """One call in a sequence: what, and on which document; a list of drafts is that of the document's owner."""

    action: Action
    document: str

    def __str__(self) -> str:
        listing = self.action in (Action.MY, Action.MYDRAFTS)
        return f"{self.action} of {OWNERS[self.document]}" if listing else f"{self.action} {self.document}"


class Happening(StrEnum):
    """What may have changed a draft since it was last seen as promised."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    NEIGHBOUR_SAVED = "neighbour saved"
    NEIGHBOUR_DELETED = "neighbour deleted"
    REFUSED_CREATE = "refused create"
    REFUSED_UPDATE = "refused update"


#: Clause and operation that a wrong draft speaks against, by what happened to it; the first that did counts.
_BLAME: Final = {
    Happening.UPDATED: ("draft-save-updates", "getDraft"),
    Happening.CREATED: ("draft-get-content", "getDraft"),
    Happening.REFUSED_UPDATE: ("workflow-refused-update-keeps-draft", "updateWorkflowRecord"),
    Happening.NEIGHBOUR_DELETED: ("draft-delete-spares-others", "deleteDraft"),
    Happening.NEIGHBOUR_SAVED: ("draft-save-spares-others", "saveDraft"),
}


@dataclass
class File:
    """An attachment: its path parameters and its bytes.

    Attributes:
        resaved: The draft of its document was saved since it was created.
        saved_since, neighbour_since: That draft was saved, another attachment created, since it was last downloaded.
    """

    path: dict[str, str]
    content: bytes
    resaved: bool = False
    saved_since: bool = False
    neighbour_since: bool = False

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path["filename"]

    @property
    def id(self) -> int:
        """Its attachment identifier."""
        return int(self.path["attachmentId"])


@dataclass
class Told:
    """Members that the service itself shows of a draft, in the answer to a save and in the info, now and before."""

    save_before: dict[str, Any] = field(default_factory=dict)
    info_before: dict[str, Any] = field(default_factory=dict)
    save_now: dict[str, Any] = field(default_factory=dict)
    info_now: dict[str, Any] = field(default_factory=dict)

    def saved(self, answer: dict[str, Any], *, update: bool) -> None:
        """The draft was saved; nothing that was told of a deleted one counts."""
        self.save_before, self.info_before = (self.save_now, self.info_now) if update else ({}, {})
        self.save_now, self.info_now = answer, {}

    def moved(self) -> list[str]:
        """Members that save and info agreed on before, and that the answer to the later save shows changed."""
        return [
            name
            for name, before in self.save_before.items()
            if name in self.info_before
            and self.info_before[name] == before
            and self.save_now.get(name, before) != before
        ]

    def stale(self, info: dict[str, Any]) -> list[str]:
        """Of those, the ones that an info still shows as they were."""
        return [name for name in self.moved() if name in info and info[name] == self.save_before[name]]


@dataclass
class Document:
    """One document as the model knows it.

    Attributes:
        version: Number of the save whose content the draft holds; None when there is no draft.
        contents: What every save sent, by its number, the header left out; markers are in them.
        deleted, gone: A draft of it was deleted; the exists check has said so since.
        updated: The last save was not the first.
        since: What happened since the draft was last read as promised.
        told: What the service told of the draft, in answers to saves and in its info.
    """

    name: str
    owner: str
    uid: str
    version: int | None = None
    contents: dict[int, dict[str, Any]] = field(default_factory=dict)
    deleted: bool = False
    gone: bool = False
    updated: bool = False
    since: list[Happening] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    told: Told = field(default_factory=Told)

    @property
    def saved(self) -> dict[str, Any] | None:
        """The content that the draft holds; None when there is no draft."""
        return None if self.version is None else self.contents[self.version]

    def save(self, version: int, content: dict[str, Any], answer: Any) -> None:
        """A save was accepted."""
        update = self.version is not None
        self.version, self.contents[version] = version, content
        self.since = [Happening.UPDATED if update else Happening.CREATED]
        self.updated = update
        self.told.saved(answer if isinstance(answer, dict) else {}, update=update)
        for file in self.files:
            file.saved_since = file.resaved = True

    def delete(self) -> None:
        """A deletion was accepted. Whether attachments stay without a draft is not shown, so they are forgotten."""
        self.version, self.deleted, self.gone = None, True, False
        self.since = [Happening.DELETED]
        self.files = []

    def suspect(self) -> tuple[str, str]:
        """The clause and operation that a wrong draft speaks against."""
        latest = Happening.UPDATED if self.updated else Happening.CREATED
        return next((blame for what, blame in _BLAME.items() if what in self.since), _BLAME[latest])

    def shown_as(self, text: str) -> list[int]:
        """Numbers of the saves whose content stands in a text."""
        return [version for version in self.contents if marker(self.uid, version) in text]


#: Members of a contact record that may be left out; those with a text for each language.
_TEXTS: Final = ("designation", "department", "address", "city")
_MARKED: Final = ("middleName", *_TEXTS)


def marker(uid: str, version: int) -> str:
    """A text that no other content holds."""
    return f"{uid[-8:]}-v{version}."


def content(draft: dict[str, Any], uid: str, version: int) -> dict[str, Any]:
    """What a save sends: a valid record with its marker in several members, another of which is left out each time."""
    text = marker(uid, version)
    values: list[Any] = [{"en": text} if name in _TEXTS else text for name in _MARKED]
    marked = draft | {"lastName": text} | dict(zip(_MARKED, values, strict=True))
    del marked[_MARKED[version % len(_MARKED)]]
    return marked
