"""What `check` takes on a large archive: processor time and memory."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_SITE: Final = "https://registry.test/api/v2013"
_MB: Final = 1 << 20


@dataclass(frozen=True)
class Checked:
    """What `check` took on an archive."""

    entries: int
    size_mb: float
    seconds: float
    peak_mb: float


def checked_archive(entries: int) -> Checked:
    """Check an archive of so many reads in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.har"
        with path.open("w", encoding="utf-8") as file:
            file.write('{"log":{"entries":[')
            for number in range(entries):
                file.write(("," if number else "") + json.dumps(_entry(number)))
            file.write("]}}")
        words = [sys.executable, "-c", "from registry_contracts.cli import main; main()", "check", str(path)]
        process = subprocess.Popen([*words, "--reports", name], stdout=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        return Checked(
            entries, path.stat().st_size / _MB, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        )


def _entry(number: int) -> dict[str, Any]:
    uid = f"rc-growth-record-{number:08}"
    document = json.dumps(
        {"header": {"identifier": uid, "schema": "contact", "languages": ["en"]}, "note": "x" * 900}
    )
    headers = {"Authorization": "Bearer a-token-of-the-recording-0001", "Realm": "abs-dev"}
    return {
        "startedDateTime": f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "time": 20,
        "request": {
            "method": "GET",
            "url": f"{_SITE}/documents/{uid}/versions/draft",
            "headers": [{"name": name, "value": value} for name, value in headers.items()],
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {"size": len(document), "mimeType": "application/json", "text": document},
        },
    }
