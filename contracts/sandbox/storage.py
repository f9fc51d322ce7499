"""What one sandbox stores: records and attachments in a database, files in a folder, and previews of files.

Files are received in pieces, never whole in memory, and gone when they did not arrive whole. A preview is a small
picture of a picture, and a plain tile for any other file.
"""

import io
import secrets
import shutil
import struct
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    create_engine,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.engine import Connection, Engine, Row
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool
from starlette.concurrency import run_in_threadpool

from contracts.errors import UsageError
from contracts.sandbox.http import Reason, Refusal

if TYPE_CHECKING:
    from filelock import FileLock
    from PIL import Image


METADATA = MetaData()

VERSIONS = Table(
    "versions",
    METADATA,
    Column("sequence", Integer, primary_key=True, autoincrement=True),
    Column("realm", Text, nullable=False),
    Column("identifier", Text, nullable=False),
    Column("state", Text, nullable=False, doc="draft or published"),
    Column("schema", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("content", Text, nullable=False, doc="JSON text, kept exactly as it came"),
    Column("size", Integer, nullable=False, doc="bytes of the content in UTF-8"),
    Column("created_on", DateTime, nullable=False),
    Column("updated_on", DateTime, nullable=False),
    UniqueConstraint("realm", "identifier", "state"),
    sqlite_autoincrement=True,
)

LOCKS = Table(
    "locks",
    METADATA,
    Column("realm", Text, primary_key=True),
    Column("identifier", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("locked_on", DateTime, nullable=False),
)

ATTACHMENTS = Table(
    "attachments",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("identifier", Text, nullable=False, index=True, doc="the document it belongs to"),
    Column("filename", Text, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("size", Integer, nullable=False, doc="bytes"),
    Column("owner", Text, nullable=False),
    Column("created_on", DateTime, nullable=False),
    Column("file_key", Text, nullable=False, doc="name of the stored file"),
    sqlite_autoincrement=True,
)

TEMPORARY_FILES = Table(
    "temporary_files",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("filename", Text, nullable=False),
    Column("size", Integer, nullable=False, doc="bytes"),
    Column("file_key", Text, nullable=False),
    Column("used", Boolean, nullable=False, default=False),
)

MARKS = Table("marks", METADATA, Column("name", Text, primary_key=True))


@dataclass(frozen=True)
class Attachment:
    """One attachment.

    Attributes:
        id: its number; 0 before it is stored.
        identifier: the document it belongs to.
        filename: its name, with extension where relevant.
        content_type: guessed from the name.
        size: bytes.
        owner: name of the account that added it.
        created_on: UTC without offset.
        file_key: name of the stored file.

    """

    id: int
    identifier: str
    filename: str
    content_type: str
    size: int
    owner: str
    created_on: datetime
    file_key: str


@dataclass(frozen=True)
class TemporaryFile:
    """A file in temporary storage; ``used`` once it became an attachment."""

    id: str
    filename: str
    size: int
    file_key: str
    used: bool = False


class AttachmentRecords:
    """The attachments, seen from inside one transaction."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def attachment(self, uid: str, number: int, filename: str) -> Attachment | None:
        """Return the attachment of that number, if it has that name and belongs to that document."""
        row = self.connection.execute(
            select(ATTACHMENTS).where(
                ATTACHMENTS.c.id == number,
                ATTACHMENTS.c.identifier == uid,
                ATTACHMENTS.c.filename == filename,
            )
        ).one_or_none()
        return None if row is None else Attachment(**row._mapping)

    def any_of(self, uid: str) -> bool:
        """Tell whether a document has attachments."""
        here = exists().where(ATTACHMENTS.c.identifier == uid)
        return bool(self.connection.execute(select(here)).scalar_one())

    def add(self, attachment: Attachment) -> Attachment:
        """Store an attachment and return it with its number."""
        values = {name: value for name, value in vars(attachment).items() if name != "id"}
        (number,) = self.connection.execute(insert(ATTACHMENTS), values).inserted_primary_key or (0,)
        return Attachment(number, **values)

    def temporary_file(self, file_id: str) -> TemporaryFile | None:
        """Return a temporary file, used or not, or ``None``."""
        query = select(TEMPORARY_FILES).where(TEMPORARY_FILES.c.id == file_id)
        row = self.connection.execute(query).one_or_none()
        return None if row is None else TemporaryFile(**row._mapping)

    def add_temporary_files(self, files: list[TemporaryFile]) -> None:
        """Store new temporary files."""
        self.connection.execute(insert(TEMPORARY_FILES), [dict(vars(file)) for file in files])

    def use_up(self, file_id: str) -> None:
        """Mark a temporary file as used; it cannot be used again."""
        here = TEMPORARY_FILES.c.id == file_id
        self.connection.execute(update(TEMPORARY_FILES).where(here).values(used=True))


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
    """The records, seen from inside one transaction."""

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

    def published(self) -> Counter[str]:
        """How many records beyond drafts each realm has."""
        question = select(VERSIONS.c.realm, func.count()).where(VERSIONS.c.state != DRAFT)
        rows = self.connection.execute(question.group_by(VERSIONS.c.realm))
        return Counter({str(realm): int(number) for realm, number in rows})

    def drafts_alone(self) -> set[tuple[str, str]]:
        """Realm and identifier of each draft whose record is neither published nor locked."""
        places = select(VERSIONS.c.realm, VERSIONS.c.identifier)
        records = {*self.connection.execute(places.where(VERSIONS.c.state != DRAFT))}
        records |= {*self.connection.execute(select(LOCKS.c.realm, LOCKS.c.identifier))}
        drafts = {*self.connection.execute(places.where(VERSIONS.c.state == DRAFT))}
        return {(str(realm), str(identifier)) for realm, identifier in drafts - records}

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


DATABASE = "registry.sqlite"


class Storage:
    """Opens the database and hands out transactions.

    All requests share one connection under one lock: an operation that checks and then writes does so undisturbed,
    which is what makes two simultaneous creations of one identifier end with exactly one.

    Args:
        data: folder of the database; ``None`` keeps it in memory.
        records: what a transaction hands out.

    Raises:
        UsageError: the folder holds a file that is no database of a sandbox.

    """

    def __init__(self, data: Path | None, records: type[Records] = Records) -> None:
        self._records = records
        self._lock = RLock()
        self._engine = _engine(data)
        try:
            self._prepare(on_disk=data is not None)
        except SQLAlchemyError as problem:
            raise UsageError(f"{data}/{DATABASE} cannot be used as the sandbox's database") from problem

    def _prepare(self, *, on_disk: bool) -> None:
        if on_disk:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                connection.exec_driver_sql("PRAGMA synchronous=NORMAL")
        METADATA.create_all(self._engine)

    @contextmanager
    def transaction(self) -> Iterator[Records]:
        """Hold the database for a short while: all is kept at the end, or nothing when something is raised.

        Never await inside: the lock is held by the thread.
        """
        with self._lock, self._engine.begin() as connection:
            yield self._records(connection)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()


def _engine(data: Path | None) -> Engine:
    url = "sqlite://" if data is None else f"sqlite:///{data / DATABASE}"
    return create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})


_LOCK = "sandbox.lock"


@dataclass(frozen=True)
class StoredFile:
    """A file that arrived whole: its key in the store, and its size in bytes."""

    key: str
    size: int


class FileStore:
    """Keeps the bytes of attachments and temporary files.

    Args:
        data: the sandbox's data folder; ``None`` takes a temporary one, removed at the end.

    Raises:
        UsageError: the folder cannot be written, or another sandbox is using it.

    """

    def __init__(self, data: Path | None) -> None:
        self._own = Path(tempfile.mkdtemp(prefix="registry-sandbox-")) if data is None else None
        self._lock = None if data is None else _locked(data)
        self.root = (self._own or data or Path()) / "files"
        self.arriving = self.root / "arriving"
        # What a killed sandbox was receiving can never become whole.
        shutil.rmtree(self.arriving, ignore_errors=True)
        self.arriving.mkdir(parents=True)

    def path(self, key: str) -> Path:
        """Return where the file of that key lies."""
        return self.root / key

    async def receive(self, pieces: AsyncIterator[bytes], limit: int | None) -> StoredFile:
        """Store a file from its pieces.

        Args:
            pieces: the bytes as they arrive.
            limit: largest size in bytes; ``None`` for no limit.

        Raises:
            Refusal: the file is larger than the limit; nothing of it is kept.

        """
        key = secrets.token_hex(16)
        part = self.arriving / key
        try:
            size = await self._write(part, pieces, limit)
            part.replace(self.path(key))
        finally:
            part.unlink(missing_ok=True)
        return StoredFile(key, size)

    async def _write(self, part: Path, pieces: AsyncIterator[bytes], limit: int | None) -> int:
        size = 0
        with part.open("wb") as file:
            async for piece in pieces:
                size += len(piece)
                if limit is not None and size > limit:
                    raise too_large(limit)
                # A short write into the page cache; a thread for each piece would cost more than it saves.
                file.write(piece)
        return size

    def keep(self, content: bytes) -> StoredFile:
        """Store a small file that is already in memory."""
        key = secrets.token_hex(16)
        self.path(key).write_bytes(content)
        return StoredFile(key, len(content))

    def remove(self, key: str) -> None:
        """Remove a stored file."""
        self.path(key).unlink(missing_ok=True)

    def close(self) -> None:
        """Let the folder go; a temporary one is removed."""
        if self._lock is not None:
            self._lock.release()
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)


def too_large(limit: int) -> Refusal:
    """Return the refusal of a file over the limit (Limits: larger uploads cause errors)."""
    return Refusal(Reason.TOO_LARGE, f"the file is larger than {limit} bytes")


def _locked(data: Path) -> "FileLock":
    from filelock import FileLock, Timeout  # noqa: PLC0415 - only needed for a folder that outlives the process

    lock = FileLock(data / _LOCK)
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as problem:
        raise UsageError(f"another sandbox is using {data}; give --data another folder") from problem
    except OSError as problem:
        raise UsageError(f"cannot keep data in {data}: {problem.strerror}") from problem
    return lock


_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
_LARGEST_FILE = 64 * 1024**2
_SHOWN_LETTERS = 5
_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,
    ArithmeticError,
    LookupError,
    EOFError,
    TypeError,
    struct.error,
)


class Thumbnails:
    """Makes preview images.

    Args:
        pixels: longest side, in pixels.

    """

    def __init__(self, pixels: int) -> None:
        self.pixels = pixels

    async def of(self, path: Path, filename: str) -> bytes:
        """Return a PNG preview of a stored file.

        Args:
            path: where it lies.
            filename: its name; the extension is written on the tile of a file that is no picture.

        """
        return await run_in_threadpool(self.draw, path, filename)

    def draw(self, path: Path, filename: str) -> bytes:
        """Return a PNG preview; pictures that cannot be read get the plain tile."""
        if path.stat().st_size <= _LARGEST_FILE:
            try:
                return self.picture(path)
            except _UNREADABLE:
                return self.tile(filename)
        return self.tile(filename)

    def picture(self, path: Path) -> bytes:
        """Return a picture made small enough.

        Raises:
            OSError: the file is no picture; broken ones raise others of ``_UNREADABLE``.

        """
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        with Image.open(path, formats=_FORMATS) as image:
            if image.width * image.height > (Image.MAX_IMAGE_PIXELS or 0):
                raise ValueError("the picture unpacks to more than can be handled")
            image.thumbnail((self.pixels, self.pixels))
            return _png(image.convert("RGBA"))

    def tile(self, filename: str) -> bytes:
        """Return a plain tile with the file's extension on it."""
        from PIL import Image, ImageDraw  # noqa: PLC0415 - as above

        extension = Path(filename).suffix[1:].upper()[:_SHOWN_LETTERS]
        side = self.pixels
        image = Image.new("RGBA", (side, side), "#eef1f4")
        pen = ImageDraw.Draw(image)
        pen.rectangle((0, 0, side - 1, side - 1), outline="#9aa5b1")
        if extension.isascii():
            pen.text((side // 3, side // 2), extension, fill="#52606d")
        return _png(image)


def _png(image: "Image.Image") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
