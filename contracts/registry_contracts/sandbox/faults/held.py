"""The sandbox's storage as faults read and change it: drafts, records, locks, files, and how they are related."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from registry_contracts.interface.operations import is_valid_uid
from registry_contracts.sandbox.storage import DRAFT, Attachment, Records, Version

if TYPE_CHECKING:
    from registry_contracts.sandbox.faults.messages import Request

#: All rows under an identifier, by table.
Rows = dict[str, list[tuple[Any, ...]]]
_TABLES: Final = ("versions", "locks", "attachments")


class Held(Records):
    """The storage as faults see it. Nothing here awaits, so no request runs in between."""

    def drafts(self) -> list[Version]:
        """All drafts, the newest last."""
        question = "SELECT * FROM versions WHERE state = ? ORDER BY sequence"
        return [Version(*row) for row in self.connection.execute(question, (DRAFT,))]

    def files(self) -> list[Attachment]:
        """All attachments, the newest last."""
        return [Attachment(*row) for row in self.connection.execute("SELECT * FROM attachments ORDER BY id")]

    def persisted(self) -> set[str]:
        """The numbers of the attachments that were temporary files."""
        question = "SELECT id FROM attachments WHERE file_key IN (SELECT file_key FROM temporary_files)"
        return {str(number) for (number,) in self.connection.execute(question)}

    def rows(self, uid: str) -> Rows:
        """All rows under an identifier, in every realm."""
        command = "SELECT * FROM {} WHERE identifier = ?"
        found = {table: self.connection.execute(command.format(table), (uid,)) for table in _TABLES}
        return {table: [tuple(row) for row in rows] for table, rows in found.items()}

    def put(self, uid: str, rows: Mapping[str, list[tuple[Any, ...]]]) -> None:
        """Replace all rows of an identifier in the given tables."""
        with self.connection:
            for table, found in rows.items():
                self.connection.execute(f"DELETE FROM {table} WHERE identifier = ?", (uid,))  # noqa: S608
                for row in found:
                    places = ", ".join("?" * len(row))
                    self.connection.execute(f"INSERT INTO {table} VALUES ({places})", row)  # noqa: S608

    def change(self, draft: Version, content: str | None) -> None:
        """Give a draft another content; None removes it."""
        if content is None:
            self.connection.execute("DELETE FROM versions WHERE sequence = ?", (draft.sequence,))
        else:
            command = "UPDATE versions SET content = ? WHERE sequence = ?"
            self.connection.execute(command, (content, draft.sequence))

    def unused(self, file_id: str) -> None:
        """Mark a temporary file as unused."""
        self.connection.execute("UPDATE temporary_files SET used = FALSE WHERE id = ?", (file_id,))


def draft_of(request: Request) -> Version | None:
    """The draft that a request names."""
    return request.held.version(*request.key, DRAFT)


def there(request: Request) -> bool:
    """Whether the identifier of a request is in use in its realm; a draft is enough."""
    return request.held.owner(*request.key) is not None


def newest(request: Request) -> str:
    """The identifier of the caller's newest draft in the realm; empty for none."""
    drafts = reversed(request.held.drafts())
    return next((d.identifier for d in drafts if (d.realm, d.owner) == (request.realm, request.role)), "")


def file_of(request: Request) -> Attachment | None:
    """The file with the number that a request names, of any document."""
    number = request.params.get("attachmentId", "")
    return next((file for file in request.held.files() if str(file.id) == number), None)


def files_of(request: Request) -> list[Attachment]:
    """The files of the document that a request names, the newest last."""
    return [file for file in request.held.files() if file.identifier == request.uid]


def at_file(request: Request, file: Attachment) -> Request:
    """The request for another file."""
    return request.with_params(uid=file.identifier, attachmentId=str(file.id), filename=file.filename)


def _alike(draft: Version, request: Request) -> bool:
    """Whether a draft has the content that a request sends, or else that of its draft, without the header."""
    saved = draft_of(request)
    ours = request.record if request.body else json.loads(saved.content) if saved else None
    other = json.loads(draft.content)
    if not isinstance(ours, dict) or not isinstance(other, dict):
        return bool(ours == other)
    return {**ours, "header": 0} == {**other, "header": 0}


def _named(request: Request) -> str:
    return request.params.get("filename", "")


def bytes_of(request: Request, file: Attachment) -> bytes:
    """The bytes of a file."""
    return request.memory.service.files.path(file.file_key).read_bytes()


def _same_content(file: Attachment, request: Request) -> bool:
    return file.size == len(request.body) and bytes_of(request, file) == request.body


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
    "same_content": ("of the same content", _same_content),
    "same_file": ("of the same name and content", lambda f, r: f.filename == _named(r) and _same_content(f, r)),
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
    return re.fullmatch(re.escape(pattern).replace("_", "."), uid) is not None


def neighbours(request: Request, relation: str) -> list[Version]:
    """The other drafts with a relation to that of a request, newest first."""
    near = RELATIONS[relation][1]
    others = (d for d in reversed(request.held.drafts()) if (d.realm, d.identifier) != request.key)
    return [draft for draft in others if not draft.identifier.startswith("sandbox-") and near(draft, request)]


def neighbour_files(request: Request, relation: str) -> list[Attachment]:
    """The files of other documents with a relation to the one that a request sends, newest first."""
    near = FILE_RELATIONS[relation][1]
    others = (file for file in reversed(request.held.files()) if file.identifier != request.uid)
    return [file for file in others if near(file, request)]


def without_draft(request: Request) -> bool:
    """Whether a request names a valid identifier without a draft."""
    return is_valid_uid(request.uid) and draft_of(request) is None


def has_no_draft(request: Request) -> bool:
    """Whether the document of a request, which need not name a realm, has no draft."""
    return all(draft.identifier != request.uid for draft in request.held.drafts())


def only(relation: str, request: Request) -> list[Version]:
    """If the draft of a request does not exist, the drafts with a relation to it."""
    return neighbours(request, relation) if without_draft(request) else []


def at_draft(request: Request, draft: Version) -> Request:
    """The request for another draft, by its owner."""
    return request.as_role(draft.owner).with_uid(draft.identifier).with_header("realm", draft.realm)
