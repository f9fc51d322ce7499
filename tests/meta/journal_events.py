"""Made-up exchanges and cases, written into a journal as a run writes them, and the run file beside it."""

import json
from collections.abc import Sequence
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from registry_contracts.evidence.journal import Journal, utc_now
from registry_contracts.evidence.record import Case
from registry_contracts.exchanges.exchange import BodyEntry, ExchangeEntry, RequestEntry, ResponseEntry
from registry_contracts.file_formats import plain
from tests.meta.evidence.sample_records import finding, run_facts

NO_BODY = BodyEntry(text=None, base64=None, size=0, sha256="0" * 64, truncated=False)
#: Numbers of the exchanges of each journal.
_NUMBERS: "WeakKeyDictionary[Journal, count[int]]" = WeakKeyDictionary()


def write_exchange(journal: Journal, case: str, realm: str = "abs-dev", **changes: Any) -> str:
    """Write an exchange of the author's; `changes` take the place of what is usual. Return its id."""
    key = f"{journal.worker}-{next(_NUMBERS.setdefault(journal, count(1)))}"
    usual: dict[str, Any] = {
        "attempt": 1,
        "role": "author",
        "operation": "getDraft",
        "started": utc_now(),
        "seconds": 0.01,
        "request": RequestEntry(method="GET", url="http://127.0.0.1/x", headers=(), body=None),
        "response": ResponseEntry(status=200, reason="OK", headers=(), body=NO_BODY),
        "fault": None,
        "retries": 0,
    }
    journal.write("exchange", ExchangeEntry(id=key, case=case, realm=realm, **usual | changes))
    return key


def write_finding(journal: Journal, by: Case, **changes: Any) -> None:
    """Write a confirmed finding of a case's; `changes` take the place of what is usual."""
    journal.write("finding", finding(by, **changes))


def write_ending(journal: Journal, ended: Case) -> None:
    """Write the end of a case."""
    journal.write("case", ended)


def write_run_file(folder: Path, workers: Sequence[str] = ("main",), **changes: Any) -> Path:
    """Write the run.json of a gate that is over into a folder; `changes` take the place of what is usual."""
    usual = {
        "started": "2020-01-01T00:00:00+00:00",
        "finished": utc_now(),
        "workers": len(workers),
        "versions": {"suite": version("registry-contracts")},
        "expected_workers": list(workers),
        "token": "a",
    }
    (folder / "run.json").write_text(json.dumps(plain(run_facts(**usual | changes))), "utf-8")
    return folder
