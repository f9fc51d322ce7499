"""Every run leaves every report, and the machine's answer keeps its schema."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from contracts.file_formats import convert
from contracts.reports import verdict_json
from tests.meta.plugin.rules import NOT_FOUND, hidden

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.mark.parametrize("broken", [False, True], ids=["pass", "fail"])
def test_every_report_is_there(run: Any, faulty: Callable[..., Any], broken: bool) -> None:
    service = faulty(hidden if broken else lambda *_: None)
    ended = run(
        "-k", "test_content or test_save", "--realm=abs-dev", f"--target={service.target}", program=True
    )
    assert ended.code == int(broken), ended.output
    convert(ended.verdict, verdict_json.VerdictFile, verdict_json.FILE_NAME)
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
    again = run(*words[2:], "-v", program=True, reports=run.scratch / "again")
    assert again.code == 1, again.output
    assert " FAILURES " in again.out
    assert again.out.splitlines()[-1].startswith("verdict: fail")
    assert again.verdict["findings"][0]["id"] == finding["id"]


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "workers"])
def test_allure_has_one_result_a_case_and_tells_realms_apart(
    run: Any, faulty: Callable[..., Any], words: tuple[str, ...]
) -> None:
    service = faulty(lambda method, *_: NOT_FOUND if method == "GET" else None)
    folder = run.scratch / "results"
    ended = run("-k", "test_content", f"--target={service.target}", f"--alluredir={folder}", *words)
    results = [json.loads(path.read_text("utf-8")) for path in folder.glob("*-result.json")]
    assert len(results) == len(ended.cases()) == 3
    assert not list(folder.glob("*-container.json"))
    assert not (ended.folder / "allure").exists()
    assert [len({each[key] for each in results}) for key in ("testCaseId", "historyId")] == [1, 3]
    for result in results:
        labels = [(label["name"], label["value"]) for label in result["labels"]]
        assert len(labels) == len(set(labels))
        assert {("feature", "draft"), ("story", "draft-get-content"), ("severity", "critical")} <= {*labels}
        assert result["status"] == "failed"
        attached = [(folder / each["source"]).read_text("utf-8") for each in result["attachments"]]
        assert "404" in attached[0]
        assert attached[-1].count("curl ") == len(attached) - 1


@pytest.mark.parametrize("what", ["html", "verdict"])
def test_a_report_that_cannot_be_written_ends_the_run_as_an_error_that_names_it(run: Any, what: str) -> None:
    places = {"html": "index.html", "verdict": "verdict.json"}
    assert run("-k", "test_save", "--realm=abs-dev").code == 0
    run.environment["UNWRITING"] = what
    reports = run.scratch / "reports"
    before = set(reports.iterdir())
    ended = run("-k", "test_save", "--realm=abs-dev", "-p", "unwriting")
    assert ended.code == 3, ended.output
    (line,) = [line for line in ended.out.splitlines() if line.startswith("verdict: ")]
    assert f"error: {places[what]} could not be written: UnicodeEncodeError: " in line
    assert "Traceback" not in ended.output
    (folder,) = {path for path in reports.iterdir() if path.is_dir() and not path.is_symlink()} - before
    assert (reports / "latest").resolve() == folder.resolve()
    names = {path.name for path in folder.iterdir()}
    assert set(places.values()) - names == {places[what]}
    assert names >= {"junit.xml", "summary.md", "findings", "allure", "ledger.jsonl"}
    if what != "verdict":
        assert json.loads((folder / "verdict.json").read_text("utf-8"))["exit_code"] == 3


def test_a_run_that_cannot_be_judged_is_an_error_in_one_line_without_secrets(run: Any) -> None:
    run.environment["UNWRITING"] = "judging"
    ended = run("-k", "test_save", "--realm=abs-dev", "-p", "unwriting")
    assert ended.code == 3, ended.output
    (line,) = [line for line in ended.out.splitlines() if line.startswith("verdict: ")]
    assert line.startswith("verdict: error: the run's verdict could not be written: UnicodeEncodeError: ")
    assert "sandbox-author" not in ended.output
    assert "Traceback" not in ended.output
    assert (ended.reports / "latest").resolve() == ended.folder.resolve()
