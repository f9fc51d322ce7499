"""Journals make one record, which names what is absent, cut or foreign; which run folders are kept."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.errors import SuiteError, UsageError
from registry_contracts.evidence.journal import Journal, journal_path
from registry_contracts.evidence.record import CaseBegun, Narrowed, Verdict
from registry_contracts.evidence.run_comparison import is_comparable
from registry_contracts.evidence.run_folder import collect, new_folder, prune
from registry_contracts.history.observed_facts import Observation
from registry_contracts.session.pipeline import FaultEvent
from tests.meta.evidence.sample_records import Story, case, write_exchange, write_run_file


def write_case(journal: Journal, name: str, *, ended: bool = True) -> None:
    begun = CaseBegun(id=name, name=name, realm="abs-dev", clauses=("c",), operations=("getDraft",))
    journal.write("begin", begun)
    write_exchange(journal, name)
    if ended:
        journal.write("case", case(name, "pass", held=1, id=name))


def write_journal(folder: Path, worker: str, *cases: str, begun: str = "", cut: int = 0) -> None:
    """Write a journal of cases that ended and of one that did not; of its last lines so many are lost, one by half."""
    path = journal_path(folder, worker)
    with Journal(path, worker) as journal:
        for name in cases:
            write_case(journal, name)
        if begun:
            write_case(journal, begun, ended=False)
    lines = path.read_bytes().splitlines(keepends=True)
    whole = len(lines) - cut
    path.write_bytes(b"".join(lines[:whole]) + (lines[whole][:40] if cut else b""))


@pytest.mark.parametrize(
    ("kind", "event", "says"),
    [
        ("gossip", FaultEvent("x"), "a FaultEvent is no event of kind 'gossip'"),
        ("untested", FaultEvent("x"), "a FaultEvent is no event of kind 'untested'"),
        ("observation", Observation("c", "abs-dev", None, "x", object()), "not JSON-able"),
    ],
)
def test_a_mistake_of_the_suite_is_named_at_once(tmp_path: Path, kind: str, event: Any, says: str) -> None:
    with Journal(tmp_path / "j", "main") as journal, pytest.raises(SuiteError, match=says):
        journal.write(kind, event)
    with pytest.raises(UsageError, match="exists already"):
        Journal(tmp_path / "j", "main")


def test_two_workers_make_one_record_in_the_order_of_sending(tmp_path: Path) -> None:
    with (
        Journal(journal_path(tmp_path, "gw0"), "gw0") as first,
        Journal(journal_path(tmp_path, "gw1"), "gw1") as second,
    ):
        for number in range(3):
            write_case(second, f"b{number}")
            write_case(first, f"a{number}")
    record = collect(write_run_file(tmp_path, ("gw0", "gw1")))
    assert record.problems == ()
    assert {each.worker for each in record.cases} == {"gw0", "gw1"}
    assert [each.partition("-")[0] for each in record.exchanges] == ["gw1", "gw0"] * 3


INCOMPLETE = "the journal of worker gw0 is incomplete: it has no closing line"


@pytest.mark.parametrize(
    ("journal", "facts", "errors", "problems", "crashes"),
    [
        ({}, {"planned": 3}, [], (), ()),
        ({}, {"planned": 5}, [], ("2 cases of 5 never began",), ()),
        ({}, {"planned": 5, "interrupted": True}, [], (), ()),
        ({}, {"planned": None}, [], (), ()),
        ({}, {"finished": None}, [], ("the run has no closing record: it was killed, or it is still going on",), ()),
        ({"cut": 1}, {"planned": 3}, [], (INCOMPLETE,), ()),
        ({"cut": 2}, {"planned": 3}, ["three"], (INCOMPLETE,), ()),
        ({"begun": "four", "cut": 1}, {"planned": 4, "died": ["gw0"]}, ["four"], (INCOMPLETE,), ()),
        ({"cut": 1}, {"planned": 3, "died": ["gw0"]}, [], (),
         ("worker gw0 died; others did its remaining cases",)),
    ],
    ids=["whole", "lacking", "interrupted", "stopped", "killed", "cut", "cut case", "died in a case", "died between"],
)  # fmt: skip
def test_a_record_is_whole_when_every_case_that_was_to_run_has_run(
    tmp_path: Path, journal: Any, facts: Any, errors: list[str], problems: Any, crashes: Any
) -> None:
    write_journal(tmp_path, "main", "one", "two")
    write_journal(tmp_path, "gw0", "three", **journal)
    record = collect(write_run_file(tmp_path, ("main", "gw0"), **facts))
    assert (record.problems, record.crashes) == (problems, crashes)
    assert [each.id for each in record.cases if each.outcome is Verdict.ERROR] == errors


def another(**changes: Any) -> Callable[[Path], Path]:
    return lambda folder: write_run_file(folder, **changes)


def altered(folder: Path) -> None:
    path = write_run_file(folder) / "run.json"
    path.write_text(path.read_text("utf-8").replace('"2020-01-01T', '"2026-02-31T'), "utf-8")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (another(expected_workers=["main", "gw1"]), "journal-gw1.jsonl is absent"),
        (another(expected_workers=[]), "names no such worker"),
        (another(versions={"suite": "9.9"}), "written by version"),
        (another(**{"token": "wxyz"}), "it names another"),
        (altered, r"run\.json: day is out of range"),
    ],
)
def test_an_absent_or_foreign_journal_is_refused(
    tmp_path: Path, change: Callable[[Path], object], says: str
) -> None:
    write_journal(tmp_path, "main", "one")
    change(tmp_path)
    with pytest.raises(UsageError, match=says):
        collect(tmp_path)


MOMENT = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_those_that_begin_in_one_second_have_a_folder_each(tmp_path: Path) -> None:
    reports = tmp_path / "deep" / "reports"
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_folder(reports, "traffic", at=MOMENT), range(20)))
    assert len(set(made)) == 20
    names = {path.name for path in made}
    assert names == {"20300102-030405-traffic", *(f"20300102-030405-traffic-{n}" for n in range(2, 21))}


def test_the_oldest_runs_go_unless_a_sweep_or_a_reader_still_needs_them(tmp_path: Path) -> None:
    done = {"finished": "2026-11-01T10:00:00+00:00", "left": 0}
    states: list[Any] = [done, done | {"left": 2}, done | {"finished": None}, None, *[done] * 3]
    folders = [tmp_path / f"2026110{day}-100000-dev-abcd" for day, _ in enumerate(states)]
    for folder, state in zip(folders, states, strict=True):
        folder.mkdir()
        if state is not None:
            (folder / "run.json").write_text(json.dumps(state))
    (tmp_path / "saved").mkdir()
    (tmp_path / "latest").symlink_to(folders[-1].name, target_is_directory=True)
    assert prune(tmp_path, 0) == []
    assert prune(tmp_path, 2) == [folders[0], folders[4]]
    kept = {folder.name for folder in folders} - {folders[0].name, folders[4].name}
    assert {path.name for path in tmp_path.iterdir()} == kept | {"saved", "latest"}


@pytest.mark.parametrize(
    ("held", "command", "narrowed", "kept"),
    [
        ("draft-get-content", "pytest '--sandbox-arguments=--size-limit 100'", (), True),
        ("draft-get-content", "pytest '--sandbox-arguments=--fault list-top-ignored'", (), False),
        ("draft-get-content", "pytest --clause=x", (Narrowed("by clause", frozenset(), series=True),), True),
        ("draft-get-content", "pytest -k paging", (Narrowed("by -k", frozenset()),), False),
        ("", "pytest", (), False),
    ],
)
def test_faults_narrowed_runs_and_empty_ones_make_no_entry(
    story: Story, held: str, command: str, narrowed: tuple[Narrowed, ...], kept: bool
) -> None:
    story.holds(*filter(None, [held]))
    story.narrowed, story.facts = narrowed, {"command": command}
    assert is_comparable(story.record(), story.verdict()) is kept
