"""Tables of values dealt out to realms and operations: the gate meets every value, though not everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from contracts.interface.description import load_description
from contracts.target.model import DEVELOPMENT_REALMS

T = TypeVar("T")


def share(table: Mapping[str, T], realm: str, parts: int = 3, operation: str | None = None) -> dict[str, T]:
    """The values of a table whose turn it is, in their order.

    Args:
        table: Values by name.
        realm: A development realm; the next one gets the next part.
        parts: Into how many parts the table is dealt; three make the document realms cover it together.
        operation: When given, the next operation gets the next part too.
    """
    turn = DEVELOPMENT_REALMS.index(realm)
    turn += list(load_description().operations).index(operation) if operation else 0
    return {
        name: value for number, (name, value) in enumerate(table.items()) if number % parts == turn % parts
    }
