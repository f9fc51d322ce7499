"""Every run leaves every report, and the machine's answer keeps its schema."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from contracts.evidence import verdict_json

pytestmark = pytest.mark.usefixtures("nothing_left")
NOT_FOUND = (404, [(b"content-type", b"application/json")], b'{"message": "none"}')


@pytest.mark.parametrize("broken", [False, True], ids=["pass", "fail"])
def test_every_report_is_there(run: Any, faulty: Callable[..., Any], broken: bool) -> None:
    hide = broken and (lambda method, path: method == "GET" and path.endswith("/versions/draft"))
    service = faulty(lambda method, path, _: NOT_FOUND if hide and hide(method, path) else None)
    ended = run(
        "-k", "test_content or test_save", "--realm=abs-dev", f"--target={service.target}", program=True
    )
    assert ended.code == int(broken), ended.said
    verdict_json.check(ended.verdict)
    names = {path.name for path in ended.folder.iterdir()}
    assert names >= {
        "verdict.json",
        "index.html",
        "junit.xml",
        "traffic.har",
        "allure",
        "summary.md",
        "ledger.jsonl",
    }
    assert any((ended.folder / "allure").iterdir())
    assert any((ended.folder / "findings").iterdir()) is broken
    assert (ended.reports / "latest").resolve() == ended.folder.resolve()
    har = json.loads((ended.folder / "traffic.har").read_text(encoding="utf-8"))
    assert len(har["log"]["entries"]) == ended.verdict["environment"]["requests"]
    assert not list(ended.folder.glob("ledger-*"))


def test_a_finding_can_be_seen_again_by_its_command(run: Any, faulty: Callable[..., Any]) -> None:
    service = faulty(lambda method, *_: NOT_FOUND if method == "GET" else None)
    ended = run("-k", "test_content", "--realm=abs-dev", f"--target={service.target}")
    (finding,) = ended.verdict["findings"]
    words = finding["reproduce"]["command"].split()
    assert words[:2] == ["registry-contracts", "run"]
    again = run(*words[2:], program=True, reports=run.scratch / "again")
    assert again.code == 1, again.said
    assert again.verdict["findings"][0]["id"] == finding["id"]
