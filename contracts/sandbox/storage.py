"""The database: one SQLite connection, one transaction per request."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from sqlalchemy import create_engine
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from contracts.errors import UsageError
from contracts.sandbox.records import Records
from contracts.sandbox.tables import METADATA

DATABASE = "registry.sqlite"


class Storage:
    """Opens the database and hands out transactions.

    All requests share one connection under one lock: whoever checks and then writes does so undisturbed,
    which is what makes two simultaneous creations of one identifier end with exactly one.

    Args:
        data: folder of the database; ``None`` keeps it in memory.

    Raises:
        UsageError: the folder holds a file that is no database of a sandbox.

    """

    def __init__(self, data: Path | None) -> None:
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
            yield self.records(connection)

    records = Records
    """What a transaction hands out; a defect may put a subclass here."""

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()


def _engine(data: Path | None) -> Engine:
    url = "sqlite://" if data is None else f"sqlite:///{data / DATABASE}"
    return create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
