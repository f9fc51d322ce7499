"""A whole run against a service that takes its time: how near it comes to what waiting alone would take.

`python -m benchmarks.latency` measures this alone, with other figures too.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.commands import ENVIRONMENT, PROGRAM, smoke
from contracts.evidence.record import ExitCode
from contracts.evidence.run_folder import collect

#: Bars of the design: wall time of the whole command beside the ideal, and without what comes before the first request.
MOST_TIMES_IDEAL = 1.3
MOST_TIMES_IDEAL_WITHOUT_START = 1.5
#: Seconds from the command to its first request, with one process and with eight.
LATEST_FIRST_REQUEST = 2.0
LATEST_FIRST_REQUEST_WITH_WORKERS = 4.0
_COSTLY = 5


@dataclass(frozen=True)
class Slow:
    """One run; times in seconds.

    Attributes:
        wall: From the command to its end.
        first_request: Until the first request left.
        reports: From the end of the last case's cleaning to the end of the command.
        per_clause: Requests of the cases on each clause, all realms together, the most first.
    """

    profile: str
    verdict: str
    workers: int
    realms: str
    latency: float
    requests: int
    clauses: int
    wall: float
    first_request: float
    reports: float
    per_clause: Mapping[str, int]

    @property
    def ideal(self) -> float:
        """What it would take if every worker did nothing but wait for answers."""
        return self.requests * self.latency / self.workers

    @property
    def ratio(self) -> float:
        """How many times the ideal the whole command took."""
        return self.wall / self.ideal

    @property
    def ratio_without_start(self) -> float:
        """How many times the ideal it took, what comes before the first request apart."""
        return (self.wall - self.first_request) / self.ideal

    def lines(self) -> Iterator[str]:
        """Yield the figures for people."""
        milliseconds = self.latency * 1000
        yield (
            f"{self.profile}, {self.realms}, {milliseconds:.0f} ms latency, {self.workers} workers: {self.verdict}, "
            f"{self.wall:.1f} s; ideal {self.ideal:.1f} s: ratio {self.ratio:.2f} (bar {MOST_TIMES_IDEAL})"
        )
        latest = LATEST_FIRST_REQUEST if self.workers == 1 else LATEST_FIRST_REQUEST_WITH_WORKERS
        yield (
            f"    first request after {self.first_request:.1f} s (bar {latest}); ratio without it "
            f"{self.ratio_without_start:.2f} (bar {MOST_TIMES_IDEAL_WITHOUT_START}); reports {self.reports:.1f} s"
        )
        yield (
            f"    {self.requests:,} requests on {self.clauses} clauses, {self.requests / self.clauses:.1f} a clause"
        )
        costly = list(self.per_clause.items())[:_COSTLY]
        yield f"    most: {', '.join(f'{clause} {count}' for clause, count in costly)}"


def slow_service(latency: float, workers: int, profile: str = "gate", realms: Sequence[str] = ()) -> Slow:
    """Run a profile against the sandbox with a fixed latency.

    Args:
        latency: Seconds that every answer takes longer.
        realms: The realms to judge; without any, all of them.

    Raises:
        RuntimeError: the run ended without judging: it was refused, or the suite or its environment broke.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [*PROGRAM, "run", "--profile", profile, "--workers", str(workers), "--reports", folder]
        words += ["--drift", "off", "--history", "off"]
        words += [f"--realm={realm}" for realm in realms]
        words += [f"--sandbox-arguments=--weather latency:seconds={latency}"]
        began, started = datetime.now(UTC), time.perf_counter()
        done = subprocess.run(words, check=False, capture_output=True, text=True, env=ENVIRONMENT)
        wall = time.perf_counter() - started
        run = Path(folder) / "latest"
        if done.returncode not in (ExitCode.PASS, ExitCode.FAIL):
            raise RuntimeError(f"the run judged nothing:\n{done.stdout}{done.stderr}")
        return _read(run, began, wall, latency)


def _read(run: Path, began: datetime, wall: float, latency: float) -> Slow:
    verdict = json.loads((run / "verdict.json").read_text("utf-8"))
    environment = verdict["environment"]
    finished = (datetime.fromisoformat(verdict["finished"]) - began).total_seconds()
    sent = (exchange.started for exchange in collect(run).exchanges.values())
    first = min(moment for moment in sent if moment)
    return Slow(
        profile=verdict["profile"],
        verdict=verdict["verdict"],
        workers=verdict["workers"],
        realms=", ".join(verdict["realms"]),
        latency=latency,
        requests=environment["requests"],
        clauses=sum(
            any(cell["assertions"] for cell in each["realms"].values()) for each in verdict["clauses"]
        ),
        wall=wall,
        first_request=(first - began).total_seconds(),
        reports=wall - finished,
        per_clause=_per_clause(run),
    )


def _per_clause(run: Path) -> dict[str, int]:
    entry: dict[str, Any] = json.loads((run / "history-entry.json").read_text("utf-8"))
    counted = Counter(
        {clause: sum(seen[1] for seen in realms.values()) for clause, realms in entry["cells"].items()}
    )
    return dict(counted.most_common())


@click.command()
@click.option("--latency", default=50.0, show_default=True, help="Of every answer, in ms.")
@click.option("--workers", default=8, show_default=True)
@click.option("--profile", default="gate", show_default=True)
def main(latency: float, workers: int, profile: str) -> None:
    """Measure a run against a service with a fixed latency."""
    smoke(("abs-dev",))  # after which Python has compiled what a run takes
    try:
        lines = list(slow_service(latency / 1000, workers, profile).lines())
    except RuntimeError as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
