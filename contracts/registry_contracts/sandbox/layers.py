"""Classes laid over those of the parts of a sandbox, which are so composed when it is made."""

from collections.abc import Iterable
from typing import Any, TypeVar

_Part = TypeVar("_Part")


class Layers:
    """Other behaviour for parts of a sandbox: subclasses of their classes, a later one asked before an earlier one."""

    def __init__(self, layers: Iterable[type] = ()) -> None:
        self._layers = tuple(dict.fromkeys(layers))

    def over(self, faithful: type[_Part]) -> type[_Part]:
        """Return a class that behaves as the layers over a class say and, where these ask further, as that class."""
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
