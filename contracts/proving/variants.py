"""`python -m contracts.proving.variants`: no variant of the sandbox may raise a false alarm.

Each variant obeys the interface document, so the suite has to end with `pass` against every one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import click

from contracts.errors import SuiteError
from contracts.proving.processes import RunOutcome, end_with, run_altered, seeds_of

#: Stands for the sandbox as it is.
PLAIN = "plain"
_PASS = "pass"  # noqa: S105 - a verdict
_HEAD = f"{'variant':<28} {'seed':>4}  {'verdict':<13} {'requests':>8} {'seconds':>8}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--variant", "names", metavar="NAME", multiple=True, help="Only this one; may be repeated.")
@click.option("--seeds", default="1", show_default=True, metavar="1,2,3", help="Seeds of generated data.")
@click.option("--realm", "realms", metavar="REALM", multiple=True, help="Only this realm; may be repeated.")
@click.option("--profile", default="gate", show_default=True, help="smoke, gate, nightly or full.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1, 16), help="Runs side by side.")
@click.option(
    "--reports",
    default=Path("reports/variants"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for the evidence of each run.",
)
@click.option("--advisories", is_flag=True, help="Name the advisory clauses of each run too.")
def command(
    *,
    names: tuple[str, ...],
    seeds: str,
    realms: tuple[str, ...],
    profile: str,
    jobs: int,
    reports: Path,
    advisories: bool,
) -> int:
    """Run the suite against every variant of the sandbox; exit code 1 when one of them is not a pass."""
    pairs = list(product(_selected(names), seeds_of(seeds)))
    click.echo(_HEAD)
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_run, name, seed, profile, realms, reports) for name, seed in pairs]
        for (name, seed), result in zip(pairs, waiting, strict=True):
            outcome = result.result()
            failed += outcome is None or outcome.verdict != _PASS or outcome.exit_code != 0
            for line in _lines(name, seed, outcome, advisories):
                click.echo(line)
    click.echo(f"{len(pairs) - failed} of {len(pairs)} runs pass")
    return 1 if failed else 0


def _selected(names: Sequence[str]) -> list[str]:
    """Return the names asked for, or all; an unknown one is a usage error before anything runs."""
    from contracts.sandbox.variants import ALL, COMBINATIONS, chosen  # noqa: PLC0415 - an optional extra

    chosen(name for name in names if name != PLAIN)
    return list(dict.fromkeys(names)) or [PLAIN, *ALL, *COMBINATIONS]


def _run(name: str, seed: int, profile: str, realms: tuple[str, ...], reports: Path) -> RunOutcome | None:
    arguments = [] if name == PLAIN else ["--variant", name]
    try:
        extra = [f"--realm={realm}" for realm in realms]
        return run_altered(arguments, profile, seed, reports=reports / f"{name}-{seed}", extra=extra)
    except SuiteError as error:
        click.echo(f"{name} with seed {seed}: {error}", err=True)
        return None


def _lines(name: str, seed: int, outcome: RunOutcome | None, advisories: bool) -> Iterator[str]:
    if outcome is None:
        yield f"{name:<28} {seed:>4}  {'no verdict':<13}"
        return
    figures = f"{outcome.requests:>8} {outcome.seconds:>8.1f}"
    yield f"{name:<28} {seed:>4}  {outcome.verdict:<13} {figures}"
    for finding in outcome.findings:
        if finding["standing"] != "advisory" or advisories:
            place = f"{finding['clause']} {finding['realm']} {finding['operation']}"
            yield f"    {finding['standing']}: {place}: {finding['expected']} | {finding['seen'][:160]!r}"
    for clause in outcome.inconclusive:
        yield f"    inconclusive: {clause[:240]}"


if __name__ == "__main__":
    end_with(command, "variants")
