"""The drift of one run: what `verdict.json`, the page and the terminal show of it, and whether it blocks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from contracts.drift.changes import Change, Severity


class Mode(StrEnum):
    """What drift does to the verdict of a run."""

    WARN = "warn"
    FAIL = "fail"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """How a run differs from the accepted baseline.

    Attributes:
        target: name of the target.
        baseline: file that was compared with, or would be; None when nobody asked.
        known: whether that file was there when the run began.
        unaccepted: number of facts that the baseline has no word on.
        outside: changes that do not touch what the run's consumer uses; they do not block.
    """

    mode: Mode = Mode.OFF
    target: str = ""
    baseline: str | None = None
    known: bool = False
    changes: tuple[Change, ...] = ()
    unaccepted: int = 0
    outside: frozenset[Change] = frozenset()

    @property
    def breaking(self) -> tuple[Change, ...]:
        """Changes that break clients."""
        return tuple(change for change in self.changes if change.severity is Severity.BREAKING)

    @property
    def additive(self) -> tuple[Change, ...]:
        """Changes that clients can live with."""
        return tuple(change for change in self.changes if change.severity is Severity.ADDITIVE)

    @property
    def blocking(self) -> str | None:
        """Why drift fails the run, in one sentence, or None when it does not."""
        counted = [change for change in self.breaking if change not in self.outside]
        if self.mode is not Mode.FAIL or not counted:
            return None
        first = counted[0]
        more = f" and {len(counted) - 1} more" if len(counted) > 1 else ""
        place = f"{first.clause} ({first.operation}) in {', '.join(first.realms)}"
        return f"breaking drift from {self.baseline}: {place}: {first.kind}, {first.says}{more}"

    @property
    def sentence(self) -> str | None:
        """One line for the terminal, or None when nobody asked."""
        if self.mode is Mode.OFF or self.baseline is None:
            return None
        if not self.known:
            return (
                f"no baseline of {self.target} yet; `registry-contracts drift accept` writes {self.baseline}"
            )
        new = f"{self.unaccepted} facts not in it yet" if self.unaccepted else ""
        counts = (
            [f"{len(self.breaking)} breaking", f"{len(self.additive)} additive"] if self.changes else ["none"]
        )
        line = f"{', '.join(counts)} against {self.baseline}"
        hint = "`registry-contracts drift` shows it" if self.changes else ""
        return "; ".join(filter(None, (line, new, hint)))


NO_DRIFT = DriftReport()
"""The drift of a run that nobody compared."""
