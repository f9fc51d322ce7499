"""A JSON value once for each value in it and each kind of value that may stand in its place."""

from collections.abc import Iterator, Sequence
from typing import Any

_LONGEST_LIST = 2
#: Members of plain values that are more than a record of ours has.
_MANY = 12
#: A step to any item of a list, or to any member of an object whose members are named by what they are about.
_ANY = "*"


def replaced(content: Any, kinds: Sequence[Any], further: str = "further") -> Iterator[Any]:
    """The content with each value in it, itself first, replaced by each kind, and with each member left out.

    Args:
        further: Name of a member that each object gets once.
    """
    return (other for _, other in replaced_by_field(content, kinds, further))


def replaced_by_field(
    content: Any, kinds: Sequence[Any], further: str = "further", place: str = ""
) -> Iterator[tuple[str, Any]]:
    """As `replaced`, each after the field it is about, which items of a list share."""
    yield from ((place, other) for other in kinds)
    if isinstance(content, dict):
        alike = _are_alike(content)
        for name, member in content.items():
            step = f"{place}.{_ANY if alike else name}"
            for field, other in replaced_by_field(member, kinds, further, step):
                yield field, {**content, name: other}
            yield step, {key: value for key, value in content.items() if key != name}
        yield place, {**content, further: 1}
    elif isinstance(content, list):
        for at, item in enumerate(content[:_LONGEST_LIST]):
            for field, other in replaced_by_field(item, kinds, further, f"{place}.{_ANY}"):
                yield field, [*content[:at], other, *content[at + 1 :]]


def _are_alike(content: dict[str, Any]) -> bool:
    """Whether the members of an object are as items of a list: each of the same make, or too many for a record."""
    makes = {frozenset(value) if isinstance(value, dict) else type(value) for value in content.values()}
    inner = all(isinstance(value, dict | list) for value in content.values())
    return len(content) > 1 and len(makes) == 1 and (inner or len(content) > _MANY)
