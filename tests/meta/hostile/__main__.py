"""Prints the table of probes, and fails when one fails: `python -m tests.meta.hostile [--document FILE] [WORD…]`."""

import html
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import click

from contracts.errors import breakdown
from contracts.proving.report import put_between
from contracts.safe_text import plain_line
from tests.meta.hostile.probe import PROBES, SEED, SHARED, Probe, Skipped, Wrong, folder_of_its_own, loaded

MODULES = ("exit_codes", "answers", "files", "readers", "secrets", "clients", "world")
#: Commands side by side; each probe waits more than it works.
SIDE_BY_SIDE = 6
#: What the classes were found with before they were mended, as the report that began it told it.
BEFORE = {
    "exit codes": "a traceback and exit 1 on a full disk, a file-size limit, reports that go, closed output, a folder "
    "that is gone, `python -O`; SIGHUP without reports; the history's lock waited for ever",
    "answers": "half a surrogate pair lost the report; a token with CR and LF broke 17 cases; `Retry-After` and `Date` "
    "beyond all calendars were exit 1, and the clean-up stopped; escape sequences and forged lines were printed",
    "files": "`merge` wrote outside its folder and read pipes; a crafted run folder had `sweep` delete others' "
    "records; 200,000 entries took `check` over 300 s",
    "secrets": "passwords of sign-ins that are no plain object stood in reports; the webhook got `~/.netrc`",
    "proxy": "malformed requests were shown with their bytes; control characters of an answer were no clear 502",
    "world": "not tried",
}


def main(words: list[str], document: Path | None = None) -> int:
    """Try the probes whose class or name holds all words; return 1 when one went wrong.

    Args:
        document: Takes the table between its marks.
    """
    for name in MODULES:
        import_module(f"tests.meta.hostile.{name}")
    chosen = [each for each in PROBES if all(word in f"{each.group}: {each.name}" for word in words)]
    began = time.monotonic()
    with SHARED, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        loaded()
        results = list(pool.map(_tried, chosen))
    counts = Counter(result for result, _ in results)
    used = os.times()
    busy = used.user + used.system + used.children_user + used.children_system
    summary = (
        f"{_counted(counts)}; {(time.monotonic() - began) / 60:.1f} minutes, {busy / 60:.1f} of a processor"
        f"; seed {SEED}"
    )
    click.echo(summary)
    if document is not None:
        put_between(document, "probes", _table(summary, list(zip(chosen, results, strict=True))))
    return 1 if counts["WRONG"] or not chosen else 0


def _table(summary: str, tried: Sequence[tuple[Probe, tuple[str, str]]]) -> str:
    counts = {
        group: Counter(result for each, (result, _) in tried if each.group == group) for group in BEFORE
    }
    classes = [
        f"| {group} | {_counted(counts[group])} | {before} |"
        for group, before in BEFORE.items()
        if counts[group]
    ]
    rows = [
        f"| {each.group} | {_cell(each.name)} | {result} | {_cell(measured)} |"
        for each, (result, measured) in tried
    ]
    heads = (
        ("| class | now | before |", "|---|---|---|"),
        ("| class | probe | result | measured |", "|---|---|---|---|"),
    )
    return "\n".join([f"{summary}.", "", *heads[0], *classes, "", *heads[1], *rows])


def _counted(results: Counter[str]) -> str:
    return ", ".join(f"{number} {result}" for result, number in sorted(results.items()))


def _cell(text: str) -> str:
    return html.escape(plain_line(text, 300), quote=False).replace("|", "\\|").replace("[", "\\[")


def _tried(each: Probe) -> tuple[str, str]:
    began = time.monotonic()
    with folder_of_its_own() as folder:
        try:
            result, measured = "holds", each.run(folder) or ""
        except Wrong as wrong:
            result, measured = "WRONG", str(wrong)
        except Skipped as skipped:
            result, measured = "skipped", str(skipped)
        except Exception as error:  # noqa: BLE001 - a probe that breaks costs no other
            result, measured = "WRONG", f"the probe broke: {breakdown(error)}"
    line = f"{each.group:<12} {each.name:<62} {result:<8} {time.monotonic() - began:5.1f} s  "
    click.echo(f"{line}{plain_line(measured, 300)}".rstrip())
    return result, measured


if __name__ == "__main__":
    words = sys.argv[1:]
    file = Path(words[1]) if words[:1] == ["--document"] else None
    sys.exit(main(words[2:] if file else words, file))
