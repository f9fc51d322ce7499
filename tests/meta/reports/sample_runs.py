"""A small made-up run that holds one of each kind of event, hostile texts and bodies included."""

import base64
import json
import math
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from registry_contracts.evidence.findings import Reproduce
from registry_contracts.evidence.journal import Journal, journal_path, utc_now
from registry_contracts.evidence.record import Block, Case, Left
from registry_contracts.exchanges.exchange import BodyEntry, RequestEntry, ResponseEntry
from registry_contracts.history import baseline
from registry_contracts.history.observed_facts import Facts, Observation, Place
from registry_contracts.history.runs import Past, PastRun, Trend, write_past
from registry_contracts.interface.catalogue import Clause, Level
from registry_contracts.session.pipeline import FaultEvent
from tests.meta.evidence.sample_records import case, finding, write_exchange, write_run_file

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&`|\x00\x1b[31m\u202egnp.exe\ud800</pre>```"
    "]]>&lt;<!--\x07\x7f\x85\u2028\u2029\u2066\ufffe\uffff\udc00=1+1"
)
#: As much of it as the name of a settings file, and so of a target, may hold.
HOSTILE_NAME = re.sub(r"[/\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", "", HOSTILE)
#: Bodies that not every reader of JSON takes, and values that not every writer of it writes.
ODD_BODIES = ("NaN", "-Infinity", "1e400", "9" * 5000, "[" * 5000, '{"a": NaN}', '{"a": 1, "a": "\\ud800"}')
ODD_VALUES: list[Any] = [10**4000, -(10**400), 1e308, math.inf, [HOSTILE], {HOSTILE: [True, None]}, {}, ""]
IN_ENVIRONMENT = "known-to-the-environment-only"
PNG = b"\x89PNG\r\n\x1a\n\x00\xff"
Work = Callable[[Journal], None]


def clause(name: str, level: str, operation: str, *realms: str) -> Clause:
    wording = f"{name} holds. {HOSTILE[:57]}"
    return Clause(name, Level(level), (operation,), "Drafts", wording, realms=realms, file="draft.yaml")


CATALOGUE = [
    clause("draft-get-content", "must", "getDraft", "abs-dev", "bch-dev"),
    clause("draft-delete-removes", "must", "deleteDraft", "abs-dev", "bch-dev"),
    clause("errors-code", "should", "createContact", "abs-dev"),
    clause("draft-info-shape", "silent", "getDraftInfo", "abs-dev"),
    clause("workflow-locked-record", "must", "createWorkflowRecord", "abs-dev"),
    clause("token-issued", "must", "createToken", "any"),
]


def body(content: bytes | None, text: str | None = None) -> BodyEntry:
    encoded = base64.b64encode(content).decode() if content and text is None else None
    size = len(content or b"") or len((text or "").encode("utf-8", "replace"))
    return BodyEntry(text=text, base64=encoded, size=size, sha256="0" * 64, truncated=False)


def exchange(journal: Journal, case: str, status: int | None, **bodies: Any) -> str:
    headers = ("Content-Type", "application/json"), ("Authorization", "Bearer [redacted]")
    url = f"http://127.0.0.1/api/v2013/documents/x?schema={HOSTILE}&empty="
    sent = RequestEntry(method="PUT", url=url, headers=headers, body=bodies.get("sent", body(None)))
    answer = bodies.get("answer", body(None))
    received = ResponseEntry(status=status or 200, reason="OK", headers=headers, body=answer)
    lost: dict[str, Any] = {} if status else {"response": None, "fault": "connection reset", "retries": 2}
    return write_exchange(journal, case, **{"request": sent, "response": received} | lost)


def ending(journal: Journal, about: Clause, realm: str, outcome: str, held: int = 0, **more: Any) -> Case:
    key = f"tests/contract/scenario/test_draft.py::test_{about.id.replace('-', '_')}[{realm}]"
    of = {"id": key, "realm": realm, "clauses": (about.id,), "operations": about.operations, "doc": HOSTILE}
    ended = case(f"{about.id} {HOSTILE}", outcome, held, **of | more)
    journal.write("case", ended)
    return ended


def first_worker(journal: Journal) -> None:
    content, removes, code, info, locked, token = CATALOGUE
    failed = ending(journal, content, "abs-dev", "fail", held=1)
    shown = (
        exchange(journal, failed.id, 200, sent=body(None, HOSTILE), answer=body(PNG)),
        exchange(journal, failed.id, 200, sent=body(PNG), answer=body(None, json.dumps([HOSTILE]))),
        exchange(journal, failed.id, None),
        *(
            exchange(journal, failed.id, 200, sent=body(None, odd), answer=body(None, odd))
            for odd in ODD_BODIES
        ),
    )
    again = Reproduce("run --finding 0", (f"curl -d '{HOSTILE}'",))
    told: dict[str, Any] = {"seen": HOSTILE, "reproduce": again}
    journal.write("finding", finding(failed, reproduced=2, exchanges=shown, **told))
    blocked = Block("getDraft", "getDraft gives other content")
    ending(journal, removes, "abs-dev", "inconclusive", blocked_by=blocked)
    advised = ending(journal, code, "abs-dev", "advisory", held=1)
    journal.write("finding", finding(advised, reproduced=2, **told))
    seen = ending(journal, info, "abs-dev", "observed")
    for value in ({"body": HOSTILE}, *ODD_VALUES):
        journal.write("observation", Observation(info.id, "abs-dev", "getDraftInfo", seen.id, value))
    ending(
        journal, locked, "abs-dev", "untested", reason="setting realm.abs-dev.locked_identifier is missing"
    )
    ending(journal, token, "any", "pass", held=3)


def second_worker(journal: Journal) -> None:
    ending(journal, CATALOGUE[0], "bch-dev", "pass", held=5)
    ending(journal, CATALOGUE[1], "bch-dev", "pass", held=1)
    for kind, operation in (("residue", "createContact"), ("leftover", "saveDraft")):
        journal.write(kind, Left("bch-dev", operation, f"rc-{HOSTILE}", "contact record"))
    journal.write("fault", FaultEvent("503 from the gateway"))


def build_run(run: Path, *workers: Work, **more: Any) -> Path:
    """Write the journals of a run and what stands beside them into a folder; `more` replaces facts of the run."""
    started, names = utc_now(), [f"gw{number}" for number, _ in enumerate(workers)]
    for name, work in zip(names, workers, strict=True):
        with Journal(journal_path(run, name), name) as journal:
            work(journal)
    facts = {
        "target": HOSTILE_NAME,
        "realms": ["abs-dev", "bch-dev"],
        "clauses": [each.id for each in CATALOGUE],
        "started": started,
        "command": f"registry-contracts run {HOSTILE}",
        "versions": {"suite": version("registry-contracts"), "python": "3.11"},
        "environment": {"requests": 9, "faults": {HOSTILE: 1}, "permanent_records": {"abs-dev": 3}},
    }
    seen: Facts = {Place("draft-info-shape", "getDraftInfo", "abs-dev"): {"body": "201", "gone": "string"}}
    baseline.write(run / "baseline.yaml", baseline.Baseline("x", seen))
    settings = {"mode": "warn", "baseline": "baselines/x.yaml", "known": True}
    (run / "drift.json").write_text(json.dumps(settings))
    verdicts = {"r1": "pass", HOSTILE_NAME: "fail", "r3": "pass"}
    earlier = [
        PastRun(name, f"2026-01-0{day}T10:00:00+00:00", "gate", verdict, 90, 10.0, {"pass": day})
        for day, (name, verdict) in enumerate(verdicts.items(), start=1)
    ]
    trend = Trend("2026-01-01T10:00:00+00:00", "2026-01-02T10:00:00+00:00", 3, 5)
    write_past(run, Past(tuple(earlier), {"draft-get-content": {"abs-dev": trend}}))
    return write_run_file(run, names, **facts | more)
