"""Writes what traffic showed into a folder: `check.json`, and a page for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contracts.errors import UsageError
from contracts.evidence import check_page
from contracts.traffic import check_json
from contracts.traffic.check_json import Occasion
from contracts.traffic.tally import Tally
from contracts.traffic.verdict import TrafficVerdict


def write(tally: Tally, verdict: TrafficVerdict, occasion: Occasion, folder: Path) -> dict[str, Any]:
    """Write the report of what was taken in so far.

    Returns:
        What `check.json` holds.

    Raises:
        UsageError: it cannot be written.
        SuiteError: it does not fit its own schema.
    """
    content = check_json.build(tally, verdict, occasion)
    try:
        check_json.write(content, folder)
        check_page.write(content, [group.exchanges for group in tally.groups], folder)
    except OSError as error:
        raise UsageError(f"cannot write the report to '{folder}': {error.strerror}") from None
    return content
