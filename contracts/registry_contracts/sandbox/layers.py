"""Combines the classes of the sandbox's parts with those of variants, when a sandbox is made."""

from collections.abc import Iterable
from typing import Any, TypeVar

_Part = TypeVar("_Part")


class Layers:
    """Subclasses of the sandbox's parts, which change their behaviour; a later one comes first."""

    def __init__(self, layers: Iterable[type] = ()) -> None:
        self._layers = tuple(dict.fromkeys(layers))

    def over(self, faithful: type[_Part]) -> type[_Part]:
        """Return a class that inherits from all layers of a part, and then from the part."""
        over = [layer for layer in reversed(self._layers) if issubclass(layer, faithful)]
        outermost = [
            layer
            for layer in over
            if not any(issubclass(other, layer) for other in over if other is not layer)
        ]
        if not outermost:
            return faithful
        made: type[Any] = type(faithful.__name__, (*outermost, faithful), {})
        return made
