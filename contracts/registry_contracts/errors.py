"""Errors for people: one clear line each, with an exit code for each kind.

Also formats other exceptions as a line, and discards output that nobody reads any more.
"""

import difflib
import os
import signal
import traceback
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import IO, Final

#: Signals that interrupt a command (exit code 2): Ctrl-C, a job that is cancelled, a terminal that is closed.
INTERRUPTING_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class ExitCode(IntEnum):
    """Exit codes of the command and of bare pytest."""

    PASS = 0
    FAIL = 1
    INTERRUPTED = 2
    ERROR = 3
    USAGE = 4
    NOTHING_TESTED = 5
    INCONCLUSIVE = 6

    @property
    def word(self) -> str:
        """The verdict's name as people read it: `pass`, `nothing tested`, …."""
        return self.name.lower().replace("_", " ")


class RegistryContractsError(Exception):
    """Base of every error the suite raises on purpose; its text is one line fit for a terminal."""

    exit_code = ExitCode.ERROR


class UsageError(RegistryContractsError):
    """Settings or options cannot be used; nothing was sent (exit code 4)."""

    exit_code = ExitCode.USAGE


class SuiteError(RegistryContractsError):
    """The suite itself broke, or one of its own files is inconsistent (exit code 3)."""


class EnvironmentFault(RegistryContractsError):
    """The environment prevented an answer: unreachable, gateway page, rate limit, time-out (exit code 6)."""

    exit_code = ExitCode.INCONCLUSIVE


class GivenUp(EnvironmentFault):
    """An operation failed to answer so often that it is not sent any more; other operations still are."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the end of a message: the known word that is similar to `word`, or else all known words."""
    names = list(known)
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.strip().lower().replace("_", "-"), lowered, n=1, cutoff=0.6)
    close = close or difflib.get_close_matches(word.strip().lower(), lowered, n=1, cutoff=0.6)
    return f"did you mean '{lowered[close[0]]}'?" if close else f"known: {', '.join(names)}"


#: Options that may be empty: no more options, no content.
_MAY_BE_EMPTY: Final = frozenset({"--sandbox-arguments", "--body", "--set"})


def refuse_empty_values(words: Sequence[str], options: Collection[str]) -> None:
    """Refuse options with an empty value, as an unset variable in a script leaves them.

    Raises:
        UsageError: names the first of them.
    """
    given = [*pairwise(words), *(word.split("=", 1) for word in words if "=" in word)]
    for name, value in given:
        if not value.strip() and name in options and name not in _MAY_BE_EMPTY:
            raise UsageError(f"{name} is empty; give it a value, or leave the option out")


def breakdown(error: BaseException) -> str:
    """Format an exception of other code: its kind, its text, and the innermost line of the suite in its traceback."""
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if "contracts" in frame.filename]
    at = f" ({Path(places[-1].filename).name}, line {places[-1].lineno})" if places else ""
    return f"{type(error).__name__}: {error}{at}"


def discard_unwritten(stream: IO[str] | None) -> None:
    """Flush a stream; if its file accepts nothing, discard the buffer.

    Otherwise Python would try again at its end, and exit with another code.
    """
    if stream is None or stream.closed:
        return
    with suppress(OSError, ValueError):
        try:
            stream.flush()
        except OSError:
            descriptor = stream.fileno()
            kept, nowhere = os.dup(descriptor), os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, descriptor)
            stream.flush()
            os.dup2(kept, descriptor)
            os.close(kept)
            os.close(nowhere)
