"""Finds the description, the clauses and the cases: beside the library in a checkout, inside it in a wheel."""

import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from registry_contracts.errors import UsageError

ROOT_FILE = "registry.yaml"
_PACKAGE = Path(__file__).resolve().parents[1]
#: The command that runs this program in a new process; -P keeps the current folder off the module path.
PROGRAM: Final = (sys.executable, "-P", "-m", "registry_contracts")


def openapi_directory() -> Path:
    """The directory of the OpenAPI description and the clause catalogue; raises `UsageError` where there is none."""
    return _promises("openapi", "openapi", ROOT_FILE)


def cases_directory() -> Path:
    """The directory of the contract cases; raises `UsageError` where there is none."""
    return _promises("tests/contract", "cases")


@cache
def _promises(beside: str, inside: str, file: str = "") -> Path:
    """Return a directory of the checkout, or else its copy in the wheel (`_promises/…`), if it holds `file`.

    The checkout comes first, so that an older packaged copy never shadows an edited description.
    """
    candidates = (_PACKAGE.parents[1] / beside, _PACKAGE / "_promises" / inside)
    for directory in candidates:
        if (directory / file).exists():
            return directory
    tried = " nor ".join(map(str, candidates))
    raise UsageError(f"found neither {tried}; install registry-contracts again, or run it from a checkout")


def keep_hypothesis_out() -> None:
    """Have Hypothesis store its tables in the user's cache, and not in the current folder.

    A place that the user has set stays. If the home is missing or read-only, as in many containers, the tables go to
    the folder for temporary files. Useful examples are kept in the reports.
    """
    if "HYPOTHESIS_STORAGE_DIRECTORY" in os.environ:
        return
    own = Path("registry-contracts", "hypothesis")
    try:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / own
        place.mkdir(parents=True, exist_ok=True)
        writable = os.access(place, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):
        writable = False
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(place if writable else tempfile.gettempdir() / own)
