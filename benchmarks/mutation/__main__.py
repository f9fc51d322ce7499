"""`python -m benchmarks.mutation`: samples mutants, tries them side by side, says which survive (`tox -e mutation`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from benchmarks.mutation.bench import Bench
from benchmarks.mutation.telling import ACCEPTED, accepted, table
from contracts.proving.matrix import put_between


@click.command()
@click.option("--mutants", default=120, show_default=True, help="Size of the sample.")
@click.option("--seed", default=1, show_default=True, help="Seed of the sample.")
@click.option("--jobs", default=2, show_default=True, help="Copies of the checkout that work side by side.")
@click.option(
    "--proof", default=Path("reports/proof/proof.json"), show_default=True, type=click.Path(path_type=Path)
)
@click.option(
    "--reports", default=Path("reports/mutation"), show_default=True, type=click.Path(path_type=Path)
)
@click.option(
    "--minutes", default=60, show_default=True, help="When to stop; the rest of the sample is left out."
)
@click.option(
    "--reach", type=click.Path(path_type=Path), help="reach.json of an earlier go on the same proof."
)
@click.option("--docs", type=click.Path(path_type=Path), help="Also put the table into this document.")
def main(
    *,
    mutants: int,
    seed: int,
    jobs: int,
    proof: Path,
    reports: Path,
    minutes: int,
    reach: Path | None,
    docs: Path | None,
) -> None:
    """Weaken the checks one by one, and see whether the proof notices.

    Needs the kill matrix of a proof (`registry-contracts prove`).
    """
    if not proof.exists():
        raise click.UsageError(f"there is no '{proof}'; run 'registry-contracts prove' first")
    reports.mkdir(parents=True, exist_ok=True)
    found = reach or _reach(proof, reports / "reach.json", jobs)
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        benches = [Bench(Path(folder) / str(number), found) for number in range(jobs)]
        if not benches[0].quiet():
            raise click.ClickException(
                "the suite does not prove itself unchanged; see 'registry-contracts prove'"
            )
        total = max(bench.sample(mutants, seed, part, jobs) for part, bench in enumerate(benches))
        _work_off(benches, minutes * 60.0)
        tried = [mutant for bench in benches for mutant in bench.tried()]
    path = reports / "mutants.json"
    path.write_text(json.dumps({"mutants": total, "seed": seed, "tried": tried}, indent=1), encoding="utf-8")
    command = f"python -m benchmarks.mutation --mutants {mutants} --seed {seed} --minutes {minutes}"
    measured = f"Measured on {datetime.now(UTC):%Y-%m-%d} by `{command}`."
    text = "\n\n".join([measured, table(tried, total, accepted(ACCEPTED))])
    click.echo(text)
    click.echo(f"report: {path}")
    if docs is not None:
        put_between(docs, "mutation", text)


def _reach(proof: Path, target: Path, jobs: int) -> Path:
    """Measure what the trials of a proof reach; in a process of its own, which loads the whole suite."""
    command = [sys.executable, "-m", "benchmarks.mutation.reach", str(proof), str(target), str(jobs)]
    if subprocess.run(command, check=False).returncode:
        raise click.ClickException(f"what the trials of '{proof}' reach could not be measured; see above")
    return target


def _work_off(benches: list[Bench], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for process in [bench.start() for bench in benches]:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


if __name__ == "__main__":
    main()
