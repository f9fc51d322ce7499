"""The tables of the sandbox's database."""

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

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
