"""`python -m contracts.proving.weather`: bad weather never makes a finding, and never hides one that can be reached.

On the faithful sandbox a run ends with `pass` where polite retry gets through, and else inconclusive; never with
`fail`. With a defect beneath the weather, the defect is found all the same wherever its operation can be reached.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import click

from contracts.proving.matrix import put_between
from contracts.proving.processes import (
    ForkedSandbox,
    RunOutcome,
    SideBySide,
    end_with,
    output_to,
    preload,
    read_outcome,
    run_suite,
    seeds_of,
)
from contracts.proving.trials import CaseIndex, Watch

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
class WeatherTrial:
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

    def as_it_should(self, outcome: RunOutcome | None) -> bool:
        """Whether a run ended as it has to."""
        if outcome is None:
            return False
        if not self.clause:
            return outcome.verdict == (_PASS if self.reachable else _INCONCLUSIVE)
        failed = outcome.verdict == _FAIL and any(
            finding["clause"] == self.clause for finding in outcome.findings
        )
        return failed or (not self.reachable and outcome.verdict == _INCONCLUSIVE)


def trials(
    names: Sequence[str], defects: Sequence[str], seeds: Sequence[int], *, close: bool
) -> Iterator[WeatherTrial]:
    """Yield every run.

    Args:
        names: Weathers, `fair` included; empty for all.
        defects: What lies beneath; empty for the faithful service.
        close: Take figures that few requests meet too.

    Raises:
        UsageError: a name is unknown.
    """
    from contracts.sandbox.defects import load  # noqa: PLC0415 - an optional extra
    from contracts.sandbox.weather import ALL, PASSES, chosen_weather  # noqa: PLC0415 - as above

    chosen_weather(name for name in names if name != FAIR)
    for name, defect, seed in product(names or [FAIR, *ALL], defects or [""], seeds):
        broken = load(defect) if defect else None
        figures = (CLOSER if broken else CLOSE) if close else {}
        kind = f"{name}:{figures[name]}" if name in figures else name
        weather = ("--weather", kind, "--weather-seed", str(seed)) if name != FAIR else ()
        yield WeatherTrial(
            weather=name,
            defect=defect,
            seed=seed,
            clause=broken.clause if broken else "",
            operations=broken.operations if broken else (),
            reachable=name == FAIR or ALL[name.partition(":")[0]].expects == PASSES,
            arguments=(*weather, *(("--defect", defect) if defect else ())),
        )


def run_trial(trial: WeatherTrial, words: Sequence[str], index: CaseIndex, folder: Path) -> int:
    """Run one trial in this process, which must be a fork made for it.

    Args:
        words: Options of the run, in pytest's spelling.
        folder: For the run's evidence and output.
    """
    place = folder / trial.key
    place.mkdir(parents=True, exist_ok=True)
    words = [*words, f"--seed={trial.seed}", f"--reports={place}", "--history=off", "-q", "--no-header"]
    words += [f"--clause={trial.clause}"] if trial.clause else []
    files = index.files(trial.clause) if trial.clause else []
    with (place / "output.txt").open("w", encoding="utf-8") as output, output_to(output.fileno()):
        sandbox = ForkedSandbox(trial.arguments)
        watch = Watch(sandbox, trial.clause, trial.operations, stop=False)
        try:
            return run_suite(words, files, [watch])
        finally:
            sandbox.stop()


def outcome_of(trial: WeatherTrial, folder: Path, code: int, seconds: float) -> RunOutcome | None:
    """Read what came of a trial; None when it left no verdict."""
    paths = [path for path in (folder / trial.key).glob("*/verdict.json") if not path.parent.is_symlink()]
    return read_outcome(max(paths, key=lambda path: path.stat().st_mtime), code, seconds) if paths else None


def lines(trial: WeatherTrial, outcome: RunOutcome | None) -> Iterator[str]:
    """Yield the trial's line in the table, and what is wrong with it."""
    columns = f"{trial.weather:<20} {trial.defect or '-':<36} {trial.seed:>4}"
    if outcome is None:
        yield f"{columns}  {'no verdict':<13}"
        return
    faults = sum(outcome.faults.values())
    figures = f"{outcome.requests:>8} {outcome.retries:>7} {faults:>6} {outcome.seconds:>8.1f}"
    yield f"{columns}  {outcome.verdict:<13} {figures}"
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


def markdown(results: Mapping[WeatherTrial, RunOutcome | None]) -> Iterator[str]:
    """Yield the results as a Markdown table."""
    yield "| weather | beneath it | seed | verdict | requests | retries | faults | seconds |"
    yield "|---|---|---|---|---|---|---|---|"
    for trial, outcome in results.items():
        cells = f"| `{trial.weather}` | {trial.defect or 'nothing'} | {trial.seed} |"
        if outcome is None:
            yield f"{cells} no verdict | | | | |"
        else:
            figures = [outcome.requests, outcome.retries, sum(outcome.faults.values())]
            shown = " | ".join(f"{figure:,}" for figure in figures)
            yield f"{cells} {outcome.verdict} | {shown} | {outcome.seconds:.0f} |"


#: One for each family of clauses.
DEFECTS: Final = (
    "attachment-cut",
    "contact-country-without-identifier",
    "content-type-refused-by-get-draft",
    "draft-content-texts-cut",
    "errors-as-object",
    "list-my-refused",
    "realm-needed-by-list-attachments",
    "token-any-password",
    "uid-10-answered-on-exists",
    "workflow-anonymous-message",
)
_LONGEST_RUN_SECONDS: Final = 3600.0
#: Name of the marks between which a document holds what was measured.
_MARK: Final = "measured"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--weather", "names", metavar="NAME", multiple=True, help="Only this one; may be repeated.")
@click.option("--defect", "defects", metavar="NAME", multiple=True, help="Beneath it; may be repeated.")
@click.option("--defects", "ten", is_flag=True, help="Beneath it, each of ten defects, one of a family.")
@click.option("--seeds", default="1", show_default=True, metavar="1,2,3", help="Of data and of weather.")
@click.option("--realm", "realms", metavar="REALM", multiple=True, help="Only this realm; may be repeated.")
@click.option("--profile", default="gate", show_default=True, help="smoke, gate, nightly or full.")
@click.option("--close", is_flag=True, help="Weather that few requests meet too; always so in smoke.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1, 16), help="Runs side by side.")
@click.option("--reports", type=click.Path(path_type=Path), help="Keep the evidence of each run here.")
@click.option(
    "--docs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Write the table into this document, such as docs/weather.md.",
)
def command(  # noqa: PLR0913 - one argument for each option
    *,
    names: tuple[str, ...],
    defects: tuple[str, ...],
    ten: bool,
    seeds: str,
    realms: tuple[str, ...],
    profile: str,
    close: bool,
    jobs: int,
    reports: Path | None,
    docs: Path | None,
) -> int:
    """Run the suite in every weather; exit code 1 when a run does not end as it has to.

    With a defect beneath, only its clause is judged, in weather that so few requests meet too.
    """
    beneath = [*defects, *(DEFECTS if ten else ())]
    planned = list(
        trials(names, beneath, seeds_of(seeds), close=close or profile == "smoke" or bool(beneath))
    )
    words = [f"--profile={profile}", *(f"--realm={realm}" for realm in realms)]
    if docs is not None:
        put_between(
            docs, _MARK, ""
        )  # before the long part: a document without a place for the table is told at once
    click.echo(HEAD)
    with tempfile.TemporaryDirectory(prefix="weather-") as scratch:
        results = _prove(planned, words, jobs, reports or Path(scratch))
    if docs is not None:
        caption = f"`{' '.join(['python -m contracts.proving.weather', *words])}`, seconds with {jobs} side by side:"
        put_between(docs, _MARK, "\n".join([caption, "", *markdown(results)]))
    wrong = sum(not trial.as_it_should(outcome) for trial, outcome in results.items())
    click.echo(f"{len(planned) - wrong} of {len(planned)} runs end as they have to")
    return 1 if wrong else 0


def _prove(
    planned: Sequence[WeatherTrial], words: Sequence[str], jobs: int, folder: Path
) -> dict[WeatherTrial, RunOutcome | None]:
    """Run everything, and tell each run as soon as all before it are told."""
    index = CaseIndex()
    preload(index)
    queue = SideBySide[WeatherTrial](
        lambda trial: run_trial(trial, words, index, folder), jobs, _LONGEST_RUN_SECONDS
    )
    for trial in planned:
        queue.add(trial)
    ended: dict[str, RunOutcome | None] = {}
    waiting = list(planned)
    for result in queue.results():
        ended[result.task.key] = outcome_of(result.task, folder, result.code, result.seconds)
        while waiting and waiting[0].key in ended:
            trial = waiting.pop(0)
            for line in lines(trial, ended[trial.key]):
                click.echo(line)
    return {trial: ended.get(trial.key) for trial in planned}


if __name__ == "__main__":
    end_with(command, "weather")
