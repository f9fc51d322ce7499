"""The words a judgement is given in: verdicts per clause and realm, and the run's exit code."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """What is said of one clause in one realm; members stand worst first."""

    FAIL = "fail"
    ERROR = "error"
    INCONCLUSIVE = "inconclusive"
    ADVISORY = "advisory"
    DEVIATION = "deviation"
    UNTESTED = "untested"
    OBSERVED = "observed"
    PASS = "pass"  # noqa: S105

    @property
    def rank(self) -> int:
        """Place in the worst-first order, 0 for the worst."""
        return _RANKS[self]


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


PRECEDENCE = (
    ExitCode.INTERRUPTED,
    ExitCode.FAIL,
    ExitCode.ERROR,
    ExitCode.INCONCLUSIVE,
    ExitCode.NOTHING_TESTED,
    ExitCode.PASS,
)
"""When several hold, the first of these counts."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts; `untested` when there is none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=Verdict.UNTESTED)


def deciding_exit_code(holding: Iterable[ExitCode]) -> ExitCode:
    """Return the exit code that counts when several hold, by `PRECEDENCE`.

    Raises:
        ValueError: a code that no run can end with (usage errors end before a run), or none at all.
    """
    return min(holding, key=PRECEDENCE.index)


_RANKS = {verdict: rank for rank, verdict in enumerate(Verdict)}
