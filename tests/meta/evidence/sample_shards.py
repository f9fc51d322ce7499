"""Made-up shards: two clauses in two realms, a case for each pair, dealt out to two run folders."""

import json
from pathlib import Path
from typing import Any

from contracts.evidence.record import Journal, Shard, digest_of_cases, journal_path, utc_now
from tests.meta.journal_events import write_ending, write_exchange, write_finding, write_run_file

REALMS = ("abs-dev", "bch-dev")
CLAUSES = ("draft-get-content", "draft-save-creates")
CASES = [f"test_x.py::test_{clause}[{realm}]" for realm in REALMS for clause in CLAUSES]
PLAN = {"target": "dev", "seed": 1, "profile": "gate", "realms": list(REALMS), "settings": "0123456789abcdef"}


def write_case(journal: Journal, case: str, *, broken: bool = False) -> None:
    """Write a case that holds, or one that contradicts its clause."""
    clause, _, rest = case.partition("::test_")[2].partition("[")
    realm = rest.rstrip("]")
    facts = {"case": case, "realm": realm, "clauses": [clause], "operations": ["getDraft"]}
    journal.write("begin", name="x", **facts)
    shown = write_exchange(journal, case, realm)
    if broken:
        write_finding(journal, case, clause, realm, exchanges=[shown])
    count = {"clause": clause, "operation": "getDraft", "held": int(not broken), "contradicted": int(broken)}
    write_ending(journal, case, clause, realm, outcome="fail" if broken else "pass", assertions=[count])


def write_shard(
    folder: Path,
    number: int,
    cases: list[str],
    *,
    broken: str = "",
    plan: dict[str, Any] | None = None,
    **more: Any,
) -> Path:
    """Write the run folder of one shard of two; `more` replaces facts of its run."""
    folder.mkdir(parents=True)
    started = utc_now()
    with Journal(journal_path(folder, "main"), "main") as journal:
        for case in cases:
            write_case(journal, case, broken=case == broken)
        reason = f"this is shard {number} of 2"
        journal.write("narrowed", reason=reason, cells=None, elsewhere=True)
        for case in set(CASES) - set(cases):
            clause, _, rest = case.partition("::test_")[2].partition("[")
            journal.write("untested", clause=clause, realm=rest.rstrip("]"), reason=reason, elsewhere=True)
    entry = {"number": 1, "operation": "saveDraft", "what": "draft", "realm": "abs-dev", "role": "author"}
    state = {"identifier": f"rc-abcd{number}", "state": "removed", "at": utc_now(), "by": "main"}
    (folder / "ledger.jsonl").write_text(json.dumps(entry | state) + "\n", "utf-8")
    shard = Shard(number, 2, plan or PLAN, digest_of_cases(CASES), tuple(cases))
    environment = {
        "requests": 2,
        "retries": 0,
        "faults": {},
        "breaker": None,
        "limits": {"requests_per_second": 10.0, "permanent_records_per_realm": 12},
        "permanent_records": {REALMS[number - 1]: 3},
    }
    facts: dict[str, Any] = {
        "target": "dev",
        "base_url": "http://127.0.0.1:1",
        "realms": REALMS,
        "clauses": CLAUSES,
    }
    facts |= {"shard": shard.as_facts(), "planned": len(cases), "died": [], "token": f"abc{number}"}
    return write_run_file(folder, **facts | {"started": started, "environment": environment} | more)
