"""Shards together give the record of the whole run; a record is whole when every case that was to run has run."""

import json
from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner, Result

from contracts.cli.merge import command
from contracts.evidence.record import Journal, journal_path
from contracts.evidence.run_folder import collect
from contracts.plugin.worker import peak_memory, put_together
from contracts.session.ledger import read_entries
from tests.meta.evidence.sample_shards import CASES, write_case
from tests.meta.schemas import misfits

Make = Callable[..., Path]


@pytest.fixture
def merge(tmp_path: Path) -> Callable[..., Result]:
    """Run the command on some folders; its exit code is the result's return value."""

    def merge(*folders: Path, words: tuple[str, ...] = ()) -> Result:
        given = [*map(str, folders), f"--reports={tmp_path / 'merged'}", "--drift=off", *words]
        return CliRunner().invoke(command, given, standalone_mode=False)

    return merge


def merged(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "merged" / "latest" / "verdict.json").read_text("utf-8"))


def alter(folder: Path, **facts: Any) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | facts), "utf-8")


def test_all_shards_make_one_whole_report(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path
) -> None:
    ended = merge(make_shard(2), make_shard(1))
    assert ended.return_value == 0, ended.output
    verdict = merged(tmp_path)
    assert (verdict["verdict"], verdict["cases"], verdict["complete"]) == ("pass", 4, True)
    assert verdict["counts"]["untested"] == 0
    assert verdict["shard"] is None
    assert verdict["shards"] == ["shard 1 of 2: run-1", "shard 2 of 2: run-2"]
    environment = verdict["environment"]
    assert environment["requests"] == 4
    assert environment["limits"] == {"requests_per_second": 20.0, "permanent_records_per_realm": 12}
    assert environment["permanent_records"] == {"abs-dev": 3, "bch-dev": 3}
    folder = tmp_path / "merged" / "latest"
    wanted = (
        "index.html",
        "summary.md",
        "junit.xml",
        "traffic.har",
        "findings",
        "allure",
        "observations.json",
    )
    assert [name for name in wanted if not (folder / name).exists()] == []
    assert len(read_entries([folder / "ledger.jsonl"])) == 2
    assert len((tmp_path / "merged" / "history.jsonl").read_text("utf-8").splitlines()) == 1


class Still(datetime):
    """A clock that stands."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """Always the same moment."""
        return cls(2030, 1, 1, tzinfo=tz)


def test_what_a_merge_leaves_keeps_the_published_schemas(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path
) -> None:
    merge(make_shard(1), make_shard(2))
    assert misfits(tmp_path / "merged" / "latest") == []


def test_two_merges_in_one_second_have_a_folder_each(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contracts.evidence.run_folder.datetime", Still)
    shards = make_shard(1), make_shard(2)
    for _ in range(2):
        assert merge(*shards).return_value == 0
    made = sorted(
        path.name for path in (tmp_path / "merged").iterdir() if path.is_dir() and not path.is_symlink()
    )
    assert made == ["20300101-000000-dev-2-shards", "20300101-000000-dev-2-shards-2"]
    assert len((tmp_path / "merged" / "history.jsonl").read_text("utf-8").splitlines()) == 2


def test_a_finding_keeps_its_exchanges_among_those_of_all_shards(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path
) -> None:
    broken = "test_x.py::test_draft-get-content[bch-dev]"
    ended = merge(make_shard(1), make_shard(2, broken=broken))
    assert ended.return_value == 1, ended.output
    assert "getDraft in bch-dev · draft-get-content" in ended.output
    (finding,) = merged(tmp_path)["findings"]
    assert finding["exchanges"] == ["shard2-main-1"]
    assert "shard2-main-1; getDraft" in (tmp_path / "merged/latest/traffic.har").read_text("utf-8")


def test_a_folder_of_folders_will_do_and_the_copy_under_latest_is_passed_over(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path
) -> None:
    make_shard(1, "jobs/one/run-1")
    make_shard(1, "jobs/one/latest")
    make_shard(2, "jobs/two/run-2")
    assert merge(tmp_path / "jobs").return_value == 0


def test_a_shard_that_ran_out_of_service_makes_the_whole_inconclusive(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path
) -> None:
    stopped = {"requests": 1, "retries": 0, "faults": {"reset": 9}, "breaker": "nothing answers"}
    ended = merge(make_shard(1), make_shard(2, cases=[], environment=stopped))
    assert ended.return_value == 4  # dealt none of the cases that the plan has
    second = tmp_path / "run-2"
    shard = json.loads((tmp_path / "run-1" / "run.json").read_text("utf-8"))["shard"]
    alter(
        second,
        shard=shard | {"number": 2, "cases": None, "all_cases": None, "fingerprint": None},
        planned=None,
    )
    ended = merge(tmp_path / "run-1", second)
    assert ended.return_value == 6, ended.output
    assert "shard 2 of 2: nothing answers" in merged(tmp_path)["reason"]


@pytest.mark.parametrize("problem", ["gap", "double", "killed", "no shard", "cut", "unrun", "altered"])
def test_what_makes_no_whole_run_is_refused(
    make_shard: Make, merge: Callable[..., Result], tmp_path: Path, problem: str
) -> None:
    one, two = make_shard(1), make_shard(2)
    folders = [one, two]
    if problem == "gap":
        folders.remove(one)
    elif problem == "double":
        folders.append(make_shard(2, "again"))
    elif problem == "killed":
        alter(two, finished=None)
    elif problem == "no shard":
        alter(two, shard=None)
    elif problem == "cut":
        journal_path(two, "main").unlink()
    elif problem == "unrun":
        folders[1] = make_shard(2, "less", cases=[])
        shard = json.loads((two / "run.json").read_text("utf-8"))["shard"]
        alter(folders[1], shard=shard)
    else:
        shard = json.loads((two / "run.json").read_text("utf-8"))["shard"]
        alter(two, shard=shard | {"number": 1})
        alter(one, shard=shard | {"plan": {}})
    message = {
        "gap": "shard 1 of 2 is missing",
        "double": "shard 2 of 2 is there twice",
        "killed": "has no closing record: it was killed, or is still going on",
        "no shard": "is no shard: it was run without --shard",
        "cut": "is absent: the run folder is not complete",
        "unrun": "it did not run 2 cases, such as test_x.py::test_draft-get-content[bch-dev]",
        "altered": "does not fit its fingerprint",
    }
    ended = merge(*folders)
    assert ended.return_value == 4
    assert message[problem] in ended.output
    assert "Traceback" not in ended.output
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("seed", 5, "has another seed than shard 1 of 2"),
        ("target", "other", "has another target than"),
        ("profile", "smoke", "has another profile than"),
        ("settings", "fedcba9876543210", "has another settings than"),
    ],
)
def test_shards_of_other_plans_are_refused(
    make_shard: Make, merge: Callable[..., Result], part: str, value: Any, message: str
) -> None:
    plan = {"target": "dev", "seed": 1, "profile": "gate", "realms": ["abs-dev", "bch-dev"]}
    plan["settings"] = "0123456789abcdef"
    ended = merge(make_shard(1), make_shard(2, plan=plan | {part: value}))
    assert ended.return_value == 4
    assert message in ended.output


def test_every_reason_is_told_at_once(make_shard: Make, merge: Callable[..., Result]) -> None:
    ended = merge(make_shard(2), make_shard(2, "again", finished=None))
    assert ended.return_value == 4
    assert "no closing record" in ended.output
    assert "shard 1 of 2 is missing" in ended.output
    assert "there twice" in ended.output


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
    facts |= {"expected_workers": ["main", "gw0"], "died": ["gw0"] if died else [], "shard": None}
    facts |= {"finished": "2999-01-01T00:00:00+00:00"}
    (folder / "run.json").write_text(json.dumps(facts), "utf-8")
    return folder


def test_cases_that_never_began_make_a_record_incomplete(make_shard: Make) -> None:
    record = collect(make_shard(1, planned=5))
    assert record.problems == ("3 cases of 5 never began",)


@pytest.mark.parametrize("stop", [{"interrupted": True}, {"planned": None}])
def test_nobody_misses_the_cases_of_a_run_that_was_stopped(make_shard: Make, stop: dict[str, object]) -> None:
    assert collect(make_shard(1, **({"planned": 5} | stop))).problems == ()


def test_a_worker_that_died_after_it_ended_a_case_that_then_ran_again_does_no_harm(make_shard: Make) -> None:
    record = collect(with_worker(make_shard(1), CASES[0], begun=CASES[1]))
    assert record.problems == ()
    assert record.crashes == ("worker gw0 died; what it was at was done by others",)
    assert [case.id for case in record.cases] == CASES[:2]


def test_a_case_that_died_with_its_worker_is_named(make_shard: Make) -> None:
    record = collect(with_worker(make_shard(1, planned=3), begun=CASES[2]))
    assert [case.id for case in record.cases if case.outcome == "error"] == [CASES[2]]
    assert record.problems == ("the journal of worker gw0 is not whole: it has no closing line",)
    assert record.crashes == ()


def test_a_journal_that_breaks_off_without_a_death_is_a_problem(make_shard: Make) -> None:
    record = collect(with_worker(make_shard(1), died=False))
    assert record.problems == ("the journal of worker gw0 is not whole: it has no closing line",)


def test_measurements_of_all_processes_are_put_together() -> None:
    one = {"seconds": {"start": 2.0, "sending": 1.0}, "peak_memory": 80.0}
    two = {"seconds": {"start": 3.0, "sending": 4.0, "pace": 0.5}, "peak_memory": None}
    together = put_together([one, two])
    assert together == {"seconds": {"pace": 0.5, "sending": 5.0, "start": 3.0}, "peak_memory_mb": 80.0}
    assert put_together([]) == {"seconds": {}, "peak_memory_mb": None}


def test_the_most_memory_is_known_where_the_system_tells_it() -> None:
    assert (peak_memory() is None) is not Path("/proc/self/status").exists()
