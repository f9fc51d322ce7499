"""`registry-contracts prove`: shows that the suite detects what is broken, and only that."""

from __future__ import annotations

import os
from pathlib import Path

import click

from contracts.errors import UsageError

_PARTS = ("defects", "cases", "calm", "pairs")


@click.command()
@click.option("--defect", "defects", metavar="NAME", multiple=True, help="Only this defect; may be repeated.")
@click.option("--clause", "clauses", metavar="ID", multiple=True, help="Only defects of this clause.")
@click.option("--seeds", default="1,2,3", show_default=True, metavar="N,N,…", help="Seeds of generated data.")
@click.option(
    "--jobs",
    # A trial waits for answers and effects about twice as long as it works.
    default=lambda: min(64, 3 * (os.cpu_count() or 1)),
    show_default="three for each core",
    type=click.IntRange(1, 64),
    help="Trials side by side.",
)
@click.option(
    "--part", "parts", type=click.Choice(_PARTS), multiple=True, help="Only this part; may be repeated."
)
@click.option("--to-the-end", is_flag=True, help="Do not stop a trial at its finding.")
@click.option(
    "--whole", is_flag=True, help="Judge all cases of the profile, not just those of the broken clause."
)
@click.option(
    "--reports",
    default=Path("reports/proof"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for proof.json, index.html and what explains a survivor.",
)
@click.option("--docs", type=click.Path(path_type=Path), help="Also put the tables into this document.")
def command(
    *,
    defects: tuple[str, ...],
    clauses: tuple[str, ...],
    seeds: str,
    jobs: int,
    parts: tuple[str, ...],
    to_the_end: bool,
    whole: bool,
    reports: Path,
    docs: Path | None,
) -> int:
    """Run the suite against sandboxes that are broken on purpose, and against ones that only differ.

    Four parts: `defects` (each breaks one clause: the suite must find it), `cases` (each must find some defect),
    `calm` (the faithful sandbox and every combination of variants: nothing may be found), `pairs` (the variants two
    by two, others with each seed, with the cases dealt out to the seeds). A proof that was interrupted goes on
    where it stopped.

    Exit codes: 0 the proof holds, 1 it does not, 2 interrupted, 3 a trial broke, 4 usage.

    \b
    Examples:
      registry-contracts prove --defect uid-accepts-ten
      registry-contracts prove --clause draft-text-exact --seeds 1
      registry-contracts prove --seeds 1,2,3 --docs docs/proof.md
    """  # noqa: D301 - click's mark for lines to be left as they are
    from contracts.proving.proof import ProofOptions, carry_out  # noqa: PLC0415 - loads the whole suite

    asked = ProofOptions(
        seeds=_numbers(seeds),
        defects=defects,
        clauses=clauses,
        parts=parts or (("defects",) if defects or clauses else _PARTS),
        whole=whole,
        to_the_end=to_the_end,
        jobs=jobs,
        reports=reports,
        docs=docs,
    )
    return carry_out(asked)


def _numbers(seeds: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(seed) for seed in seeds.split(",")))
    except ValueError:
        raise UsageError(f"--seeds must be whole numbers separated by commas, not '{seeds}'") from None
