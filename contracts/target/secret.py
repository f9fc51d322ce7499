"""A value that must never be shown: passwords on their way from the environment to the token operation."""

from typing import NoReturn, Self


class Secret:
    """Holds one secret text; every way of showing or storing it gives a fixed mask instead.

    Args:
        value: the secret itself.

    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself; only the token operation and redaction have a use for it."""
        return self._value

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        # A pickle would carry the plain text to a file or another process.
        raise TypeError("a secret cannot be pickled; read it from the environment again")
