"""Where the promises lie: beside the library in a checkout, inside it in an installed package."""

import os
import sys
import tempfile
from functools import cache
from pathlib import Path

from contracts.errors import UsageError

ROOT_FILE = "registry.yaml"
_PACKAGE = Path(__file__).resolve().parents[1]


def openapi_directory(package: Path = _PACKAGE) -> Path:
    """Find the directory that holds the OpenAPI description and the clause catalogue.

    A checkout keeps it at its root; a wheel carries the same files as ``contracts/_promises/openapi``. The
    checkout comes first, so that an edited description is never shadowed by an older packaged copy.

    Args:
        package: directory of the ``contracts`` package; only tests pass another one.

    Returns:
        The directory, which is known to hold the root file.

    Raises:
        UsageError: neither place holds the root file.

    """
    candidates = (package.parent / "openapi", package / "_promises" / "openapi")
    for directory in candidates:
        if (directory / ROOT_FILE).is_file():
            return directory
    raise _absent(f"the OpenAPI description {ROOT_FILE}", candidates)


@cache
def cases_directory(package: Path = _PACKAGE) -> Path:
    """Find the directory of the contract cases, by the same rule as the description.

    Args:
        package: directory of the ``contracts`` package; only tests pass another one.

    Raises:
        UsageError: neither place is there.

    """
    candidates = (package.parent / "tests" / "contract", package / "_promises" / "cases")
    for directory in candidates:
        if directory.is_dir():
            return directory
    raise _absent("the folder of the contract cases", candidates)


def python_command(code: str = "registry_contracts.main()") -> list[str]:
    """A command that runs Python code in a child process whose `contracts` is this package.

    Args:
        code: Statements; by default those that run `registry-contracts`. Words that follow in the command are
            their `sys.argv[1:]`.
    """
    # Last on the path: a checkout need not be installed, and its folder must not hide any other module.
    settle = f"import sys; sys.path.append({str(_PACKAGE.parent)!r}); import registry_contracts"
    return [sys.executable, "-P", "-c", f"{settle}; {code}"]


def cache_directory() -> Path:
    """Return the folder of this program's caches, which may be deleted at any time."""
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        home = Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # an account without a home, as containers have them
        home = Path(tempfile.gettempdir())
    return home / "registry-contracts"


def keep_hypothesis_out() -> None:
    """Keep what Hypothesis stores for later out of the current folder, which belongs to the user.

    These are tables that it makes once; examples worth keeping lie in the reports. A place that the
    user has named for them stays.
    """
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_directory() / "hypothesis"))


def _absent(what: str, candidates: tuple[Path, Path]) -> UsageError:
    tried = " nor ".join(str(directory) for directory in candidates)
    return UsageError(
        f"{what} is neither in {tried}; install registry-contracts again, or run it from a checkout"
    )
