"""Prints the table of probes, and fails when one fails: `python -m tests.meta.hostile [--document FILE] [WORD…]`."""

import html
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import click

from contracts.errors import breakdown
from contracts.proving.proof_report import put_between
from contracts.safe_text import plain_line
from tests.meta.hostile.probe import PROBES, Probe, Skipped, Wrong, folder_of_its_own

MODULES = ("exit_codes", "answers", "files", "secrets", "clients", "world")
#: Commands side by side; each probe waits more than it works.
SIDE_BY_SIDE = 2


def main(words: list[str], document: Path | None = None) -> int:
    """Try the probes whose class or name holds all words; return 1 when one went wrong.

    Args:
        document: Takes the table between its marks.
    """
    for name in MODULES:
        import_module(f"tests.meta.hostile.{name}")
    chosen = [each for each in PROBES if all(word in f"{each.group}: {each.name}" for word in words)]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = list(pool.map(_tried, chosen))
    counts = Counter(result for result, _ in results)
    told = ", ".join(f"{number} {result}" for result, number in sorted(counts.items()))
    click.echo(told)
    if document is not None:
        put_between(document, "probes", _table(told, zip(chosen, results, strict=True)))
    return 1 if counts["WRONG"] or not chosen else 0


def _table(told: str, tried: Iterable[tuple[Probe, tuple[str, str]]]) -> str:
    rows = [
        f"| {each.group} | {_cell(each.name)} | {result} | {_cell(said)} |" for each, (result, said) in tried
    ]
    return "\n".join([f"{told}.", "", "| class | probe | result | measured |", "|---|---|---|---|", *rows])


def _cell(text: str) -> str:
    return html.escape(plain_line(text, 300), quote=False).replace("|", "\\|").replace("[", "\\[")


def _tried(each: Probe) -> tuple[str, str]:
    began = time.monotonic()
    with folder_of_its_own() as folder:
        try:
            result, said = "holds", each.run(folder) or ""
        except Wrong as wrong:
            result, said = "WRONG", str(wrong)
        except Skipped as skipped:
            result, said = "skipped", str(skipped)
        except Exception as error:  # noqa: BLE001 - a probe that breaks costs no other
            result, said = "WRONG", f"the probe broke: {breakdown(error)}"
    line = f"{each.group:<12} {each.name:<62} {result:<8} {time.monotonic() - began:5.1f} s  {plain_line(said, 300)}"
    click.echo(line.rstrip())
    return result, said


if __name__ == "__main__":
    words = sys.argv[1:]
    file = Path(words[1]) if words[:1] == ["--document"] else None
    sys.exit(main(words[2:] if file else words, file))
