"""Which cases there are for each clause."""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping
from typing import Any, Final

from contracts.interface.catalogue import load_catalogue
from contracts.interface.location import cases_directory

MARK: Final = "contract"


def known_cases() -> Mapping[str, tuple[str, ...]]:
    """List the cases by the clauses that they declare, both sorted, as file and function.

    The case of generated faults is named where no other declares a clause that lists faults.
    """
    cases = cases_directory()
    found: dict[str, set[str]] = {}
    generated: set[str] = set()
    for path in sorted(cases.rglob("test_*.py")):
        for function, value in runpy.run_path(str(path)).items():
            name = f"{path.relative_to(cases).as_posix()}::{function}"
            for facts in _marks(value) if function.startswith("test_") else ():
                for clause in facts.clauses:
                    found.setdefault(clause, set()).add(name)
                if facts.faults:
                    generated.add(name)
    for clause in load_catalogue() if generated else ():
        if clause.faults and clause.untested is None:
            found.setdefault(clause.id, generated)
    return {clause: tuple(sorted(names)) for clause, names in sorted(found.items())}


def _marks(function: Any) -> Iterator[Any]:
    """The facts in a function's marks, those of its parameters included."""
    for mark in getattr(function, "pytestmark", ()):
        parameters = mark.args[1] if mark.name == "parametrize" else ()
        for each in (mark, *(inner for one in parameters for inner in getattr(one, "marks", ()))):
            if each.name == MARK:
                yield each.args[0]
