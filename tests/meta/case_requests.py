"""Measures what each case sends, and writes it down for the forecast of a run.

registry-contracts run --seed 1 --reports /tmp/gate
registry-contracts run --seed 1 --profile full --reports /tmp/full
registry-contracts run --seed 1 --profile smoke --reports /tmp/smoke
registry-contracts run --seed 1 --realm abs-dev --reports /tmp/alone
python -m tests.meta.case_requests /tmp/gate/latest /tmp/full/latest /tmp/smoke/latest /tmp/alone/latest
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from contracts.evidence.record import journal_path
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


def _of_run(folder: str) -> dict[str, dict[str, float]]:
    return measure(map(json.loads, read_bytes(journal_path(Path(folder), "main")).decode().splitlines()))


def main() -> None:
    """Write the figures of a gate and, where they differ, of the other runs in the folders that the command names."""
    gate, *others = map(_of_run, sys.argv[1:])
    differing = [
        {case: known for case, known in other.items() if known != gate.get(case)} for other in others
    ]
    named = zip(("gate", "later", "smoke", "alone"), (gate, *differing), strict=True)
    parts = (f"{json.dumps(name)}: {_table(part)}" for name, part in named)
    MEASURED.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _table(part: Mapping[str, Mapping[str, float]]) -> str:
    lines = (f"{json.dumps(case)}: {json.dumps(known)}" for case, known in part.items())
    return "{\n" + ",\n".join(lines) + "\n}"


if __name__ == "__main__":
    main()
