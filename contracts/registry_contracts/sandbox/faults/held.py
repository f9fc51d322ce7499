"""The sandbox's storage as faults read and change it: drafts, records, locks, files, and how they are related."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.sandbox.storage import DRAFT, Attachment, Records, Storage, Version

if TYPE_CHECKING:
    from registry_contracts.sandbox.faults.messages import Request

Told = TypeVar("Told")
#: All rows under an identifier, by table.
Rows = dict[str, list[tuple[Any, ...]]]
_TABLES: Final = ("versions", "locks", "attachments")


class Held:
    """Reads and changes the rows of a storage. Nothing here awaits, so no request runs in between."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self, question: Callable[[Records], Told]) -> Told:
        """Put a question to the storage, in a transaction of its own."""
        with self._storage.transaction() as records:
            return question(records)

    def drafts(self) -> list[Version]:
        """All drafts, the newest last."""
        question = f"SELECT * FROM versions WHERE state = '{DRAFT}' ORDER BY sequence"  # noqa: S608
        return self.read(lambda records: [Version(*row) for row in records.connection.execute(question)])

    def files(self) -> list[Attachment]:
        """All attachments, the newest last."""
        question = "SELECT * FROM attachments ORDER BY id"
        return self.read(lambda records: [Attachment(*row) for row in records.connection.execute(question)])

    def rows(self, uid: str) -> Rows:
        """All rows under an identifier, in every realm."""
        with self._storage.transaction() as records:
            command = "SELECT * FROM {} WHERE identifier = ?"
            rows = ((t, records.connection.execute(command.format(t), (uid,)).fetchall()) for t in _TABLES)
            return {table: [tuple(row) for row in found] for table, found in rows}

    def put(self, uid: str, rows: Mapping[str, list[tuple[Any, ...]]]) -> None:
        """Replace all rows of an identifier in the given tables."""
        with self._storage.transaction() as records:
            for table, found in rows.items():
                records.connection.execute(f"DELETE FROM {table} WHERE identifier = ?", (uid,))  # noqa: S608
                for row in found:
                    places = ", ".join("?" * len(row))
                    records.connection.execute(f"INSERT INTO {table} VALUES ({places})", row)  # noqa: S608

    def change(self, draft: Version, content: str | None) -> None:
        """Give a draft another content; None removes it."""
        command = "UPDATE versions SET content = ? WHERE sequence = ?"
        with self._storage.transaction() as records:
            if content is None:
                records.connection.execute("DELETE FROM versions WHERE sequence = ?", (draft.sequence,))
            else:
                records.connection.execute(command, (content, draft.sequence))

    def unused(self, file_id: str) -> None:
        """Mark a temporary file as unused."""
        command = "UPDATE temporary_files SET used = FALSE WHERE id = ?"
        self.read(lambda records: records.connection.execute(command, (file_id,)))


def draft_of(request: Request) -> Version | None:
    """The draft that a request names."""
    return request.memory.held.read(lambda records: records.version(*request.key, DRAFT))


def there(request: Request) -> bool:
    """Whether the identifier of a request is in use in its realm; a draft is enough."""
    return request.memory.held.read(lambda records: records.owner(*request.key)) is not None


def locked(request: Request) -> bool:
    """Whether the record that a request names is locked."""
    return request.memory.held.read(lambda records: records.is_locked(*request.key))


def submitted(request: Request) -> bool:
    """Whether the record that a request names was submitted or published."""
    return request.memory.held.read(lambda records: records.submitted(*request.key))


def newest(request: Request) -> str:
    """The identifier of the caller's newest draft in the realm; empty for none."""
    drafts = reversed(request.memory.held.drafts())
    return next((d.identifier for d in drafts if (d.realm, d.owner) == (request.realm, request.role)), "")


def owners(request: Request) -> set[str]:
    """The accounts that own records of the identifier, in any realm."""
    return request.memory.held.read(lambda records: records.owners_anywhere(request.uid))


def file_of(request: Request) -> Attachment | None:
    """The file with the number that a request names, of any document."""
    number = request.params.get("attachmentId", "")
    return next((file for file in request.memory.held.files() if str(file.id) == number), None)


def files_of(request: Request) -> list[Attachment]:
    """The files of the document that a request names, the newest last."""
    return [file for file in request.memory.held.files() if file.identifier == request.uid]


def at_file(request: Request, file: Attachment) -> Request:
    """The request for another file."""
    return request.with_params(uid=file.identifier, attachmentId=str(file.id), filename=file.filename)


def _alike(draft: Version, request: Request) -> bool:
    """Whether a draft has the content that a request sends, or else that of its draft, without the header."""
    saved = draft_of(request)
    ours, other = (
        request.record if request.body else json.loads(saved.content) if saved else None,
        json.loads(draft.content),
    )
    if not isinstance(ours, dict) or not isinstance(other, dict):
        return bool(ours == other)
    return {**ours, "header": 0} == {**other, "header": 0}


def _named(request: Request) -> str:
    return request.params.get("filename", "")


# fmt: off
#: The relations of another draft to that of a request, in words and as a test; names as in the factor table.
RELATIONS: Final[Mapping[str, tuple[str, Callable[[Version, Request], bool]]]] = {
    "unrelated": ("the latest other one of the account", lambda d, r: d.owner == r.role and d.realm == r.realm),
    "equal_content": ("one of the same content",
        lambda d, r: d.owner == r.role and d.realm == r.realm and _alike(d, r)),
    "twin": ("one whose uid differs in letter case only",
        lambda d, r: d.realm == r.realm and d.identifier.lower() == r.uid.lower()),
    "beginning": ("one whose uid begins with its own",
        lambda d, r: d.realm == r.realm and d.identifier.startswith(r.uid)),
    "going_on": ("one whose uid is the beginning of its own",
        lambda d, r: d.realm == r.realm and r.uid.startswith(d.identifier)),
    "lookalike": ("one whose uid has a letter where its own has an underscore",
        lambda d, r: d.realm == r.realm and _matches(r.uid, d.identifier)),
    "other_realm": ("that of the same uid in another realm", lambda d, r: d.realm != r.realm and d.identifier == r.uid),
    "of_other_account": ("one of another account with the same content",
        lambda d, r: d.owner != r.role and d.realm == r.realm and _alike(d, r)),
}
#: The relations of another document's file to the one that a request sends.
FILE_RELATIONS: Final[Mapping[str, tuple[str, Callable[[Attachment, Request], bool]]]] = {
    "same_name": ("of the same name", lambda f, r: f.filename == _named(r)),
    "same_content": ("of the same content", lambda f, r: _sent(f, r) == r.body),
    "same_file": ("of the same name and content", lambda f, r: f.filename == _named(r) and _sent(f, r) == r.body),
    "name_goes_on": ("whose name begins its own",
        lambda f, r: f.filename != _named(r) and _named(r).startswith(f.filename)),
    "on_twin": ("of the document whose uid differs in letter case only",
        lambda f, r: f.identifier.lower() == r.uid.lower()),
    "on_lookalike": ("of a document whose uid has a letter where its own has an underscore",
        lambda f, r: _matches(r.uid, f.identifier)),
}
# fmt: on


def _matches(pattern: str, uid: str) -> bool:
    """Whether a uid matches another one in which underscores stand for any sign, as in patterns of SQL."""
    return re.fullmatch(pattern.replace("_", "."), uid) is not None


def _sent(file: Attachment, request: Request) -> bytes | None:
    upload = request.memory.uploads.get(str(file.id))
    return upload.body if upload else None


def neighbours(request: Request, relation: str) -> list[Version]:
    """The other drafts with a relation to that of a request, newest first."""
    near = RELATIONS[relation][1]
    others = (d for d in reversed(request.memory.held.drafts()) if (d.realm, d.identifier) != request.key)
    return [draft for draft in others if not draft.identifier.startswith("sandbox-") and near(draft, request)]


def neighbour_files(request: Request, relation: str) -> list[Attachment]:
    """The files of other documents with a relation to the one that a request sends, newest first."""
    near = FILE_RELATIONS[relation][1]
    others = (file for file in reversed(request.memory.held.files()) if file.identifier != request.uid)
    return [file for file in others if near(file, request)]


def without_draft(request: Request) -> bool:
    """Whether a request names a valid identifier without a draft."""
    return is_valid_uid(request.uid) and draft_of(request) is None


def has_no_draft(request: Request) -> bool:
    """Whether the document of a request, which need not name a realm, has no draft."""
    return all(draft.identifier != request.uid for draft in request.memory.held.drafts())


def only(relation: str, request: Request) -> list[Version]:
    """If the draft of a request does not exist, the drafts with a relation to it."""
    return neighbours(request, relation) if without_draft(request) else []


async def at_draft(request: Request, draft: Version) -> Request:
    """The request for another draft, by its owner."""
    owner = await request.as_role(draft.owner)
    return owner.with_uid(draft.identifier).with_header("realm", draft.realm)
