"""What came of the mutants, in words; survivors that were looked at have their reason in `accepted.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

ACCEPTED: Final = Path(__file__).with_name("accepted.yaml")


def accepted(path: Path) -> dict[str, str]:
    """Changed line → why the mutant may live."""
    return {
        entry["line"]: entry["reason"] for entry in yaml.safe_load(path.read_text(encoding="utf-8")) or ()
    }


def changed_line(diff: str) -> str:
    """The line a mutant puts in place of the original."""
    added = [
        line[1:].strip() for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")
    ]
    return added[0] if added else ""


def table(tried: Sequence[Mapping[str, Any]], total: int, reasons: Mapping[str, str]) -> str:
    """The tables of the documentation."""
    return "\n".join([*_figures(tried, total), "", *_survivors(tried, reasons)])


def _figures(tried: Sequence[Mapping[str, Any]], total: int) -> Iterator[str]:
    counts = Counter(mutant["outcome"] for mutant in tried)
    yield f"{len(tried)} of {total} mutants that weaken a check were tried (a random sample)."
    yield ""
    yield "| outcome | mutants |"
    yield "|---|---:|"
    yield f"| noticed: a defect lived, an alarm was raised, or the suite broke | {counts['killed']} |"
    yield f"| could not be run at all | {counts['incompetent']} |"
    yield f"| survived | {counts['survived']} |"


def _survivors(tried: Sequence[Mapping[str, Any]], reasons: Mapping[str, str]) -> Iterator[str]:
    living = [mutant for mutant in tried if mutant["outcome"] == "survived"]
    if not living:
        return
    yield "| survivor | becomes | dealt with |"
    yield "|---|---|---|"
    for mutant in sorted(living, key=lambda each: (each["module"], each["line"])):
        line = changed_line(mutant["diff"])
        shown = line.replace("|", "\\|")
        reason = reasons.get(line, "not looked at yet")
        yield f"| `{mutant['module']}` line {mutant['line']} | `{shown}` | {reason} |"
