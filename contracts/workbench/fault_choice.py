"""The faults that one request of an operation can have, and the one that somebody means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from contracts.errors import UsageError
from contracts.generation.faults import Fault, faults
from contracts.interface.catalogue import Catalogue, load_catalogue
from contracts.target.source import suggestion

#: Faults that no schema has a word for, with the value that is sent; `body:malformed` is made of the body itself.
_FURTHER: Final[tuple[tuple[str, str, str, Any], ...]] = (
    ("header", "Authorization", "unknown-value", "Bearer never-issued"),
    ("header", "Authorization", "malformed", "Bearer"),
    ("header", "Realm", "empty", ""),
    ("query", "$top", "malformed", "ten"),
    ("query", "$skip", "malformed", "ten"),
    ("query", "$filter", "malformed", "((("),
    ("query", "$orderby", "malformed", "((("),
    ("query", "top", "malformed", "ten"),
    ("query", "skip", "malformed", "ten"),
    ("query", "filter", "malformed", "((("),
    ("query", "orderby", "malformed", "((("),
    ("body", "", "malformed", None),
    ("body", "", "empty", {}),
)


def known_faults(operation: str, realm: str, catalogue: Catalogue) -> list[Fault]:
    """One fault for each key that can be made of an operation: the generated ones, and those a clause speaks about."""
    spoken = {fault for clause in catalogue.by_operation(operation) for fault in clause.faults}
    found: dict[str, Fault] = {}
    for fault in faults(operation, realm):
        known = found.setdefault(fault.key, fault)
        # Numbers, booleans and null are read kindly by many services: a plainer fault is the better example.
        if isinstance(known.value, int | float | None) and not isinstance(fault.value, int | float | None):
            found[fault.key] = fault
    for place, name, kind, value in _FURTHER:
        fault = Fault(place, name, kind, value)
        if fault.key in spoken:
            found.setdefault(fault.key, fault)
    return list(found.values())


def choose(operation: str, realm: str, asked: str, known: Iterable[Fault] | None = None) -> Fault:
    """The fault that somebody means: by its whole key, by its part (`body.firstName`), or by its kind alone.

    Raises:
        UsageError: the operation has no such fault; names the nearest one.
    """
    there = list(known if known is not None else known_faults(operation, realm, load_catalogue()))
    for matching in (
        [fault for fault in there if fault.key == asked],
        [fault for fault in there if fault.key.partition(":")[0] == asked],
        [fault for fault in there if fault.kind == asked],
        [fault for fault in there if fault.key.partition(":")[0].endswith(f".{asked}")],
    ):
        if matching:
            return matching[0]
    names = [*dict.fromkeys(fault.kind for fault in there), *(fault.key for fault in there)]
    advice = suggestion(asked, names)
    if advice.startswith("known"):
        advice = f"kinds: {', '.join(dict.fromkeys(fault.kind for fault in there))}"
    raise UsageError(
        f"--invalid {asked}: {operation} has no such fault; {advice}; --invalid list shows them all"
    )
