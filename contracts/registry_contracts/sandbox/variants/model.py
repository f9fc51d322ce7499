"""What a server variant is: one row that names a silence of the interface document and fills it in another way."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from starlette.types import ASGIApp

from registry_contracts.sandbox.faults.messages import Between


@dataclass(frozen=True)
class Variant:
    """One server variant.

    Attributes:
        name: Its name on the command line.
        silent: The silent clauses that it fills, or in words a point without a clause. Variants with the same first
            one exclude each other.
        sentence: What the service does.
        habits: The habits that it changes, by name, and those that it needs as they are: two variants with one habit
            do not go together.
        wrap: Makes middleware between the service and the wire.
        layer: A higher one is nearer to the wire. Middleware that changes bodies comes before what only frames them.
        contact: Members of a contact that the variant accepts and that only settings can name.
        settings: Settings that a target needs for this variant, by name: the name of another setting with the same
            value, or several values with ``{realm}`` for the realm.
    """

    name: str
    silent: tuple[str, ...]
    sentence: str
    habits: Mapping[str, Any] = field(default_factory=dict)
    wrap: Callable[[ASGIApp], ASGIApp] | None = None
    layer: int = 0
    contact: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)


#: Variants on the wire, in the order of their declaration.
DECLARED: Final[list[Variant]] = []
_Act = TypeVar("_Act", bound=Callable[..., Any])


def variant(name: str, *silent: str, **more: Any) -> Callable[[_Act], _Act]:
    """Declare a function between service and wire as a variant whose sentence is its docstring."""

    def declare(act: _Act) -> _Act:
        sentence = " ".join((inspect.getdoc(act) or "").split())
        DECLARED.append(Variant(name, silent, sentence, wrap=partial(Between, act=act), **more))
        return act

    return declare
