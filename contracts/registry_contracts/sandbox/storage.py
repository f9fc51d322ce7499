"""What a sandbox stores: records and attachments in a database, and files in a folder; also previews of files."""

import base64
import io
import secrets
import shutil
import sqlite3
import struct
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Final

from filelock import FileLock, Timeout
from PIL import Image

from registry_contracts.errors import UsageError
from registry_contracts.sandbox.http import Reason, Refusal

DRAFT: Final = "draft"
PUBLISHED: Final = "published"


class Clock:
    """Tells the time as precisely as it is written, so that a client can filter by a moment that it has read.

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


_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS versions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, realm TEXT NOT NULL, identifier TEXT NOT NULL, state TEXT NOT NULL,
    schema TEXT NOT NULL, owner TEXT NOT NULL, content TEXT NOT NULL, size INTEGER NOT NULL,
    created_on DATETIME NOT NULL, updated_on DATETIME NOT NULL, UNIQUE (realm, identifier, state)
);
CREATE TABLE IF NOT EXISTS attachments (
    id INTEGER PRIMARY KEY AUTOINCREMENT, identifier TEXT NOT NULL, filename TEXT NOT NULL,
    content_type TEXT NOT NULL, size INTEGER NOT NULL, owner TEXT NOT NULL, created_on DATETIME NOT NULL,
    file_key TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS temporary_files (
    id TEXT PRIMARY KEY, filename TEXT NOT NULL, size INTEGER NOT NULL, file_key TEXT NOT NULL, used BOOLEAN NOT NULL
);
CREATE TABLE IF NOT EXISTS locks (
    realm TEXT, identifier TEXT, owner TEXT NOT NULL, locked_on DATETIME NOT NULL, until DATETIME NOT NULL,
    PRIMARY KEY (realm, identifier)
);
"""
#: Owner and state of everything that makes a record, the lock first.
_OWNERS: Final = """
SELECT owner, '' AS state FROM locks WHERE realm = :realm AND identifier = :identifier
UNION ALL SELECT owner, state FROM versions WHERE realm = :realm AND identifier = :identifier
ORDER BY state
"""
_OWNERS_ANYWHERE: Final = """
SELECT owner FROM versions WHERE identifier = :identifier UNION SELECT owner FROM locks WHERE identifier = :identifier
"""
_STORE: Final = """
INSERT INTO versions (realm, identifier, state, schema, owner, content, size, created_on, updated_on)
VALUES (:realm, :identifier, :state, :schema, :owner, :content, :size, :now, :now)
ON CONFLICT (realm, identifier, state) DO UPDATE SET
    schema = excluded.schema, content = excluded.content, size = excluded.size, updated_on = excluded.updated_on
RETURNING *
"""
_LOCK: Final = """
INSERT INTO locks VALUES (?, ?, ?, ?, ?) ON CONFLICT (realm, identifier) DO UPDATE SET
    locked_on = excluded.locked_on, until = excluded.until WHERE until <= excluded.locked_on
"""


def sql_moment(moment: datetime) -> str:
    """Return a moment as the database has it, so that the order of texts is that of moments."""
    return moment.isoformat(" ", "microseconds")


sqlite3.register_adapter(datetime, sql_moment)
sqlite3.register_converter("DATETIME", lambda text: datetime.fromisoformat(text.decode()))


class Records:
    """What is stored, seen from inside one transaction."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self.connection = connection
        self.clock = clock

    def version(self, realm: str, identifier: str, state: str) -> Version | None:
        """Return one version of a document, or ``None``."""
        question = "SELECT * FROM versions WHERE realm = ? AND identifier = ? AND state = ?"
        row = self.connection.execute(question, (realm, identifier, state)).fetchone()
        return None if row is None else Version(*row)

    def owner(self, realm: str, identifier: str) -> str | None:
        """Return who owns the record, from its lock, draft or published version; ``None``: no record."""
        return next((owner for owner, _ in self._owners(realm, identifier)), None)

    def _owners(self, realm: str, identifier: str) -> sqlite3.Cursor:
        return self.connection.execute(_OWNERS, {"realm": realm, "identifier": identifier})

    def owners_anywhere(self, identifier: str) -> set[str]:
        """Return the owners of the records of that identifier in all realms (attachments carry no realm)."""
        return {owner for (owner,) in self.connection.execute(_OWNERS_ANYWHERE, {"identifier": identifier})}

    def submitted(self, realm: str, identifier: str) -> bool:
        """Tell whether the record is published or has a lock, now or soon."""
        return any(state != DRAFT for _, state in self._owners(realm, identifier))

    def is_locked(self, realm: str, identifier: str) -> bool:
        """Tell whether the record is locked for workflow."""
        question = "SELECT 1 FROM locks WHERE realm = ? AND identifier = ? AND locked_on <= ? AND ? < until"
        now = self.clock.now()
        here = (realm, identifier, now, now)
        return self.connection.execute(question, here).fetchone() is not None

    def lock(
        self, realm: str, identifier: str, owner: str, delay: float = 0, seconds: float | None = None
    ) -> None:
        """Lock a record for workflow, after a delay, for some seconds or for ever; a present lock stays."""
        moment = self.clock.now() + timedelta(seconds=delay)
        until = datetime.max if seconds is None else moment + timedelta(seconds=seconds)
        self.connection.execute(_LOCK, (realm, identifier, owner, moment, until))

    def hand_over(self, realm: str, identifier: str, owner: str) -> Version:
        """Give the draft an owner, and return it."""
        command = "UPDATE versions SET owner = ? WHERE realm = ? AND identifier = ? AND state = ? RETURNING *"
        return Version(*self.connection.execute(command, (owner, realm, identifier, DRAFT)).fetchone())

    def store(
        self, realm: str, identifier: str, state: str, *, schema: str, owner: str, content: str
    ) -> Version:
        """Create a version, or replace the one of the same realm, identifier and state: owner and creation stay."""
        present = {"realm": realm, "identifier": identifier, "state": state, "schema": schema, "owner": owner}
        changing = {"content": content, "size": len(content.encode()), "now": self.clock.now()}
        return Version(*self.connection.execute(_STORE, present | changing).fetchone())

    def remove_draft(self, realm: str, identifier: str) -> None:
        """Remove the draft version only; the published version and the lock stay."""
        command = "DELETE FROM versions WHERE realm = ? AND identifier = ? AND state = ?"
        self.connection.execute(command, (realm, identifier, DRAFT))

    def published(self) -> Counter[str]:
        """How many records beyond drafts each realm has."""
        question = "SELECT realm, count(*) FROM versions WHERE state <> ? GROUP BY realm"
        return Counter(dict(map(tuple, self.connection.execute(question, (DRAFT,)))))

    def drafts_alone(self) -> set[tuple[str, str]]:
        """Realm and identifier of each draft whose record is neither published nor locked."""
        question = """SELECT realm, identifier FROM versions WHERE state = :draft
            EXCEPT SELECT realm, identifier FROM versions WHERE state <> :draft
            EXCEPT SELECT realm, identifier FROM locks"""
        return {
            (realm, identifier) for realm, identifier in self.connection.execute(question, {"draft": DRAFT})
        }

    def attachment(self, uid: str, number: int, filename: str | None) -> Attachment | None:
        """Return the attachment of a number if it has that document, and that name if one is given."""
        question = (
            "SELECT * FROM attachments WHERE id = ? AND identifier = ? AND filename = coalesce(?, filename)"
        )
        row = self.connection.execute(question, (number, uid, filename)).fetchone()
        return None if row is None else Attachment(*row)

    def attachments(self, uid: str) -> list[Attachment]:
        """Return the attachments of a document, in the order of their numbers."""
        question = "SELECT * FROM attachments WHERE identifier = ? ORDER BY id"
        return [Attachment(*row) for row in self.connection.execute(question, (uid,))]

    def add_attachment(self, attachment: Attachment) -> Attachment:
        """Store an attachment and return it, with the next number where it has none."""
        command = "INSERT OR REPLACE INTO attachments VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        number, *values = astuple(attachment)
        return replace(
            attachment, id=self.connection.execute(command, (number or None, *values)).lastrowid or 0
        )

    def number_attachments(self, first: int) -> None:
        """Give the first attachment this number."""
        self.connection.execute("INSERT INTO sqlite_sequence VALUES ('attachments', ?)", (first - 1,))

    def remove_attachment(self, number: int) -> None:
        """Remove an attachment; its file stays."""
        self.connection.execute("DELETE FROM attachments WHERE id = ?", (number,))

    def temporary_file(self, file_id: str) -> TemporaryFile | None:
        """Return a temporary file, used or not, or ``None``."""
        question = "SELECT * FROM temporary_files WHERE id = ?"
        row = self.connection.execute(question, (file_id,)).fetchone()
        return None if row is None else TemporaryFile(*row)

    def add_temporary_file(self, file: TemporaryFile) -> None:
        """Store a new temporary file."""
        self.connection.execute("INSERT INTO temporary_files VALUES (?, ?, ?, ?, ?)", astuple(file))

    def use_up(self, file_id: str) -> None:
        """Mark a temporary file as used; it cannot be used again."""
        self.connection.execute("UPDATE temporary_files SET used = TRUE WHERE id = ?", (file_id,))

    def planted(self) -> bool:
        """Tell whether this database has the published data; of that, temporary files are never removed."""
        return self.connection.execute("SELECT 1 FROM temporary_files").fetchone() is not None


DATABASE: Final = "registry.sqlite"


class Storage:
    """Opens the database, in memory without a folder, and hands out transactions.

    All requests share one connection under one lock: an operation that checks and then writes does so undisturbed,
    which is what makes two simultaneous creations of one identifier end with exactly one.
    """

    def __init__(self, data: Path | None, clock: Clock) -> None:
        self._clock = clock
        self._lock = RLock()
        connection = None
        try:
            self._connection = connection = opened(":memory:" if data is None else str(data / DATABASE))
            if data is not None:
                connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
            connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise UsageError(f"{data}/{DATABASE} cannot be used as the sandbox's database") from error

    @contextmanager
    def transaction(self) -> Iterator[Records]:
        """Hold the database for a short while: all is kept at the end, or nothing when something is raised.

        Never await inside: the lock is held by the thread.
        """
        with self._lock, self._connection:
            yield Records(self._connection, self._clock)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def opened(database: str) -> sqlite3.Connection:
    """Open a database for all threads, whose rows know their columns and whose moments are read as such."""
    connection = sqlite3.connect(database, check_same_thread=False, detect_types=sqlite3.PARSE_DECLTYPES)
    connection.row_factory = sqlite3.Row
    return connection


@dataclass(frozen=True)
class StoredFile:
    """A file that arrived whole: its key in the store, its size in bytes, and a type that its name does not tell."""

    key: str
    size: int
    sent_type: str | None = None


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


def _locked(data: Path) -> FileLock:
    lock = FileLock(data / "sandbox.lock")
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UsageError(f"another sandbox is using {data}; give --data another folder") from error
    except OSError as error:
        raise UsageError(f"cannot keep data in {data}: {error.strerror}") from error
    return lock


#: The format of a drawing, in which the preview stands.
_DRAWING: Final = "SVG+XML"
_PICTURES: Final = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "PPM")
_PREVIEW: Final = (160, 160)
_LARGEST_PICTURE: Final = 64 * 1024**2
#: What Pillow raises at a file that is no picture, or a broken one.
_UNREADABLE: Final = (
    OSError,
    ValueError,
    SyntaxError,
    ArithmeticError,
    LookupError,
    EOFError,
    TypeError,
    struct.error,
)


def thumbnail(path: Path, form: str) -> bytes:
    """Return a preview of a stored file: a small picture of a picture, a plain tile for any other file."""
    preview, buffer = Image.new("RGB", _PREVIEW, "#9aa5b1"), io.BytesIO()
    try:
        if path.stat().st_size <= _LARGEST_PICTURE:
            with Image.open(path, formats=_PICTURES) as image:
                if image.width * image.height <= (Image.MAX_IMAGE_PIXELS or 0):
                    image.thumbnail(_PREVIEW)
                    preview = image.convert("RGB")
    except _UNREADABLE:
        pass
    preview.save(buffer, form.replace(_DRAWING, "PNG"))
    if form != _DRAWING:
        return buffer.getvalue()
    picture = base64.b64encode(buffer.getvalue()).decode()
    drawing = f'<image href="data:image/png;base64,{picture}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg">{drawing}</svg>'.encode()
