"""What the service made up in its answers, such as attachment ids, carried into the requests that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from contracts.session.namespace import is_valid_uid

_LONGEST_NUMBER: Final = 18


class Carried:
    """Old values of answers with the new ones that stand at the same places."""

    def __init__(self) -> None:
        self._pairs: dict[str, str] = {}

    def learn(self, old: Any, new: Any) -> None:
        """Take in an old answer and the new one to the same request, both as JSON.

        Where the new answer has another shape, whole numbers are matched in the order they come.
        """
        before, after = dict(_made_up(old)), dict(_made_up(new))
        for place, value in before.items():
            if place in after and after[place] != value:
                self._pairs.setdefault(value, after[place])
        numbers = [value for value in before.values() if value.isdigit()]
        others = [value for value in after.values() if value.isdigit()]
        if len(numbers) == len(others):
            for value, other in zip(numbers, others, strict=True):
                self._pairs.setdefault(value, other)

    def segment(self, text: str) -> str:
        """A path segment, a query value or the like, replaced when it is one of the old values as a whole."""
        return self._pairs.get(text, text)

    @property
    def pairs(self) -> Mapping[str, str]:
        """Old values with the new ones."""
        return self._pairs


def _made_up(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Places and values of what may be an identifier: whole numbers, and texts that keep the identifier rule."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _made_up(member, (*place, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _made_up(item, (*place, number))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield place, str(value)
    elif isinstance(value, str) and _may_name(value):
        yield place, value


def _may_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NUMBER if text.isdigit() else is_valid_uid(text)
