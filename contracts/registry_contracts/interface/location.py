"""Where the promises lie: beside the library in a checkout, inside it in an installed package."""

import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from registry_contracts.errors import UsageError

ROOT_FILE = "registry.yaml"
_PACKAGE = Path(__file__).resolve().parents[1]
#: Runs this program in a process of its own, which does not look for modules in the current folder.
PROGRAM: Final = (sys.executable, "-P", "-m", "registry_contracts")


def openapi_directory() -> Path:
    """The directory of the OpenAPI description and the clause catalogue; raises `UsageError` where there is none."""
    return _promises("openapi", "openapi", ROOT_FILE)


def cases_directory() -> Path:
    """The directory of the contract cases; raises `UsageError` where there is none."""
    return _promises("tests/contract", "cases")


@cache
def _promises(beside: str, inside: str, file: str = "") -> Path:
    """A directory of a checkout, known by a file in it, or of the wheel, which carries the same as `_promises/…`.

    The checkout comes first, so that an edited description is never shadowed by an older packaged copy.
    """
    candidates = (_PACKAGE.parents[1] / beside, _PACKAGE / "_promises" / inside)
    for directory in candidates:
        if (directory / file).exists():
            return directory
    tried = " nor ".join(map(str, candidates))
    raise UsageError(f"neither {tried} is there; install registry-contracts again, or run it from a checkout")


def keep_hypothesis_out() -> None:
    """Keep what Hypothesis stores for later out of the current folder, which belongs to the user.

    These are tables that it makes once; examples worth keeping lie in the reports. A place that the
    user has named for them stays. An account whose home is absent or cannot be written, as in many containers, has
    them in the folder for temporary files.
    """
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        cache = Path(given) if given else Path.home() / ".cache"
        nearest = next(each for each in (cache, *cache.absolute().parents) if each.exists())
        usable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):
        usable = False
    place = (cache if usable else Path(tempfile.gettempdir())) / "registry-contracts" / "hypothesis"
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(place))
