"""Every run leaves every report, and the machine's answer keeps its schema."""

import json
from typing import Any
from unittest.mock import Mock

import pytest

from registry_contracts.file_formats import convert
from registry_contracts.reports import verdict_json, writers
from tests.meta.plugin.conftest import hiding
from tests.meta.sandbox_client import JSON, NOT_FOUND


def test_every_report_is_written_and_shows_answers_safely(run: Any, faulty: Any) -> None:
    escape = (404, JSON, b'{"message": "\\u001b]0;owned \\u202e"}')
    target = f"--target={faulty(hiding(escape)).target}"
    ended = run("-k", "test_content or test_save", "--realm=abs-dev", target, program=True)
    assert ended.code == 1, ended.output
    assert "]0;owned" in ended.out
    assert not any(obeyed in ended.output for obeyed in ("\x1b]", "\u202e"))
    (finding,) = ended.verdict["findings"]
    assert (finding["clause"], finding["operation"]) == ("draft-get-content", "getDraft")
    assert finding["confirmed"]
    assert "verdict: fail" in ended.out
    convert(ended.verdict, verdict_json.VerdictFile, verdict_json.FILE_NAME)
    names = {path.name for path in ended.folder.iterdir()}
    assert names >= {"verdict.json", "index.html", "junit.xml", "traffic.har", "summary.md", "ledger.jsonl"}
    assert all(any((ended.folder / name).iterdir()) for name in ("allure", "findings"))
    assert (ended.reports / "latest").resolve() == ended.folder.resolve()
    har = json.loads((ended.folder / "traffic.har").read_text(encoding="utf-8"))
    assert len(har["log"]["entries"]) == ended.verdict["environment"]["requests"]
    assert not list(ended.folder.glob("ledger-*"))


def test_allure_has_one_result_a_case_and_tells_realms_apart(run: Any, faulty: Any) -> None:
    service = faulty(lambda method, *_: NOT_FOUND if method == "GET" else None)
    folder = run.scratch / "results"
    ended = run("-k", "test_content", f"--target={service.target}", f"--alluredir={folder}")
    results = [json.loads(path.read_text("utf-8")) for path in folder.glob("*-result.json")]
    assert len(results) == len(ended.cases()) == 3
    assert not list(folder.glob("*-container.json"))
    assert not (ended.folder / "allure").exists()
    told = (folder / "environment.properties").read_text("utf-8").splitlines()
    assert told[:3] == [f"Target = service at {service.url}", "Profile = gate", "Seed = 1"]
    assert [len({each[key] for each in results}) for key in ("testCaseId", "historyId")] == [1, 3]
    for result in results:
        labels = [(label["name"], label["value"]) for label in result["labels"]]
        assert {("feature", "draft"), ("story", "draft-get-content"), ("severity", "critical")} <= {*labels}
        assert result["status"] == "failed"
        assert "404" in (folder / result["attachments"][0]["source"]).read_text("utf-8")


def test_a_broken_judge_is_one_line(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    error = UnicodeEncodeError("utf-8", "sandbox-author \ud800", 15, 16, "surrogates not allowed")
    monkeypatch.setattr(writers, "judge", Mock(side_effect=error))
    ended = run("-k", "test_save", "--realm=abs-dev")
    assert ended.code == 3, ended.output
    (line,) = [line for line in ended.out.splitlines() if line.startswith("verdict: ")]
    assert "could not be written: UnicodeEncodeError: " in line
    assert not any(word in ended.output for word in ("sandbox-author", "Traceback"))
    assert (ended.reports / "latest").resolve() == ended.folder.resolve()
    assert not (ended.folder / "verdict.json").exists()
