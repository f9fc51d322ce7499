"""False passes: must clauses that pass on a service which never showed what they are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from registry_contracts.checks.table import UNIVERSAL
from registry_contracts.interface.catalogue import Clause, Level, load_catalogue
from registry_contracts.interface.description import load_description, operations_with
from registry_contracts.sandbox.faults.observer import ERRORS, REFUSAL, SUCCESS

#: Words in the ids of clauses about refusals that name neither a status nor a generated fault.
_REFUSED: Final = ("-needs-token", "-absent", "-other-document", "-too-", "-non-ascii", "-forbidden-")
_ABOUT_REFUSALS: Final = frozenset(
    {
        "uid-misread-range",
        "uid-trailing-newline",
        "workflow-document-validated",
        "workflow-order-validation-before-initiate",
        "workflow-order-validation-before-save",
        "workflow-refused-update-keeps-draft",
        "workflow-rights-refusal-stores-nothing",
    }
)


def needed(clause: Clause) -> tuple[str, tuple[str, ...]]:
    """What a service has to show so that a clause can have been exercised.

    Returns:
        `success`, `refusal` or `errors`, and the operations of which one must show it; no operations for a clause
        that any answer exercises.
    """
    if clause.id in UNIVERSAL or clause.family == "http":
        return SUCCESS, ()
    if clause.id.startswith("errors-"):
        return ERRORS, clause.operations
    about_refusal = clause.faults or clause.status is not None or clause.id in _ABOUT_REFUSALS
    if about_refusal or any(word in clause.id for word in _REFUSED):
        return REFUSAL, clause.operations
    # A record has to be stored before it can be read, listed or checked.
    described = load_description().operations
    if clause.id == "workflow-created-known":
        # The update may be refused, for example for a lock.
        return SUCCESS, operations_with(stores="submission", method="POST")
    writes = tuple(operation for operation in clause.operations if described[operation].stores)
    return SUCCESS, writes or clause.operations


def false_passes(verdict: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, str]:
    """Find the must clauses that pass though the service never showed what they are about.

    Args:
        verdict: The content of a run's `verdict.json`.
        shown: What the service's observer counted in that run.

    Returns:
        Why, by clause.
    """
    found = {}
    for entry in verdict["clauses"]:
        clause = load_catalogue().clause(entry["id"])
        passes = any(cell["verdict"] == "pass" for cell in entry["realms"].values())
        if clause.level is not Level.MUST or not passes:
            continue
        what, operations = needed(clause)
        if operations and not any(shown["operations"].get(o, {}).get(what) for o in operations):
            found[clause.id] = f"passes, yet the service showed no {what} of {', '.join(operations)}"
        elif clause.message is not None and clause.id not in shown["messages"]:
            found[clause.id] = "passes, yet the service never gave its message"
    return found
