"""A pytest plugin that breaks the judging of a run as a text that no file holds does, with a secret at hand."""

from typing import Any

from contracts.reports import writers


def broken(*_: Any) -> None:
    """Break in the place of the judging."""
    raise UnicodeEncodeError("utf-8", "sandbox-author \ud800", 15, 16, "surrogates not allowed")


writers.judge = broken  # type: ignore[attr-defined, assignment] # the name that it is called by there
