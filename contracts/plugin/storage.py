"""Leaves nothing in the folder that a run is started in but its reports."""

from __future__ import annotations

import pytest

from contracts.interface.location import keep_hypothesis_out
from contracts.plugin.worker import WORKER


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Say where Hypothesis may store things, in every process of a contract run."""
    if WORKER in session.config.stash:
        keep_hypothesis_out()
