"""`registry-contracts site`: a static site over the kept runs, for a team to open each morning and to publish."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import click

from contracts.errors import UsageError
from contracts.interface.catalogue import load_catalogue
from contracts.interface.clause_table import known_cases
from contracts.manual.sandbox_setup import defects
from contracts.reports.site import KEPT_NIGHTS, build
from contracts.safe_text import many, printable


@click.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the site.",
)
@click.option(
    "--compare",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="ONE OTHER",
    help="Put two runs side by side, by their names, or two targets; may be repeated.",
)
@click.option(
    "--url", default="", metavar="URL", help="Where the site is published, for the links of the feed."
)
@click.option(
    "--keep",
    default=KEPT_NIGHTS,
    show_default=True,
    metavar="N",
    type=click.IntRange(1),
    help="Nights of each target that are carried on.",
)
def command(
    *, sources: tuple[Path, ...], output: Path, pairs: tuple[tuple[str, str], ...], url: str, keep: int
) -> int:
    """Build a static site over kept runs: targets, nights and clauses, badges, a feed of changes. Nothing is sent.

    SOURCES are folders of runs, verdict.json files, zip archives of them, or an earlier site's folder or runs.zip; by
    default `reports`. Nights that are in DIR already are carried on, also when their runs are gone.

    Exit codes: 0 built, 4 usage.

    \b
    Examples:
      registry-contracts site -o site
      registry-contracts site night/ site-of-yesterday/runs.zip -o site --url https://contracts.example.test/
    """  # noqa: D301 - click's mark for lines to be left as they are
    if url and urlsplit(url).scheme not in {"http", "https"}:
        raise UsageError(f"--url is no web address: '{url}'")
    all_defects, broken = defects(), defaultdict(list)
    for defect in all_defects or ():
        broken[defect.clause].append((defect.name, defect.sentence))
    built = build(
        sources or (Path("reports"),),
        output,
        load_catalogue(),
        defects=None if all_defects is None else broken,
        cases=known_cases(),
        pairs=pairs,
        url=url,
        keep=keep,
    )
    for note in built.notes:
        click.echo(printable(note), err=True)
    nights, boards = many(built.nights, "night"), many(built.boards, "board")
    click.echo(f"{output}/index.html: {many(built.pages, 'page')}, {nights} on {boards}")
    return 0
