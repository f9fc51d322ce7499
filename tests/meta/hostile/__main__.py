"""Prints the table of probes, and fails when one fails: `python -m tests.meta.hostile [WORD…]`."""

import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import click

from contracts.errors import breakdown
from contracts.safe_text import plain_line
from tests.meta.hostile.probe import PROBES, Probe, Skipped, Wrong, folder_of_its_own

MODULES = ("exit_codes", "answers", "files", "clients")
#: Commands side by side; each probe waits more than it works.
SIDE_BY_SIDE = 2


def main(words: list[str]) -> int:
    """Try the probes whose class or name holds all words; return 1 when one went wrong."""
    for name in MODULES:
        import_module(f"tests.meta.hostile.{name}")
    chosen = [each for each in PROBES if all(word in f"{each.group}: {each.name}" for word in words)]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = list(pool.map(_tried, chosen))
    counts = Counter(result for result, _ in results)
    click.echo(", ".join(f"{number} {result}" for result, number in sorted(counts.items())))
    return 1 if counts["WRONG"] or not chosen else 0


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
    sys.exit(main(sys.argv[1:]))
