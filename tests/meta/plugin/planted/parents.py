"""Notes the controller's process, and the parent of each worker."""

import os
from pathlib import Path

import pytest


def pytest_sessionstart(session: pytest.Session) -> None:
    """Add a line to the file that the environment names."""
    if session.config.getoption("collectonly"):
        return  # what workers are forked from
    worker = hasattr(session.config, "workerinput")
    line = f"worker {os.getppid()}" if worker else f"controller {os.getpid()}"
    with Path(os.environ["PARENTS_FILE"]).open("a", encoding="ascii") as file:
        file.write(f"{line}\n")
