"""The table of checks: every comparison that cases, `check`, `proxy`, `call`, `replay` and the page make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from contracts.checks import attachments, contacts, drafts, http, lists, sign_in, workflow
from contracts.checks.check import Check
from contracts.errors import SuiteError
from contracts.interface.catalogue import Clause, load_catalogue
from contracts.interface.description import load_description

#: Every check by its id, those of single exchanges in the order in which they are run.
TABLE: Final[Mapping[str, Check]] = {
    check.id: check
    for check in (
        *http.UNIVERSAL,
        http.EMPTY_OR_JSON,
        http.NO_CONTENT,
        *contacts.CHECKS,
        *sign_in.CHECKS,
        *lists.CHECKS,
        *drafts.CHECKS,
        *attachments.CHECKS,
        *workflow.CHECKS,
        http.TAKEN,
        http.ACCEPTANCE,
        http.REFUSED,
        http.TURNED_DOWN,
        http.STATUS,
    )
}
#: Clauses that are judged on every exchange, whatever its case is about.
UNIVERSAL: Final = frozenset(clause for check in http.UNIVERSAL for clause in check.clauses)


class Line(NamedTuple):
    """A check with a clause that it judges wherever an exchange shows it."""

    check: Check
    clause: Clause


@cache
def _lines(*, universal: bool) -> Mapping[str, tuple[Line, ...]]:
    catalogue = load_catalogue()
    chosen = [check for check in TABLE.values() if (check in http.UNIVERSAL) is universal]
    lines = [Line(check, catalogue.clause(name)) for check in chosen for name in check.clauses]
    return {
        operation: tuple(line for line in lines if operation in line.clause.operations)
        for operation in load_description().operations
    }


def universal_lines(operation: str) -> tuple[Line, ...]:
    """The checks of every exchange that an operation's answers are held to."""
    return _lines(universal=True).get(operation, ())


def lines_of(operation: str) -> tuple[Line, ...]:
    """The other checks of single exchanges that an operation's answers are held to."""
    return _lines(universal=False).get(operation, ())


def check_named(name: str) -> Check:
    """A check of the table.

    Raises:
        SuiteError: there is none of this name.
    """
    if name not in TABLE:
        raise SuiteError(f"there is no check {name!r}; the table holds {', '.join(TABLE)}")
    return TABLE[name]
