"""`python -m contracts.proving`: shows that the suite detects what is broken, and only that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from contracts.command_line import run_to_the_end
from contracts.errors import UsageError, suggestion
from contracts.interface.location import keep_hypothesis_out
from contracts.settings.target import DEVELOPMENT_REALMS

_PARTS = ("defects", "cases", "calm", "pairs")
#: Drawn anew each time, so it is no part of a proof that goes on where it stopped: only when it is asked for.
_DRAWN = "drawn"


_FILE = click.Path(path_type=Path, dir_okay=False)


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
    "--part",
    "parts",
    type=click.Choice((*_PARTS, _DRAWN)),
    multiple=True,
    help="Only this part; may be repeated.",
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
@click.option(
    "--faults", type=click.IntRange(0), default=60, show_default=True, help="How many faults to draw."
)
@click.option(
    "--services", type=click.IntRange(0), default=20, show_default=True, help="How many services to draw."
)
@click.option("--drawn-seed", type=int, help="Seed of the draw; a fresh one by default, which is printed.")
@click.option("--family", "families", metavar="NAME", multiple=True, help="Draw faults of this family only.")
@click.option("--fault", "names", metavar="NAME", multiple=True, help="This fault in place of a draw.")
@click.option(
    "--service", "variants", metavar="NAME+…", multiple=True, help="This service in place of a draw."
)
@click.option("--drawn-realm", "realm", metavar="REALM", help="Run what is drawn in this realm.")
@click.option(
    "--all-realms",
    "everywhere",
    is_flag=True,
    help="Judge all realms at once, not just one for each that is drawn.",
)
@click.option("--smoke", is_flag=True, help="Also run the profile smoke on each drawn fault.")
@click.option("--floor", type=_FILE, help="File with a kill rate that the drawn one may not fall below.")
@click.option("--land", type=_FILE, help="Write the kill rate of the drawn faults into this file.")
@click.option(
    "--order",
    type=click.Path(path_type=Path),
    help="Write the order of cases that finds the drawn faults soonest; runs take it up.",
)
@click.option(
    "--found",
    type=_FILE,
    help="File with what earlier draws found, for --order; takes what this one finds.",
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
    **draw: Any,
) -> int:
    """Run the suite against sandboxes that are broken on purpose, and against ones that only differ.

    Four parts: `defects` (each breaks one clause: the suite must find it), `cases` (each must find some defect),
    `calm` (the faithful sandbox and every combination of variants: nothing may be found), `pairs` (the variants two
    by two, others with each seed, with the cases dealt out to the seeds). A proof that was interrupted goes on
    where it stopped.

    A fifth part, only when it is asked for: `drawn` runs whole gates on faults drawn from the population and on
    conformant services drawn from the variants, in one realm each; it fails on a service that the gate does
    not pass, and on a kill rate significantly below that of --floor.

    Exit codes: 0 the proof holds, 1 it does not, 2 interrupted, 3 a trial broke, 4 usage.

    \b
    Examples:
      python -m contracts.proving --defect uid-accepts-ten
      python -m contracts.proving --clause draft-text-exact --seeds 1
      python -m contracts.proving --seeds 1,2,3 --docs docs/proof.md
      python -m contracts.proving --part drawn --faults 60 --services 20
      python -m contracts.proving --part drawn --faults 200 --services 0 --order contracts/plugin/case_order.json
    """  # noqa: D301 - click's mark for lines to be left as they are
    from contracts.proving.drawn_proof import DrawnOptions  # noqa: PLC0415 - loads the whole suite
    from contracts.proving.proof import ProofOptions, carry_out  # noqa: PLC0415 - as above

    if _DRAWN not in parts:
        for option, given in _of_the_draw(draw).items():
            if given:
                raise UsageError(f"{option} is for what is drawn; give --part {_DRAWN}, too")
    if parts == (_DRAWN,) and (defects or clauses):
        raise UsageError(
            f"what is drawn is not chosen by defect or clause: take '{(*defects, *clauses)[0]}' away"
        )
    if draw["realm"] not in {None, *DEVELOPMENT_REALMS}:
        raise UsageError(f"unknown realm '{draw['realm']}'; {suggestion(draw['realm'], DEVELOPMENT_REALMS)}")
    drawn = DrawnOptions(seed=draw.pop("drawn_seed"), whole=to_the_end, **draw)
    options = ProofOptions(
        seeds=_numbers(seeds),
        defects=defects,
        clauses=clauses,
        parts=tuple(part for part in parts if part != _DRAWN) if parts else _all_parts(defects, clauses),
        whole=whole,
        to_the_end=to_the_end,
        jobs=jobs,
        reports=reports,
        docs=docs,
        drawn=drawn if _DRAWN in parts else None,
    )
    return carry_out(options)


def _of_the_draw(draw: Mapping[str, Any]) -> dict[str, bool]:
    """The options that say what is drawn, and whether they were given."""
    options = {
        "--family": "families",
        "--fault": "names",
        "--service": "variants",
        "--drawn-realm": "realm",
        "--drawn-seed": "drawn_seed",
        "--floor": "floor",
        "--land": "land",
        "--order": "order",
        "--found": "found",
        "--all-realms": "everywhere",
        "--smoke": "smoke",
    }
    return {option: draw[name] not in (None, (), False) for option, name in options.items()}


def _all_parts(defects: tuple[str, ...], clauses: tuple[str, ...]) -> tuple[str, ...]:
    return ("defects",) if defects or clauses else _PARTS


def _numbers(seeds: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(seed) for seed in seeds.split(",")))
    except ValueError:
        raise UsageError(f"--seeds must be whole numbers separated by commas, not '{seeds}'") from None


def main() -> None:
    """Run the proof and exit with its code; its child processes do not look for modules in the current folder."""
    keep_hypothesis_out()
    os.environ["PYTHONSAFEPATH"] = "1"
    run_to_the_end(command, "python -m contracts.proving")


if __name__ == "__main__":
    main()
