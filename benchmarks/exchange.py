"""What one checked exchange costs, beside a bare `requests.Session` loop on the same server in the same run."""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import requests

from registry_contracts.cases.sample_records import Samples
from registry_contracts.checks.claims import Expect
from registry_contracts.checks.outcomes import Attempt
from registry_contracts.checks.table import note_universal
from registry_contracts.interface.catalogue import load_catalogue
from registry_contracts.interface.profiles import Profile
from registry_contracts.plugin.plan import Plan, Selection
from registry_contracts.plugin.worker import Worker
from registry_contracts.settings.embedded_sandbox import DEFAULT_SIZE_LIMIT, EmbeddedSandbox, sandbox_target

_REALM = "abs-dev"
#: As the requests of cases: those of the suite's own housekeeping are counted against the budget one by one.
_CASE = "benchmark"
#: Requests of one kind between two of the other, so that the machine's moods hit both alike.
_BATCH = 50


@dataclass(frozen=True)
class Cost:
    """Milliseconds for one exchange, median over batches."""

    checked_ms: float
    bare_ms: float

    @property
    def ratio(self) -> float:
        """How many times the bare exchange the checked one takes."""
        return self.checked_ms / self.bare_ms


def exchange_cost(exchanges: int) -> Cost:
    """Read one draft again and again, bare and checked in turn."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedSandbox() as sandbox:
        worker = _worker(Path(folder), sandbox.base_url)
        checked, bare = _loops(worker)
        batches = max(1, exchanges // _BATCH)
        pairs = [(_per_exchange(checked), _per_exchange(bare)) for _ in range(batches)]
        worker.finish()
        worker.close()
    return Cost(*(statistics.median(column) for column in zip(*pairs, strict=True)))


def _worker(folder: Path, base_url: str) -> Worker:
    target = sandbox_target(base_url, DEFAULT_SIZE_LIMIT)
    plan = Plan(str(folder), str(folder), "bnch", datetime.now(UTC).isoformat(), base_url, 1)
    return Worker("main", plan, target, Selection(None, Profile.GATE, (), (), (), 1, False, folder))


def _loops(worker: Worker) -> tuple[Callable[[], None], Callable[[], None]]:
    attempt = Attempt(1)
    author = worker.actor("author", _REALM, _CASE, attempt)
    samples = Samples(worker.target.realm_settings(_REALM), _REALM)
    uid = worker.namespace.uid()
    document, query = samples.draft(uid), {"schema": samples.contact_schema}
    saved = author.send("saveDraft", path={"uid": uid}, query=query, json=document)
    claim = Expect(attempt, load_catalogue(), ["draft-get-content"])
    url = saved.url.partition("?")[0]
    session = requests.Session()
    headers = dict(author.send("getDraft", path={"uid": uid}).request_headers)

    def checked() -> None:
        claim("draft-get-content").shows(author.send("getDraft", path={"uid": uid}), document)
        note_universal(attempt, worker.redactor.knows)
        attempt.exchanges.clear()

    def bare() -> None:
        session.get(url, headers=headers, timeout=30)

    return checked, bare


def _per_exchange(loop: Callable[[], None]) -> float:
    started = time.perf_counter()
    for _ in range(_BATCH):
        loop()
    return (time.perf_counter() - started) / _BATCH * 1000
