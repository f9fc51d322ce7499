"""A pytest plugin that breaks the judging of a run as the variable BROKEN_BY says, with a secret at hand."""

import builtins
import os
from typing import Any

from registry_contracts.reports import writers


def broken(*_: Any) -> None:
    """Break in the place of the judging."""
    if kind := os.environ.get("BROKEN_BY"):
        raise getattr(builtins, kind)("sandbox-author")
    raise UnicodeEncodeError("utf-8", "sandbox-author \ud800", 15, 16, "surrogates not allowed")


writers.judge = broken  # type: ignore[attr-defined, assignment] # the name that it is called by there
