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

from contracts.proving.ending import end_with, seeds_of
from contracts.proving.preloaded import load
from contracts.proving.runs import Outcome
from contracts.proving.side_by_side import SideBySide
from contracts.proving.watching import CaseIndex
from contracts.proving.weather_trials import HEAD, Trial, lines, outcome_of, run_trial, trials

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
def command(
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
) -> int:
    """Run the suite in every weather; exit code 1 when a run does not end as it has to.

    With a defect beneath, only its clause is judged, in weather that so few requests meet too.
    """
    beneath = [*defects, *(DEFECTS if ten else ())]
    planned = list(
        trials(names, beneath, seeds_of(seeds), close=close or profile == "smoke" or bool(beneath))
    )
    words = [f"--profile={profile}", *(f"--realm={realm}" for realm in realms)]
    click.echo(HEAD)
    if reports is not None:
        return _prove(planned, words, jobs, reports)
    with tempfile.TemporaryDirectory(prefix="weather-") as scratch:
        return _prove(planned, words, jobs, Path(scratch))


def _prove(planned: Sequence[Trial], words: Sequence[str], jobs: int, folder: Path) -> int:
    """Run everything, and tell each run as soon as all before it are told."""
    index = CaseIndex()
    load(index)
    queue = SideBySide[Trial](
        lambda trial: run_trial(trial, words, index, folder), jobs, _LONGEST_RUN_SECONDS
    )
    for trial in planned:
        queue.add(trial)
    ended: dict[str, Outcome | None] = {}
    waiting, wrong = list(planned), 0
    for each in queue.results():
        ended[each.task.key] = outcome_of(each.task, folder, each.code, each.seconds)
        while waiting and waiting[0].key in ended:
            trial = waiting.pop(0)
            wrong += not trial.as_it_should(ended[trial.key])
            for line in lines(trial, ended[trial.key]):
                click.echo(line)
    click.echo(f"{len(planned) - wrong} of {len(planned)} runs end as they have to")
    return 1 if wrong else 0


if __name__ == "__main__":
    end_with(command, "weather")
