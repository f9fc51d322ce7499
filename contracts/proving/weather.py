"""`python -m contracts.proving.weather`: bad weather never makes a finding, and never hides one that can be reached.

On the faithful sandbox a run ends with `pass` where polite retry gets through, and else inconclusive; never with
`fail`. With a defect beneath the weather, the defect is found all the same wherever its operation can be reached.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from contracts.errors import UsageError
from contracts.proving.ending import end_with, seeds_of
from contracts.proving.preloaded import load
from contracts.proving.runs import Outcome
from contracts.proving.side_by_side import SideBySide
from contracts.proving.watching import CaseIndex
from contracts.proving.weather_trials import HEAD, Trial, lines, markdown, outcome_of, run_trial, trials

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
#: Between these a document holds what was measured.
START: Final = "<!-- measured: start -->"
END: Final = "<!-- measured: end -->"


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
        fill(docs, "")  # before the long part: a document without a place for the table is told at once
    click.echo(HEAD)
    with tempfile.TemporaryDirectory(prefix="weather-") as scratch:
        results = _prove(planned, words, jobs, reports or Path(scratch))
    if docs is not None:
        said = f"`{' '.join(['python -m contracts.proving.weather', *words])}`, seconds with {jobs} side by side:"
        fill(docs, "\n".join([said, "", *markdown(results)]))
    wrong = sum(not trial.as_it_should(outcome) for trial, outcome in results.items())
    click.echo(f"{len(planned) - wrong} of {len(planned)} runs end as they have to")
    return 1 if wrong else 0


def fill(document: Path, table: str) -> None:
    """Write a table between the marks of a document; without one, only look for the marks.

    Raises:
        UsageError: it has none.
    """
    before, start, rest = document.read_text("utf-8").partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise UsageError(f"{document} has no place for the table: {START} and {END}")
    if table:
        document.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}", "utf-8")


def _prove(
    planned: Sequence[Trial], words: Sequence[str], jobs: int, folder: Path
) -> dict[Trial, Outcome | None]:
    """Run everything, and tell each run as soon as all before it are told."""
    index = CaseIndex()
    load(index)
    queue = SideBySide[Trial](
        lambda trial: run_trial(trial, words, index, folder), jobs, _LONGEST_RUN_SECONDS
    )
    for trial in planned:
        queue.add(trial)
    ended: dict[str, Outcome | None] = {}
    waiting = list(planned)
    for each in queue.results():
        ended[each.task.key] = outcome_of(each.task, folder, each.code, each.seconds)
        while waiting and waiting[0].key in ended:
            trial = waiting.pop(0)
            for line in lines(trial, ended[trial.key]):
                click.echo(line)
    return {trial: ended.get(trial.key) for trial in planned}


if __name__ == "__main__":
    end_with(command, "weather")
