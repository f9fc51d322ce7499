"""`python -m benchmarks.mutation`: samples mutants, tries them side by side, says which survive (`tox -e mutation`)."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from benchmarks.mutation.bench import Bench
from benchmarks.mutation.telling import ACCEPTED, accepted, table
from contracts.proving.proof_text import put_between


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
@click.option("--docs", type=click.Path(path_type=Path), help="Also put the table into this document.")
def main(mutants: int, seed: int, jobs: int, proof: Path, reports: Path, docs: Path | None) -> None:
    """Weaken the checks one by one, and see whether the proof notices.

    Needs the kill matrix of a proof (`registry-contracts prove`).
    """
    if not proof.exists():
        raise click.UsageError(f"there is no '{proof}'; run 'registry-contracts prove' first")
    reports.mkdir(parents=True, exist_ok=True)
    reach = reports / "reach.json"
    subprocess.run([sys.executable, "-m", "benchmarks.mutation.reach", proof, reach, str(jobs)], check=True)
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        benches = [Bench(Path(folder) / str(number), proof, reach) for number in range(jobs)]
        total = max(bench.sample(mutants, seed, part, jobs) for part, bench in enumerate(benches))
        for process in [bench.start() for bench in benches]:
            process.wait()
        tried = [mutant for bench in benches for mutant in bench.tried()]
    path = reports / "mutants.json"
    path.write_text(json.dumps({"mutants": total, "seed": seed, "tried": tried}, indent=1), encoding="utf-8")
    text = table(tried, total, accepted(ACCEPTED))
    click.echo(text)
    click.echo(f"report: {path}")
    if docs is not None:
        put_between(docs, "mutation", text)


if __name__ == "__main__":
    main()
