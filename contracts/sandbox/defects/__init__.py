"""Sandboxes that break exactly one clause: each defect alters one point of the faithful service.

``load(name).apply(service)`` alters a service before its first request; ``ALL`` lists the defects by name and
``UNBREAKABLE`` gives the reason for each must clause that has none. The faithful service knows nothing of them.
"""

import textwrap

# The families declare their defects when they are imported.
from contracts.sandbox.defects import (  # noqa: F401
    attachments,
    contacts,
    drafts,
    http,
    lists,
    submissions,
    tokens,
    uid,
    workflow_table,
)
from contracts.sandbox.defects.declaration import Defect, declared
from contracts.sandbox.defects.declaration import named as load
from contracts.sandbox.faults.population import UNBREAKABLE

__all__ = ["ALL", "UNBREAKABLE", "Defect", "help_text", "load"]

ALL: tuple[Defect, ...] = declared()
"""Every defect, in the order of their names."""


def help_text() -> str:
    """Return every defect with its sentence and the clause it breaks, as ``--defect list`` prints them."""
    lines = ["Defects (each breaks one clause of the interface document):", ""]
    for defect in ALL:
        text = f"{defect.sentence} ({defect.clause})"
        lines.append(f"  {defect.name}")
        lines += textwrap.wrap(
            text, 100, initial_indent=" " * 6, subsequent_indent=" " * 6, break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"
