"""What happens to a contradiction before it counts, told by services that fail always, once or now and then."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.meta.plugin.rules import JSON, hidden, hidden_when

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize(
    ("fails", "rate", "attempts"),
    [
        pytest.param(lambda _: True, [2, 2], 2, id="always"),
        pytest.param(lambda before: before % 2 == 0, [2, 3], 3, id="comes-and-goes"),
        pytest.param(lambda before: before == 0, [1, 4], 4, id="once"),
    ],
)
def test_a_failure_counts_once_it_has_come_back(
    run: Any, faulty: Callable[..., Any], fails: Callable[[int], bool], rate: list[int], attempts: int
) -> None:
    """One that never comes back is kept, unconfirmed."""
    service = faulty(hidden_when(fails))
    ended = run("-k", "test_content", "--realm=abs-dev", f"--target={service.target}")
    (finding,) = ended.verdict["findings"]
    came_back = rate[0] > 1
    assert (ended.code, finding["confirmed"], finding["rate"]) == (int(came_back), came_back, rate), (
        ended.said
    )
    assert ended.cases()["test_content[abs-dev]"]["attempts"] == attempts
    assert ("1. unconfirmed: " in ended.out) is not came_back


def test_one_fault_is_one_finding(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(hidden)
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
    service = faulty(hidden_when(lambda _: True, page))
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
