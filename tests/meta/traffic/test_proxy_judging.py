"""A check that breaks is told at the end, and costs the proxy one exchange."""

import json
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.settings.target import Target
from registry_contracts.traffic.judge import Judge
from registry_contracts.traffic.recorder import TrafficRecorder
from tests.meta.messages import answer, exchange

TARGET = Target(name="scripted", base_url="http://registry.test")
TOKEN = "a-token-of-forty-characters-0123456789ab"


def passed(number: int, content: bytes = b"[]", status: int = 200, **more: str) -> Exchange:
    return exchange(
        answer(content, status, **more),
        None,
        {"Authorization": f"Bearer {TOKEN}", "Realm": "abs-dev"},
        number=number,
        seconds=0.01,
        url="http://registry.test/api/v2013/document-drafts?$top=1",
    )


def test_a_check_that_breaks_costs_one_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Judge._judged

    def breaks(judge: Judge, exchange: Exchange, *more: Any) -> Any:
        if exchange.response is not None and exchange.response.content == b"odd":
            raise LookupError(f"nobody knows {TOKEN}")
        return whole(judge, exchange, *more)

    monkeypatch.setattr(Judge, "_judged", breaks)
    written: list[str] = []
    recorder = TrafficRecorder(TARGET, tmp_path, alone=False, say=written.append)
    with recorder:
        for number, content in enumerate((b"[]", b"odd", b"[]"), start=1):
            recorder.hand_over(passed(number, content))
    recorder.end()
    code, reason = recorder.report.verdict
    assert int(code) == 3
    assert reason == "the suite broke on exchange 2: LookupError: nobody knows [redacted]"
    lines = recorder.report.lines()
    assert any(line.startswith("broken       1 exchange, the suite broke: exchange 2") for line in lines)
    content = json.loads((tmp_path / "check.json").read_text("utf-8"))
    assert content["notes"] == [reason]
    assert content["operations"]["listDrafts"] == 2
    assert len(json.loads((tmp_path / "traffic.har").read_text("utf-8"))["log"]["entries"]) == 3
