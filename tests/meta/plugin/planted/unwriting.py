"""A pytest plugin that breaks what a run does at its end: one of its writers, or the judging itself."""

import os
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from contracts.reports import writers


def pytest_configure(config: pytest.Config) -> None:  # noqa: ARG001 - the hook's
    """Put what breaks in place."""
    what = os.environ["UNWRITING"]
    if what == "judging":
        writers.judge = broken  # type: ignore[attr-defined, assignment] # the name that it is called by there
    else:
        writers.WRITERS = MappingProxyType({**writers.WRITERS, what: broken})


def broken(*_: Any) -> Path:
    """Break as a text that no file holds does, with a secret at hand."""
    raise UnicodeEncodeError("utf-8", "sandbox-author \ud800", 15, 16, "surrogates not allowed")
