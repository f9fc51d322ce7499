"""Finds the contract cases of each clause, and the clauses they rely on, by the marks on the tests."""

from __future__ import annotations

import runpy
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import product
from operator import or_
from typing import Any, Final

from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.location import cases_directory
from registry_contracts.interface.profiles import Profile

MARK: Final = "contract"


def known_cases() -> Mapping[str, tuple[str, ...]]:
    """List the cases of each clause as `file::function`, both sorted.

    A clause with faults that no case declares has the case of generated faults.
    """
    found = _by_clause((clause, name) for name, facts in _declared() for clause in facts.clauses)
    generated = {name for name, facts in _declared() if facts.faults}
    for clause in load_catalogue() if generated else ():
        if clause.faults and clause.untested is None:
            found.setdefault(clause.id, tuple(sorted(generated)))
    return dict(sorted(found.items()))


def relied_on() -> Mapping[str, tuple[str, ...]]:
    """List the clauses that the cases of each clause rely on."""
    return _by_clause(pair for _, facts in _declared() for pair in product(facts.clauses, facts.relies_on))


def _by_clause(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = defaultdict(set)
    for clause, named in pairs:
        found[clause].add(named)
    return {clause: tuple(sorted(names)) for clause, names in found.items()}


@cache
def _declared() -> tuple[tuple[str, Any], ...]:
    """Each case as `file::function` with its marks: once for the test, and once for each row of its parameters."""
    cases = cases_directory()
    return tuple(
        (f"{path.relative_to(cases).as_posix()}::{function}", facts)
        for path in sorted(cases.rglob("test_*.py"))
        for function, value in runpy.run_path(str(path)).items()
        if function.startswith("test_")
        for facts in _facts(getattr(value, "pytestmark", ()))
    )


def _facts(marks: Sequence[Any]) -> Iterator[Any]:
    of_all = [mark.args[0] for mark in marks if mark.name == MARK]
    rows = [row for mark in marks if mark.name == "parametrize" for row in mark.args[1]]
    rows += [row for mark in marks if mark.name == "for_each_row" for row in mark.args[0](Profile.GATE)]
    for row in (None, *rows):
        own = [mark.args[0] for mark in getattr(row, "marks", ()) if mark.name == MARK]
        if of_all and (own or row is None):
            yield reduce(or_, own, reduce(or_, of_all))
