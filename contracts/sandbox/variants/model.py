"""What a variant is: other habits, other parts of the service, or something between it and the wire."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from contracts.sandbox.habits import Habits
from contracts.sandbox.service import Service

_Layer = TypeVar("_Layer")
RECORDS = "records"
"""Name under which ``Variant.parts`` replaces what a transaction hands out."""


@dataclass(frozen=True)
class Variant:
    """One other way to fill a silence of the interface document.

    Attributes:
        name: its name on the command line.
        sentence: which silence it fills, and how.
        habits: habits it changes, by name.
        parts: attributes of the service, dotted where they lie deeper, each with a subclass of that part's class
            that is laid over it; several variants may lay theirs over the same part. ``records`` stands for what
            a transaction hands out.
        wrap: makes an application that stands between the service and the wire.
        layer: how near to the wire it stands: those that look into bodies before those that only frame them.
        contact: members of a contact that it takes, where only a target's settings can tell them.

    """

    name: str
    sentence: str
    habits: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, type] = field(default_factory=dict)
    wrap: Callable[[ASGIApp], ASGIApp] | None = None
    layer: int = 0
    contact: Mapping[str, Any] = field(default_factory=dict)


class Variants(list[Variant]):
    """The variants that one module declares, in the order in which they stand there."""

    def add(self, name: str, sentence: str, **members: Any) -> None:
        """Declare a variant; ``members`` are the other attributes of ``Variant``."""
        self.append(Variant(name, sentence, **members))

    def layer(self, part: str, name: str) -> Callable[[type[_Layer]], type[_Layer]]:
        """Declare a variant that lays the decorated class over one part; its docstring is the sentence."""

        def declare(layer: type[_Layer]) -> type[_Layer]:
            self.add(name, inspect.getdoc(layer) or "", parts={part: layer})
            return layer

        return declare


@dataclass(frozen=True)
class Alteration:
    """Several variants at once; where two change the same habit, the later one counts.

    Attributes:
        variants: in the order they were asked for.

    """

    variants: Sequence[Variant] = ()

    def habits(self) -> Habits:
        """Return the habits of the altered sandbox."""
        habits = Habits()
        for variant in self.variants:
            habits = replace(habits, **variant.habits)
        return habits

    def alter(self, app: Starlette) -> None:
        """Lay the variants over an application that was made with ``habits`` and has not started yet."""
        for variant in self.variants:
            lay_over(app.state.service, variant.parts)
        for variant in sorted(self.variants, key=lambda variant: -variant.layer):
            if variant.wrap is not None:
                # Appended: nearer to the service than what undoes the encoding of paths.
                app.user_middleware.append(Middleware(variant.wrap))


def lay_over(service: Service, parts: Mapping[str, type]) -> None:
    """Give parts of a service other behaviour, keeping what they hold.

    Args:
        service: the parts of a sandbox that has not started yet.
        parts: as ``Variant.parts``.

    """
    for name, layer in parts.items():
        if name == RECORDS:
            service.storage.records = _layered(layer, service.storage.records)
        else:
            part = attrgetter(name)(service)
            part.__class__ = _layered(layer, type(part))


def _layered(layer: type[Any], below: type[Any]) -> type[Any]:
    """Return a class that behaves as ``layer`` and, where that asks further, as ``below``."""
    bases = (layer,) if issubclass(layer, below) else (layer, below)
    made: type[Any] = type(layer.__name__, bases, {})
    return made
