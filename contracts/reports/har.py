"""`traffic.har`: every exchange of the run as an HTTP Archive 1.2, for the network panel of a browser."""

from __future__ import annotations

from pathlib import Path

from contracts.evidence.record import RunRecord
from contracts.evidence.verdicts import RunVerdict
from contracts.exchanges.har import add, har_writer

FILE_NAME = "traffic.har"


def write(record: RunRecord, verdict: RunVerdict, folder: Path) -> Path:
    """Write `traffic.har`, exchanges in the order they were sent, each with its case in the comment."""
    path = folder / FILE_NAME
    version = record.run.versions.get("suite", "unknown")
    with har_writer(path, version, f"{record.run.target}: {verdict.sentence}") as archive:
        for exchange in record.exchanges.values():
            add(archive, exchange)
    return path
