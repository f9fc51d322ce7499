"""How runs end: exit codes, the same from both ways to start one; what is said of each case; limits; confirmation."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.meta.plugin.rules import JSON, NOT_FOUND, hidden, hidden_when

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize("program", [True, False], ids=["program", "pytest"])
def test_a_run_that_holds_ends_with_0(run: Callable[..., Any], program: bool) -> None:
    ended = run("-k", "test_save or test_content", "--realm=abs-dev", program=program)
    assert ended.code == 0, ended.output
    assert ended.cells()["draft-get-content", "abs-dev"] == "pass"
    assert ended.cells()["draft-save-answer", "abs-dev"] == "observed"
    assert "verdict: pass" in ended.out


@pytest.mark.parametrize("program", [True, False], ids=["program", "pytest"])
def test_a_contradiction_ends_with_1(run: Any, faulty: Callable[..., Any], program: bool) -> None:
    escape = (404, JSON, b'{"message": "\\u001b]0;owned \\u202e"}')
    service = faulty(hidden_when(lambda _: True, escape))
    ended = run("-k", "test_content", "--realm=abs-dev", f"--target={service.target}", program=program)
    assert ended.code == 1, ended.output
    assert "]0;owned" in ended.out
    assert not any(obeyed in ended.output for obeyed in ("\x1b]", "\u202e"))
    (finding,) = ended.verdict["findings"]
    assert (finding["clause"], finding["operation"], finding["confirmed"]) == (
        "draft-get-content",
        "getDraft",
        True,
    )
    assert "verdict: fail" in ended.out


@pytest.mark.parametrize(
    "words", [("-k", "no_such_case"), ("-k", "test_content", "--realm=ort-dev")], ids=["k", "realm"]
)
def test_nothing_selected_ends_with_5(run: Any, words: tuple[str, ...]) -> None:
    ended = run(*words)
    assert ended.code == 5, ended.output
    assert ended.verdict["verdict"] == "nothing tested"


def test_mistakes_of_the_suite_end_with_3(run: Any) -> None:
    words = "test_undeclared or test_silent or test_nothing or test_foreign or test_crash or test_ambiguous"
    ended = run("-k", words, "--realm=abs-dev")
    assert ended.code == 3, ended.output
    cases = {
        name.partition("[")[0]: (case["outcome"], case["reason"]) for name, case in ended.cases().items()
    }
    mistakes = {
        "undeclared": "without declaring it",
        "silent": "silent: it can be observed, never claimed",
        "nothing": "without an assertion or an observation",
        "foreign": "outside the run's namespace",
        "crash": "RuntimeError",
    }
    for name, why in mistakes.items():
        outcome, reason = cases[f"test_{name}"]
        assert (outcome, why in reason) == ("error", True), (name, reason)
    assert cases["test_ambiguous"][0] == "inconclusive"


def test_a_clause_without_an_assertion_is_untested(run: Any) -> None:
    ended = run("-k", "test_only_sends or test_save", "--realm=abs-dev")
    assert ended.code == 0, ended.output
    assert ended.cells()["draft-get-content", "abs-dev"] == "untested"
    assert ended.cells()["no-server-error", "abs-dev"] == "pass"


def test_cases_that_cannot_be_collected_end_with_3(run: Any) -> None:
    broken = run.checkout / "tests" / "contract" / "test_broken.py"
    broken.write_text("import no_such_module\n", encoding="utf-8")
    try:
        ended = run("-k", "test_save", "--realm=abs-dev")
    finally:
        broken.unlink()
    assert ended.code == 3, ended.output
    assert "no_such_module" in ended.verdict["reason"]


def test_a_precondition_that_fails_is_inconclusive_and_named(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(lambda method, *_: NOT_FOUND if method == "PUT" else None)
    ended = run("-k", "test_content", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 6, ended.output
    assert ended.cells()["draft-get-content", "abs-dev"] == "inconclusive"
    assert "saveDraft" in ended.reason("draft-get-content")
    assert ended.verdict["findings"] == []


def test_a_should_is_only_advised(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(hidden_when(lambda _: True, (200, JSON, b"{}")))
    ended = run("-k", "test_should", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 0, ended.output
    assert ended.cells()["draft-get-absent", "abs-dev"] == "advisory"


def test_a_missing_account_leaves_a_case_untested(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(only_author=True)
    ended = run("-k", "test_missing_account or test_should", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 0, ended.output
    assert ended.cells()["draft-save-creates", "abs-dev"] == "untested"
    assert "accounts." in ended.reason("draft-save-creates")
    strict = run(
        "-k",
        "test_missing_account or test_should",
        "--realm=abs-dev",
        f"--target={service.target}",
        "--strict",
        reports=run.scratch / "strict",
    )
    assert strict.code == 6, strict.output


def test_the_first_failure_stops_a_run_that_says_so(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(hidden)
    ended = run("-k", "test_many", "--realm=abs-dev", f"--target={service.target}", "-x")
    assert ended.code == 1, ended.output
    assert "1 failed" in ended.out
    assert len(ended.verdict["findings"]) == 1


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_that_has_spent_its_requests_stops_cleans_up_and_says_so(
    run: Any, faulty: Callable[..., Any], workers: tuple[str, ...]
) -> None:
    service = faulty(pace="request_budget = 50")
    ended = run("-k", "test_many", f"--target={service.target}", *workers)
    assert ended.code == 6, ended.output
    assert "the request budget of this run is spent: 50" in ended.verdict["reason"]
    assert len(service.app.requests) <= 50
    assert ended.verdict["environment"]["limits"]["request_budget"] == 50
    assert ended.verdict["leftovers"] == []
    saved = {path for method, path in service.app.requests if method == "PUT"}
    assert saved <= {path for method, path in service.app.requests if method == "DELETE"}


def test_the_next_permanent_record_is_not_created_and_its_case_says_so(
    run: Any, faulty: Callable[..., Any]
) -> None:
    service = faulty(pace="permanent_records = 2")
    ended = run("-k", "test_contacts", "--realm=abs-dev", f"--target={service.target}", "-n", "2")
    assert ended.code == 6, ended.output
    assert "has created the 2 permanent records it may create in abs-dev" in ended.verdict["reason"]
    assert service.app.count("POST", "/documents") == 2
    assert ended.verdict["environment"]["permanent_records"] == {"abs-dev": 2}
    assert len(ended.verdict["residue"]) == 2


def test_a_server_error_is_one_finding_and_blocks_the_rest(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(lambda method, *_: (500, JSON, b"{}") if method == "PUT" else None)
    ended = run("-k", "test_content or test_save", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 1, ended.output
    (finding,) = ended.verdict["findings"]
    assert (finding["clause"], finding["operation"]) == ("no-server-error", "saveDraft")
    assert ended.cells()["draft-get-content", "abs-dev"] == "inconclusive"
    assert ended.cells()["draft-save-creates", "abs-dev"] == "inconclusive"


def test_an_environment_that_stays_down_stops_the_run(run: Any, faulty: Callable[..., Any]) -> None:
    down: Any = (503, [], b"")
    service = faulty(lambda _, path, __: down if path.endswith("/versions/draft") else None)
    words = ("-k", "test_foreign_token or test_many", "--realm=abs-dev", f"--target={service.target}")
    ended = run(*words, "-p", "impatient")
    assert ended.code == 6, ended.output
    assert "requests in a row without an answer" in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["faults"].get("status 503", 0) >= 5
    assert len(ended.cases()) < 13


@pytest.mark.parametrize(
    "members",
    [
        {"authenticationToken": "a-token-of-two\r\nX: 1"},
        {"authenticationToken": "токен-токен-\ud800"},
        {"authenticationToken": "t" * 1_000_000},
        {"expiration": "99999-13-45T99:99:99.9Z"},
    ],
    ids=["of two lines", "no Latin-1", "a megabyte", "no calendar"],
)
def test_a_token_that_cannot_be_used_is_a_finding(
    run: Any, faulty: Callable[..., Any], members: dict[str, str]
) -> None:
    token = {"authenticationToken": "a-token-that-nobody-knows", "expiration": "2999-01-01T00:00:00.0Z"}
    body = json.dumps(token | members).encode()
    service = faulty(lambda _, path, __: (200, JSON, body) if path.endswith("/token") else None)
    ended = run("-k", "test_content or test_signing_in", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code in (1, 6), ended.output
    assert "Traceback" not in ended.output
    assert "error" not in {case["outcome"] for case in ended.cases().values()}
