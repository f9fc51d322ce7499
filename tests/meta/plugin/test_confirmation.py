"""What happens to a contradiction before it counts, told by services that fail always, once or now and then."""

from collections.abc import Callable
from typing import Any

import pytest

JSON = [(b"content-type", b"application/json")]
pytestmark = pytest.mark.usefixtures("nothing_left")


def failing(when: Callable[[int], bool]) -> Callable[..., Any]:
    """A rule that hides a draft at the reads for which `when` holds, counted from 0."""

    def rule(method: str, path: str, before: int) -> Any:
        read = method == "GET" and path.endswith("/versions/draft")
        return (404, JSON, b'{"message": "none"}') if read and when(before) else None

    return rule


@pytest.fixture
def judged(run: Any, faulty: Callable[..., Any]) -> Callable[..., Any]:
    """Runs the case about a draft's content against a service that fails by this rule."""

    def judge(rule: Callable[..., Any], *words: str, **more: Any) -> Any:
        service = faulty(rule)
        return run("-k", "test_content", "--realm=abs-dev", f"--target={service.target}", *words, **more)

    return judge


def test_a_failure_that_comes_back_fails(judged: Callable[..., Any]) -> None:
    ended = judged(failing(lambda _: True))
    (finding,) = ended.verdict["findings"]
    assert ended.code == 1
    assert (finding["confirmed"], finding["rate"]) == (True, "2/2") or finding["rate"] == [2, 2], finding[
        "rate"
    ]
    assert ended.cases()["test_content[abs-dev]"]["attempts"] == 2


def test_a_failure_that_never_comes_back_is_kept_unconfirmed(judged: Callable[..., Any]) -> None:
    ended = judged(failing(lambda before: before == 0))
    assert ended.code == 0, ended.said
    (finding,) = ended.verdict["findings"]
    assert not finding["confirmed"]
    assert ended.cases()["test_content[abs-dev]"]["attempts"] == 4
    assert "1. unconfirmed: " in ended.out


def test_a_failure_that_comes_and_goes_fails_with_its_rate(judged: Callable[..., Any]) -> None:
    ended = judged(failing(lambda before: before % 2 == 0))
    assert ended.code == 1, ended.said
    (finding,) = ended.verdict["findings"]
    assert finding["confirmed"]
    assert ended.cases()["test_content[abs-dev]"]["attempts"] == 3
    assert str(finding["rate"]).replace(" ", "") in {"[2,3]", "2/3", "2of3"}, finding["rate"]


def test_one_fault_is_one_finding(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(failing(lambda _: True))
    ended = run("-k", "test_content or test_many", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 1, ended.said
    assert len(ended.verdict["findings"]) == 1, [each["clause"] for each in ended.verdict["findings"]]


def test_a_server_error_is_one_finding_and_blocks_the_rest(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(lambda method, *_: (500, JSON, b"{}") if method == "PUT" else None)
    ended = run("-k", "test_content or test_save", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 1, ended.said
    (finding,) = ended.verdict["findings"]
    assert (finding["clause"], finding["operation"]) == ("no-server-error", "saveDraft")
    assert ended.cells()["draft-get-content", "abs-dev"] == "inconclusive"
    assert ended.cells()["draft-save-creates", "abs-dev"] == "inconclusive"


def test_a_gateway_page_in_place_of_an_answer_is_no_failure(run: Any, faulty: Callable[..., Any]) -> None:
    page = (403, [(b"content-type", b"text/html")], b"<html>blocked</html>")
    service = faulty(lambda method, path, _: page if failing(lambda _: True)(method, path, 0) else None)
    words = ("-k", "test_content", "--realm=abs-dev", f"--target={service.target}")
    ended = run(*words, "-p", "impatient")
    assert ended.code == 6, ended.said
    assert "an HTML page with status 403" in ended.reason("draft-get-content")


def test_an_environment_that_stays_down_stops_the_run(run: Any, faulty: Callable[..., Any]) -> None:
    down: Any = (503, [], b"")
    service = faulty(lambda _, path, __: down if path.endswith("/versions/draft") else None)
    words = ("-k", "test_foreign_token or test_many", "--realm=abs-dev", f"--target={service.target}")
    ended = run(*words, "-p", "impatient")
    assert ended.code == 6, ended.said
    assert "requests in a row without an answer" in ended.verdict["environment"]["breaker"]
    assert ended.verdict["environment"]["faults"].get("status 503", 0) >= 5
    assert len(ended.cases()) < 13
