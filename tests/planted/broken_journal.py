"""A pytest plugin that breaks the first worker's journal at the ending of a case, as a full disk does."""

import errno
from typing import Any

import pytest

from registry_contracts.plugin.worker import WORKER


def pytest_collection_finish(session: pytest.Session) -> None:
    """Put what breaks in place, with secrets at hand."""
    worker = session.config.stash.get(WORKER, None)
    if worker is None or worker.name != "gw0":
        return
    usual, token = worker.journal.write, worker.tokens.token("author").value

    def write(kind: str, event: Any) -> None:
        if kind == "case":
            raise OSError(errno.ENOSPC, f"No space left for {token} of sandbox-author")
        usual(kind, event)

    worker.journal.write = write  # type: ignore[method-assign]
