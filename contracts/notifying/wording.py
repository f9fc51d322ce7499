"""How a webhook is named to a run, and how a command is written down without its address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

OPTION: Final = "--notify"
#: Variable that holds the webhook's address, which is a secret: it does not show in a list of processes.
VARIABLE: Final = "REGISTRY_NOTIFY_URL"
REPORT_OPTION: Final = "--report-url"
REPORT_VARIABLE: Final = "REGISTRY_REPORT_URL"


def without_address(words: Iterable[str]) -> list[str]:
    """Return the words of a command without the webhook's address, fit to be written down."""
    kept: list[str] = []
    for word in words:
        if word.startswith(f"{OPTION}="):
            kept.append(f"{OPTION}=…")
        else:
            kept.append("…" if kept and kept[-1] == OPTION else word)
    return kept
