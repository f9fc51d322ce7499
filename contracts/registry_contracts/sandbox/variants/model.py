"""What a variant is: one row that names a silence of the interface document and what fills it otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from registry_contracts.sandbox.layers import Layers


@dataclass(frozen=True)
class Variant:
    """One other way to fill a silence of the interface document.

    Attributes:
        name: its name on the command line.
        silent: the silent clauses that it fills otherwise, or in words a point of which there is no clause; variants
            with the same first one exclude each other.
        sentence: which silence it fills, and how.
        habits: habits it changes, by name.
        parts: classes laid over those of the service's parts, each a subclass of what it is laid over.
        wrap: makes an application that stands between the service and the wire.
        layer: how near to the wire it stands: those that look into bodies before those that only frame them.
        contact: members of a contact that it takes, where only a target's settings can tell them.
        settings: what a target's settings have to say for it to be judged as a whole, by name: the name of another
            setting with the same value, or several values, with ``{realm}`` for the realm.
    """

    name: str
    silent: tuple[str, ...]
    sentence: str
    habits: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[type, ...] = ()
    wrap: Callable[[ASGIApp], ASGIApp] | None = None
    layer: int = 0
    contact: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Alteration:
    """Several variants at once, in the order they were asked for; of two that change one habit the later one counts."""

    variants: Sequence[Variant] = ()

    @property
    def habits(self) -> dict[str, Any]:
        """The habits that are changed, by name."""
        return {name: value for variant in self.variants for name, value in variant.habits.items()}

    @property
    def layers(self) -> Layers:
        """What the parts of the altered sandbox are made of."""
        return Layers(layer for variant in self.variants for layer in variant.parts)

    def stand_before(self, app: Starlette) -> None:
        """Put what stands on the wire before an application that has not started yet."""
        for variant in sorted(self.variants, key=lambda variant: -variant.layer):
            if variant.wrap is not None:
                # Appended: nearer to the service than what undoes the encoding of paths.
                app.user_middleware.append(Middleware(variant.wrap))
