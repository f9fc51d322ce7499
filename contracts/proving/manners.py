"""`python -m contracts.proving.manners`: the suite's manners on a service that others use, put to the test.

`canary` runs the suite beside other people's records and looks whether one of them has changed. `kills` ends runs
with SIGKILL at random moments and looks what is left once the next run or `sweep` has been there.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from contracts.errors import RegistryContractsError
from contracts.proving.neighbours import Neighbours, changes, named_records
from contracts.proving.remains import Remains, remains
from contracts.proving.serving import served

#: Exit codes of a run that the suite itself has not broken in.
_SOUND: Final = frozenset({0, 1, 5, 6})
_SWEEP: Final = ("sweep", "--older-than", "1000")


@dataclass(frozen=True)
class Canary:
    """One run beside other people's records."""

    words: tuple[str, ...]
    sandbox: tuple[str, ...]
    code: int
    seconds: float
    planted: int
    changed: tuple[str, ...]
    permanent: int

    @property
    def sound(self) -> bool:
        """Whether nothing of anybody else's has changed, and the run came to an end."""
        return not self.changed and self.code in _SOUND


@dataclass(frozen=True)
class Kill:
    """One run that was killed, and what was left after the sweep."""

    after: float
    whole_group: bool
    by: str
    remains: Remains

    @property
    def sound(self) -> bool:
        """Whether nothing is left but residue that is listed and within its budget."""
        return self.remains.sound


def canary(folder: Path, words: tuple[str, ...], sandbox: tuple[str, ...] = ()) -> Canary:
    """Run the suite once beside other people's records.

    Args:
        folder: A fresh folder.
        words: Options of the run.
        sandbox: More options of the sandbox, such as a defect.
    """
    # Planted on a faithful service: a broken one may refuse what people have, or change it by itself.
    with served(folder) as service:
        planted = Neighbours(service.url, service.data).plant()
    with served(folder, sandbox) as service:
        neighbours = Neighbours(service.url, service.data)
        before = neighbours.snapshot()
        started = time.monotonic()
        done = service.run("run", *words, "-q", "--no-header")
        seconds = time.monotonic() - started
        after = neighbours.snapshot()
        changed = changes(before, after, named_records(service.settings))
        return Canary(
            words,
            sandbox,
            done.returncode,
            seconds,
            planted,
            tuple(f"{' '.join(change.place)}: {change.how}" for change in changed),
            remains(service, before, after).most_permanent,
        )


def kills(
    folder: Path, count: int, words: tuple[str, ...], draw: random.Random, longest: float
) -> Iterator[Kill]:
    """Kill runs at random moments, each followed by a run or a sweep that has to remove what is left.

    Args:
        folder: A fresh folder.
        count: How many.
        words: Options of the runs.
        draw: Source of the moments.
        longest: The last moment, in seconds after the start.
    """
    with served(folder) as service:
        neighbours = Neighbours(service.url, service.data)
        neighbours.plant()
        ways = itertools.cycle([("sweep", _SWEEP), ("next run", ("run", "--profile", "smoke", "-q"))])
        for number, (name, after_words) in zip(range(count), ways, strict=False):
            before = neighbours.snapshot()
            after, whole = draw.uniform(1.0, longest), number % 3 == 0
            _kill(service.start("run", *words, "-q"), after, whole_group=whole)
            killed = neighbours.snapshot()
            service.run(*after_words)
            yield Kill(after, whole, name, remains(service, before, neighbours.snapshot(), killed))


def _kill(process: subprocess.Popen[str], after: float, *, whole_group: bool) -> None:
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def program() -> None:
    """Put the suite's manners on a shared service to the test."""


@program.command("canary")
@click.option("--profile", "profiles", multiple=True, default=("smoke", "gate"), show_default=True)
@click.option("--seeds", default="1", show_default=True, metavar="N,N,…")
@click.option("--workers", default=4, show_default=True)
@click.option("--defect", "defects", multiple=True, help="Also with this defect; 'random:N' draws N of them.")
@click.option("--draw", default=1, show_default=True, help="Seed of the drawing.")
def canary_command(
    *, profiles: tuple[str, ...], seeds: str, workers: int, defects: tuple[str, ...], draw: int
) -> int:
    """Run beside other people's records, on each profile, seed and defect; exit code 1 when one of them changed."""
    bad = 0
    click.echo(
        f"{'profile':<8} {'seed':>5} {'defect':<40} {'exit':>4} {'seconds':>8} {'permanent':>9}  changed"
    )
    for defect, profile, seed in itertools.product(_defects(defects, draw), profiles, seeds.split(",")):
        words = ("--profile", profile, "--seed", seed, "-n", str(workers))
        with tempfile.TemporaryDirectory(prefix="manners-") as name:
            seen = canary(Path(name) / "canary", words, ("--defect", defect) if defect else ())
        bad += not seen.sound
        click.echo(
            f"{profile:<8} {seed:>5} {defect or '-':<40} {seen.code:>4} {seen.seconds:>8.1f} "
            f"{seen.permanent:>9}  {len(seen.changed)} of {seen.planted} planted"
        )
        for line in seen.changed:
            click.echo(f"    {line}")
    return 1 if bad else 0


def _defects(asked: tuple[str, ...], draw: int) -> list[str]:
    names = [""]
    for each in asked:
        word, _, count = each.partition(":")
        if word == "random":
            from contracts.sandbox.defects import ALL  # noqa: PLC0415 - an optional extra

            names += random.Random(draw).sample([each.name for each in ALL], int(count or 1))  # noqa: S311
        else:
            names.append(each)
    return names


@program.command("kills")
@click.option("--count", default=20, show_default=True)
@click.option("--profile", default="gate", show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option(
    "--longest", default=25.0, show_default=True, help="The last moment, in seconds after the start."
)
@click.option("--draw", default=1, show_default=True, help="Seed of the moments.")
def kills_command(*, count: int, profile: str, workers: int, longest: float, draw: int) -> int:
    """Kill runs with SIGKILL; exit code 1 when something is left that is neither removed nor listed."""
    words = ("--profile", profile, *(("-n", str(workers)) if workers > 1 else ()))
    bad = 0
    click.echo(
        f"{'killed':>8} {'whom':<10} {'then':<9} {'drafts':>6} {'left':>5} {'permanent':>9} {'unlisted':>8}"
    )
    with tempfile.TemporaryDirectory(prefix="manners-") as name:
        for kill in kills(Path(name) / "kills", count, words, random.Random(draw), longest):  # noqa: S311
            bad += not kill.sound
            what = kill.remains
            click.echo(
                f"{kill.after:>6.1f} s {'all' if kill.whole_group else 'controller':<10} {kill.by:<9} "
                f"{what.drafts_at_kill:>6} {len(what.drafts):>5} {what.most_permanent:>9} {len(what.unlisted):>8}"
            )
            for line in (*what.drafts, *what.unlisted, *what.folders):
                click.echo(f"    {line}")
    return 1 if bad else 0


def main() -> None:
    """Run a command and exit with its code; known trouble is one line."""
    try:
        sys.exit(int(program.main(standalone_mode=False) or 0))
    except (click.ClickException, RegistryContractsError) as error:
        said = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"manners: {said}", err=True)
        sys.exit(4)


if __name__ == "__main__":
    main()
