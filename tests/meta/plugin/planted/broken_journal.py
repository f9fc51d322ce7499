"""A pytest plugin that breaks the journal of the first worker: at the ending of a case, or at its own closing line."""

import errno
import os
from typing import Any

import pytest

from contracts.plugin.worker import WORKER

#: What the journal raises: as on a disk that is full, or as a mistake of the suite does.
ERRORS = {"disk": OSError(errno.ENOSPC, "No space left on device"), "mistake": KeyError("no such thing")}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Put what breaks in place."""
    worker = session.config.stash.get(WORKER, None)
    if worker is None or worker.name != "gw0":
        return
    usual = worker.journal.write

    def write(kind: str, **fields: Any) -> None:
        if kind == "case":
            broken()
        usual(kind, **fields)

    if os.environ["BREAKS_AT"] == "case":
        worker.journal.write = write  # type: ignore[method-assign]
    else:
        worker.journal.close = broken  # type: ignore[method-assign]


def broken() -> None:
    """Raise what the test asks for."""
    raise ERRORS[os.environ["BREAKS_WITH"]]
