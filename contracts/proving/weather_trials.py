"""One run in one weather, in a fork of a process that has loaded everything: what is tried, and how it has to end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from contracts.proving.preloaded import ForkedSandbox, output_to, run_suite
from contracts.proving.runs import Outcome, read_outcome
from contracts.proving.watching import CaseIndex, Watch

#: Stands for weather that does nothing.
FAIR: Final = "fair"
_PASS: Final = "pass"  # noqa: S105 - a verdict
_FAIL, _INCONCLUSIVE = "fail", "inconclusive"
#: Figures for runs of few requests, which usual weather would hardly meet.
CLOSE: Final[Mapping[str, str]] = {
    "sporadic-503": "share=0.06",
    "rate-limit": "per_second=30:burst=20",
    "gateway-html": "share=0.06",
    "lost-route": "share=0.03",
    "maintenance": "from_request=20:seconds=4",
    "resets": "share=0.06",
    "truncated": "share=0.06",
    "outage-midway": "from_request=30",
    "outage-ten-seconds": "from_request=20",
    "restart": "every=30",
}
#: The same for the cases of one clause.
CLOSER: Final[Mapping[str, str]] = {
    "sporadic-503": "share=0.15",
    "rate-limit": "per_second=10:burst=5",
    "gateway-html": "share=0.15",
    "lost-route": "share=0.1",
    "maintenance": "from_request=5:seconds=3",
    "resets": "share=0.15",
    "truncated": "share=0.15",
    "outage-midway": "from_request=12",
    "outage-ten-seconds": "from_request=5",
    "restart": "every=15",
}


@dataclass(frozen=True)
class Trial:
    """One run: a weather, and what lies beneath it.

    Attributes:
        weather: Its name, with figures where they are not the usual ones.
        defect: What lies beneath it; empty for the faithful service.
        clause: The clause that the defect breaks; judged alone.
        operations: Where the defect shows.
        reachable: Whether a run can get through the weather.
        arguments: Options of the sandbox.
    """

    weather: str
    defect: str
    seed: int
    clause: str
    operations: tuple[str, ...]
    reachable: bool
    arguments: tuple[str, ...]

    @property
    def key(self) -> str:
        """A name fit for a folder."""
        return f"{self.weather}-{self.defect or 'faithful'}-{self.seed}".replace(":", "-").replace("=", "-")

    def as_it_should(self, outcome: Outcome | None) -> bool:
        """Whether a run ended as it has to."""
        if outcome is None:
            return False
        if not self.clause:
            return outcome.verdict == (_PASS if self.reachable else _INCONCLUSIVE)
        found = outcome.verdict == _FAIL and any(each["clause"] == self.clause for each in outcome.findings)
        return found or (not self.reachable and outcome.verdict == _INCONCLUSIVE)


def trials(
    names: Sequence[str], defects: Sequence[str], seeds: Sequence[int], *, close: bool
) -> Iterator[Trial]:
    """Yield every run.

    Args:
        names: Weathers, `fair` included; empty for all.
        defects: What lies beneath; empty for the faithful service.
        close: Take figures that few requests meet too.

    Raises:
        UsageError: a name is unknown.
    """
    from contracts.sandbox.defects import load  # noqa: PLC0415 - an optional extra
    from contracts.sandbox.weather import ALL, forecast  # noqa: PLC0415 - as above
    from contracts.sandbox.weather.model import PASSES  # noqa: PLC0415 - as above

    forecast(name for name in names if name != FAIR)
    for name, defect, seed in product(names or [FAIR, *ALL], defects or [""], seeds):
        broken = load(defect) if defect else None
        figures = (CLOSER if broken else CLOSE) if close else {}
        told = f"{name}:{figures[name]}" if name in figures else name
        weather = ("--weather", told, "--weather-seed", str(seed)) if name != FAIR else ()
        yield Trial(
            weather=name,
            defect=defect,
            seed=seed,
            clause=broken.clause if broken else "",
            operations=broken.operations if broken else (),
            reachable=name == FAIR or ALL[name.partition(":")[0]].expects == PASSES,
            arguments=(*weather, *(("--defect", defect) if defect else ())),
        )


def run_trial(trial: Trial, words: Sequence[str], index: CaseIndex, folder: Path) -> int:
    """Run one trial in this process, which must be a fork made for it.

    Args:
        words: Options of the run, in pytest's spelling.
        folder: For the run's evidence and output.

    Returns:
        The run's exit code.
    """
    place = folder / trial.key
    place.mkdir(parents=True, exist_ok=True)
    words = [*words, f"--seed={trial.seed}", f"--reports={place}", "--history=off", "-q", "--no-header"]
    words += [f"--clause={trial.clause}"] if trial.clause else []
    files = index.files(trial.clause) if trial.clause else []
    with (place / "output.txt").open("w", encoding="utf-8") as said, output_to(said.fileno()):
        sandbox = ForkedSandbox(trial.arguments)
        watch = Watch(sandbox, trial.clause, trial.operations, stop=False)
        try:
            return run_suite(words, files, [watch])
        finally:
            sandbox.stop()


def outcome_of(trial: Trial, folder: Path, code: int, seconds: float) -> Outcome | None:
    """Read what came of a trial; None when it left no verdict."""
    found = [path for path in (folder / trial.key).glob("*/verdict.json") if not path.parent.is_symlink()]
    return read_outcome(max(found, key=lambda path: path.stat().st_mtime), code, seconds) if found else None


def lines(trial: Trial, outcome: Outcome | None) -> Iterator[str]:
    """Yield the trial's line in the table, and what is wrong with it."""
    told = f"{trial.weather:<20} {trial.defect or '-':<36} {trial.seed:>4}"
    if outcome is None:
        yield f"{told}  {'no verdict':<13}"
        return
    faults = sum(outcome.faults.values())
    figures = f"{outcome.requests:>8} {outcome.retries:>7} {faults:>6} {outcome.seconds:>8.1f}"
    yield f"{told}  {outcome.verdict:<13} {figures}"
    if trial.as_it_should(outcome):
        return
    for finding in outcome.findings:
        place = f"{finding['clause']} {finding['realm']} {finding['operation']}"
        yield f"    {finding['standing']}: {place}: {finding['expected']} | {finding['seen'][:160]!r}"
    for clause in outcome.inconclusive[:5]:
        yield f"    inconclusive: {clause[:240]}"


HEAD: Final = (
    f"{'weather':<20} {'defect':<36} {'seed':>4}  {'verdict':<13} {'requests':>8} {'retries':>7} {'faults':>6}"
    f" {'seconds':>8}"
)


def markdown(results: Mapping[Trial, Outcome | None]) -> Iterator[str]:
    """Yield the results as a Markdown table."""
    yield "| weather | beneath it | seed | verdict | requests | retries | faults | seconds |"
    yield "|---|---|---|---|---|---|---|---|"
    for trial, outcome in results.items():
        told = f"| `{trial.weather}` | {trial.defect or 'nothing'} | {trial.seed} |"
        if outcome is None:
            yield f"{told} no verdict | | | | |"
        else:
            figures = [outcome.requests, outcome.retries, sum(outcome.faults.values())]
            shown = " | ".join(f"{figure:,}" for figure in figures)
            yield f"{told} {outcome.verdict} | {shown} | {outcome.seconds:.0f} |"
