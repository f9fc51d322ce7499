"""Two workers do what one does: the same answer, one sign-in for each role, nothing left behind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")
WORDS = ("-k", "test_content or test_save or test_should or test_only_sends")


def essence(ended: Any) -> Any:
    """A verdict without what two runs may differ in."""
    verdict = ended.verdict
    findings = [
        {key: finding[key] for key in ("id", "clause", "realm", "operation", "expected", "confirmed", "rate")}
        for finding in verdict["findings"]
    ]
    kept = {key: verdict[key] for key in ("verdict", "exit_code", "reason", "clauses", "profile", "seed")}
    return kept | {"findings": findings}


@pytest.mark.parametrize("broken", [False, True], ids=["pass", "fail"])
def test_two_workers_give_the_same_verdict(
    run: Any, faulty: Callable[..., Any], tmp_path: Path, broken: bool
) -> None:
    not_found = (404, [(b"content-type", b"application/json")], b'{"message": "none"}')

    def rule(method: str, path: str, _: int) -> Any:
        return not_found if broken and method == "GET" and path.endswith("/versions/draft") else None

    service = faulty(rule)
    target = f"--target={service.target}"
    one = run(*WORDS, target, reports=tmp_path / "one")
    signed_in = service.app.count("POST", "/token")
    two = run(*WORDS, target, "-n", "2", reports=tmp_path / "two")
    assert one.code == two.code == (1 if broken else 0), one.said + two.said
    assert essence(one) == essence(two)
    assert signed_in == 4
    assert service.app.count("POST", "/token") == 8
    assert one.verdict["leftovers"] == two.verdict["leftovers"] == []


def test_a_run_outlives_its_tokens(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(token_lifetime=0.4)
    ended = run("-k", "test_many", "--realm=abs-dev", f"--target={service.target}")
    assert ended.code == 0, ended.said
    assert service.app.count("POST", "/token") > 4
