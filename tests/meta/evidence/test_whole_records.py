"""A record is whole when every case that was to run has run; what workers measured is put together."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.evidence.journal import Journal, journal_path, utc_now
from contracts.evidence.run_folder import collect
from tests.meta.journal_events import write_ending, write_exchange, write_run_file

Make = Callable[..., Path]
REALMS = ("abs-dev", "bch-dev")
CLAUSES = ("draft-get-content", "draft-save-creates")
CASES = [f"test_x.py::test_{clause}[{realm}]" for realm in REALMS for clause in CLAUSES]


def write_case(journal: Journal, case: str) -> None:
    clause, _, rest = case.partition("::test_")[2].partition("[")
    realm = rest.rstrip("]")
    facts = {"case": case, "realm": realm, "clauses": [clause], "operations": ["getDraft"]}
    journal.write("begin", name="x", **facts)
    write_exchange(journal, case, realm)
    count = {"clause": clause, "operation": "getDraft", "held": 1, "contradicted": 0}
    write_ending(journal, case, clause, realm, outcome="pass", assertions=[count])


@pytest.fixture
def make_run(tmp_path: Path) -> Make:
    """A maker of run folders in which the first two cases ended; facts of the run may be replaced."""

    def make(**more: Any) -> Path:
        started = utc_now()
        folder = tmp_path / "run"
        folder.mkdir()
        with Journal(journal_path(folder, "main"), "main") as journal:
            for case in CASES[:2]:
                write_case(journal, case)
        facts: dict[str, Any] = {
            "target": "dev",
            "base_url": "http://127.0.0.1:1",
            "realms": REALMS,
            "clauses": CLAUSES,
        }
        facts |= {"planned": 2, "died": [], "token": "abc1", "started": started}
        return write_run_file(folder, **facts | more)

    return make


def with_worker(folder: Path, *cases: str, begun: str = "", died: bool = True) -> Path:
    """Add a worker to a run folder, which ended some cases, began another and did not close its journal."""
    facts = json.loads((folder / "run.json").read_text("utf-8"))
    path = journal_path(folder, "gw0")
    with Journal(path, "gw0") as journal:
        for case in cases:
            write_case(journal, case)
        if begun:
            journal.write("begin", case=begun, name="x", realm="abs-dev", clauses=[], operations=[])
    path.write_text("".join(path.read_text("ascii").splitlines(keepends=True)[:-1]), "ascii")
    facts |= {"expected_workers": ["main", "gw0"], "died": ["gw0"] if died else []}
    facts |= {"finished": "2999-01-01T00:00:00+00:00"}
    (folder / "run.json").write_text(json.dumps(facts), "utf-8")
    return folder


def test_cases_that_never_began_make_a_record_incomplete(make_run: Make) -> None:
    record = collect(make_run(planned=5))
    assert record.problems == ("3 cases of 5 never began",)


@pytest.mark.parametrize("stop", [{"interrupted": True}, {"planned": None}])
def test_nobody_misses_the_cases_of_a_run_that_was_stopped(make_run: Make, stop: dict[str, object]) -> None:
    assert collect(make_run(**({"planned": 5} | stop))).problems == ()


def test_a_worker_that_died_between_two_cases_does_no_harm(make_run: Make) -> None:
    record = collect(with_worker(make_run(planned=3), CASES[2]))
    assert record.problems == ()
    assert record.crashes == ("worker gw0 died; what it was at was done by others",)
    assert [case.id for case in record.cases] == CASES[:3]


def test_a_case_that_died_with_its_worker_is_named(make_run: Make) -> None:
    record = collect(with_worker(make_run(planned=3), begun=CASES[2]))
    assert [case.id for case in record.cases if case.outcome == "error"] == [CASES[2]]
    assert record.problems == ("the journal of worker gw0 is not whole: it has no closing line",)
    assert record.crashes == ()


def test_a_journal_that_breaks_off_without_a_death_is_a_problem(make_run: Make) -> None:
    record = collect(with_worker(make_run(), died=False))
    assert record.problems == ("the journal of worker gw0 is not whole: it has no closing line",)
