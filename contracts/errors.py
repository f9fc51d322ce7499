"""Errors that a person is meant to read: one clear line each, and the exit code that goes with it."""

import difflib
from collections.abc import Iterable


class RegistryContractsError(Exception):
    """Base of every error the suite raises on purpose; its text is one line fit for a terminal."""


class UsageError(RegistryContractsError):
    """Settings or options cannot be used; nothing was sent (exit code 4)."""


class SuiteError(RegistryContractsError):
    """The suite itself broke, or one of its own files is inconsistent (exit code 3)."""


class EnvironmentFault(RegistryContractsError):
    """The environment stood in the way: unreachable, gateway page, rate limit, expired patience (exit code 6)."""


class GivenUp(EnvironmentFault):
    """An operation has not answered for so long that it is not asked any more; all others still are."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a clause for a message: the near miss to `word` when there is one, else every known word."""
    names = list(known)
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.strip().lower().replace("_", "-"), lowered, n=1, cutoff=0.6)
    close = close or difflib.get_close_matches(word.strip().lower(), lowered, n=1, cutoff=0.6)
    return f"did you mean '{lowered[close[0]]}'?" if close else f"known: {', '.join(names)}"
