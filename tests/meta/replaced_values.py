"""A JSON value once for each value in it and each kind of value that may stand in its place."""

from collections.abc import Iterator, Sequence
from typing import Any

_LONGEST_LIST = 2


def replaced(content: Any, kinds: Sequence[Any], further: str = "further") -> Iterator[Any]:
    """The content with each value in it, itself first, replaced by each kind, and with each member left out.

    Args:
        further: Name of a member that each object gets once.
    """
    yield from kinds
    if isinstance(content, dict):
        for name, member in content.items():
            yield from ({**content, name: other} for other in replaced(member, kinds, further))
            yield {key: value for key, value in content.items() if key != name}
        yield {**content, further: 1}
    elif isinstance(content, list):
        for at, item in enumerate(content[:_LONGEST_LIST]):
            yield from (
                [*content[:at], other, *content[at + 1 :]] for other in replaced(item, kinds, further)
            )
