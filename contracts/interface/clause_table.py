"""Lists the cases of every clause, and writes docs/clauses.md: clauses with level, wording, source and cases.

``python -m contracts.interface.clause_table`` writes the page, ``--check`` says whether it is up to date.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
import pytest

from contracts.errors import RegistryContractsError, SuiteError
from contracts.interface.catalogue import Catalogue, Clause, Level, load_catalogue
from contracts.interface.location import cache_directory, cases_directory, openapi_directory, python_command

MARK = "contract"
_OPTION = "--list-cases"
_SHOWN_LINES = 12
#: This module, also when it is run as a program.
_MODULE = "contracts.interface.clause_table"
_FOUND = pytest.StashKey[dict[str, dict[str, None]]]()
#: The case of generated faults.
_OF_FAULTS = pytest.StashKey[str]()
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
            output = "\n".join((ended.stdout + ended.stderr).strip().splitlines()[-_SHOWN_LINES:])
            raise SuiteError(f"the cases in {folder} cannot be collected; pytest says:\n{output}")
        cases: dict[str, list[str]] = json.loads(listing.read_text(encoding="utf-8"))
    return {clause: tuple(sorted(names)) for clause, names in sorted(cases.items())}


def _collect(folder: Path, settings: Path, listing: Path) -> subprocess.CompletedProcess[str]:
    pytest_command = python_command("import pytest; sys.exit(pytest.main())")
    plugins = ["-p", "registry_contracts", "-p", _MODULE, "-p", "no:cacheprovider"]
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
    cases = item.config.stash.setdefault(_FOUND, {})
    for mark in item.iter_markers(MARK):
        for clause in mark.kwargs["clauses"]:
            cases.setdefault(clause, {})[_name(item)] = None
        if mark.kwargs["faults"]:
            item.config.stash[_OF_FAULTS] = _name(item)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the list."""
    cases = session.config.stash.setdefault(_FOUND, {})
    generated = session.config.stash.get(_OF_FAULTS, "")
    # Named where no other case declares the clause: generated cases are about every one that lists faults.
    for clause in load_catalogue() if generated else ():
        if clause.faults and clause.untested is None:
            cases.setdefault(clause.id, {generated: None})
    text = json.dumps({clause: list(names) for clause, names in cases.items()})
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
    by_clause = cases_by_clause(cases, _SETTINGS)
    with suppress(OSError):  # a home that cannot be written to costs the seconds each time
        _keep(path, by_clause)
    return by_clause


def _keep(path: Path, cases: Cases) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob("cases-*.json"):
        stale.unlink(missing_ok=True)
    descriptor, fresh = tempfile.mkstemp(dir=path.parent, suffix=".new")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({clause: list(names) for clause, names in cases.items()}, file)
    Path(fresh).replace(path)


def _digest(cases: Path) -> str:
    """Tells one state of the cases from another: names, sizes and times of their files."""
    digest = hashlib.sha256(str(cases.resolve()).encode())
    for path in sorted(cases.rglob("*.py")):
        facts = path.stat()
        digest.update(f"{path.relative_to(cases)} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:20]


COMMAND = "python -m contracts.interface.clause_table"
_MANY_OPERATIONS = 6
_SUITE_ERROR = 3
_FOREWORD = f"""\
# Clauses

Every statement of the interface document, and every point at which it is silent, under a name that stays.
Written by `{COMMAND}` from `openapi/clauses/` and the cases; change those and write it again.

- **must**: stated outright. A confirmed contradiction fails the run.
- **should**: a reasonable reading, not the only one. A contradiction is advice.
- **silent**: the document says "not shown", or nothing. What is seen there is noted and cannot fail.
"""


def render(catalogue: Catalogue, cases: Mapping[str, tuple[str, ...]]) -> str:
    """Write the page.

    Args:
        cases: names of the cases by clause id; clauses without a case may be left out.

    Returns:
        The page as Markdown, ending in a line break. The same clauses and cases give the same page.

    """
    parts = [_FOREWORD, *_counts(catalogue)]
    for family, clauses in itertools.groupby(catalogue, key=lambda clause: clause.family):
        parts += ["", f"## {family.capitalize()}", "", *_table(clauses, cases)]
    return "\n".join(parts) + "\n"


def _counts(catalogue: Catalogue) -> Iterator[str]:
    counted = Counter((clause.family, clause.level) for clause in catalogue)
    yield "| family | must | should | silent |"
    yield "|---|---:|---:|---:|"
    for family in dict.fromkeys(clause.family for clause in catalogue):
        numbers = " | ".join(str(counted[family, level]) for level in Level)
        yield f"| [{family}](#{family}) | {numbers} |"
    totals = Counter(clause.level for clause in catalogue)
    yield f"| all {len(catalogue)} | " + " | ".join(str(totals[level]) for level in Level) + " |"


def _table(clauses: Iterable[Clause], cases: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    yield "| clause | level | what it says | stands under | operations | cases |"
    yield "|---|---|---|---|---|---|"
    for clause in clauses:
        cells = (
            f"`{clause.id}`",
            f"**{clause.level}**" if clause.level is Level.MUST else clause.level,
            _wording(clause),
            clause.source,
            _operations(clause),
            _tested(clause, cases.get(clause.id, ())),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _wording(clause: Clause) -> str:
    given = [str(clause.status)] if clause.status is not None else []
    given += [f"`{clause.message}`"] if clause.message is not None else []
    return clause.wording + (f" ({', '.join(given)})" if given else "")


def _operations(clause: Clause) -> str:
    if len(clause.operations) > _MANY_OPERATIONS:
        return f"{len(clause.operations)} operations"
    return ", ".join(clause.operations)


def _tested(clause: Clause, names: tuple[str, ...]) -> str:
    if names:
        return "<br>".join(f"`{name}`" for name in names)
    return clause.untested or ("none" if clause.level is not Level.SILENT else "")


def check(page: Path, text: str) -> None:
    """Say whether a page is the one that would be written now.

    Raises:
        SuiteError: it is missing, or differs from the text.

    """
    if not page.is_file() or page.read_text(encoding="utf-8") != text:
        raise SuiteError(
            f"{page.name} is not what the catalogue and the cases give; write it with: {COMMAND}"
        )


def page_of(checkout: Path) -> tuple[Path, str]:
    """Return the page of a checkout: where it lies and what it should hold.

    Raises:
        SuiteError: the catalogue cannot be used or the cases cannot be collected.

    """
    cases = cases_by_clause(checkout / "tests" / "contract", checkout / "pyproject.toml")
    return checkout / "docs" / "clauses.md", render(load_catalogue(), cases)


@click.command()
@click.option(
    "--check", "only_check", is_flag=True, help="Change nothing; end with 3 when the page is out of date."
)
def main(only_check: bool) -> None:
    """Write docs/clauses.md from the catalogue and the cases."""
    try:
        page, text = page_of(openapi_directory().parent)
        if only_check:
            check(page, text)
        else:
            page.write_text(text, encoding="utf-8")
    except RegistryContractsError as error:
        click.echo(error, err=True)
        sys.exit(_SUITE_ERROR)
    click.echo(f"{page.name} is up to date" if only_check else f"{page.name} is written")


if __name__ == "__main__":
    main()
