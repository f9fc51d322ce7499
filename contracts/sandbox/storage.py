"""What one sandbox stores: records and attachments in a database, files in a folder, and previews of files."""

import io
import secrets
import shutil
import struct
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

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
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool
from starlette.concurrency import run_in_threadpool

from contracts.errors import UsageError
from contracts.sandbox.http import Reason, Refusal

if TYPE_CHECKING:
    from filelock import FileLock
    from PIL import Image

DRAFT: Final = "draft"
PUBLISHED: Final = "published"


class Clock:
    """Tells the time, no finer than it is written: what a client reads is what it can ask for again in a filter.

    ``digits`` of fractional seconds are written, 1 to 9; ``offset`` says that it is UTC.
    """

    def __init__(self, digits: int, offset: str) -> None:
        self.digits = digits
        self.offset = offset

    def now(self) -> datetime:
        """Return the present moment in UTC, without offset."""
        moment = datetime.now(UTC).replace(tzinfo=None)
        return moment.replace(
            microsecond=moment.microsecond - moment.microsecond % 10 ** max(0, 6 - self.digits)
        )

    def written(self, moment: datetime) -> str:
        """Return a moment (UTC without offset) as the document has it, for example ``2026-01-31T08:15:00.250Z``."""
        fraction = f"{moment.microsecond:06d}000"[: self.digits]
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction}{self.offset}"


@dataclass(frozen=True)
class Version:
    """One version of a document, ``draft`` or ``published``; moments are UTC without offset.

    ``sequence`` is its place in the order of creation, ``content`` its JSON text, exactly as it came, and ``size`` that
    of it in bytes of UTF-8.
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


@dataclass(frozen=True)
class Attachment:
    """One attachment of the document ``identifier``; ``id`` is 0 before it is stored, ``content_type`` is guessed."""

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


METADATA = MetaData()
_COLUMNS: Final = {int: Integer, str: Text, bool: Boolean, datetime: DateTime}


def _table(name: str, kind: type, *more: Any) -> Table:
    """Return the table of a dataclass: a column for each field, the first of them its key."""
    key, *others = fields(kind)
    return Table(
        name,
        METADATA,
        Column(key.name, _COLUMNS[key.type], primary_key=True),  # type: ignore[index]
        *(Column(each.name, _COLUMNS[each.type], nullable=False) for each in others),  # type: ignore[index]
        *more,
        sqlite_autoincrement=key.type is int,  # a number is never given twice
    )


VERSIONS = _table("versions", Version, UniqueConstraint("realm", "identifier", "state"))
ATTACHMENTS = _table("attachments", Attachment)
TEMPORARY_FILES = _table("temporary_files", TemporaryFile)
LOCKS = Table(
    "locks",
    METADATA,
    Column("realm", Text, primary_key=True),
    Column("identifier", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("locked_on", DateTime, nullable=False),
)
MARKS = Table("marks", METADATA, Column("name", Text, primary_key=True))

# Made once: most requests ask one of them.
_HERE = (VERSIONS.c.realm == bindparam("r")) & (VERSIONS.c.identifier == bindparam("i"))
_LOCK_HERE = (LOCKS.c.realm == bindparam("r")) & (LOCKS.c.identifier == bindparam("i"))
_VERSION = select(VERSIONS).where(_HERE, VERSIONS.c.state == bindparam("s"))
_OWNERS = (
    select(VERSIONS.c.owner, VERSIONS.c.state.label("state"))
    .where(_HERE)
    .union_all(select(LOCKS.c.owner, func.char().label("state")).where(_LOCK_HERE))
    .order_by("state")
)
_LOCKED = select(exists().where(_LOCK_HERE, LOCKS.c.locked_on <= bindparam("now")))
_OWNERS_ANYWHERE = (
    select(VERSIONS.c.owner)
    .where(VERSIONS.c.identifier == bindparam("i"))
    .union(select(LOCKS.c.owner).where(LOCKS.c.identifier == bindparam("i")))
)


class Records:
    """What is stored, seen from inside one transaction."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self.clock = clock

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        """Return one version of a document, or ``None``."""
        row = self.connection.execute(_VERSION, {"r": realm, "i": identifier, "s": state}).one_or_none()
        return None if row is None else Version(**row._mapping)

    def owner(self, realm: str, identifier: str) -> str | None:
        """Return who owns the record, from its lock, draft or published version; ``None``: no record."""
        return self.connection.execute(_OWNERS, {"r": realm, "i": identifier}).scalars().first()

    def owners_anywhere(self, identifier: str) -> set[str]:
        """Return the owners of the records of that identifier in all realms (attachments carry no realm)."""
        return set(self.connection.execute(_OWNERS_ANYWHERE, {"i": identifier}).scalars())

    def submitted(self, realm: str, identifier: str) -> bool:
        """Tell whether the record is more than a draft: published, or locked now or soon."""
        states = self.connection.execute(_OWNERS, {"r": realm, "i": identifier}).all()
        return any(state != DRAFT for _, state in states)

    def is_locked(self, realm: str, identifier: str) -> bool:
        """Tell whether the record is locked for workflow."""
        here = {"r": realm, "i": identifier, "now": self.clock.now()}
        return bool(self.connection.execute(_LOCKED, here).scalar_one())

    def lock(self, realm: str, identifier: str, owner: str, delay: float = 0) -> None:
        """Lock a record for workflow, from so many seconds on; a lock that is there stays."""
        moment = self.clock.now() + timedelta(seconds=delay)
        values = {"realm": realm, "identifier": identifier, "owner": owner, "locked_on": moment}
        self.connection.execute(insert(LOCKS).prefix_with("OR IGNORE"), values)

    def store(
        self, realm: str, identifier: str, state: str, *, schema: str, owner: str, content: str
    ) -> Version:
        """Create a version, or replace the one of the same realm, identifier and state: owner and creation stay."""
        present, moment = self.version(realm, identifier, state), self.clock.now()
        changing = {"schema": schema, "content": content, "size": len(content.encode()), "updated_on": moment}
        if present is None:
            new = {
                "realm": realm,
                "identifier": identifier,
                "state": state,
                "owner": owner,
                "created_on": moment,
            }
            self.connection.execute(insert(VERSIONS), new | changing)
        else:
            here = VERSIONS.c.sequence == present.sequence
            self.connection.execute(update(VERSIONS).where(here).values(changing))
        stored = self.version(realm, identifier, state)
        assert stored is not None  # noqa: S101 - it was written above, in the same transaction
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

    def attachment(self, uid: str, number: int, filename: str | None) -> Attachment | None:
        """Return the attachment of that number, if it is of that document, and of that name where one is given."""
        question = select(ATTACHMENTS).where(ATTACHMENTS.c.id == number, ATTACHMENTS.c.identifier == uid)
        if filename is not None:
            question = question.where(ATTACHMENTS.c.filename == filename)
        row = self.connection.execute(question).one_or_none()
        return None if row is None else Attachment(**row._mapping)

    def attachments(self, uid: str) -> list[Attachment]:
        """Return the attachments of a document, in the order of their numbers."""
        question = select(ATTACHMENTS).where(ATTACHMENTS.c.identifier == uid).order_by(ATTACHMENTS.c.id)
        return [Attachment(**row._mapping) for row in self.connection.execute(question)]

    def add_attachment(self, attachment: Attachment) -> Attachment:
        """Store an attachment and return it with its number."""
        values = {name: value for name, value in asdict(attachment).items() if name != "id"}
        (number,) = self.connection.execute(insert(ATTACHMENTS), values).inserted_primary_key or (0,)
        return Attachment(number, **values)

    def remove_attachment(self, number: int) -> None:
        """Remove an attachment; its file stays."""
        self.connection.execute(delete(ATTACHMENTS).where(ATTACHMENTS.c.id == number))

    def temporary_file(self, file_id: str) -> TemporaryFile | None:
        """Return a temporary file, used or not, or ``None``."""
        question = select(TEMPORARY_FILES).where(TEMPORARY_FILES.c.id == file_id)
        row = self.connection.execute(question).one_or_none()
        return None if row is None else TemporaryFile(**row._mapping)

    def add_temporary_files(self, files: list[TemporaryFile]) -> None:
        """Store new temporary files."""
        self.connection.execute(insert(TEMPORARY_FILES), [asdict(file) for file in files])

    def use_up(self, file_id: str) -> None:
        """Mark a temporary file as used; it cannot be used again."""
        here = TEMPORARY_FILES.c.id == file_id
        self.connection.execute(update(TEMPORARY_FILES).where(here).values(used=True))

    def marked(self, name: str) -> bool:
        """Tell whether a mark was set in this database."""
        return self.connection.execute(select(MARKS).where(MARKS.c.name == name)).first() is not None

    def mark(self, name: str) -> None:
        """Set a mark, for ever."""
        self.connection.execute(insert(MARKS), {"name": name})


DATABASE: Final = "registry.sqlite"


class Storage:
    """Opens the database, in memory without a folder, and hands out transactions.

    All requests share one connection under one lock: an operation that checks and then writes does so undisturbed,
    which is what makes two simultaneous creations of one identifier end with exactly one.
    """

    def __init__(self, data: Path | None, clock: Clock) -> None:
        self._clock = clock
        self._lock = RLock()
        self._engine = _engine(data)
        try:
            with self._engine.connect() as connection:
                if data is not None:
                    connection.exec_driver_sql("PRAGMA journal_mode=WAL")
                    connection.exec_driver_sql("PRAGMA synchronous=NORMAL")
            METADATA.create_all(self._engine)
        except SQLAlchemyError as error:
            raise UsageError(f"{data}/{DATABASE} cannot be used as the sandbox's database") from error

    @contextmanager
    def transaction(self) -> Iterator[Records]:
        """Hold the database for a short while: all is kept at the end, or nothing when something is raised.

        Never await inside: the lock is held by the thread.
        """
        with self._lock, self._engine.begin() as connection:
            yield Records(connection, self._clock)

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()


def _engine(data: Path | None) -> Engine:
    url = "sqlite://" if data is None else f"sqlite:///{data / DATABASE}"
    return create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})


@dataclass(frozen=True)
class StoredFile:
    """A file that arrived whole: its key in the store, and its size in bytes."""

    key: str
    size: int


class FileStore:
    """Keeps the bytes of files in the data folder, or in a temporary one that is removed at the end."""

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
        """Store a file from its pieces, never whole in memory; nothing is kept of one above the limit, or not whole."""
        key, size = secrets.token_hex(16), 0
        part = self.arriving / key
        try:
            with part.open("wb") as file:
                async for piece in pieces:
                    size += len(piece)
                    if limit is not None and size > limit:
                        raise too_large(limit)
                    # A short write into the page cache; a thread for each piece would cost more than it saves.
                    file.write(piece)
            part.replace(self.path(key))
        finally:
            part.unlink(missing_ok=True)
        return StoredFile(key, size)

    def keep(self, content: bytes) -> StoredFile:
        """Store a small file that is already in memory."""
        key = secrets.token_hex(16)
        self.path(key).write_bytes(content)
        return StoredFile(key, len(content))

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

    lock = FileLock(data / "sandbox.lock")
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UsageError(f"another sandbox is using {data}; give --data another folder") from error
    except OSError as error:
        raise UsageError(f"cannot keep data in {data}: {error.strerror}") from error
    return lock


_PICTURES: Final = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
_LARGEST_PICTURE: Final = 64 * 1024**2
#: What Pillow raises at a file that is no picture, or a broken one.
_UNREADABLE: Final = (
    *(OSError, ValueError, SyntaxError, ArithmeticError, LookupError, EOFError, TypeError, struct.error),
)


class Thumbnails:
    """Makes preview images: a small picture of a picture, a plain tile for any other file."""

    def __init__(self, pixels: int, form: str) -> None:
        self.pixels = pixels
        self.form = form

    async def of(self, path: Path) -> bytes:
        """Return a preview of a stored file."""
        return await run_in_threadpool(self.draw, path)

    def draw(self, path: Path) -> bytes:
        """Return a preview; pictures that cannot be read get the plain tile."""
        from PIL import Image  # noqa: PLC0415 - loaded when the first preview is asked for

        try:
            preview = self.small(path)
        except _UNREADABLE:
            preview = Image.new("RGB", (self.pixels, self.pixels), "#9aa5b1")
        buffer = io.BytesIO()
        preview.save(buffer, self.form)
        return buffer.getvalue()

    def small(self, path: Path) -> "Image.Image":
        """Return a picture made small enough; what cannot be made so raises one of ``_UNREADABLE``."""
        from PIL import Image  # noqa: PLC0415 - as above

        if path.stat().st_size > _LARGEST_PICTURE:
            raise ValueError("the file is too large")
        with Image.open(path, formats=(*_PICTURES, "PPM")) as image:
            if image.width * image.height > (Image.MAX_IMAGE_PIXELS or 0):
                raise ValueError("the picture unpacks to more than can be handled")
            image.thumbnail((self.pixels, self.pixels))
            return image.convert("RGB")
