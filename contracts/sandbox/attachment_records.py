"""What one transaction can do with attachments and temporary files (their bytes live in ``files``)."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, insert, select, update
from sqlalchemy.engine import Connection

from contracts.sandbox.tables import ATTACHMENTS, TEMPORARY_FILES


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
    """The attachments, seen from inside one transaction.

    Args:
        connection: the connection, in its transaction.

    """

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
