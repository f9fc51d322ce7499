"""Journals: written once, read back whole, and never mistaken for those of another run."""

from pathlib import Path
from typing import Any

import pytest

from contracts.errors import SuiteError, UsageError
from contracts.evidence.journal import Journal, is_closed, journal_path, read_journal
from contracts.evidence.record import Verdict
from contracts.evidence.run_folder import collect
from tests.meta.journal_events import write_ending, write_exchange, write_run_file


def write_case(journal: Journal, name: str, outcome: str = "pass", *, ended: bool = True) -> None:
    begun = {"case": name, "name": name, "realm": "abs-dev", "clauses": ["c"], "operations": ["getDraft"]}
    journal.write("begin", **begun)
    write_exchange(journal, name)
    if ended:
        write_ending(journal, name, "c", name=name, outcome=outcome)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Journal(journal_path(tmp_path, "main"), "main") as journal:
        write_case(journal, "one")
    write_run_file(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "fields", "says"),
    [
        ("gossip", {}, "no event kind 'gossip'"),
        ("untested", {"clause": "c"}, "lacks realm, reason"),
        ("fault", {"fault": b"bytes"}, "not JSON-able"),
    ],
)
def test_a_mistake_of_the_suite_is_named_at_once(tmp_path: Path, kind: str, fields: Any, says: str) -> None:
    with Journal(tmp_path / "j", "main") as journal, pytest.raises(SuiteError, match=says):
        journal.write(kind, **fields)


def test_a_journal_is_never_continued(folder: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        Journal(journal_path(folder, "main"), "main")


def test_what_a_killed_worker_did_is_on_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", "main")
    write_case(journal, "one")
    write_case(journal, "two", ended=False)
    events = read_journal(tmp_path / "j")
    assert [event["case"] for event in events if event["kind"] == "begin"] == ["one", "two"]
    assert not is_closed(events)
    journal.close()


def test_a_cut_last_line_leaves_the_journal_unclosed_and_its_case_an_error(tmp_path: Path) -> None:
    path = journal_path(tmp_path, "main")
    with Journal(path, "main") as journal:
        write_case(journal, "one")
        write_case(journal, "two")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]) + lines[-2][:40])
    write_run_file(tmp_path)
    record = collect(tmp_path)
    assert {case.id: case.outcome for case in record.cases} == {"one": Verdict.PASS, "two": Verdict.ERROR}
    assert not record.complete
    assert "no closing line" in record.problems[0]


def test_two_workers_make_one_record_in_the_order_of_sending(tmp_path: Path) -> None:
    with (
        Journal(journal_path(tmp_path, "gw0"), "gw0") as first,
        Journal(journal_path(tmp_path, "gw1"), "gw1") as second,
    ):
        for number in range(3):
            write_case(second, f"b{number}")
            write_case(first, f"a{number}")
    write_run_file(tmp_path, ("gw0", "gw1"))
    record = collect(tmp_path)
    assert record.complete
    assert {case.worker for case in record.cases} == {"gw0", "gw1"}
    assert list(record.exchanges) == ["gw1-1", "gw0-1", "gw1-2", "gw0-2", "gw1-3", "gw0-3"]


def test_the_same_case_in_two_journals_is_refused(tmp_path: Path) -> None:
    for worker in ("gw0", "gw1"):
        with Journal(journal_path(tmp_path, worker), worker) as journal:
            write_case(journal, "one")
    write_run_file(tmp_path, ("gw0", "gw1"))
    with pytest.raises(UsageError, match="both gw0 and gw1"):
        collect(tmp_path)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"expected_workers": ["main", "gw1"]}, "journal-gw1.jsonl is absent"),
        ({"expected_workers": []}, "names no such worker"),
        ({"versions": {"suite": "9.9"}}, "written by version"),
        ({"started": "2999-01-01T00:00:00+00:00"}, "another time"),
        ({"finished": "2020-01-02T00:00:00+00:00"}, "another time"),
        ({"started": "yesterday"}, "not a moment"),
    ],
)
def test_a_journal_that_is_absent_or_foreign_is_refused(folder: Path, changes: Any, says: str) -> None:
    write_run_file(folder, **changes)
    with pytest.raises(UsageError, match=says):
        collect(folder)
