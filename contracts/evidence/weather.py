"""What the weather was in a run, and what was judged in it, in a sentence."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from contracts.evidence.cells import Cell
from contracts.evidence.outcomes import Verdict
from contracts.evidence.plain import many

#: Verdicts that say that a clause was judged.
_JUDGED = (Verdict.FAIL, Verdict.ADVISORY, Verdict.DEVIATION, Verdict.OBSERVED, Verdict.PASS)
_KINDS_AT_MOST = 6


def faults_in_words(environment: Mapping[str, Any]) -> str:
    """Return the kinds of faults and how often each was met; empty when there were none.

    Args:
        environment: `requests`, `retries`, `faults` by kind, and `breaker`, as `run.json` has them.
    """
    faults = {str(kind): int(count) for kind, count in dict(environment.get("faults") or {}).items()}
    retries = int(environment.get("retries") or 0)
    if not faults and not retries:
        return ""
    ordered = sorted(faults.items(), key=lambda pair: (-pair[1], pair[0]))
    kinds = [f"{count} times {kind}" for kind, count in ordered[:_KINDS_AT_MOST]]
    kinds += [f"{len(ordered) - _KINDS_AT_MOST} kinds more"] if len(ordered) > _KINDS_AT_MOST else []
    told = f" ({', '.join(kinds)})" if kinds else ""
    return f"{many(sum(faults.values()), 'fault')}{told}, retried {many(retries, 'time')}"


def weather(environment: Mapping[str, Any], cells: Iterable[Cell]) -> str:
    """Return what the weather was and what was judged in it; empty in fair weather."""
    faults = faults_in_words(environment)
    if not faults:
        return ""
    counts = Counter(cell.verdict for cell in cells)
    judged = [f"{counts[verdict]} {verdict}" for verdict in _JUDGED if counts[verdict]]
    return f"{faults}; judged in it: {', '.join(judged) or 'nothing'}"
