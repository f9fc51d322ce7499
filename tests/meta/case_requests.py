"""Measures what each case sends, and writes it down for the forecast of a run.

registry-contracts run --seed 1 --reports /tmp/measured
python -m tests.meta.case_requests /tmp/measured/latest
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from contracts.evidence.journal import journal_path
from contracts.file_formats import read_bytes
from contracts.plugin.forecast import LARGE_FILE_BYTES, MEASURED, without_realm


def measure(events: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Requests by case, the realm aside, and operation: the mean of the realms that the case ran in.

    Args:
        events: The journal of a run without workers; what is cleaned up after a case counts as sent by it.
    """
    sent: dict[str, Counter[str]] = defaultdict(Counter)
    realms: Counter[str] = Counter()
    case = ""
    for event in events:
        if event["kind"] == "begin":
            case = without_realm(event["case"])
            realms[case] += 1
        elif event["kind"] == "exchange" and case:
            sent[case][event["operation"] or event["request"]["method"]] += 1
            sent[case]["large_files"] += _size(event["request"]) > LARGE_FILE_BYTES
    return {
        case: {name: round(count / number, 2) for name, count in sorted(sent[case].items()) if count}
        for case, number in sorted(realms.items())
    }


def _size(request: Mapping[str, Any]) -> int:
    """Bytes of a body; one in pieces of no announced length is as large as the limit that it is about."""
    headers = {name.lower(): value for name, value in request["headers"]}
    body = request.get("body") or {}
    in_pieces = "transfer-encoding" in headers and body.get("truncated")
    return LARGE_FILE_BYTES + 1 if in_pieces else int(headers.get("content-length") or 0)


def main() -> None:
    """Write the figures of the run in the folder that the command names."""
    journal = journal_path(Path(sys.argv[1]), "main")
    events = map(json.loads, read_bytes(journal).decode().splitlines())
    lines = (f"{json.dumps(case)}: {json.dumps(known)}" for case, known in measure(events).items())
    MEASURED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
