"""Where the time of a run goes, and how much memory it takes: figures of all its processes put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

#: Phases that processes go through side by side: the longest counts. Of the others the sum does.
_SIDE_BY_SIDE: Final = ("start", "collection")
_STATUS: Final = Path("/proc/self/status")
_PEAK: Final = "VmHWM:"


def peak_memory() -> float | None:
    """The most memory that this process has had at once, in MiB; None where the system does not say."""
    try:
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(_PEAK)), None)


def put_together(workers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Put together what the processes of a run have measured.

    Args:
        workers: Of each process `seconds` by phase and `peak_memory` in MiB.

    Returns:
        `seconds` by phase: of all processes together, or of the slowest where they go through it side by side;
        and `peak_memory_mb`, in MiB, of the process that took most.
    """
    known = list(workers)
    total: dict[str, float] = {}
    for phase, seconds in (pair for each in known for pair in each.get("seconds", {}).items()):
        before = total.get(phase, 0.0)
        total[phase] = max(before, seconds) if phase in _SIDE_BY_SIDE else before + seconds
    peaks = [each["peak_memory"] for each in known if each.get("peak_memory")]
    return {
        "seconds": {phase: round(seconds, 3) for phase, seconds in sorted(total.items())},
        "peak_memory_mb": round(max(peaks), 1) if peaks else None,
    }
