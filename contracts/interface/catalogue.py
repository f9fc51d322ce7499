"""The clause catalogue: everything the interface document says or leaves open, as data with stable names."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path

from contracts.errors import SuiteError, UsageError
from contracts.interface.clauses import Clause, Level, matches, read_clauses
from contracts.interface.description import Description, load_description
from contracts.interface.location import openapi_directory
from contracts.interface.operations import ANY_REALM, WORKFLOW_REALMS

__all__ = ["Catalogue", "Clause", "Level", "load_catalogue"]

_FIRMNESS = list(Level)
#: The headers that concern an operation besides Realm, which the description lists where it applies.
_HEADERS = frozenset({"Accept", "Authorization", "Content-Type"})


class Catalogue:
    """The clauses in the order of the files, and the questions the suite asks of them.

    Args:
        clauses: clauses with distinct ids.

    """

    def __init__(self, clauses: Iterable[Clause]) -> None:
        self._clauses = {clause.id: clause for clause in clauses}

    def __iter__(self) -> Iterator[Clause]:
        return iter(self._clauses.values())

    def __len__(self) -> int:
        return len(self._clauses)

    def __contains__(self, clause_id: object) -> bool:
        return clause_id in self._clauses

    def clause(self, clause_id: str) -> Clause:
        """Return a clause by its id.

        Raises:
            UsageError: there is none; names the closest id there is.

        """
        try:
            return self._clauses[clause_id]
        except KeyError:
            close = difflib.get_close_matches(clause_id, self._clauses, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else "docs/clauses.md lists them all"
            raise UsageError(f"unknown clause {clause_id!r}; {hint}") from None

    def by_operation(self, operation_id: str) -> tuple[Clause, ...]:
        """Return the clauses that cover an operation, in order; empty when there are none."""
        return tuple(clause for clause in self if operation_id in clause.operations)

    def for_fault(self, operation_id: str, fault: str) -> Clause | None:
        """Find the clause that speaks about a generated fault.

        Only a clause found here, and only at must or should, lets the fault be judged against the service.

        Args:
            operation_id: the operation the fault is sent to.
            fault: the fault as ``<location>.<name>:<fault>``, such as ``path.uid:too-short``; inner members
                after a dot, items by their number or a star.

        Returns:
            The most specific clause: exact before starred, then the one for the fewest operations, then the
            firmest. ``None`` when the document says nothing on it.

        """
        spoken = [
            (pattern.count("*"), len(clause.operations), _FIRMNESS.index(clause.level), place, clause)
            for place, (clause, pattern) in enumerate(self._faults.get(operation_id, ()))
            if matches(pattern, fault)
        ]
        return min(spoken)[-1] if spoken else None

    @cached_property
    def must(self) -> tuple[Clause, ...]:
        """The clauses stated outright, in order."""
        return tuple(clause for clause in self if clause.level is Level.MUST)

    @cached_property
    def _faults(self) -> dict[str, list[tuple[Clause, str]]]:
        spoken: dict[str, list[tuple[Clause, str]]] = {}
        for clause in self:
            for operation in clause.operations:
                spoken.setdefault(operation, []).extend((clause, fault) for fault in clause.faults)
        return spoken


def load_catalogue(folder: Path | None = None, description: Description | None = None) -> Catalogue:
    """Load the catalogue; with the suite's own description the same folder is read once per process.

    Args:
        folder: folder of the catalogue files (``*.yaml``, read in the order of their names); by default the
            folder ``clauses`` beside the description.
        description: description that knows the operations; by default the suite's own.

    Returns:
        The catalogue, with the realms of every clause filled in.

    Raises:
        SuiteError: the catalogue cannot be used; one line with file, line and what is wrong.

    """
    where = (folder or openapi_directory() / "clauses").resolve()
    return _load(where) if description is None else _read(where, description)


@lru_cache(maxsize=8)
def _load(folder: Path) -> Catalogue:
    return _read(folder, load_description())


def _read(folder: Path, description: Description) -> Catalogue:
    clauses: dict[str, Clause] = {}
    for path in sorted(folder.glob("*.yaml")):
        for clause in read_clauses(path):
            if clause.id in clauses:
                raise SuiteError(f"{clause.place}: {clause.id} stands already at {clauses[clause.id].place}")
            for problem in _foreign_words(clause, description):
                raise SuiteError(f"{clause.place}: {clause.id}: {problem}")
            clauses[clause.id] = replace(clause, realms=clause.realms or _realms_of(clause, description))
    if not clauses:
        raise SuiteError(f"{folder} holds no clause; each family has a file, such as uid.yaml")
    return Catalogue(clauses.values())


def _realms_of(clause: Clause, description: Description) -> tuple[str, ...]:
    found = {realm for name in clause.operations for realm in description.operations[name].realms}
    return tuple(realm for realm in (ANY_REALM, *WORKFLOW_REALMS) if realm in found)


def _foreign_words(clause: Clause, description: Description) -> Iterator[str]:
    """Say which operations, realms and parameters a clause names that the description does not know."""
    for name in clause.operations:
        if name not in description.operations:
            close = difflib.get_close_matches(name, description.operations, n=1)
            yield f"unknown operation {name!r}" + (f"; did you mean {close[0]!r}?" if close else "")
    for realm in clause.realms:
        if realm not in (ANY_REALM, *WORKFLOW_REALMS):
            yield f"unknown realm {realm!r}; use {', '.join((ANY_REALM, *WORKFLOW_REALMS))}"
    for fault in clause.faults:
        location, _, name = fault.partition(":")[0].partition(".")
        known = _parameters(clause, description, location)
        if location != "body" and name and name not in known:
            yield f"the fault {fault!r} names no {location} parameter of its operations"


def _parameters(clause: Clause, description: Description, location: str) -> set[str]:
    operations = [description.operations[name] for name in clause.operations]
    if location == "header":
        return set(_HEADERS) | ({"Realm"} if any(each.takes_realm for each in operations) else set())
    listed = (each.path_parameters if location == "path" else each.query_parameters for each in operations)
    return {name for names in listed for name in names}
