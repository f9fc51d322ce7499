"""What one transaction can do with records: drafts, published versions and locks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, exists, func, insert, select, update
from sqlalchemy.engine import Connection, Row

from contracts.sandbox.attachment_records import AttachmentRecords
from contracts.sandbox.tables import LOCKS, MARKS, VERSIONS

DRAFT = "draft"
PUBLISHED = "published"


@dataclass(frozen=True)
class Version:
    """One version of a document.

    Attributes:
        sequence: its place in the order of creation.
        realm: the realm it lives in.
        identifier: the document's identifier.
        state: ``draft`` or ``published``.
        schema: name of its record type.
        owner: name of the account that created it.
        content: its JSON text.
        size: bytes of the content in UTF-8.
        created_on: UTC without offset.
        updated_on: UTC without offset.

    """

    sequence: int
    realm: str
    identifier: str
    state: str
    schema: str
    owner: str
    content: str
    size: int
    created_on: datetime
    updated_on: datetime


_HERE = (VERSIONS.c.realm == bindparam("r")) & (VERSIONS.c.identifier == bindparam("i"))
_LOCK_HERE = (LOCKS.c.realm == bindparam("r")) & (LOCKS.c.identifier == bindparam("i"))
_VERSION = select(VERSIONS).where(_HERE, VERSIONS.c.state == bindparam("s"))
_OWNERS = (
    select(VERSIONS.c.owner, VERSIONS.c.state.label("state"))
    .where(_HERE)
    .union_all(select(LOCKS.c.owner, func.char().label("state")).where(_LOCK_HERE))
    .order_by("state")
)
_LOCKED = select(exists().where(_LOCK_HERE))
_OWNERS_ANYWHERE = (
    select(VERSIONS.c.owner)
    .where(VERSIONS.c.identifier == bindparam("i"))
    .union(select(LOCKS.c.owner).where(LOCKS.c.identifier == bindparam("i")))
)


class Records:
    """The records, seen from inside one transaction.

    Args:
        connection: the connection, in its transaction.

    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.attachments = AttachmentRecords(connection)

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        """Return one version of a document, or ``None``."""
        row = self.connection.execute(_VERSION, {"r": realm, "i": identifier, "s": state}).one_or_none()
        return _version(row)

    def owner(self, realm: str, identifier: str) -> str | None:
        """Return who owns the record, from its lock, draft or published version; ``None``: no record."""
        return self.connection.execute(_OWNERS, {"r": realm, "i": identifier}).scalars().first()

    def owners_anywhere(self, identifier: str) -> set[str]:
        """Return the owners of the records of that identifier in all realms (attachments carry no realm)."""
        return set(self.connection.execute(_OWNERS_ANYWHERE, {"i": identifier}).scalars())

    def is_locked(self, realm: str, identifier: str) -> bool:
        """Tell whether the record is locked for workflow."""
        return bool(self.connection.execute(_LOCKED, {"r": realm, "i": identifier}).scalar_one())

    def lock(self, realm: str, identifier: str, owner: str, moment: datetime) -> None:
        """Lock a record for workflow."""
        self.connection.execute(
            insert(LOCKS), {"realm": realm, "identifier": identifier, "owner": owner, "locked_on": moment}
        )

    def store(self, version: Version) -> Version:
        """Create a version, or replace the one of the same realm, identifier and state.

        Args:
            version: what to store; sequence and size are set here, owner and creation stay when it replaces.

        Returns:
            The version as it is now stored.

        """
        present = self.version(version.realm, version.identifier, version.state)
        changing: dict[str, Any] = {
            "schema": version.schema,
            "content": version.content,
            "size": len(version.content.encode("utf-8")),
            "updated_on": version.updated_on,
        }
        if present is None:
            self.connection.execute(insert(VERSIONS), {**_identity(version), **changing})
        else:
            where = VERSIONS.c.sequence == present.sequence
            self.connection.execute(update(VERSIONS).where(where).values(changing))
        stored = self.version(version.realm, version.identifier, version.state)
        assert stored is not None  # noqa: S101 - it was written two lines above, in the same transaction
        return stored

    def remove_draft(self, realm: str, identifier: str) -> None:
        """Remove the draft version only; the published version and the lock stay."""
        here = {"r": realm, "i": identifier}
        self.connection.execute(delete(VERSIONS).where(_HERE, VERSIONS.c.state == DRAFT), here)

    def marked(self, name: str) -> bool:
        """Tell whether a mark was set in this database."""
        return self.connection.execute(select(MARKS).where(MARKS.c.name == name)).first() is not None

    def mark(self, name: str) -> None:
        """Set a mark, for ever."""
        self.connection.execute(insert(MARKS), {"name": name})


def new_version(
    *, realm: str, identifier: str, state: str, schema: str, owner: str, content: str, moment: datetime
) -> Version:
    """Return a version that is not stored yet, created at ``moment`` (UTC without offset)."""
    return Version(0, realm, identifier, state, schema, owner, content, 0, moment, moment)


def _version(row: Row[Any] | None) -> Version | None:
    return None if row is None else Version(**row._mapping)


def _identity(version: Version) -> dict[str, Any]:
    return {
        "realm": version.realm,
        "identifier": version.identifier,
        "state": version.state,
        "owner": version.owner,
        "created_on": version.created_on,
    }
