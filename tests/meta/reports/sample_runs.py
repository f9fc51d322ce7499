"""Small made-up runs that hold one of each kind of event, hostile texts and bodies included."""

import base64
import json
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from contracts.evidence.journal import Journal, journal_path, utc_now
from contracts.evidence.terms import Consumer, Deviation, Terms, Waiver
from contracts.file_formats import plain
from contracts.history.baseline import Baseline
from contracts.history.baseline import write as write_baseline
from contracts.history.observed_facts import Place
from contracts.history.runs import Past, PastRun, Trend, write_past
from contracts.interface.catalogue import Clause, Level
from tests.meta.journal_events import message, write_ending, write_exchange, write_finding, write_run_file

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&`|\x00\x1b[31m\u202egnp.exe\ud800</pre>```"
)
IN_ENVIRONMENT = "known-to-the-environment-only"
PNG = b"\x89PNG\r\n\x1a\n\x00\xff"


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


def body(content: bytes | None, text: str | None = None) -> dict[str, Any]:
    encoded = base64.b64encode(content).decode() if content and text is None else None
    size = len(content or b"") or len((text or "").encode("utf-8", "replace"))
    return {"text": text, "base64": encoded, "size": size, "sha256": "0" * 64, "truncated": False}


def exchange(journal: Journal, case: str, realm: str, status: int | None, **bodies: Any) -> str:
    headers = ["Content-Type", "application/json"], ["Authorization", "Bearer [redacted]"]
    url = f"http://127.0.0.1/api/v2013/documents/x?schema={HOSTILE}&empty="
    sent = message(bodies.get("sent", body(None)), *headers, method="PUT", url=url)
    received = message(bodies.get("answer", body(None)), *headers, status=status, reason="OK")
    lost = {} if status else {"response": None, "fault": "connection reset", "retries": 2}
    return write_exchange(
        journal, case, realm, **{"seconds": 0.0125, "request": sent, "response": received} | lost
    )


def case(journal: Journal, clause_: Clause, realm: str, outcome: str, held: int = 0, **more: Any) -> str:
    key = f"tests/contract/scenario/test_draft.py::test_{clause_.id.replace('-', '_')}[{realm}]"
    count = {"clause": clause_.id, "operation": clause_.operations[0], "held": held, "contradicted": 0}
    plain = {
        "name": f"{clause_.id} {HOSTILE}",
        "operations": list(clause_.operations),
        "doc": HOSTILE,
        "seconds": 0.5,
        "requests": 2,
        "assertions": [count] if held else [],
    }
    write_ending(journal, key, clause_.id, realm, **plain | more | {"outcome": outcome})
    return key


def finding(journal: Journal, clause_: Clause, realm: str, case_: str, exchanges: list[str]) -> None:
    write_finding(
        journal,
        case_,
        clause_.id,
        realm,
        operation=clause_.operations[0],
        expected="what was saved",
        seen=HOSTILE,
        rate=[2, 3],
        exchanges=exchanges,
        curl=[f"curl -d '{HOSTILE}'"],
        command="registry-contracts run --finding 0123456789",
    )


def first_worker(journal: Journal) -> None:
    content, removes, code, info, locked, token = CATALOGUE
    failed = case(journal, content, "abs-dev", "fail", held=1)
    shown = [
        exchange(journal, failed, "abs-dev", 200, sent=body(None, HOSTILE), answer=body(PNG)),
        exchange(journal, failed, "abs-dev", 200, sent=body(PNG), answer=body(None, json.dumps([HOSTILE]))),
        exchange(journal, failed, "abs-dev", None),
    ]
    finding(journal, content, "abs-dev", failed, shown)
    blocked = {"operation": "getDraft", "realm": "abs-dev", "cause": "getDraft gives other content"}
    case(journal, removes, "abs-dev", "inconclusive", blocked_by=blocked)
    advised = case(journal, code, "abs-dev", "advisory", held=1)
    finding(journal, code, "abs-dev", advised, [])
    seen = case(journal, info, "abs-dev", "observed")
    where = {"clause": info.id, "realm": "abs-dev", "operation": "getDraftInfo", "case": seen}
    journal.write("observation", **where, seen={"body": HOSTILE})
    case(journal, locked, "abs-dev", "untested", reason="setting realm.abs-dev.locked_identifier is missing")
    case(journal, token, "any", "pass", held=3)


def second_worker(journal: Journal) -> None:
    case(journal, CATALOGUE[0], "bch-dev", "pass", held=5)
    case(journal, CATALOGUE[1], "bch-dev", "pass", held=1)
    thing = {"realm": "bch-dev", "identifier": f"rc-{HOSTILE}", "what": "contact record"}
    journal.write("residue", operation="createContact", **thing)
    journal.write("leftover", operation="saveDraft", **thing)
    journal.write("fault", fault="503 from the gateway")


def build_run(run: Path, workers: dict[str, Callable[[Journal], None]], **more: Any) -> Path:
    """Write the journals and `run.json` of a run into a folder; `more` replaces facts of the run."""
    started = utc_now()
    for worker, work in workers.items():
        with Journal(journal_path(run, worker), worker) as journal:
            work(journal)
    facts = {
        "target": HOSTILE,
        "seed": 7,
        "realms": ["abs-dev", "bch-dev"],
        "clauses": [each.id for each in CATALOGUE],
        "started": started,
        "command": f"registry-contracts run {HOSTILE}",
        "versions": {"suite": version("registry-contracts"), "python": "3.11"},
        "environment": {"requests": 9, "retries": 2, "faults": {"connection reset": 1}, "breaker": None},
    }
    return write_run_file(run, list(workers), **facts | more)


def third_worker(journal: Journal) -> None:
    """Write what another realm does at a silent point, and a must that holds where an entry says it does not."""
    info = CATALOGUE[3]
    seen = case(journal, info, "bch-dev", "observed")
    where = {"clause": info.id, "realm": "bch-dev", "operation": "getDraftInfo", "case": seen}
    journal.write("observation", **where, seen={"body": f"other {HOSTILE}"})


def deviation(clause_: str, realm: str, expires: str, line: int) -> Deviation:
    return Deviation(
        clause=clause_,
        realms=(realm,),
        operation=None,
        reason=HOSTILE,
        owner=HOSTILE,
        issue=f"https://tracker.test/{line}?<script>alert(1)</script>&'\"",
        expires=date.fromisoformat(expires),
        profile="gate",
        file="deviations/x.toml",
        line=line,
    )


def past_runs(clause_: str) -> Past:
    """Return five earlier runs in which a clause came and went in abs-dev."""
    runs = tuple(
        PastRun(
            HOSTILE if day == 3 else f"r{day}",
            f"2026-01-0{day}T10:00:00+00:00",
            "gate",
            verdict,
            90 + day,
            10.0 + day,
            counts,
        )
        for day, (name, verdict, counts) in enumerate(
            [
                ("r1", "pass", {"pass": 6}),
                ("r2", "fail", {"fail": 2, "pass": 4}),
                (HOSTILE, "inconclusive", {"pass": 6}),
                ("r4", "nothing tested", {}),
                ("r5", "fail", {"fail": 1, "pass": 5}),
            ],
            start=1,
        )
    )
    since = Trend("2026-01-03T10:00:00+00:00", "2026-01-05T10:00:00+00:00", 3, 5)
    return Past(runs, {clause_: {"abs-dev": since}})


def build_rich_run(run: Path) -> Path:
    """Write a run with a consumer, deviations of every course, drift, differences between realms and a past."""
    terms = Terms(
        consumer=Consumer(
            file="sdk.toml",
            operations=("getDraft", "deleteDraft", "createToken"),
            methods={f"Drafts.load {HOSTILE}": ("getDraft",), "Session.open": ("createToken",)},
            waivers=(Waiver("draft-delete-removes", HOSTILE, "sdk.toml", 9),),
        ),
        deviations=(
            deviation("draft-get-content", "abs-dev", "2020-01-01", 3),
            deviation("draft-get-content", "bch-dev", "2999-01-01", 12),
            deviation("errors-code", "abs-dev", "2999-01-01", 21),
            deviation("draft-delete-removes", "abs-dev", "2999-01-01", 30),
        ),
        deviations_file="deviations/x.toml",
    )
    workers: dict[str, Callable[[Journal], None]] = {
        "gw0": first_worker,
        "gw1": second_worker,
        "gw2": third_worker,
    }
    environment = {
        "requests": 9,
        "retries": 2,
        "faults": {HOSTILE: 1},
        "breaker": None,
        "limits": {"requests_per_second": 20.0, "concurrency": None},
        "permanent_records": {"abs-dev": 3},
    }
    build_run(run, workers, terms=plain(terms), waived=terms.waived, environment=environment)
    write_past(run, past_runs("draft-get-content"))
    facts: dict[Place, dict[str, str | tuple[str, ...]]] = {
        Place("draft-info-shape", "getDraftInfo", "abs-dev"): {"body": "201", "gone": "string"}
    }
    write_baseline(run / "baseline.yaml", Baseline("x", facts))
    settings = {"mode": "fail", "baseline": "baselines/x.yaml", "known": True}
    (run / "drift.json").write_text(json.dumps(settings))
    return run
