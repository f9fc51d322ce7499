"""Which case tests which clause, found by letting pytest collect the cases; kept between commands.

The module is also the small pytest plugin that does the collecting: a process of its own collects, so that a
question from inside another pytest run changes nothing there.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from contracts.errors import SuiteError
from contracts.interface.location import cache_directory, cases_directory, python_command

MARK = "contract"
_OPTION = "--list-cases"
_SHOWN_LINES = 12
_FOUND = pytest.StashKey[dict[str, dict[str, None]]]()
_GOOD_ENDINGS = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def cases_by_clause(folder: Path, settings: Path) -> Mapping[str, tuple[str, ...]]:
    """List the cases of a folder by the clauses they declare.

    Args:
        folder: folder of the cases, such as ``tests/contract``.
        settings: the ``pyproject.toml`` with pytest's settings.

    Returns:
        The names of the cases by clause id, both sorted; a name is the file relative to the folder, two
        colons and the function, whatever the realms and operations it runs in.

    Raises:
        SuiteError: pytest could not collect the cases; holds the end of what it said.

    """
    with tempfile.TemporaryDirectory() as scratch:
        listing = Path(scratch) / "cases.json"
        ended = _collect(folder.resolve(), settings.resolve(), listing)
        if ended.returncode not in _GOOD_ENDINGS or not listing.is_file():
            said = "\n".join((ended.stdout + ended.stderr).strip().splitlines()[-_SHOWN_LINES:])
            raise SuiteError(f"the cases in {folder} cannot be collected; pytest says:\n{said}")
        found: dict[str, list[str]] = json.loads(listing.read_text(encoding="utf-8"))
    return {clause: tuple(sorted(names)) for clause, names in sorted(found.items())}


def _collect(folder: Path, settings: Path, listing: Path) -> subprocess.CompletedProcess[str]:
    pytest_command = python_command("import pytest; sys.exit(pytest.main())")
    plugins = ["-p", "registry_contracts", "-p", __name__, "-p", "no:cacheprovider"]
    places = ["-c", str(settings), "--rootdir", str(settings.parent), f"{_OPTION}={listing}"]
    chosen = ["--target", "sandbox", "--profile", "full"]
    # Variables of another run, or of a target, would change what is collected.
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "REGISTRY_"))
    }
    return subprocess.run(  # noqa: S603 - our own interpreter, no shell
        [*pytest_command, "--collect-only", "-q", *plugins, *places, *chosen, str(folder)],
        cwd=settings.parent,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the asking process say where the list goes."""
    parser.addoption(_OPTION, metavar="FILE", help="write which case declares which clause to FILE, as JSON")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note the clauses of an item, before any selection drops it."""
    found = item.config.stash.setdefault(_FOUND, {})
    for mark in item.iter_markers(MARK):
        for clause in mark.kwargs["clauses"]:
            found.setdefault(clause, {})[_name(item)] = None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the list."""
    found = session.config.stash.setdefault(_FOUND, {})
    text = json.dumps({clause: list(names) for clause, names in found.items()})
    Path(session.config.getoption(_OPTION)).write_text(text, encoding="utf-8")


def _name(item: pytest.Item) -> str:
    folder = Path(str(item.config.args[0]))
    function = item.nodeid.partition("::")[2].partition("[")[0]
    return f"{item.path.relative_to(folder).as_posix()}::{function}"


_SETTINGS: Final = Path(__file__).parents[1] / "plugin" / "run.ini"

Cases = Mapping[str, tuple[str, ...]]
"""Clause id → names of the cases that test it, file and function."""


def known_cases(folder: Path | None = None, cache: Path | None = None) -> Cases:
    """List the cases by clause, from what was kept when no case has changed since.

    Args:
        folder: Folder of the cases; by default the suite's own.
        cache: Where it is kept; by default the user's cache folder.

    Raises:
        SuiteError: the cases cannot be collected.
    """
    cases = folder or cases_directory()
    path = (cache or cache_directory()) / f"cases-{_digest(cases)}.json"
    with suppress(OSError, ValueError, AttributeError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {clause: tuple(names) for clause, names in kept.items()}
    found = cases_by_clause(cases, _SETTINGS)
    with suppress(OSError):  # a home that cannot be written to costs the seconds each time
        _keep(path, found)
    return found


def _keep(path: Path, found: Cases) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob("cases-*.json"):
        stale.unlink(missing_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent, suffix=".new")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({clause: list(names) for clause, names in found.items()}, file)
    Path(fresh).replace(path)


def _digest(cases: Path) -> str:
    """Tells one state of the cases from another: names, sizes and times of their files."""
    told = hashlib.sha256(str(cases.resolve()).encode())
    for path in sorted(cases.rglob("*.py")):
        facts = path.stat()
        told.update(f"{path.relative_to(cases)} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return told.hexdigest()[:20]
