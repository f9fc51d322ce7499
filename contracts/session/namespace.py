"""The identifiers a run may write to: everything starts with its prefix (design 5)."""

from __future__ import annotations

import random
import re
import secrets
import string
from collections.abc import Iterable

UID_SHORTEST, UID_LONGEST = 11, 128
VALID_UID = re.compile(r"[A-Za-z0-9_-]{11,128}", re.ASCII)
#: Every identifier of every run starts so; `sweep` and people recognise the suite by it.
SUITE_PREFIX = "rc-"
_ALPHABET = string.ascii_lowercase + string.digits


def is_valid_uid(value: object) -> bool:
    """Whether a value keeps the identifier rule: 11 to 128 ASCII letters, digits, hyphens, underscores."""
    return isinstance(value, str) and VALID_UID.fullmatch(value) is not None


def new_run_token() -> str:
    """Four random characters that tell this run's identifiers from another's."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(4))


class Namespace:
    """Identifiers of one run: makes fresh ones and knows which ones are its own.

    Args:
        run: The run's token, four characters.
        granted: Identifiers outside the prefix that the settings name for the suite to write to.
        seed: Makes the part behind the prefix the same in every run with this seed; by chance without it.
    """

    def __init__(self, run: str, granted: Iterable[str] = (), seed: str | None = None) -> None:
        self.prefix = f"{SUITE_PREFIX}{run}"
        self._draw = random.Random(seed)  # noqa: S311 - nothing secret: the run's token keeps runs apart
        self._granted = set(granted)
        self._claimed: set[str] = set()

    def uid(self, length: int = 24) -> str:
        """A fresh identifier of `length` characters (8 or more; below 11 it breaks the rule on purpose)."""
        return self.prefix + "".join(self._draw.choice(_ALPHABET) for _ in range(length - len(self.prefix)))

    def claim(self, identifier: str) -> None:
        """Take in an identifier that the service gave to a record of ours."""
        self._claimed.add(identifier)

    def owns(self, identifier: str) -> bool:
        """Whether the run may write to this identifier."""
        return (
            identifier.startswith(self.prefix)
            or identifier.startswith(f"{SUITE_PREFIX}keep-")
            or identifier in self._granted
            or identifier in self._claimed
        )
