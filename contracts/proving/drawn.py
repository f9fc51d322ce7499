"""A proof that cannot agree with itself: faults and conformant services drawn with a fresh seed, whole gate runs.

`python -m contracts.proving.drawn --faults 60 --services 20` draws faults from the population (place x operator x
condition, made from the description) and services (random sets of variants), runs the profile `gate` on each in one
realm, and counts what the gate itself says: a fault is found when the run fails on a clause that it breaks; a
conformant service that gets a must finding is a false alarm.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import click
import pytest

from contracts.cases.generated_faults import make_all
from contracts.checks.outcomes import Confirmed
from contracts.evidence.record import ExitCode
from contracts.interface.catalogue import Level
from contracts.plugin.worker import WORKER
from contracts.proving.processes import ForkedSandbox, SideBySide, output_to, preload, run_suite
from contracts.proving.trial_plugins import CaseIndex, Watch
from contracts.proving.trials import SLOW, apart
from contracts.proving.witness import observable
from contracts.sandbox.faults import population
from contracts.sandbox.faults.population import Fault
from contracts.sandbox.variants import ALL as VARIANTS
from contracts.settings.target import DEVELOPMENT_REALMS, DOCUMENT_REALMS

FAULT: Final = "fault"
SERVICE: Final = "service"
#: Many times what a gate in one realm takes alone.
_LONGEST_SECONDS: Final = 240.0
#: The normal quantile of a confidence of 95 percent.
_Z: Final = 1.96


@dataclass(frozen=True)
class DrawnTrial:
    """One whole gate run.

    Attributes:
        kind: `fault` or `service`.
        name: Of the fault, or of the variants with a plus between them.
        realm: The realm judged.
        seed: Seed of generated data.
        clauses: What the fault breaks.
    """

    kind: str
    name: str
    realm: str
    seed: int
    clauses: tuple[str, ...] = ()


@dataclass
class DrawnResult:
    """What the gate said.

    Attributes:
        found: The run has a confirmed must finding on a clause that the fault breaks.
        advisory: The same on a should clause.
        musts: Clauses with a confirmed must finding, with one sentence each.
        requests: Sent until the first finding that counts, or in all.
        exit_code: The run's own; that of a run which was ended at its finding says nothing.
    """

    kind: str
    name: str
    realm: str
    found: bool = False
    advisory: bool = False
    musts: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    exit_code: int = 0
    seconds: float = 0.0
    trouble: str = ""

    @property
    def outcome(self) -> str:
        """How the trial ended, in a word."""
        if self.trouble:
            return "trouble"
        if self.kind == SERVICE:
            return (
                "false alarm" if self.musts else ("pass" if self.exit_code == ExitCode.PASS else "not judged")
            )
        if self.found:
            return "fail"
        if self.musts:
            return "fail elsewhere"
        if self.advisory:
            return "advisory"
        return "not seen" if self.exit_code == ExitCode.PASS else "inconclusive"


@dataclass
class _GateWatch(Watch):
    """Watches a whole gate run; ends it at the first finding that decides the trial."""

    clauses: frozenset[str] = frozenset()
    whole: bool = False
    advisory: bool = False
    musts: dict[str, str] = field(default_factory=dict)

    def pytest_contract_finding(self, item: pytest.Item, finding: Confirmed) -> None:
        """Note a confirmed finding."""
        if not finding.confirmed:
            return
        evidence = finding.evidence
        worker = item.config.stash[WORKER]
        must = worker.catalogue.clause(evidence.clause).level is Level.MUST
        right = evidence.clause in self.clauses
        self.advisory = self.advisory or (right and not must)
        if must:
            shown = f"{evidence.operation}: expected {evidence.expected}; seen {evidence.seen}"
            self.musts.setdefault(evidence.clause, worker.redactor.text(shown)[:300])
        if must and right and self.first is None:
            self.first = {"requests": worker.counts["requests"], "seconds": 0.0}
            if not self.whole:
                self.ended = True
                del item.session.items[item.session.items.index(item) + 1 :]


def drawn_faults(number: int, seed: int, families: Sequence[str] = ()) -> list[DrawnTrial]:
    """Draw must faults, each with a realm in which it shows; what no plain client can see is left out, and told."""
    chance = Random(f"realms {seed}")  # noqa: S311 - nothing secret hangs on it
    trials = [_trial_of(fault, seed, chance) for fault in population.draw(number, seed, families=families)]
    unseen = {trial.name for trial in trials if not observable(population.load(trial.name), trial.realm)}
    for name in sorted(unseen):
        click.echo(f"left out, since a tour of plain requests does not see it: {name}")
    return [trial for trial in trials if trial.name not in unseen]


def _trial_of(fault: Fault, seed: int, chance: Random) -> DrawnTrial:
    return DrawnTrial(FAULT, fault.name, chance.choice(fault.realms or DOCUMENT_REALMS), seed, fault.clauses)


def drawn_services(number: int, seed: int) -> list[DrawnTrial]:
    """Draw conformant services: random sets of variants that do not touch each other, every variant in some of them."""
    chance = Random(f"services {seed}")  # noqa: S311 - nothing secret hangs on it
    names = [name for name in VARIANTS if name != SLOW]
    met: Counter[str] = Counter()
    trials = []
    for _ in range(number):
        size = chance.choice((2, 4, 6, 9, 12))
        chance.shuffle(names)
        names.sort(key=lambda name: met[name] + chance.random())
        taken: list[str] = []
        for name in names:
            if len(taken) < size and all(apart(VARIANTS[name], VARIANTS[other]) for other in taken):
                taken.append(name)
        met.update(taken)
        realm = chance.choice((*DOCUMENT_REALMS, *DOCUMENT_REALMS, DEVELOPMENT_REALMS[-1]))
        trials.append(DrawnTrial(SERVICE, "+".join(taken), realm, seed))
    return trials


class DrawnProof:
    """Runs drawn trials in forks, side by side.

    Args:
        folder: For the results, and for the reports of trials that need a look.
        jobs: Trials side by side.
        whole: Do not end a trial at its finding.
    """

    def __init__(self, folder: Path, jobs: int, *, whole: bool = False) -> None:
        self._folder = folder
        self._jobs = jobs
        self._whole = whole

    def results(self, trials: Iterable[DrawnTrial]) -> Iterator[DrawnResult]:
        """Run the trials; yield what came of each as it ends."""
        queue: SideBySide[tuple[int, DrawnTrial]] = SideBySide(self._work, self._jobs, _LONGEST_SECONDS)
        for task in enumerate(trials):
            queue.add(task)
        for ended in queue.results():
            number, trial = ended.task
            path = self._folder / f"{number}.json"
            if path.exists():
                yield DrawnResult(**json.loads(path.read_text("utf-8")))
                path.unlink()
            else:
                why = "took too long" if ended.late else f"ended with {ended.code}"
                yield DrawnResult(trial.kind, trial.name, trial.realm, trouble=why, seconds=ended.seconds)

    def _work(self, task: tuple[int, DrawnTrial]) -> int:
        number, trial = task
        folder = self._folder / f"run-{number}"
        result = _run(trial, folder, whole=self._whole)
        (self._folder / f"{number}.json").write_text(json.dumps(asdict(result)), "utf-8")
        if result.outcome in ("fail", "pass"):
            shutil.rmtree(folder)
        return 0


def _run(trial: DrawnTrial, folder: Path, *, whole: bool) -> DrawnResult:
    folder.mkdir(parents=True, exist_ok=True)
    option = "--fault" if trial.kind == FAULT else "--variant"
    names = [trial.name] if trial.kind == FAULT else trial.name.split("+")
    words = ["--profile=gate", f"--seed={trial.seed}", f"--reports={folder}", f"--realm={trial.realm}"]
    words += ["--history=off", "-q", "--no-header", "--tb=no"]
    started = time.monotonic()
    with (folder / "output.txt").open("w", encoding="utf-8") as output, output_to(output.fileno()):
        sandbox = ForkedSandbox([word for name in names for word in (option, name)])
        watch = _GateWatch(sandbox, stop=False, clauses=frozenset(trial.clauses), whole=whole)
        try:
            code = run_suite(words, [], [watch])
        finally:
            sandbox.stop()
    trouble = f"the suite broke in {watch.errors[0]}" if watch.errors else ""
    if not watch.ended and code in (ExitCode.ERROR, ExitCode.USAGE):
        trouble = trouble or f"the run ended with exit code {code}"
    return DrawnResult(
        trial.kind,
        trial.name,
        trial.realm,
        found=watch.first is not None,
        advisory=watch.advisory,
        musts=watch.musts,
        requests=int(watch.first["requests"]) if watch.first else watch.requests,
        exit_code=code,
        seconds=round(time.monotonic() - started, 2),
        trouble=trouble,
    )


def interval(hits: int, of: int) -> tuple[float, float]:
    """The Wilson score interval of a share, with a confidence of 95 percent."""
    if of == 0:
        return 0.0, 1.0
    share, spread = hits / of, _Z**2 / of
    middle = share + spread / 2
    reach = _Z * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)


def report(results: Sequence[DrawnResult], seed: int) -> str:
    """The table of a drawn proof in Markdown, survivors first."""
    faults = [result for result in results if result.kind == FAULT]
    services = [result for result in results if result.kind == SERVICE]
    lines = [f"Seed {seed}: {len(faults)} faults and {len(services)} services drawn.", ""]
    living = sorted((r for r in faults if r.outcome != "fail"), key=lambda r: (r.outcome, r.name))
    if living:
        lines += ["| survivor | realm | what the gate said |", "|---|---|---|"]
        lines += [f"| {r.name} | {r.realm} | {r.outcome} {r.trouble} {' '.join(r.musts)} |" for r in living]
        lines.append("")
    loud = [r for r in services if r.outcome != "pass"]
    if loud:
        lines += ["| service | realm | what the gate said |", "|---|---|---|"]
        lines += [f"| {r.name} | {r.realm} | {r.outcome} {r.trouble} {' '.join(r.musts)} |" for r in loud]
        lines.append("")
    families: dict[str, list[DrawnResult]] = defaultdict(list)
    for result in faults:
        families[result.name.partition("/")[0]].append(result)
    lines += [
        "| family | drawn | fail | elsewhere | advisory | inconclusive | not seen | rate | 95 % |",
        "|" + "---|" * 9,
    ]
    for name, members in (*sorted(families.items()), ("all", faults)):
        ends = Counter(result.outcome for result in members)
        low, high = interval(ends["fail"], len(members))
        rate = 100 * ends["fail"] / len(members) if members else 0.0
        lines.append(
            f"| {name} | {len(members)} | {ends['fail']} | {ends['fail elsewhere']} | {ends['advisory']} |"
            f" {ends['inconclusive'] + ends['trouble']} | {ends['not seen']} |"
            f" {rate:.1f} % | {100 * low:.1f}-{100 * high:.1f} |"
        )
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--faults", default=60, show_default=True, help="How many faults to draw.")
@click.option("--services", default=20, show_default=True, help="How many conformant services to draw.")
@click.option("--seed", type=int, default=None, help="Seed of the draw; fresh by default, and printed.")
@click.option("--family", "families", multiple=True, help="Only faults of this family; may be repeated.")
@click.option("--name", "names", multiple=True, help="This fault, in place of a draw; may be repeated.")
@click.option("--realm", default=None, help="Judge in this realm.")
@click.option("--jobs", default=3 * (os.cpu_count() or 1), show_default=True, help="Trials side by side.")
@click.option("--whole", is_flag=True, help="Do not end a trial at its finding.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path("reports/drawn"), show_default=True)
def command(  # noqa: PLR0917 - click passes them by name
    faults: int,
    services: int,
    seed: int | None,
    families: tuple[str, ...],
    names: tuple[str, ...],
    realm: str | None,
    jobs: int,
    whole: bool,
    folder: Path,
) -> None:
    """Run whole gates on drawn faults and drawn conformant services; exit 1 on a false alarm."""
    seed = seed if seed is not None else Random().randrange(10**6)  # noqa: S311 - nothing secret hangs on it
    click.echo(f"drawn with seed {seed}")
    trials: list[DrawnTrial] = drawn_faults(faults, seed, families) + drawn_services(services, seed)
    if names:
        chance = Random(seed)  # noqa: S311 - nothing secret hangs on it
        trials = [_trial_of(population.load(name), seed, chance) for name in names]
    if realm:
        trials = [DrawnTrial(t.kind, t.name, realm, t.seed, t.clauses) for t in trials]
    folder.mkdir(parents=True, exist_ok=True)
    preload(CaseIndex())
    make_all()
    results: list[DrawnResult] = []
    with (folder / f"results-{seed}.jsonl").open("w", encoding="utf-8") as file:
        for result in DrawnProof(folder, jobs, whole=whole).results(trials):
            results.append(result)
            file.write(json.dumps(asdict(result)) + "\n")
            file.flush()
            if result.outcome not in ("fail", "pass"):
                click.echo(
                    f"{result.outcome}: {result.name} in {result.realm} {result.trouble} {dict(result.musts)}"
                )
    text = report(results, seed)
    (folder / f"report-{seed}.md").write_text(text, "utf-8")
    click.echo(text)
    sys.exit(1 if any(result.outcome == "false alarm" for result in results) else 0)


if __name__ == "__main__":
    command()
