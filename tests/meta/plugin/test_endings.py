"""How runs end: exit codes, verdicts of cases, confirmation; also with workers, and on a machine with faults."""

import math
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.plugin.conftest import PLANTED_CASES, hiding
from tests.meta.sandbox_client import JSON, NOT_FOUND, Answer, Rule

GET, SAVE = "draft-get-content", "draft-save-creates"
MANY = ("-k", "test_many", "--realm=abs-dev")


def saving(answer: Answer | None, after: int = 0) -> Rule:
    """Answer saves instead of the sandbox, once so many came before."""
    return lambda method, _, before: answer if method == "PUT" and before >= after else None


HOLDS, STUCK = saving(None), "inconclusive"
EMPTY, FAILED = (200, JSON, b"{}"), (500, JSON, b"{}")
QUIET = {SAVE: "pass", GET: "untested", "draft-save-answer": "observed", "no-server-error": "pass"}
BLOCKED = {GET: STUCK, SAVE: STUCK, "no-server-error": "fail"}
#: What a service does, which cases run, the exit code, and the verdicts on some clauses.
ENDINGS: dict[str, tuple[Rule, str, int, dict[str, str]]] = {
    "it holds, and the only case of a must asserts nothing": (
        HOLDS,
        "test_save or test_only_sends",
        6,
        QUIET,
    ),
    "a should is only advised": (hiding(EMPTY), "test_should", 0, {"draft-get-absent": "advisory"}),
    "an account is missing, strictly": (HOLDS, "test_missing_account or test_should", 6, {SAVE: "untested"}),
    "the first failure stops it": (hiding(), "test_many", 1, {GET: "fail"}),
    "a precondition fails": (saving(NOT_FOUND), "test_content", 6, {GET: STUCK}),
    "a plain save is refused later": (saving(NOT_FOUND, 2), "test_many", 1, {GET: STUCK, SAVE: "fail"}),
    "a server error blocks the rest": (saving(FAILED), "test_content or test_save", 1, BLOCKED),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_how_a_run_ends(run: Any, faulty: Any, name: str) -> None:
    rule, words, code, verdicts = ENDINGS[name]
    service = faulty(rule, only_author="account" in name)
    further = ["--strict"] * ("strictly" in name) + ["-x"] * ("first" in name)
    ended = run("-k", words, "--realm=abs-dev", f"--target={service.target}", *further)
    assert ended.code == code, ended.output
    cells = ended.cells()
    assert {clause: cells[clause, "abs-dev"] for clause in verdicts} == verdicts
    assert len(ended.verdict["findings"]) == sum(word in ("fail", "advisory") for word in verdicts.values())
    if "first" in name:
        assert "1 failed" in ended.out
        assert ended.out.count("_ test_") == 1
    if "asserts nothing" in name:
        assert "without an assertion" in ended.cases()["test_only_sends[abs-dev]"]["reason"]
        assert "draft-exists-absent" in ended.verdict["reason"]
    if "strictly" in name:
        assert "accounts." in ended.cells("reason")[SAVE, "abs-dev"]
    if "inconclusive" in verdicts.values():
        assert "saveDraft" in ended.cells("reason")[GET, "abs-dev"]


def test_mistakes_of_the_suite_end_with_3(run: Any) -> None:
    mistakes = {
        "undeclared": "without declaring it",
        "nothing": "without an assertion or an observation",
        "foreign": "outside the run's namespace",
        "crash": "RuntimeError",
    }
    words = " or ".join(f"test_{name}" for name in (*mistakes, "ambiguous"))
    ended = run("-k", words, "--realm=abs-dev", "--profile=nightly")
    assert ended.code == 3, ended.output
    cases = {name.partition("[")[0]: case for name, case in ended.cases().items()}
    for name, why in mistakes.items():
        case = cases[f"test_{name}"]
        assert (case["outcome"], why in case["reason"]) == ("error", True), case
    assert cases["test_ambiguous"]["outcome"] == "inconclusive"


def test_cases_that_cannot_be_collected_end_with_3(run: Any, tmp_path: Path) -> None:
    broken = tmp_path / "test_broken.py"
    broken.write_text("import no_such_module\n", encoding="utf-8")
    ended = run(str(PLANTED_CASES[0]), str(broken), "-k", "test_save", "--realm=abs-dev")
    assert ended.code == 3, ended.output
    assert "no_such_module" in ended.verdict["reason"]


@pytest.mark.parametrize(
    ("seconds", "nodes", "code", "standing"),
    [(0.5, 1, 0, "unconfirmed"), (math.inf, 3, 1, "fail")],
    ids=["old for a while", "one of three nodes stays old"],
)
def test_what_an_old_node_answers_while_a_deployment_is_rolling_fails_no_run(
    run: Any, faulty: Any, seconds: float, nodes: int, code: int, standing: str
) -> None:
    reads = list[float]()

    def old(method: str, path: str, before: int) -> Any:
        if method != "GET" or not path.endswith("/versions/draft"):
            return None
        reads.append(time.monotonic())
        return NOT_FOUND if reads[-1] < reads[0] + seconds and before % nodes == 0 else None

    ended = run(*MANY, f"--target={faulty(old).target}")
    (finding,) = ended.verdict["findings"]
    assert (ended.code, finding["standing"], finding["clause"]) == (code, standing, GET), ended.output
    assert (finding["confirmed"], finding["intermittent"]) == (code == 1, code == 1)
    assert finding["rate"] == ([2, 4] if code else [1, 13])


@pytest.mark.parametrize("size", [1_000, 60_000])
def test_a_full_disk_is_an_error_and_drafts_go(run: Any, faulty: Any, size: int) -> None:
    service = faulty()
    # `latest` leads to an older run, which passed.
    (run.reports / "20200101-000000-old").mkdir(parents=True)
    (run.reports / "latest").symlink_to("20200101-000000-old")
    run.environment["LIMIT"] = str(size)
    ended = run.apart(*MANY, "-p", "limiting", f"--target={service.target}")
    assert (ended.code, "Traceback" in ended.output) == (3, False), ended.output
    assert (run.reports / "latest").readlink().name != "20200101-000000-old"
    assert service.app.paths("PUT") <= service.app.paths("DELETE")


@pytest.mark.parametrize(
    ("name", "make", "code"), [("", os.mkfifo, 4), ("latest", Path.mkdir, 0), ("history.jsonl", os.mkfifo, 4)]
)
def test_an_obstacle_in_the_reports_is_reported(
    run: Any, name: str, make: Callable[[Path], object], code: int
) -> None:
    if name:
        run.reports.mkdir()
    make(run.reports / name)
    ended = run("--profile=smoke", "--realm=abs-dev", program=True)
    assert (ended.code, "Traceback" in ended.output) == (code, False), ended.output


def test_two_workers_share_their_tokens_and_give_one_verdict(run: Any, faulty: Any) -> None:
    service = faulty(hiding())
    chosen = "test_content or test_save or test_should"
    ended = run.apart("-k", chosen, f"--target={service.target}", "-n", "2", "--profile=nightly")
    assert ended.code == 1, ended.output
    commands = " ".join(each["reproduce"]["command"] for each in ended.verdict["findings"])
    assert set(re.findall(r"--seed[ =](\d+)", commands)) == {str(ended.verdict["seed"])}
    found = {(each["clause"], each["realm"], each["confirmed"]) for each in ended.verdict["findings"]}
    assert found == {("draft-get-content", realm, True) for realm in ("abs-dev", "bch-dev", "chm-dev")}
    assert ended.cells()["draft-save-creates", "abs-dev"] == "pass"
    assert service.app.count("POST", "/token") == 4
    assert ended.verdict["leftovers"] == []


def test_a_case_that_kills_its_worker_is_an_error_and_no_more(run: Any, faulty: Any) -> None:
    service = faulty()
    ended = run.apart(*MANY, "-p", "crashing", "-n", "1", f"--target={service.target}")
    assert ended.code == 3, ended.output
    assert len([case for case in ended.cases().values() if case["outcome"] == "pass"]) == 11
    assert "incomplete" in ended.verdict["reason"]
    junit = (ended.folder / "junit.xml").read_text(encoding="utf-8")
    assert "ended in the middle of this case" in junit
    # The other processes remove the drafts of the dead worker.
    assert ended.verdict["leftovers"] == []
    assert service.app.paths("PUT") <= service.app.paths("DELETE")


def test_only_the_transport_opens_connections(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "connections"
    run.environment["DOOR_WATCH_LOG"] = str(log)
    chosen = "test_save or test_single_faults and getDraftInfo or test_signing_in or test_past_the_transport"
    ended = run.apart("-k", chosen, "--realm=abs-dev", "-p", "door_watch")
    assert ended.code == 3, ended.output
    assert [case["outcome"] for case in ended.cases().values()].count("error") == 1
    other = [line for line in log.read_text(encoding="utf-8").splitlines() if line != "door"]
    assert [line.partition(" (")[0] for line in other] == ["past the door: socket.connect"]
