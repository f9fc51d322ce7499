"""Judging happens beside the path: bounded copies, nothing waits, and what breaks is told at the end."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from registry_contracts.exchanges.exchange import Exchange
from registry_contracts.exchanges.redaction import TrafficRedactor
from registry_contracts.manual import traffic_watch
from registry_contracts.manual.proxy import LARGEST_COPY
from registry_contracts.manual.traffic_findings import Seen
from registry_contracts.manual.traffic_recorder import BackgroundJudge, TrafficRecorder
from registry_contracts.manual.traffic_watch import Watch
from registry_contracts.settings.target import Target
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


def test_handing_over_never_waits_and_gives_up_bodies_first() -> None:
    """While the judge is held up, what comes is taken at once, with bodies as long as there is room."""
    held, going = threading.Event(), threading.Event()
    shown: list[Seen] = []

    def show(seen: Seen) -> None:
        shown.append(seen)
        if seen.number == 1:
            held.set()
            going.wait(30)

    judge = BackgroundJudge(Watch(TrafficRedactor()), show)
    judge.hand_over(passed(1))
    assert held.wait(30)
    for number in range(2, 42):
        judge.hand_over(passed(number, b"[" + b" " * (LARGEST_COPY - 2) + b"]"))
    going.set()
    judge.close()
    sizes = [seen.exchange.answer.body.size for seen in shown[1:]]
    assert len(sizes) == 40
    known = [size for size in sizes if size == LARGEST_COPY]
    assert 10 < len(known) < 30


def test_a_check_that_breaks_costs_one_exchange_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = traffic_watch.judge_answer

    def breaks(exchange: Exchange, *more: Any) -> Any:
        if exchange.response is not None and exchange.response.content == b"odd":
            raise LookupError(f"nobody knows {TOKEN}")
        return whole(exchange, *more)

    monkeypatch.setattr(traffic_watch, "judge_answer", breaks)
    written: list[str] = []
    recorder = TrafficRecorder(TARGET, tmp_path, alone=False, say=written.append)
    with recorder:
        for number, content in enumerate((b"[]", b"odd", b"[]"), start=1):
            recorder.hand_over(passed(number, content))
    verdict = recorder.report()
    assert int(verdict.exit_code) == 3
    assert verdict.reason == "the suite broke on exchange 2: LookupError: nobody knows [redacted]"
    assert any(
        line.startswith("broken       1 exchange, the suite broke: exchange 2") for line in recorder.lines
    )
    content = json.loads((tmp_path / "check.json").read_text("utf-8"))
    assert content["notes"] == [verdict.reason]
    assert content["operations"]["listDrafts"] == 2
    assert len(json.loads((tmp_path / "traffic.har").read_text("utf-8"))["log"]["entries"]) == 3
