"""Writes docs/clauses.md: every clause with its level, wording and source, and the cases that test it.

``python -m contracts.interface.clause_table`` writes the page, ``--check`` says whether it is up to date.
"""

import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from contracts.errors import RegistryContractsError, SuiteError
from contracts.interface.case_listing import cases_by_clause
from contracts.interface.catalogue import Catalogue, Clause, Level, load_catalogue
from contracts.interface.location import openapi_directory

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
        catalogue: the clauses.
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
            _said(clause),
            clause.source,
            _operations(clause),
            _tested(clause, cases.get(clause.id, ())),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _said(clause: Clause) -> str:
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
