"""What came of the mutants, in words; survivors that were looked at have their reason in `accepted.yaml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.mutation.places import OWN_TESTS
from contracts.proving.matrix import PLAIN
from contracts.sandbox.variants import COMBINATIONS

ACCEPTED: Final = Path(__file__).with_name("accepted.yaml")

_LIVED: Final = "a defect lived"
_ALARM: Final = "an alarm was raised where nothing is broken"
_TESTS: Final = "no defect lived, but the judging modules' own tests failed"
_BROKE: Final = "the suite could not begin"
_NOTICED: Final = (_LIVED, _ALARM, _TESTS, _BROKE)


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
    noticed = Counter(_noticed_by(mutant) for mutant in tried if mutant["outcome"] == "killed")
    yield f"{len(tried)} of {total} mutants that weaken a check were tried (a random sample)."
    yield ""
    yield "| outcome | mutants |"
    yield "|---|---:|"
    yield f"| noticed | {counts['killed']} |"
    for by in _NOTICED:
        yield f"| … {by} | {noticed[by]} |"
    yield f"| could not be run at all | {counts['incompetent']} |"
    yield f"| survived | {counts['survived']} |"


def _noticed_by(mutant: Mapping[str, Any]) -> str:
    _, told, name = mutant["said"].rpartition("killed by ")
    if not told:
        return _BROKE
    if name == OWN_TESTS:
        return _TESTS
    return _ALARM if name == PLAIN or name in COMBINATIONS else _LIVED


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
