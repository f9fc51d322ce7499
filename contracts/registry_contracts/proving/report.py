"""The report of a proof: figures, the measured share that no draw may fall below, and trials that did not end well."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from registry_contracts.errors import ExitCode
from registry_contracts.file_formats import Count, Format, Name
from registry_contracts.proving.trials import Kind, Outcome, Part, Result
from registry_contracts.safe_text import many

#: 95 percent of a normal distribution lie within so many standard deviations.
_DEVIATIONS: Final = 1.96
_LONGEST: Final = 1000
#: The labels of the figures of all kinds of trials but faults.
_SOUND: Final = {
    Kind.SERVICE: "conformant services that pass, the faithful one included",
    Kind.NETWORK_FAULT: "runs with network faults that end as they must",
    Kind.CANARY: "runs that changed no record of others",
    Kind.KILL: "killed runs that left nothing unlisted",
}


class Share(NamedTuple):
    """A number of found faults out of all."""

    found: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 percent confidence interval of the share (Wilson)."""
        if not self.of:
            return 0.0, 1.0
        share, square = self.found / self.of, _DEVIATIONS**2 / self.of
        middle, half = share + square / 2, math.sqrt(square * (share * (1 - share) + square / 4))
        return (middle - half) / (1 + square), (middle + half) / (1 + square)

    def __str__(self) -> str:
        """The share with its interval."""
        low, high = self.interval
        return f"{self.found} of {self.of} (95 %: {low:.0%} to {high:.0%})"


class Floor(Format, frozen=True):
    """The last measurement of a draw; later draws are compared with it.

    Attributes:
        commit: The commit that was measured.
    """

    found: Count
    drawn: Count
    seeds: tuple[int, ...]
    date: Name
    commit: Name
    command: Name

    def allows(self, share: Share) -> bool:
        """Whether a share is not below what 95 percent of draws of its size show if nothing has changed.

        The interval of the measured share alone would fail every fourth draw of 60: a small draw varies more.
        """
        measured = self.found / self.drawn
        spread = measured * (1 - measured) * (1 / max(share.of, 1) + 1 / self.drawn)
        return not share.of or share.found / share.of >= measured - _DEVIATIONS * math.sqrt(spread)


@dataclass(frozen=True)
class Report:
    """The report of a proof.

    Attributes:
        seconds: How long the proof took.
        floor: The measurement that the draw is compared with; None: every drawn fault has to be found.
    """

    results: Sequence[Result]
    command: str
    seconds: float
    floor: Floor | None = None

    @property
    def drawn(self) -> Share:
        """How many drawn faults were found."""
        return self._found(Part.DRAWN)

    @property
    def bad(self) -> list[Result]:
        """The trials that did not end well."""
        bad = (result for result in self.results if result.due and not result.outcome.good)
        return sorted(bad, key=lambda result: (result.trial.part, result.outcome, result.trial.name))

    def exit_code(self) -> ExitCode:
        """Whether the proof holds. Only drawn faults may be missed, as many as the floor allows."""
        bad = [result for result in self.bad if result.outcome is not Outcome.TROUBLE]
        missed = [
            result for result in bad if result.trial.part is Part.DRAWN and result.trial.kind is Kind.FAULT
        ]
        lost = not self.floor.allows(self.drawn) if self.floor else bool(missed)
        if lost or len(bad) > len(missed):
            return ExitCode.FAIL
        return ExitCode.ERROR if len(bad) < len(self.bad) else ExitCode.PASS

    def closing_lines(self) -> Iterator[str]:
        """The lines that the command prints at its end."""
        word = {ExitCode.PASS: "holds", ExitCode.FAIL: "does not hold"}.get(self.exit_code(), "says nothing")
        figures = (f"{value} {label}" for label, value in self._figures())
        yield f"proof: {word}: {'; '.join(figures)}"

    def lines(self) -> Iterator[str]:
        """The report in Markdown."""
        took = many(round(self.seconds / 60), "minute")
        yield f"`{self.command}` on {datetime.now(UTC):%Y-%m-%d}:"
        yield f"{many(len(self.results), 'trial')} in {took}."
        yield ""
        yield from ("| | |", "|---|---|")
        yield from (f"| {label} | {value} |" for label, value in self._figures())
        yield from self._bad_rows()
        for result in filter(lambda result: result.first_run, self.results):
            said = f"{result.trial.shown}: judged in a second run, alone; first: {result.first_run}"
            yield from ("", said[:_LONGEST])

    def _found(self, part: Part) -> Share:
        due = [result for result in self._faults(part) if result.due]
        return Share(sum(result.found for result in due), len(due))

    def _faults(self, part: Part) -> list[Result]:
        return [r for r in self.results if r.trial.part is part and r.trial.kind is Kind.FAULT]

    def _figures(self) -> Iterator[tuple[str, str]]:
        """The figures, each with its label."""
        fixed = self._found(Part.FIXED)
        if fixed.of:
            yield "faults of the fixed set found on their own clause", f"{fixed.found} of {fixed.of}"
        drawn = self._faults(Part.DRAWN)
        if drawn:
            yield "drawn faults that fail the run on a clause they break", str(self.drawn)
            without = [result for result in drawn if not result.due]
            never = sum(not result.altered for result in without)
            yield (
                "others that made no difference: were never met, or met where nothing is promised",
                (f"{never} and {len(without) - never}"),
            )
        for kind, label in _SOUND.items():
            outcomes = [result.outcome for result in self.results if result.trial.kind is kind]
            if outcomes:
                yield label, f"{outcomes.count(Outcome.PASS)} of {len(outcomes)}"

    def _bad_rows(self) -> Iterator[str]:
        if self.bad:
            yield ""
            yield "| what does not hold | realm | how it ended | why |"
            yield "|---|---|---|---|"
        for result in self.bad:
            why = result.why[:_LONGEST].replace("|", "\\|").replace("\n", " ")
            yield f"| {result.trial.shown} | {', '.join(result.trial.realms)} | {result.outcome} | {why} |"
