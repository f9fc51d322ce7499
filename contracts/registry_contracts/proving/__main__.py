"""`python -m registry_contracts.proving`: shows that the suite finds broken services and passes conformant ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from registry_contracts.command_line import run_to_the_end
from registry_contracts.errors import UsageError, suggestion
from registry_contracts.interface.location import keep_hypothesis_out
from registry_contracts.settings.target import DEVELOPMENT_REALMS

_NAME = "python -m registry_contracts.proving"
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_PARTS = ("fixed", "drawn", "manners")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1, type=click.Choice(_PARTS), metavar="[fixed] [drawn] [manners]")
@click.option("--fault", "names", metavar="NAME", multiple=True, help="This fault; may be repeated.")
@click.option(
    "--clause", "clauses", metavar="ID", multiple=True, help="Faults of the fixed set on this clause."
)
@click.option("--service", "variants", metavar="NAME+…", multiple=True, help="This service; may be repeated.")
@click.option("--faults", type=click.IntRange(0), default=60, show_default=True, help="Faults to draw.")
@click.option("--services", type=click.IntRange(0), default=20, show_default=True, help="Services to draw.")
@click.option(
    "--seed", type=int, help="Seed of the draw and of manners; by default a fresh one, which is printed."
)
@click.option("--realm", metavar="REALM", default="", help="Realm of drawn or named trials.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "gate", "nightly"]),
    default="gate",
    show_default=True,
    help="Profile of drawn or named runs; for nightly, drawn faults have up to three conditions.",
)
@click.option("--floor", type=_FILE, help="File with the share of faults that a draw must find.")
@click.option(
    "--jobs",
    # A trial waits about twice as long as it works.
    default=lambda: min(64, 3 * (os.cpu_count() or 1)),
    show_default="three for each core",
    type=click.IntRange(1, 64),
    help="Trials side by side.",
)
@click.option(
    "--reports",
    default=Path("reports/proof"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder for proof.md, trials.jsonl and the evidence of survivors.",
)
def command(*, parts: tuple[str, ...], **options: Any) -> int:
    """Run the suite against sandboxes that are broken on purpose, and against conformant ones that differ.

    The parts, by default all three: `fixed` (for each clause one to three faults, with the cases of that clause; the
    faithful service and every variant, which must pass), `drawn` (whole gates on drawn crossed faults and
    conformant services), `manners` (network faults, runs beside other people's records, killed runs). With --fault,
    --clause or --service only these are tried, by default in the part fixed.

    The proof fails if a fault of the fixed set is not found, or a service does not pass. Every drawn fault that broke a
    promise has to be found; with --floor, a share not below the 95 % interval of the one in that file.

    Exit codes: 0 the proof holds, 1 it does not, 2 interrupted, 3 a trial broke, 4 usage.

    \b
    Examples:
      python -m registry_contracts.proving --clause draft-get-content
      python -m registry_contracts.proving drawn --faults 200 --services 50
      python -m registry_contracts.proving drawn --service gzip+list-hal --realm abs-dev
      python -m registry_contracts.proving fixed drawn --seed 7 --floor .ci/drawn.json
    """  # noqa: D301 - click's mark for lines to be left as they are
    from registry_contracts.proving.proof import Proof, carry_out  # noqa: PLC0415 - loads the whole suite
    from registry_contracts.proving.trials import Part  # noqa: PLC0415 - as above

    realm = options["realm"]
    if realm and realm not in DEVELOPMENT_REALMS:
        raise UsageError(f"unknown realm '{realm}'; {suggestion(realm, DEVELOPMENT_REALMS)}")
    named = options["names"] or options["clauses"] or options["variants"]
    chosen = parts or (_PARTS[:1] if named else _PARTS)
    if options["clauses"] and chosen != _PARTS[:1]:
        raise UsageError("a draw is not chosen by clause; give --clause only with the part fixed")
    words = " ".join([_NAME, *sys.argv[1:]])
    return carry_out(Proof(tuple(map(Part, dict.fromkeys(chosen))), command=words, **options))


def main() -> None:
    """Run the proof and exit with its code."""
    keep_hypothesis_out()
    run_to_the_end(command, _NAME)


if __name__ == "__main__":
    main()
