"""A whole run against a service that takes its time: how near it comes to what waiting alone would take."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.commands import ENVIRONMENT, PROGRAM
from registry_contracts.errors import ExitCode
from registry_contracts.evidence.run_folder import collect


@dataclass(frozen=True)
class Slow:
    """One run; times in seconds.

    Attributes:
        wall: From the command to its end.
        first_request: Until the first request left.
    """

    verdict: str
    workers: int
    latency: float
    requests: int
    wall: float
    first_request: float

    @property
    def ideal(self) -> float:
        """What it would take if every worker did nothing but wait for answers."""
        return self.requests * self.latency / self.workers

    def lines(self) -> Iterator[str]:
        """Yield the figures for people."""
        without_start = (self.wall - self.first_request) / self.ideal
        yield (
            f"{self.latency * 1000:.0f} ms latency, {self.workers} workers, {self.requests:,} requests: "
            f"{self.verdict}, {self.wall:.1f} s; ideal {self.ideal:.1f} s: ratio {self.wall / self.ideal:.2f} (bar 1.3)"
        )
        yield (
            f"    first request after {self.first_request:.1f} s (bar 4 with workers); ratio without it "
            f"{without_start:.2f} (bar 1.5)"
        )


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
        words += ["--drift", "off", "--no-history"]
        words += [f"--realm={realm}" for realm in realms]
        words += [f"--sandbox-arguments=--weather latency:seconds={latency}"]
        began, started = datetime.now(UTC), time.perf_counter()
        done = subprocess.run(words, check=False, capture_output=True, text=True, env=ENVIRONMENT)
        wall = time.perf_counter() - started
        if done.returncode not in (ExitCode.PASS, ExitCode.FAIL):
            raise RuntimeError(f"the run judged nothing:\n{done.stdout}{done.stderr}")
        run = Path(folder) / "latest"
        verdict = json.loads((run / "verdict.json").read_text("utf-8"))
        first = min(sent.started for sent in collect(run).exchanges.values() if sent.started)
        return Slow(
            verdict["verdict"],
            workers,
            latency,
            verdict["environment"]["requests"],
            wall,
            (first - began).total_seconds(),
        )
