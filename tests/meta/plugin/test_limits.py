"""A run keeps to its limits: requests in all, and records that nobody can remove."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_that_has_spent_its_requests_stops_cleans_up_and_says_so(
    run: Any, faulty: Callable[..., Any], workers: tuple[str, ...]
) -> None:
    service = faulty(pace="request_budget = 50")
    ended = run("-k", "test_many", f"--target={service.target}", *workers)
    assert ended.code == 6, ended.said
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
    assert ended.code == 6, ended.said
    assert "has created the 2 permanent records it may create in abs-dev" in ended.verdict["reason"]
    assert service.app.count("POST", "/documents") == 2
    assert ended.verdict["environment"]["permanent_records"] == {"abs-dev": 2}
    assert len(ended.verdict["residue"]) == 2
