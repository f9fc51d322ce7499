"""How runs end: exit codes, what is said of each case, limits, and confirmation."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.plugin.conftest import JSON, NOT_FOUND, PLANTED_CASES, hiding

pytestmark = pytest.mark.usefixtures("nothing_left")
GET, SAVE = "draft-get-content", "draft-save-creates"

#: What a service does, which cases run, the exit code, and the verdicts on some clauses.
ENDINGS: dict[str, tuple[Any, str, int, dict[str, str]]] = {
    "it holds, and the only case of a must asserts nothing": (
        lambda *_: None,
        "test_save or test_only_sends",
        6,
        {SAVE: "pass", GET: "untested", "draft-save-answer": "observed", "no-server-error": "pass"},
    ),
    "a should is only advised": (
        hiding((200, JSON, b"{}")),
        "test_should",
        0,
        {"draft-get-absent": "advisory"},
    ),
    "an account is missing, strictly": (
        lambda *_: None,
        "test_missing_account or test_should",
        6,
        {SAVE: "untested"},
    ),
    "the first failure stops it": (hiding(), "test_many", 1, {GET: "fail"}),
    "a precondition fails": (
        lambda method, *_: NOT_FOUND if method == "PUT" else None,
        "test_content",
        6,
        {GET: "inconclusive"},
    ),
    "a plain save is refused after one was taken": (
        lambda method, _, before: NOT_FOUND if method == "PUT" and before > 1 else None,
        "test_many",
        1,
        {GET: "inconclusive", SAVE: "fail"},
    ),
    "a server error blocks the rest": (
        lambda method, *_: (500, JSON, b"{}") if method == "PUT" else None,
        "test_content or test_save",
        1,
        {GET: "inconclusive", SAVE: "inconclusive", "no-server-error": "fail"},
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_how_a_run_ends(run: Any, faulty: Callable[..., Any], name: str) -> None:
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
    run: Any, faulty: Callable[..., Any], seconds: float, nodes: int, code: int, standing: str
) -> None:
    reads = list[float]()

    def old(method: str, path: str, before: int) -> Any:
        if method != "GET" or not path.endswith("/versions/draft"):
            return None
        reads.append(time.monotonic())
        return NOT_FOUND if reads[-1] < reads[0] + seconds and before % nodes == 0 else None

    ended = run("-k", "test_many", "--realm=abs-dev", f"--target={faulty(old).target}")
    (finding,) = ended.verdict["findings"]
    assert (ended.code, finding["standing"], finding["clause"]) == (code, standing, GET), ended.output
    # Half of it, or a third, is always there where it was tried again in the same way.
    assert (finding["confirmed"], finding["intermittent"]) == (code == 1, code == 1)
    assert finding["rate"] == ([2, 4] if code else [1, 13])
